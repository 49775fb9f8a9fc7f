//go:build !nonative

package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const replaced = "OREPL_TEST_REPLACED_HANDLER"

// init runs the process that TestReplacedHandler starts. It replaces Go's handler of SIGSEGV, restores it, and uses a guard then.
func init() {
	flags := os.Getenv(replaced)
	if flags == "" {
		return
	}
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
	before, err := getAction(int(unix.SIGSEGV))
	if err != nil {
		fail("%v", err)
	}
	theirs := before
	theirs.handler++ // no fault happens meanwhile
	if flags == "without information" {
		theirs.flags &^= saSigInfo
	}
	if err := setAction(int(unix.SIGSEGV), &theirs); err != nil {
		fail("%v", err)
	}
	for range 2 {
		if _, err := NewGuard(); err == nil || !strings.Contains(err.Error(), "SIGSEGV") {
			fail("NewGuard in front of another handler: %v", err)
		}
	}
	if err := setAction(int(unix.SIGSEGV), &before); err != nil {
		fail("%v", err)
	}
	if _, err := NewGuard(); err != nil {
		fail("%v", err)
	}
	for name, fault := range map[string]func(){
		"division": func() { zero = 1 / zero },
		"address":  func() { *nowhere = 1 },
	} {
		func() {
			defer func() {
				if recover() == nil {
					fail("%s: no panic", name)
				}
			}()
			fault()
		}()
	}
	os.Exit(0)
}

// TestReplacedHandler checks that guards are refused while a library has replaced a handler of Go, and that panics of Go work after
// it has been restored.
func TestReplacedHandler(t *testing.T) {
	for _, flags := range []string{"with information", "without information"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), replaced+"="+flags)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", flags, err, out)
		}
		cancel()
	}
}
