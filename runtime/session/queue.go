package session

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// QueueOptions are the options of a queue.
type QueueOptions struct {
	Label     string           // default: "queue N"
	NoHazards bool             // commands do not wait for other queues by themselves
	Unlisted  bool             // [Session.Live] does not list it: its maker keeps it for itself
	Pos       offload.Position // where it is made
}

// Queue is an in-order queue of commands. Commands return before they have run.
type Queue struct {
	device   *Device
	raw      offload.Queue
	bounded  offload.Bounded // raw, or nil if its commands never wait for room
	object   Object
	hazards  bool
	implicit bool // a default queue

	ended    chan struct{}   // closed when the plugin's queue has ended
	waits    context.Context // of host functions that wait for other platforms
	endWaits context.CancelFunc

	issued atomic.Uint64 // commands given so far; a command's number is its sequence number
	done   atomic.Uint64 // commands known to have run

	mu      sync.Mutex // orders commands; held before the locks of resources
	closed  bool
	waited  []clock // how far other queues are waited for
	pending []*Event

	marks    sync.Mutex
	lastMark mark
}

// clock is a position in a queue.
type clock struct {
	queue *Queue
	seq   uint64
}

// mark is an event and what it stands for: the first seq commands of its queue have run.
type mark struct {
	event offload.Event
	seq   uint64
}

// NewQueue makes a queue.
func (d *Device) NewQueue(opts QueueOptions) (*Queue, error) {
	q, err := d.newQueue(opts, false)
	if err != nil {
		return nil, err
	}
	d.session.live.add(liveEntry{object: q.object, unlisted: opts.Unlisted})
	return q, nil
}

func (d *Device) newQueue(opts QueueOptions, implicit bool) (*Queue, error) {
	if err := d.session.making("create queue", d.id, opts.Label); err != nil {
		return nil, err
	}
	defer d.session.made()
	id := d.session.serial.Add(1)
	if opts.Label == "" {
		opts.Label = fmt.Sprintf("queue %d", id)
	}
	raw, err := d.raw.NewQueue(offload.QueueOptions{Label: opts.Label})
	if err != nil {
		return nil, located(err, d.id, opts.Label)
	}
	q := &Queue{device: d, raw: raw, hazards: !opts.NoHazards, implicit: implicit,
		object: Object{ID: id, Kind: "queue", Label: opts.Label, Device: d.id, Pos: opts.Pos}}
	q.bounded, _ = raw.(offload.Bounded)
	q.ended = make(chan struct{})
	q.waits, q.endWaits = context.WithCancel(context.Background())
	d.addQueue(q)
	return q, nil
}

// Device is the queue's device.
func (q *Queue) Device() *Device { return q.device }

// Label is the queue's label.
func (q *Queue) Label() string { return q.object.Label }

// enter begins a command that uses what touches says: it locks the queue, checks that the resources are alive, notes the
// uses, and makes the queue wait for conflicting commands of others. After nil, exit must follow. The resources, which are
// sorted, are locked only meanwhile: who conflicts with the command waits until it has been given, see given.
func (q *Queue) enter(op string, touches []touch, always bool) error {
	if q.issued.Load()-q.done.Load() >= offload.BoundedCommands {
		if err := q.WaitForSpace(context.Background()); err != nil { // before anything is locked
			return err
		}
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return closedError(op, "queue", q.object.Label).On(q.device.id, q.object.Label)
	}
	if len(touches) == 0 {
		return nil
	}
	lockAll(touches)
	seq := q.issued.Load() + 1
	var err error
	for i := range touches {
		t := &touches[i]
		if t.res.closed {
			err = closedError(op, t.res.kind, t.res.label).On(q.device.id, t.res.label)
			break
		}
		if err = q.order(t, seq, always); err != nil {
			break
		}
	}
	unlockAll(touches)
	if err != nil {
		q.exit(touches, false)
	}
	return err
}

// exit ends a command; issued says whether the plugin took it. If it did not, but uses were noted, its number stands for
// a command that does nothing.
func (q *Queue) exit(touches []touch, issued bool) {
	if issued || len(touches) > 0 {
		q.issued.Store(q.issued.Load() + 1)
	}
	q.mu.Unlock()
}

// given waits until the plugin has been given command seq, whose uses are noted: whoever is about to has locked its own queue
// only.
func (q *Queue) given(seq uint64) {
	for look := 0; q.issued.Load() < seq; look++ {
		if look < yields {
			runtime.Gosched()
		} else {
			time.Sleep(yieldSleep)
		}
	}
}

// A command is mostly given within a microsecond; one that waits for room is when a command before it has ended.
const (
	yields     = 100
	yieldSleep = 20 * time.Microsecond
)

// lockAll locks the resources, which are sorted; one may occur several times.
func lockAll(touches []touch) {
	for i := range touches {
		if i == 0 || touches[i].res != touches[i-1].res {
			touches[i].res.mu.Lock()
		}
	}
}

func unlockAll(touches []touch) {
	for i := range touches {
		if i == 0 || touches[i].res != touches[i-1].res {
			touches[i].res.mu.Unlock()
		}
	}
}

// mark gives an event that is reached when the first seq commands have run. It does not need q.mu, so that a queue may
// be marked while another is being filled.
func (q *Queue) mark(seq uint64) (mark, error) {
	q.given(seq)
	q.marks.Lock()
	defer q.marks.Unlock()
	if q.lastMark.event != nil && q.lastMark.seq >= seq {
		return q.lastMark, nil
	}
	n := q.issued.Load()
	record := q.raw.Record
	if m, ok := q.raw.(offload.Marker); ok {
		record = m.Mark
	}
	ev, err := record()
	if err != nil {
		return mark{}, located(err, q.device.id, q.object.Label)
	}
	q.lastMark = mark{event: ev, seq: n}
	return q.lastMark, nil
}

// waitFor lets later commands of q wait until other has run its first seq commands. q.mu is held.
func (q *Queue) waitFor(other *Queue, seq uint64) error {
	if q.waitsFor(other) >= seq {
		return nil
	}
	m, err := other.mark(seq)
	if err != nil {
		return err
	}
	return q.waitForMark(other, m)
}

func (q *Queue) waitForMark(other *Queue, m mark) error {
	var err error
	if other.device.platform == q.device.platform {
		err = q.raw.Wait(m.event)
	} else {
		err = q.raw.Host(func() error { return m.await(q.waits) })
	}
	if err != nil {
		return located(err, q.device.id, q.object.Label)
	}
	for i := range q.waited {
		if q.waited[i].queue == other {
			q.waited[i].seq = max(q.waited[i].seq, m.seq)
			return nil
		}
	}
	q.waited = slices.DeleteFunc(q.waited, func(c clock) bool { return c.seq <= c.queue.done.Load() })
	q.waited = append(q.waited, clock{other, m.seq})
	return nil
}

func (q *Queue) waitsFor(other *Queue) uint64 {
	for i := range q.waited {
		if q.waited[i].queue == other {
			return q.waited[i].seq
		}
	}
	return 0
}

// await waits for a mark and leaves failures to others.
func (m mark) await(ctx context.Context) error {
	err := m.event.Settle(ctx)
	if ended := contextError(ctx, "wait"); err != nil && ended != nil {
		return ended
	}
	return err
}

// reached reports whether the first seq commands have run, and remembers it.
func (q *Queue) reached(seq uint64) bool {
	if seq <= q.done.Load() {
		return true
	}
	n := q.issued.Load()
	if !q.raw.Idle() {
		return false
	}
	q.advance(n)
	return seq <= n
}

func (q *Queue) advance(seq uint64) {
	for {
		old := q.done.Load()
		if old >= seq || q.done.CompareAndSwap(old, seq) {
			return
		}
	}
}

// Host calls fn in order with the other commands, on a goroutine or thread of the plugin. Its error, or its panic,
// is a failure of the queue. fn must not wait for this queue.
func (q *Queue) Host(fn func() error) error {
	if err := q.enter("host function", nil, false); err != nil {
		return err
	}
	err := q.raw.Host(func() error { return guarded(fn) })
	q.exit(nil, err == nil)
	return located(err, q.device.id, q.object.Label)
}

func guarded(fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = offload.Errorf(offload.BackendFailure, "host function", "panic: %v\n%s", r, debug.Stack())
		}
	}()
	return fn()
}

// Wait lets later commands wait for an event of any queue of the session.
func (q *Queue) Wait(ev *Event) error {
	if ev == nil || ev.queue.device.session != q.device.session {
		return offload.Errorf(offload.InvalidEvent, "wait", "the event belongs to another session").On(q.device.id, q.object.Label)
	}
	if err := q.enter("wait", nil, false); err != nil {
		return err
	}
	var err error
	if ev.queue != q && q.waitsFor(ev.queue) < ev.seq {
		err = q.waitForMark(ev.queue, mark{ev.raw, ev.seq})
	}
	q.exit(nil, err == nil)
	return err
}

// WaitForSpace waits until the queue takes a command without waiting for earlier ones. Commands do so themselves, but only here
// can a context end the wait: then the commands given so far are cancelled as Sync does, and that is the error.
func (q *Queue) WaitForSpace(ctx context.Context) error {
	if q.bounded == nil {
		return nil
	}
	return located(q.bounded.WaitForSpace(ctx), q.device.id, q.object.Label)
}

// Idle reports whether all commands have run.
func (q *Queue) Idle() bool { return q.reached(q.issued.Load()) }

// Sync waits until all commands given before have run, and gives the first failure that nobody was given or waits for
// at its event; of those besides it says how many. If ctx ends first, the running command is cancelled where the device can, and the rest is dropped.
func (q *Queue) Sync(ctx context.Context) error {
	n := q.issued.Load()
	err := q.raw.Sync(ctx)
	if n > q.done.Load() && ctx.Err() == nil {
		q.advance(n)
	}
	if q.device.hasRetired() {
		q.device.reap()
	}
	if err != nil {
		return located(err, q.device.id, q.object.Label)
	}
	return nil
}

// Failure is the first failure that nobody was given or waits for at its event, if the device tells. It stays to be given.
func (q *Queue) Failure() error {
	if told, ok := q.raw.(offload.FailurePeeker); ok {
		return located(told.Failure(), q.device.id, q.object.Label)
	}
	return nil
}

// stopped is the launch that was ended while it ran, if the device tells, once.
func (q *Queue) stopped() error {
	if s, ok := q.raw.(offload.CancelReporter); ok {
		return located(s.Stopped(), q.device.id, q.object.Label)
	}
	return nil
}

// Settle waits until all commands given before have run, and leaves failures to others. If ctx ends first it gives
// Cancelled or Timeout, and cancels nothing.
func (q *Queue) Settle(ctx context.Context) error {
	n := q.issued.Load()
	if n <= q.done.Load() {
		return nil
	}
	m, err := q.mark(n)
	if err != nil {
		return err
	}
	if err := m.await(ctx); err != nil {
		return located(err, q.device.id, q.object.Label)
	}
	q.advance(m.seq)
	return nil
}

// Close waits for the commands as Sync does, gives what it gives, and ends the queue. If ctx ends while a host function
// runs it does not wait for that: the queue ends, and the memory that its commands use is freed, after it. A second call is an error, and
// so is closing a device's default queue.
func (q *Queue) Close(ctx context.Context) error {
	if q.implicit {
		return offload.Errorf(offload.InvalidQueue, "close", "a device's default queue ends with its session").
			On(q.device.id, q.object.Label)
	}
	if !q.shut() {
		return closedError("close", "queue", "").On(q.device.id, q.object.Label)
	}
	return q.finish(ctx)
}

// shut lets the queue take no more commands. It reports false if it did not take any before.
func (q *Queue) shut() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	open := !q.closed
	q.closed = true
	return open
}

// finish waits for the commands of a queue that was just shut, and ends it. If ctx ends first, it is ended when it can be.
func (q *Queue) finish(ctx context.Context) error {
	_, _ = q.mark(q.issued.Load()) // for who waits for the queue while it ends; if it fails Sync says why
	failure := q.Sync(ctx)
	if ctx.Err() != nil && !q.raw.Idle() {
		q.endWaits() // what comes after them was dropped
		go func() {
			if err := q.end(); err != nil {
				q.device.session.log.Error("a queue that was left behind failed", "object", q.object, "error", err)
			}
		}()
		return cmp.Or(failure, contextError(ctx, "close"))
	}
	return cmp.Or(failure, q.end())
}

// end ends the plugin's queue, after its commands.
func (q *Queue) end() error {
	err := q.raw.Close()
	q.endWaits()
	q.advance(q.issued.Load())
	q.device.removeQueue(q)
	q.device.session.live.remove(q.object.ID)
	close(q.ended)
	if q.device.hasRetired() {
		q.device.reap()
	}
	return located(err, q.device.id, q.object.Label)
}
