// Package cpu is the plugin for this machine's processor.
//
// Its device "cpu" has work-groups, barriers and shared memory. The first engine that supports a kernel compiles it; the
// interpreter supports all kernels. A launch is split into chunks of work-groups, which the queue's goroutine and the
// device's workers run in parallel.
//
// The queue (package runtime/queue) has a timer for the time limit, which sets a flag that compiled code polls.
//
// Device memory is host memory off the Go heap, so host and device share it without copies.
package cpu
