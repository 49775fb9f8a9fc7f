//go:build !nonative

package process

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
)

// crashVariable names the crash of the child process of TestCrash.
const crashVariable = "OREPL_TEST_CRASH"

// TestCrash lets libraries crash outside of guarded calls, each in a process of its own, which ends with a message instead of a Go trace.
func TestCrash(t *testing.T) {
	function := func(name string) uintptr {
		at, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	crashes := []struct {
		name, want string
		crash      func()
	}{
		{"load", "SIGSEGV (invalid address 0x10)", func() { purego.SyscallN(place(t, load).Entry(0)) }},
		{"divide", "SIGFPE (integer division by zero or overflow)", func() { purego.SyscallN(place(t, divide).Entry(0)) }},
		{"null", "SIGSEGV (invalid address 0x0)", func() { purego.SyscallN(place(t, "\x31\xC0\xFF\xD0\xC3").Entry(0)) }}, // xor eax, eax; call rax
		{"abort", "it called abort in libc.so.6", func() { purego.SyscallN(function("abort")) }},
		{"memcpy", "in libc.so.6", func() { purego.SyscallN(function("memmove"), 16, function("memmove"), 64) }},
		{"thread", "SIGSEGV (invalid address 0x10)", func() {
			var thread uint64
			purego.SyscallN(function("pthread_create"), uintptr(unsafe.Pointer(&thread)), 0, place(t, load).Entry(0), 0)
		}},
	}
	child := os.Getenv(crashVariable)
	for _, c := range crashes {
		if child == c.name {
			if err := KeepSignals(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			c.crash()
			time.Sleep(10 * time.Second)
			t.Fatal("the process goes on")
		}
	}
	for _, c := range crashes {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCrash$")
			cmd.Env = append(os.Environ(), crashVariable+"="+c.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if text := string(out); !errors.As(err, &exit) || exit.ExitCode() != crashCode || strings.Contains(text, "goroutine ") ||
				!strings.HasPrefix(text, "error: a library crashed, and with it this process: ") || !strings.Contains(text, c.want) {
				t.Errorf("the process ends with %v and prints\n%s", err, out)
			}
		})
	}
}

// TestCrashOfReader names the cause of an abort by which UCX ends a process when another one has died.
func TestCrashOfReader(t *testing.T) {
	for _, c := range []struct {
		crash  Crash
		caused bool
	}{
		{Crash{Fault{Signal: sigABRT}, "libc.so.6", []string{"libucs.so.0.0.0", "libuct_cma.so.0.0.0"}}, true},
		{Crash{Fault{Signal: sigABRT}, "libuct_cma.so.0", nil}, true},
		{Crash{Fault{Signal: sigABRT}, "libc.so.6", []string{"libucs.so.0.0.0"}}, false},
		{Crash{Fault{Signal: 11}, "libuct_cma.so.0", nil}, false},
	} {
		if text := c.crash.Error(); strings.Contains(text, "another process of the MPI job ended") != c.caused {
			t.Errorf("%v: %s", c.crash, text)
		}
	}
}

// TestPanicAfterLibraries checks that faults of Go remain panics after a library has been loaded.
func TestPanicAfterLibraries(t *testing.T) {
	if err := KeepSignals(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"pointer":  func() { var p *int; *p = 1 },
		"function": func() { var f func(); f() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
