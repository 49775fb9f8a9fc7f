// Package queue is the in-order asynchronous command queue of all plugins. The queue adds order, events, waits between
// queues, cancellation, time limits, host functions and failures, as the contract in package offload defines them. Below it
// a plugin supplies one of two:
//
//   - A [Device] is synchronous: its methods run a command to the end on the calling goroutine. The CPU is one.
//   - A [Lane] is asynchronous: it begins commands and reports how far they are. A driver's stream and a connection to another
//     process are lanes.
//
// # Execution
//
// One goroutine at a time, the holder of the queue's role, runs its commands. It is the queue's own worker, or a goroutine that
// waits for the queue. If a caller waits right after a launch, the launch therefore runs on that goroutine, without a hand-over.
// Commands shorter than a hand-over run on the issuing goroutine if the queue is idle. Host functions, and launches that may call
// services of the host, run on the worker only.
//
// The worker starts when there is work, stays for a few milliseconds after the last command, and ends. Meanwhile cheap
// commands do not wake it: it polls within a millisecond; waiters and larger work wake it at once.
//
// A queue that waits for an event of another queue occupies no goroutine: reaching the event restarts it.
//
// A command that fails does not stop the queue: the commands after it still run.
//
// # Lanes
//
// On a queue with a lane the holder of the role pumps. It finishes the commands that the lane has reached, in order. It begins
// those for which the lane's window has space, and releases the role without waiting. The issuing goroutine pumps, so that a
// command reaches an idle lane at once. One goroutine watches: a waiter if there is one, else the worker. It waits for the
// oldest command in flight and pumps. The queue itself runs host functions on the worker, after the commands before them have
// finished. It waits for events itself too, and then begins the commands behind them. A cancelled command that has not begun is
// never passed to the lane; for those in flight the lane is asked to stop. No lock is held during Begin, Flush, Await and Finish of
// a lane.
//
// # State
//
//	          issue                     takeRole                   mayRun
//	idle ───────────────▶ pending ───────────────▶ role held ─────────────▶ running ──▶ head+1, notify
//	  ▲                      ▲                        │   ▲                   │
//	  │      head == tail    │        release         │   │ event reached     │ awaits an event
//	  └──────────────────────┴────────────────────────┘   └──── blocked ◀─────┘
//
// Every field has one writer:
//
//   - tail, closed, backlog, worker, failures, cause, cancelReported: the holder of mu.
//   - head, own, parted, owed: the holder of the role. While all commands have run, the holder of mu may write parted.
//   - role: taken by compare-and-swap; released by its holder, who then looks at tail again.
//   - blocked: set by the holder of the role; cleared by it, by the event or by cancel.
//   - hosting: set by the worker around a host function.
//   - calling: set by the holder of the role while a launch runs that may call services.
//   - dropped: raised by cancel; commands up to it fail with Cancelled instead of running. A dropped wait is owed: later
//     commands still wait for its event.
//
// No command is lost: the issuer publishes tail before it looks at the role, and the holder releases the role before it looks
// at tail.
//
// # Memory
//
// Commands live in slots of a ring that are reused, so that issuing and running a command allocates nothing. The ring grows with
// the number of outstanding commands up to a limit, above which the issuer waits for space. While a host function or a service call
// runs, or an event is awaited, the queue's progress may depend on the issuer. Then it gets space without waiting, up to a much
// larger limit; above that, commands are refused.
//
// # Design
//
// A queue copies the launch's arguments, so that a caller can use one Launch for many launches.
//
// One engine serves synchronous and asynchronous devices, since failures, events, cancellation and waits are equal for all.
// Commands in a driver cannot be dropped, so those beyond the window stay here.
//
// A time limit counts from the moment at which the host sees that the launch is next, because a lane reports ends only.
//
// A service call never runs on a goroutine that waits, since its handler may need that goroutine.
//
// A launch on a lane is checked twice: here at the call, and by the plugin, which does not trust the other side.
package queue
