package queue

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	firstSlots = 16      // slots of a new queue
	softSlots  = 4096    // number of outstanding commands from which WaitForSpace blocks: more than [offload.BoundedCommands]
	fullSlots  = 5120    // a full ring of this number of slots or more makes issuing block: several commands may follow one WaitForSpace
	hardSlots  = 1 << 20 // number of outstanding commands from which further ones are refused

	// wakeUpCost is the estimated latency of waking a goroutine on another core. Less work does not justify it.
	wakeUpCost = 20 * time.Microsecond

	copyBandwidth = 10 // bytes per nanosecond, for estimates

	// An idle queue runs cheap commands on the issuing goroutine: events, launches estimated at briefLaunches or less, and
	// copies and fills of up to copyAtOnce bytes, which fit the caches.
	copyAtOnce    = 4 << 20
	briefLaunches = time.Microsecond

	// leastPrompt is the size in bytes from which waiting for a copy to a device takes less time than copying its bytes to new memory.
	leastPrompt = 256 << 10
)

// Options are the options of a queue.
type Options struct {
	Label  string
	Device string // id, for errors
	Clock  Clock

	// Deferred makes all commands run on the queue's goroutines or on those of waiting callers, never on the issuing one.
	Deferred bool
}

// Queue is an in-order queue: it implements [offload.Queue].
type Queue struct {
	dev   Device // nil if lane is set
	lane  Lane   // lane of an asynchronous device; see pump.go
	opts  Options
	spin  bool        // polling briefly beats sleeping: there are several processors
	timer *time.Timer // timer of the running command's time limit

	ring atomic.Pointer[ring]
	tail atomic.Uint64 // the number of the newest command; written under mu
	_    [48]byte      // keeps the fields of issuer and runner on separate cache lines

	runner
	_ [48]byte

	forgotten forgotten
	flight    flight

	unreported

	mu      sync.Mutex
	closed  bool
	backlog time.Duration // estimated time of the commands that have not started
	sleepers
	immediate Launch // reused by launches that run at once
	reports
}

// runner is the state of the goroutine that runs commands. Other goroutines read it.
type runner struct {
	head     atomic.Uint64         // the number of the newest command that has finished; written by the role's holder
	role     atomic.Bool           // held by the goroutine that runs commands
	hosting  atomic.Bool           // a host function runs
	calling  atomic.Bool           // a launch runs that may call services of the host
	blocked  atomic.Pointer[Event] // the event that the next command waits for; nil if the queue is not blocked
	stop     Stop
	never    Stop          // for launches that run without becoming commands
	deadline atomic.Int64  // clock time at which the running launch expires; see expire
	timed    atomic.Uint64 // number of the running launch with a time limit; 0 if there is none
	dropped  atomic.Uint64 // commands up to this number are cancelled
	waiting  atomic.Int32  // number of goroutines that sleep in parked
	helping  atomic.Int32  // number of waiters that run commands of the queue that blocks this one
	failed   atomic.Bool   // failures is not empty
	guard    atomic.Pointer[guard]
	times    atomic.Pointer[times] // nil: not kept
}

// unreported holds the first failure since the last event, and the events of dropped waits. The holder of the role writes it. While all
// commands have run, the holder of Queue.mu may write parted, too.
type unreported struct {
	own       error    // the first failure of the commands after command parted; nil if none failed
	ownNumber uint64   // number of the command that failed with own
	parted    uint64   // number of the last event that is not a mark
	owed      []*Event // events whose waits were cancelled; later commands still wait for them
}

// sleepers are the worker and the goroutines that wait for commands, guarded by Queue.mu.
type sleepers struct {
	worker  workerState
	kicked  bool // the worker checks for work once more before it sleeps
	wake    chan struct{}
	workers sync.WaitGroup
	parked  []*waiter
	spare   []*waiter
}

// reports are the failures that no caller has received, guarded by Queue.mu.
type reports struct {
	failures       []failure // unreported, in order
	cause          error     // cause of the last cancellation
	cancelReported uint64    // the cancellation of commands up to this number has been reported
	taken          uint64    // TakeFailure has returned the failures up to this command
	takenBefore    uint64    // number of the newest command at that time
	stopped        error     // failure of the launch that the last cancellation ended, until Stopped returns it
}

// place is an operand of a copy or a fill.
type place struct {
	bytes  []byte         // memory of the host, or device memory that a synchronous device can access
	memory offload.Memory // nil: the host's
	offset int64          // in memory
	size   int64          // bytes from the first to the last one of the range
}

func onHost(b []byte) place { return place{bytes: b, size: int64(len(b))} }

// part returns the n bytes at an offset of p as an operand.
func (p place) part(offset, n int64) place {
	if p.bytes != nil {
		p.bytes = p.bytes[offset : offset+n : offset+n]
	}
	p.offset += offset
	p.size = n
	return p
}

func (p *place) forLane() Place {
	if p.memory == nil {
		return Place{Host: p.bytes}
	}
	return Place{Memory: p.memory, Offset: p.offset}
}

// New returns a queue on a synchronous device.
func New(dev Device, opts Options) *Queue {
	q := &Queue{dev: dev, opts: opts, spin: runtime.GOMAXPROCS(0) > 1, sleepers: sleepers{wake: make(chan struct{}, 1)}}
	q.ring.Store(newRing(firstSlots))
	q.timer = time.AfterFunc(time.Hour, q.expire)
	q.timer.Stop()
	return q
}

// Submit issues a copy from the host to the device. dst.Size must be len(src).
func (q *Queue) Submit(dst offload.Span, src []byte) error {
	const op = "submit"
	to, err := q.span(op, dst)
	if err != nil {
		return err
	}
	if to.size != int64(len(src)) {
		return q.refuse(offload.InvalidSize, op, "%d bytes of the host do not fit a range of %d bytes", len(src), to.size)
	}
	return q.copy(op, to, onHost(src))
}

// SubmitNow is like Submit, but the caller may change src after the return: it implements [offload.PromptSubmitter]. It copies
// src straight to the device if all commands have run, and otherwise submits a copy of src. A deferred queue always submits a
// copy. So does a queue with a lane, unless the lane is prompt and src has at least leastPrompt bytes.
func (q *Queue) SubmitNow(dst offload.Span, src []byte) error {
	const op = "submit"
	if l, ok := q.lane.(PromptLane); ok && l.Prompt() && len(src) >= leastPrompt && !q.opts.Deferred {
		if err := q.lock(op); err != nil {
			return err
		}
		idle := q.mayRunAtOnce()
		q.mu.Unlock()
		if idle {
			err := q.Submit(dst, src)
			if err == nil {
				q.arrive(context.Background(), q.tail.Load())
			}
			return err
		}
	}
	to, err := q.span(op, dst)
	if err != nil {
		return err
	}
	if q.lane == nil && !q.opts.Deferred && to.size == int64(len(src)) {
		if err := q.lock(op); err != nil {
			return err
		}
		if q.mayRunAtOnce() {
			q.dev.Copy(to.bytes, src, &q.never)
			q.mu.Unlock()
			return nil
		}
		q.mu.Unlock()
	}
	return q.Submit(dst, memory.Clone(src))
}

// Retrieve issues a copy from the device to the host. src.Size must be len(dst).
func (q *Queue) Retrieve(dst []byte, src offload.Span) error {
	const op = "retrieve"
	from, err := q.span(op, src)
	if err != nil {
		return err
	}
	if from.size != int64(len(dst)) {
		return q.refuse(offload.InvalidSize, op, "a range of %d bytes does not fit %d bytes of the host", from.size, len(dst))
	}
	return q.copy(op, onHost(dst), from)
}

// Exchange issues a copy between ranges in memories that the device can access. Ranges of different sizes are an InvalidSize
// error, and ranges that overlap an InvalidArgument error.
func (q *Queue) Exchange(dst, src offload.Span) error {
	const op = "exchange"
	to, err := q.span(op, dst)
	if err != nil {
		return err
	}
	from, err := q.span(op, src)
	if err != nil {
		return err
	}
	if to.size != from.size {
		return q.refuse(offload.InvalidSize, op, "ranges of %d and %d bytes differ", to.size, from.size)
	}
	if dst.Memory == src.Memory && dst.Offset < src.Offset+src.Size && src.Offset < dst.Offset+dst.Size {
		return q.refuse(offload.InvalidArgument, op, "the ranges [%d, %d) and [%d, %d) overlap",
			dst.Offset, dst.Offset+dst.Size, src.Offset, src.Offset+src.Size)
	}
	return q.copy(op, to, from)
}

func (q *Queue) copy(op string, dst, src place) error {
	if dst.size == 0 {
		return nil
	}
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	c.kind, c.dst, c.src = copyBytes, dst.bytes, src.bytes
	if q.lane != nil {
		g := c.forLane()
		g.Kind, g.Dst, g.Src, g.Size = CopyBytes, dst.forLane(), src.forLane(), dst.size
	}
	q.publish(time.Duration(dst.size/copyBandwidth), dst.size <= copyAtOnce)
	return nil
}

// Fill repeats pattern, which has 1, 2, 4, 8 or 16 bytes, over dst. The size of dst must be a multiple of the pattern's.
func (q *Queue) Fill(dst offload.Span, pattern []byte) error {
	const op = "fill"
	to, err := q.span(op, dst)
	if err != nil {
		return err
	}
	switch len(pattern) {
	case 1, 2, 4, 8, 16:
	default:
		return q.refuse(offload.InvalidArgument, op, "the pattern has %d bytes", len(pattern)).
			WithHint("a pattern has 1, 2, 4, 8 or 16 bytes")
	}
	if to.size%int64(len(pattern)) != 0 {
		return q.refuse(offload.InvalidSize, op, "%d bytes are no multiple of the pattern's %d", to.size, len(pattern))
	}
	if to.size == 0 {
		return nil
	}
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	c.kind, c.dst, c.memory, c.width = fillBytes, to.bytes, to.memory, copy(c.pattern[:], pattern)
	if q.lane != nil {
		g := c.forLane()
		g.Kind, g.Dst, g.Size, g.Pattern = FillBytes, to.forLane(), to.size, c.pattern[:c.width]
	}
	q.publish(time.Duration(to.size/copyBandwidth), to.size <= copyAtOnce)
	return nil
}

// Launch issues a launch. On a synchronous device, a short one without services runs before Launch returns if all commands have run and
// the queue is not deferred.
func (q *Queue) Launch(l *offload.Launch) error {
	const op = "launch"
	if l.Kernel == nil {
		return q.refuse(offload.InvalidArgument, op, "there is no kernel")
	}
	if q.lane != nil {
		return q.launchOnLane(op, l)
	}
	if err := q.lock(op); err != nil {
		return err
	}
	if l.Prepared != nil && !q.opts.Deferred && q.mayRunAtOnce() {
		if q.immediate == nil {
			q.immediate = q.dev.NewLaunch()
		}
		if ran, err := q.immediate.RunAtOnce(l); ran {
			q.over(op, err)
			return nil
		}
	}
	c, err := q.slot(op)
	if err != nil {
		return err
	}
	if c.launch == nil {
		c.launch = q.dev.NewLaunch()
	}
	if err := c.launch.Set(l); err != nil {
		q.mu.Unlock()
		return err
	}
	c.kind, c.kernel, c.pos, c.timeout = launchKernel, l.Kernel, l.Pos, l.Timeout
	c.calls = l.Services != nil && l.Kernel.Info().CallsServices()
	cost, sure := c.launch.Cost()
	if sure && !c.calls && cost <= briefLaunches && !q.opts.Deferred && q.mayRunAtOnce() {
		err := q.runKernel(c, &q.never)
		c.clear()
		q.over(op, err)
		return nil
	}
	c.launch.Detach()
	q.publish(cost, false)
	return nil
}

// mayRunAtOnce reports whether all commands have run and no cancelled wait is owed. A launch or an event then need not become a command,
// and the caller may write the role's fields. The caller holds the queue's lock, which keeps others from issuing.
func (q *Queue) mayRunAtOnce() bool { return !q.pending() && len(q.owed) == 0 }

// over unlocks the queue after a launch that ran without becoming a command. If the launch failed, over issues a command that
// records the failure.
func (q *Queue) over(op string, err error) {
	if err == nil {
		q.mu.Unlock()
		return
	}
	if c, full := q.slot(op); full == nil {
		c.kind, c.err = reportFailure, err
		q.publish(0, true)
	}
}

// Host calls fn in order with the other commands, on a goroutine of the queue. An error or a panic of fn is a failure of the queue.
func (q *Queue) Host(fn func() error) error {
	const op = "host"
	if fn == nil {
		return q.refuse(offload.InvalidArgument, op, "there is no function")
	}
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	c.kind, c.fn = callHost, fn
	q.publish(wakeUpCost, false)
	return nil
}

// Record returns an event that completes when the commands before it have completed.
func (q *Queue) Record() (offload.Event, error) { return q.record("record", false, false) }

// Mark returns an event that covers no commands: it implements [offload.Marker].
func (q *Queue) Mark() (offload.Event, error) { return q.record("mark", true, false) }

// Stamp returns a mark with a time on the device's clock: it implements [offload.Stamper].
func (q *Queue) Stamp() (offload.Event, error) { return q.record("mark", true, true) }

func (q *Queue) record(op string, mark, stamped bool) (offload.Event, error) {
	if err := q.lockOpen(op); err != nil {
		return nil, err
	}
	if q.mayRunAtOnce() && q.own == nil && (q.lane == nil || mark && !stamped) {
		ev := &Event{queue: q, number: q.tail.Load(), mark: mark, time: q.opts.Clock.Now()}
		ev.done.Store(true)
		if !mark {
			q.parted = ev.number
		}
		q.mu.Unlock()
		return ev, nil
	}
	c, err := q.slot(op)
	if err != nil {
		return nil, err
	}
	ev := &Event{queue: q, number: q.tail.Load() + 1, mark: mark, stamped: stamped}
	c.kind, c.event = recordEvent, ev
	if q.lane != nil {
		c.forLane().Kind = RecordEvent
	}
	q.publish(0, true)
	return ev, nil
}

// Wait makes later commands wait for the event. An event of this queue, or one that was reached, has no effect. Events that are
// not of this package are an error.
func (q *Queue) Wait(ev offload.Event) error {
	const op = "wait"
	e, ok := ev.(*Event)
	if !ok || e == nil {
		return q.refuse(offload.InvalidEvent, op, "the event is not of this platform").
			WithHint("wait for it on the host, with its sync")
	}
	if e.queue == q || e.done.Load() {
		return nil // already reached
	}
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	c.kind, c.event = awaitEvent, e
	q.publish(0, false)
	return nil
}

// Idle reports whether all commands have run. It makes pending ones run soon.
func (q *Queue) Idle() bool {
	if q.pending() {
		q.nudge()
		return !q.pending()
	}
	return true
}

// Close waits for the commands and ends the queue. It returns the first unreported failure. A second Close does nothing.
func (q *Queue) Close() error {
	q.mu.Lock()
	again := q.closed
	q.closed = true
	q.mu.Unlock()
	if again {
		return nil
	}
	last := q.tail.Load()
	q.await(wait{target: last})
	q.mu.Lock()
	if q.worker == asleep { // it is to observe that the queue is closed
		q.worker = awake
		q.wake <- struct{}{}
	}
	q.mu.Unlock()
	q.workers.Wait()
	q.timer.Stop()
	if g := q.guard.Swap(nil); g != nil {
		g.stop()
	}
	q.closeLane()
	return q.take(last)
}

// whole returns all of m as an operand, or an error if the device cannot access m.
func (q *Queue) whole(op string, m offload.Memory) (place, error) {
	if m == nil {
		return place{}, q.refuse(offload.InvalidArgument, op, "there is no memory")
	}
	if q.lane != nil {
		if err := q.lane.Check(m); err != nil {
			return place{}, err
		}
		return place{memory: m, size: m.Size()}, nil
	}
	b, err := q.dev.Bytes(m)
	if err != nil {
		return place{}, err
	}
	return place{bytes: b, memory: m, size: int64(len(b))}, nil
}

// span returns a range of memory as an operand. It returns an error if the range leaves the memory, or the device cannot access it.
func (q *Queue) span(op string, s offload.Span) (place, error) {
	all, err := q.whole(op, s.Memory)
	if err != nil {
		return place{}, err
	}
	if s.Offset < 0 || s.Size < 0 || s.Offset > all.size || s.Size > all.size-s.Offset {
		return place{}, q.refuse(offload.InvalidSize, op, "%d bytes at offset %d leave the memory of %d bytes", s.Size, s.Offset, all.size)
	}
	return all.part(s.Offset, s.Size), nil
}

// lock locks the queue for a command. It returns an error, with the queue not locked, if the queue was closed or the device is
// lost.
func (q *Queue) lock(op string) error {
	q.mu.Lock()
	if q.closed || q.flight.lost.Load() != nil {
		return q.unlockRefused(op)
	}
	return nil
}

// unlockRefused unlocks the queue and returns the reason why it accepts no commands.
func (q *Queue) unlockRefused(op string) error {
	q.mu.Unlock()
	if lost := q.flight.lost.Load(); lost != nil {
		return q.lostError(op, *lost)
	}
	return q.refuse(offload.Closed, op, "the queue was closed")
}

// lockOpen is like lock, but also locks the queue of a lost device.
func (q *Queue) lockOpen(op string) error {
	q.mu.Lock()
	if q.closed {
		return q.unlockRefused(op)
	}
	return nil
}

// begin locks the queue and returns the slot of the next command, to be filled and published. After an error the queue is
// not locked.
func (q *Queue) begin(op string) (*command, error) {
	if err := q.lock(op); err != nil {
		return nil, err
	}
	return q.slot(op)
}

// slot returns the slot of the next command of the locked queue, as begin does. It may unlock the queue to wait for space. After an error
// the queue is not locked.
func (q *Queue) slot(op string) (*command, error) {
	for {
		r, tail := q.ring.Load(), q.tail.Load()
		n := tail - q.head.Load()
		if n < uint64(len(r.slots)) {
			c := r.at(tail + 1)
			c.op = op
			return c, nil
		}
		switch {
		case n >= hardSlots:
			q.mu.Unlock()
			return nil, q.refuse(offload.OutOfResources, op, "%d commands are outstanding", n).
				WithHint("sync the queue from time to time")
		case n < fullSlots || q.hosting.Load() || q.calling.Load() || q.blocked.Load() != nil:
			q.ring.Store(r.grown(tail))
		default:
			q.mu.Unlock()
			q.await(wait{target: tail - n + n/4, slotOnly: true}) // waits for several slots, so that later commands need not wait
			if err := q.lock(op); err != nil {
				return nil, err
			}
		}
	}
}

// publish issues the command whose slot begin returned, and unlocks the queue. With a lane, publishToLane starts the command.
// Otherwise an idle queue that is not deferred runs it at once if atOnce is set. In other cases the worker is woken at once if
// the estimated costs of all commands that wait, this one included, reach wakeUpCost.
func (q *Queue) publish(cost time.Duration, atOnce bool) {
	n := q.tail.Load()
	idle := q.head.Load() == n
	if q.lane != nil {
		q.publishToLane(n + 1)
		return
	}
	if idle && atOnce && !q.opts.Deferred && q.role.CompareAndSwap(false, true) {
		q.tail.Store(n + 1)
		q.mu.Unlock()
		q.drain(n+1, false)
		q.release()
		return
	}
	if idle {
		q.backlog = 0
	}
	q.backlog += cost
	q.tail.Store(n + 1)
	q.ensure(q.backlog >= wakeUpCost)
	q.mu.Unlock()
}

func (q *Queue) pending() bool { return q.head.Load() != q.tail.Load() }
