// Package offload is the contract between the runtime and its plugins. It defines the behaviour of platforms, devices, queues,
// memory blocks, images, programs, kernels and events, and their errors. It imports nothing of this module.
//
// A plugin implements the required interfaces in this package, which are small, and any of the optional ones, which
// the runtime finds by type assertion. The packages beside this one build common services on the contract, so that a
// plugin stays thin: typed buffers, labels, waits between queues, pools, leak reports and image matching.
//
// # Life cycle
//
//	Plugin.Open → Platform → Devices → Device
//	Device.Allocate → Memory → Free
//	Platform.CheckImage, Device.CheckImage → Device.Load → Program → Kernel → Unload
//	Device.NewQueue → Queue → Submit, Retrieve, Exchange, Fill, Launch, Record, Wait, Host → Sync → Close
//
// # Order
//
// A queue runs its commands in the order of issue, each after the previous one has finished. Commands may return before
// they have run. Only events order two queues: [Queue.Record] on one, [Queue.Wait] on the other.
//
// # Memory
//
// A command uses memory, of devices and of the host, after the previous command of its queue has finished and before it
// finishes itself. So commands of one queue may share host memory: a Submit after a Retrieve into the same slice sends what the
// Retrieve wrote. Between queues, events order host memory as they order memory of devices. A queue that takes host bytes early,
// or delivers them late, first waits for its commands that use these bytes. Until a command has finished, the caller neither
// writes host memory that it reads nor uses host memory that it writes.
//
// # Errors
//
// Every error that leaves a plugin is an [*Error] or wraps one. A command that is wrong is refused at the call. A
// command that fails while it runs fails its queue, whose later commands still run. The first failure is reported once, by
// the next [Queue.Sync] or by the [Event] that a caller waits for.
//
// # Lost devices
//
// A device that implements [Losable] may be lost at any time. From then on:
//
//   - Commands, allocations, loads and new queues are refused with DeviceLost.
//   - Commands that were issued end; those that had not finished fail with DeviceLost. After that no host memory of a
//     command is written, and all events are reached, those included that Record and Mark still return.
//   - Free, Unload, Close and UnregisterLibrary succeed.
//   - Queues of other devices that wait for an event of the lost device go on.
//
// # Design
//
// The contract is small and has no policy; package session adds what users want and no plugin should write twice.
//
// An event has the failures of its own commands, and Sync those that no event reported, so none is lost and none is reported
// twice.
//
// [Bounded] waits for space apart from Launch, so a launch does not pay for watching a context.
//
// An event has Since and no time, because a driver may measure only between two events.
//
// Frees on a lost device succeed: code that releases resources runs on every path and could do nothing about a failure.
//
// Optional interfaces keep the contract small. It has no frees in queue order, no graphs and no compiler without a device,
// since no driver here would benefit from them.
package offload
