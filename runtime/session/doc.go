// Package session holds the objects that Go programs and script bindings work with, on top of the contract in package
// offload: a [Session] of plugins, its devices, typed buffers and views, queues, events, libraries, kernels and bound
// calls.
//
//	s := session.Open(session.Options{Plugins: plugins})
//	defer s.Close(ctx)
//	dev, err := s.Device(ctx, "cpu")
//	x, err := dev.NewBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{n}})
//	lib, err := s.Register(ctx, "saxpy", image)
//	k, err := lib.Kernel(ctx, dev, "saxpy")
//	call, err := k.Bind(session.Config{Size: []int{n}}, session.F32(2), session.Buf(x), session.Buf(y))
//	q, err := dev.Queue()
//	err = q.Launch(call) // as often as wanted; allocates nothing
//	err = q.Sync(ctx)
//
// # What it adds to the contract
//
//   - Plugins are opened when they are first needed; devices have ids ("cpu", "cuda:0").
//   - Buffers have a type, one to three dimensions and a label, and start as zero. Everything that a caller can get
//     wrong is refused at the call, with a hint.
//   - Hazards: an allocation remembers which commands of which queues used which range of it, and a command on another
//     queue waits for those that it conflicts with, by events. Use on one queue costs nothing, since a queue is in
//     order. [QueueOptions] can switch it off.
//   - Free never pulls memory from under a command: it takes effect when the commands in flight have finished.
//   - [Session.Live] lists what exists, so that leaks are found.
//
// # Failures
//
// A wrong command is refused at the call. A command that fails while it runs fails its queue: the next [Queue.Sync],
// synchronous read or [Event.Sync] gives the failure, once, and says how many there are besides. An event gives the
// failure of its own commands, those given since the event before it, each time it is asked, and Queue.Sync leaves to an
// event what somebody waits for there. [Queue.Settle] and [Event.Settle] wait and give no failure.
//
// All methods may be called by several goroutines, but a [Call] belongs to one at a time.
package session
