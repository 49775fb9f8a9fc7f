//go:build !nonative

package process

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/runtime/fatal"
)

// A fault of a library outside of guarded calls, as in a driver or in MPI, cannot be an error of the call: the library's locks stay
// held. The handler records it, writes a word to a pipe and stops the thread. A goroutine that reads the pipe ends the process.

var (
	reporting struct {
		sync.Mutex
		begun bool
	}

	// The assembly uses these.
	crashPipe uint32 // descriptor of the pipe's writing end; 0 without a reader
	//lint:ignore U1000 the assembly's alone
	crashTaken uint32  // 1 after the first crash
	crashed    guarded // the fault of the first crash
)

// Crash is a fault in a library outside of guarded calls.
type Crash struct {
	Fault
	Where   string   // name of the file that has the instruction; empty if no file has it
	Callers []string // names of other libraries with addresses on the thread's stack, which may be old, innermost first
}

// peerReader is UCX's library that copies from the memory of other processes of an MPI job. It calls abort if one has ended.
const peerReader = "libuct_cma.so"

// Error names the fault, and the libraries of the instruction and of the stack. If UCX called abort because another process
// ended, Error says that instead.
func (c *Crash) Error() string {
	isReader := func(name string) bool { return strings.HasPrefix(name, peerReader) }
	if c.Signal == sigABRT && slices.ContainsFunc(append(slices.Clone(c.Callers), c.Where), isReader) {
		return "another process of the MPI job ended while this one copied from its memory, and UCX ended this one"
	}
	what := strings.TrimPrefix(c.Fault.Error(), "native code: ")
	if c.Signal == sigABRT {
		what = "it called abort"
	}
	text := "a library crashed, and with it this process: " + what + " in " + cmp.Or(c.Where, "code without a file")
	if len(c.Callers) > 0 {
		text += ", with " + strings.Join(c.Callers, ", ") + " on the stack"
	}
	return text
}

// reportCrashes makes a crash of a library outside of guarded calls end the process by [fatal.End]. Without it, or if the
// handlers cannot be installed, the Go runtime prints the stacks of all goroutines. A later call tries again what failed.
func reportCrashes() {
	reporting.Lock()
	defer reporting.Unlock()
	if reporting.begun || !installed.Load() && install() != nil {
		return
	}
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC) != nil {
		return
	}
	if unix.SetNonblock(ends[0], true) != nil {
		_, _ = unix.Close(ends[0]), unix.Close(ends[1])
		return
	}
	pipe := os.NewFile(uintptr(ends[0]), "crashes")
	go func() {
		var word [8]byte
		if _, err := pipe.Read(word[:]); err != nil {
			return
		}
		var fault *Fault
		if errors.As(crashed.fault(), &fault) {
			fatal.End(newCrash(fault))
		}
		os.Exit(crashCode)
	}()
	atomic.StoreUint32(&crashPipe, uint32(ends[1]))
	reporting.begun = true
}

const (
	// crashCode is the status of a process that could not report a crash.
	crashCode = 107
	// crashWait is the number of steps of 10 ms that a crashed thread waits for the end of the process.
	//lint:ignore U1000 the assembly's alone
	crashWait = 500
)

// newCrash returns the crash of a fault, with the names of the libraries in which it happened.
func newCrash(f *Fault) *Crash {
	c := &Crash{Fault: *f}
	code := codeOfFiles()
	nameOf := func(at uintptr) string {
		for _, m := range code {
			if at >= m.first && at < m.end {
				return m.name
			}
		}
		return ""
	}
	c.Where = nameOf(f.PC)
	const most = 5
	stackHas(f.SP, func(word uintptr) bool {
		if name := nameOf(word); name != "" && name != c.Where && !slices.Contains(c.Callers, name) {
			c.Callers = append(c.Callers, name)
		}
		return len(c.Callers) == most
	})
	return c
}

// mapped is code of a file in memory.
type mapped struct {
	first, end uintptr
	name       string
}

// codeOfFiles returns the executable mappings of shared objects, except those of the program itself. It returns nil if
// Linux does not list them.
func codeOfFiles() (list []mapped) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	self, _ := os.Readlink("/proc/self/exe")
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.Contains(fields[1], "x") || !strings.HasPrefix(fields[5], "/") || fields[5] == self {
			continue
		}
		first, end, _ := strings.Cut(fields[0], "-")
		from, err1 := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(end, 16, 64)
		if err1 == nil && err2 == nil {
			list = append(list, mapped{uintptr(from), uintptr(to), filepath.Base(fields[5])})
		}
	}
	return list
}
