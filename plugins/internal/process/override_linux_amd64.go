//go:build !nonative

package process

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// Numbers of overrides, by which the assembly finds the originals. Functions before numEnding can end a thread or the process.
const (
	oExit = iota
	oExitNow
	oExitNowC
	oQuickExit
	oPthreadExit
	oThrdExit
	oExecve
	oExecv
	oExecvp
	oExecvpe
	oExecl
	oExeclp
	oExecle
	oFexecve
	oExecveat
	oPthreadCancel
	oRaise
	oGsignal
	oKill
	oKillpg
	oSigqueue
	oPthreadKill
	oTgkill
	oSyscall
	numEnding

	oSigaction = iota - 1
	oSignal
	oBsdSignal
	oSysvSignal
	oSysvSignal2
	oSsignal
	oSigset
	oSigignore
	oSighold
	oSigblock
	oSigsetmask
	oSigprocmask
	oPthreadSigmask
	oSigaltstack
	oFork
	oFork2
	oVfork
	oPrctl
	oPtrace
	oSetrlimit
	oSetrlimit64
	oPrlimit
	oPrlimit64
	oUmask
	oClose
	oCloseRange
	oClosefrom
	oDup2
	oDup3
	oMunmap
	oMprotect
	numOverrides
)

// overrideNames are the names in the C library, by number.
var overrideNames = [numOverrides]string{
	oExit: "exit", oExitNow: "_exit", oExitNowC: "_Exit", oQuickExit: "quick_exit", oPthreadExit: "pthread_exit", oThrdExit: "thrd_exit",
	oExecve: "execve", oExecv: "execv", oExecvp: "execvp", oExecvpe: "execvpe", oExecl: "execl", oExeclp: "execlp", oExecle: "execle",
	oFexecve: "fexecve", oExecveat: "execveat", oPthreadCancel: "pthread_cancel", oRaise: "raise", oGsignal: "gsignal", oKill: "kill",
	oKillpg: "killpg", oSigqueue: "sigqueue", oPthreadKill: "pthread_kill", oTgkill: "tgkill", oSyscall: "syscall",
	oSigaction: "sigaction", oSignal: "signal", oBsdSignal: "bsd_signal", oSysvSignal: "sysv_signal", oSysvSignal2: "__sysv_signal",
	oSsignal: "ssignal", oSigset: "sigset", oSigignore: "sigignore", oSighold: "sighold", oSigblock: "sigblock", oSigsetmask: "sigsetmask",
	oSigprocmask: "sigprocmask", oPthreadSigmask: "pthread_sigmask", oSigaltstack: "sigaltstack", oFork: "fork", oFork2: "_Fork", oVfork: "vfork",
	oPrctl: "prctl", oPtrace: "ptrace", oSetrlimit: "setrlimit", oSetrlimit64: "setrlimit64", oPrlimit: "prlimit", oPrlimit64: "prlimit64",
	oUmask: "umask", oClose: "close", oCloseRange: "close_range", oClosefrom: "closefrom", oDup2: "dup2", oDup3: "dup3",
	oMunmap: "munmap", oMprotect: "mprotect",
}

var (
	overriding sync.Once
	overrides  map[string]uintptr

	// The assembly reads these.
	originals      [numOverrides]uintptr
	protectedFiles [protectedWords]uint64 // descriptors, as bits, that native code must not close
	keptMask       uint64                 //lint:ignore U1000 the assembly's alone
	endingMask     uint64                 //lint:ignore U1000 the assembly's alone
)

// protectedWords is the number of words of protectedFiles.
const protectedWords = 16

// Overrides returns functions, by name, that images are to call in place of those of the C library.
//
// In guarded calls they turn the end of the thread or process into a fault. They ignore or refuse changes of state that this
// process depends on: actions, masks and the stack of signals, resource limits, files open at the first call of Overrides.
//
// Elsewhere, and in child processes, they call the originals, with two exceptions. Actions and masks of signals that Go uses stay.
// An exit on a thread that native code created ends the process with a message.
func Overrides() map[string]uintptr {
	overriding.Do(func() {
		var wrappers [numOverrides]uintptr
		overrideAddresses(&wrappers)
		overrides = map[string]uintptr{}
		for i, name := range overrideNames {
			at, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
			if err != nil {
				continue // this C library lacks it
			}
			originals[i], overrides[name] = at, wrappers[i]
		}
		for _, sig := range kept {
			keptMask |= 1 << sig
		}
		keptMask |= 1 << unix.SIGCHLD // ignored, it would hide the ends of programs that a script starts
		endingMask = keptMask&^(1<<unix.SIGURG|1<<unix.SIGPIPE|1<<unix.SIGCHLD) | 1<<unix.SIGKILL | 1<<unix.SIGSTOP | 1<<unix.SIGTTIN | 1<<unix.SIGTTOU
		protectFiles()
	})
	return overrides
}

// Overridden returns the C library's function of an override, or 0.
func Overridden(override uintptr) uintptr {
	for i, name := range overrideNames {
		if overrides[name] == override {
			return originals[i]
		}
	}
	return 0
}

//go:noescape
func overrideAddresses(*[numOverrides]uintptr)

// protectFiles records the open files with descriptors below 1024, which native code then cannot close. It records none if the
// system does not list them.
func protectFiles() {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // native code may close any file
	}
	for _, f := range files {
		if n, err := strconv.Atoi(f.Name()); err == nil && n < protectedWords*bits.UintSize {
			protectedFiles[n/bits.UintSize] |= 1 << (n % bits.UintSize)
		}
	}
}

// endedText describes a call of an override that did not return.
func endedText(number int, argument uintptr) string {
	if number < 0 || number >= numEnding {
		return fmt.Sprintf("override %d", number)
	}
	name := overrideNames[number]
	switch {
	case number <= oQuickExit:
		return fmt.Sprintf("it called %s(%d), which would end the process", name, int32(argument))
	case number <= oThrdExit:
		return fmt.Sprintf("it called %s, which would end a thread of this process", name)
	case number <= oExecveat:
		return fmt.Sprintf("it called %s, which would replace the process", name)
	case number == oPthreadCancel:
		return "it called pthread_cancel, which would end a thread of this process"
	case number == oSyscall:
		return fmt.Sprintf("it called syscall(%d), which would end a thread or the process", argument)
	}
	return fmt.Sprintf("it sent this process %s by %s", signalName(int(argument)), name)
}

// threadBlock returns the address of this thread's control block.
func threadBlock() uintptr

// readThread reads the signal mask of Go's threads, and finds the offset of a thread's number in its control block. It stores
// no offset unless exactly one fits several threads.
func readThread() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, 0, uintptr(unsafe.Pointer(&goMask)), unsafe.Sizeof(goMask), 0, 0)
	if errno != 0 {
		return fmt.Errorf("native code: reading the signal mask: %w", errno)
	}
	offsets := make(chan []uintptr)
	for range 2 {
		go func() {
			runtime.LockOSThread() // a thread of its own, neither the caller's nor the other one
			defer runtime.UnlockOSThread()
			offsets <- idOffsets()
		}()
	}
	common := idOffsets()
	for range 2 {
		list := <-offsets
		common = slices.DeleteFunc(common, func(o uintptr) bool { return !slices.Contains(list, o) })
	}
	if len(common) == 1 {
		idOffset = common[0]
	}
	return nil
}

// idOffsets returns the offsets in bytes, in the thread's control block, at which the thread's number is found. It returns nil
// if it cannot read the block.
func idOffsets() (list []uintptr) {
	const first, blockBytes = 0x40, 0x800
	var block [blockBytes / 4]uint32
	at := threadBlock()
	local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&block))}
	local.SetLen(blockBytes)
	n, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{{Base: at, Len: blockBytes}}, 0)
	if err != nil {
		return nil
	}
	for o := first; o < n; o += 4 {
		if block[o/4] == uint32(unix.Gettid()) {
			list = append(list, uintptr(o))
		}
	}
	return list
}

// threadID returns the number of the thread that runs the guard's current call; 0 without a call, or if it is unknown.
func (g Guard) threadID() int {
	if g.place == nil || atomic.LoadUint64(&g.place.thread) == 0 {
		return 0
	}
	return int(atomic.LoadUint64(&g.place.id))
}

// Gone reports whether the thread of the guard's current call has ended.
func (g Guard) Gone() bool {
	id := g.threadID()
	return id != 0 && hasEnded(id)
}

// hasEnded reports whether a thread of this process has ended. The first thread remains as a zombie until the others have ended.
func hasEnded(id int) bool {
	if id != os.Getpid() {
		return unix.Tgkill(os.Getpid(), id, 0) == unix.ESRCH
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", id))
	name := bytes.LastIndexByte(status, ')') // the state follows the name, which may contain any character
	return err == nil && bytes.HasPrefix(status[name+1:], []byte(" Z"))
}

// Deaf reports whether the thread of the guard's current call does not receive the signal of Interrupt: it is blocked, or the
// process ignores it.
func (g Guard) Deaf() bool {
	id := g.threadID()
	if id == 0 {
		return false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", id))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		for _, field := range [...]string{"SigBlk:", "SigIgn:"} {
			if text, ok := strings.CutPrefix(line, field); ok {
				set, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
				if err == nil && set&(1<<(sigBUS-1)) != 0 {
					return true
				}
			}
		}
	}
	return false
}
