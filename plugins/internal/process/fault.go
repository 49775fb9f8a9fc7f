package process

import (
	"errors"
	"fmt"
)

// ErrUnsupported is the error, alone or wrapped, of functions that need another platform, or a build without the tag nonative.
var ErrUnsupported = fmt.Errorf("native code: %w on this platform", errors.ErrUnsupported)

// ErrInterrupted is the error of a call that [Guard.Interrupt] ended.
var ErrInterrupted = errors.New("native code: interrupted")

// Fault describes the signal that stopped native code, or a call that would have ended the thread or the process; see [Ended].
type Fault struct {
	Signal  int     // number of the signal
	Code    int     // si_code, the reason, whose meaning depends on the signal
	Address uintptr // accessed address for SIGSEGV and SIGBUS, otherwise the instruction's
	PC      uintptr // address of the instruction
	SP      uintptr // stack pointer at the fault
}

// StackOverflow reports whether the fault is probably a stack overflow: an access near the stack pointer.
func (f *Fault) StackOverflow() bool {
	const near = 64 << 10
	return f.Signal == sigSEGV && f.Code > 0 && f.Address+near > f.SP && f.Address < f.SP+near
}

// Linux numbers of the signals that the guard handles.
const (
	sigILL  = 4
	sigTRAP = 5
	sigABRT = 6
	sigBUS  = 7
	sigFPE  = 8
	sigSEGV = 11
	sigSYS  = 31
)

// Ended marks a Fault for a call of the C library that would have ended the thread or the process. The Signal is then Ended
// plus the function's number in the list of overrides, and the Address an argument of the call.
const Ended = 256

// Error describes the fault: its cause, the accessed address if there is one, and in most cases the address of the instruction.
func (f *Fault) Error() string {
	at := fmt.Sprintf("pc %#x", f.PC)
	const kernel = 0x80 // si_code of a general protection fault, which has no address
	switch {
	case f.Signal >= Ended:
		return "native code: " + endedText(f.Signal-Ended, f.Address)
	case f.Code <= 0 && f.Signal != sigABRT: // sent by kill and its like
		return fmt.Sprintf("native code: %s (sent by native code of this process)", signalName(f.Signal))
	case f.StackOverflow():
		return "native code: stack overflow at " + at
	case f.Signal == sigSEGV && f.Code == kernel:
		return "native code: SIGSEGV (access to a non-canonical address, or a privileged instruction) at " + at
	case f.Signal == sigSEGV:
		return fmt.Sprintf("native code: SIGSEGV (invalid address %#x) at %s", f.Address, at)
	case f.Signal == sigBUS:
		return fmt.Sprintf("native code: SIGBUS (address %#x) at %s", f.Address, at)
	case f.Signal == sigFPE:
		return "native code: SIGFPE (" + arithmetic(f.Code) + ") at " + at
	case f.Signal == sigABRT:
		return "native code: SIGABRT (abort was called)"
	case f.Signal == sigILL:
		return "native code: SIGILL (illegal instruction) at " + at
	}
	return fmt.Sprintf("native code: %s at %s", signalName(f.Signal), at)
}

// signalName returns the name of a signal, or its number as text if it is not one of the usual signals.
func signalName(number int) string {
	names := map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", sigILL: "SIGILL", sigTRAP: "SIGTRAP", sigABRT: "SIGABRT", sigBUS: "SIGBUS",
		sigFPE: "SIGFPE", 9: "SIGKILL", sigSEGV: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU",
		27: "SIGPROF", sigSYS: "SIGSYS"}
	if name, ok := names[number]; ok {
		return name
	}
	return fmt.Sprintf("signal %d", number)
}

func arithmetic(code int) string {
	if code == 1 || code == 2 {
		return "integer division by zero or overflow"
	}
	return "arithmetic exception"
}
