// Package process manages process-wide state: signal handlers, which vendor libraries replace; the guard that turns faults
// in native code into errors; and executable memory.
//
// # Signals
//
// Vendor libraries install signal handlers when they are loaded or initialized. A nil dereference in Go, normally a
// recoverable panic, then ends the process. So each load and initialization of such a library must go through [KeepSignals],
// which also restores the mode of the floating-point unit.
//
// # Faults
//
// [Guard.Call] runs native code by the C calling convention on a system stack; [Guard.CallHere] runs short generated code on
// the goroutine's stack. A fault is returned as a [*Fault]: an invalid address, a division by zero, an illegal instruction,
// an overflow of the system's stack, abort. The first guard or call of [KeepSignals] installs handlers for SIGSEGV, SIGBUS,
// SIGFPE, SIGILL, SIGTRAP, SIGABRT and SIGSYS in front of Go's. Faults of Go code reach Go's handlers, so panics in Go work as
// before.
//
// [Guard.Interrupt] ends an endless call, by a signal that no other code sends.
//
// Locks and malloc memory of native code stay held after a fault. Generated code holds none; other code may be unusable
// afterwards. [EnterForeign] and [WatchForeign] catch faults on threads that native code created.
//
// The handlers and the table of guarded calls are global, since a process has one action per signal.
//
// # Design
//
// A native call is interrupted by a signal and does not run in another process, because buffers are memory of this one. The
// signal goes to all threads; one with nothing to end ignores it.
//
// The guard sets the floating-point mode, since a library built with -ffast-math changes that of its thread.
package process
