// Package process owns what belongs to the process as a whole, not to a device: the signal actions, which vendor
// libraries replace; the guard that turns a fault in native code into an error; and executable memory.
//
// # Signals
//
// Libraries of vendors install signal handlers when they are loaded or initialised. A nil dereference in Go, which is a
// recoverable panic, then ends the process. Every load and initialisation of such a library goes through
// [KeepSignals], which keeps the mode of the floating-point unit too.
//
// # Faults
//
// [Guard.Call] runs native code by the C calling convention on a system stack, and [Guard.CallHere] generated code that
// soon ends on the goroutine's. A fault in it comes back as a [*Fault]: an invalid address, a division by zero, an illegal
// instruction, an overflow of the system's stack, abort. The first guard installs handlers for SIGSEGV, SIGBUS, SIGFPE,
// SIGILL and SIGABRT in front of Go's. Faults of other code reach Go's handlers, so that panics in Go work as before.
//
// [Guard.Interrupt] ends a call that does not end by itself, with a signal that no other code sends.
//
// What the native code held at the fault (locks, memory of malloc) stays held: generated code holds nothing, code of
// others may be unusable afterwards. Faults on threads that native code made itself are not caught.
//
// The handlers and the table of guarded calls are global by nature: the kernel knows one action per signal and process.
package process
