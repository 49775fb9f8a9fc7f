// Package cpu is the plugin for this machine's processor.
//
// Its device "cpu" has work-groups, barriers and shared memory. The first engine that supports a kernel compiles it; the
// last is the interpreter, which supports nearly all kernels. A launch is split into chunks of work-groups or of work-items,
// which the queue's goroutine and the device's workers run in parallel.
//
// The queue (package runtime/queue) has a timer for the time limit, which sets a flag that compiled code polls.
//
// Device memory is host memory off the Go heap, so host and device share it without copies.
//
// # Design
//
// A hand-over costs more than a small kernel. So a goroutine that waits runs the commands of its queue, and brief launches
// run on the issuing one.
//
// Code is compiled at the first launch, which shows the facts that hold. To compile a general form before that took a third of the
// time to the first instruction.
//
// Math.fast.rsqrt uses the processor's estimate and one step of Newton's method. No other function of Math.fast has an
// instruction.
package cpu
