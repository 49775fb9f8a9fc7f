// Package cpu is the plugin whose device is this machine's processor.
//
// It has one device, "cpu", with real work-groups, barriers and shared memory. Images of portable kernel IR are
// compiled by the first engine that can: engines beside the interpreter may refuse a kernel. A launch is cut into
// chunks of work-groups, which the queue's goroutine and the device's workers take until none is left.
//
// A time limit is a timer of the queue, package runtime/queue, whose flag the code polls.
//
// Memory is the host's, off the Go heap, so that host and device share it without copies.
package cpu
