// Package session has the managed objects of Go programs and script bindings, on top of the contract in package offload. A
// [Session] of plugins has devices, typed buffers and views, queues, events, libraries, kernels and bound calls.
//
//	s := session.Open(session.Options{Plugins: plugins})
//	defer s.Close(ctx)
//	dev, err := s.Device(ctx, "cpu")
//	x, err := dev.NewBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{n}})
//	lib, err := s.Register(ctx, "saxpy", image)
//	k, err := lib.Kernel(ctx, dev, "saxpy")
//	call, err := k.Bind(session.Config{Size: []int{n}}, session.F32(2), session.Buf(x), session.Buf(y))
//	q, err := dev.Queue()
//	err = q.Launch(call) // any number of times; allocates nothing
//	err = q.Sync(ctx)
//
// # Additions to the contract
//
//   - Plugins are opened when they are first needed; devices have ids ("cpu", "cuda:0").
//   - Buffers have a type, one to three dimensions and a label, and start as zero. Wrong calls are refused at once.
//   - Hazards: an allocation records which commands of which queues accessed which range of it. A command on another
//     queue waits, by events, for the commands that it conflicts with. Accesses from one queue cost nothing, since a
//     queue runs in order. [QueueOptions] can switch hazards off.
//   - Copies between devices wait for both: they count as accesses of the queue and of the other device's default queue.
//     Host memory between the devices belongs to the copy.
//   - Free takes effect when the commands in flight have finished.
//   - [Session.Live] lists the live objects, so that leaks are found.
//
// # Failures
//
// A wrong command is refused at the call. A command that fails while it runs fails its queue. The next [Queue.Sync], synchronous
// read or [Event.Sync] returns the failure, once, with the number of further ones. An event returns the failure of the commands
// issued since the previous event, at each call. Queue.Sync skips failures of events that are being waited for. [Queue.Settle] and
// [Event.Settle] wait and return no failure.
//
// All methods may be called by several goroutines, but a [Call] belongs to one at a time.
//
// # Design
//
// Engines have default queues of their own, so a fault of one engine's kernel is no error of another's script.
//
// A queue notes its uses of buffers before it passes a command to the plugin, so a refused launch uses up a number.
//
// Freeing a buffer polls events: a wait would swallow the queue's first failure.
//
// The library of a script's kernel ends with the garbage collection of the kernel, since scripts have no statement for it.
package session
