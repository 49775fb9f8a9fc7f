// Package queue is the in-order asynchronous command queue for plugins whose device is this process. A plugin gives a
// [Device] that copies, fills and launches; the queue brings order, events, waits between queues, cancellation, time
// limits, host functions and failures, as the contract in package offload says.
//
// # Who runs the commands
//
// A queue has at most one goroutine at a time that runs its commands, the holder of its role. Either its own worker
// takes the role, or a goroutine that waits for the queue: a launch that is waited for at once runs on the goroutine
// that waits, without any hand-over. What is shorter than a hand-over runs on the goroutine that gives it if the queue is
// idle. The worker is started when there is work, stays for a few milliseconds after
// the last command, and ends. While it stays, cheap commands do not wake it: it looks by itself within a
// millisecond, and who waits, asks or adds more work than a wake-up costs makes it start at once.
//
// A queue that waits for an event of another queue holds no goroutine: the event starts it again.
//
// # Memory
//
// Commands live in slots that are used again, so that giving and running a command allocates nothing. There are more
// slots as more commands are outstanding, up to a limit; then the caller waits for room. Where the queue cannot get on
// without others (a host function runs, or an event is awaited) the caller might be one of them, so that it gets
// room without waiting, up to a much larger limit, where commands are refused.
package queue
