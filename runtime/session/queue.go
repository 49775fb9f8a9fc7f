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
	"github.com/orepl/orepl/runtime/trace"
)

// QueueOptions are the options of a queue.
type QueueOptions struct {
	Label     string           // default: "queue N"
	NoHazards bool             // commands do not wait for other queues automatically
	Unlisted  bool             // [Session.Live] omits it, for internal queues
	Pos       offload.Position // position of the creation in the script
	Owner     uint64           // see [Object]
}

// Queue is an in-order queue of commands. Commands may return before they have run.
type Queue struct {
	device   *Device
	raw      offload.Queue
	bounded  offload.Bounded // raw, or nil if its commands never block
	track    trace.Track     // set by the tracer
	object   Object
	hazards  bool
	implicit bool // a default queue

	ended    chan struct{}   // closed when the plugin's queue has ended
	waits    context.Context // context of host functions that wait for other platforms
	endWaits context.CancelFunc

	issued atomic.Uint64 // number of commands issued; the last one's sequence number
	done   atomic.Uint64 // number of commands known to have run

	mu      sync.Mutex // orders commands; held before the locks of resources
	closed  bool
	held    *sync.Cond // signals the end of Hold; nil without one
	waited  []waited   // the furthest wait for each other queue
	needed  []need     // of the next command, for the time line
	earlier []waited   // waits that later ones replaced, the newest last
	pending []*Event
	copied  position // the other queue of the newest staged copy, and the number of this queue's last command then

	fences    sync.Mutex
	lastFence fence
}

// position is a point in a queue's commands.
type position struct {
	queue *Queue
	seq   uint64
}

// waited is a position for which a queue waits. The commands of the waiting queue with numbers above after run later than the
// position.
type waited struct {
	position
	after uint64
}

// fence is an event that is reached when the first seq commands of its queue have run.
type fence struct {
	event offload.Event
	seq   uint64
	queue *Queue
}

// NewQueue returns a new queue of the device. Errors: Closed for a closed session, DeviceLost, and those of the plugin.
func (d *Device) NewQueue(opts QueueOptions) (*Queue, error) {
	q, err := d.newQueue(opts, false)
	if err != nil {
		return nil, err
	}
	d.session.live.add(liveEntry{object: q.object, unlisted: opts.Unlisted})
	return q, nil
}

func (d *Device) newQueue(opts QueueOptions, implicit bool) (*Queue, error) {
	if err := d.session.acquire("create queue", d.id, opts.Label); err != nil {
		return nil, err
	}
	defer d.session.release()
	if err := d.checkLost("create queue", opts.Label); err != nil {
		return nil, err
	}
	id := d.session.serial.Add(1)
	if opts.Label == "" {
		opts.Label = fmt.Sprintf("queue %d", id)
	}
	raw, err := d.raw.NewQueue(offload.QueueOptions{Label: opts.Label})
	if err != nil {
		return nil, located(err, d.id, opts.Label)
	}
	q := &Queue{device: d, raw: raw, hazards: !opts.NoHazards, implicit: implicit,
		object: Object{ID: id, Kind: "queue", Label: opts.Label, Device: d.id, Pos: opts.Pos, Owner: opts.Owner}}
	q.bounded, _ = raw.(offload.Bounded)
	q.ended = make(chan struct{})
	q.waits, q.endWaits = context.WithCancel(context.Background())
	d.addQueue(q)
	return q, nil
}

// Device returns the queue's device.
func (q *Queue) Device() *Device { return q.device }

// Label returns the queue's label.
func (q *Queue) Label() string { return q.object.Label }

// enter begins a command with these accesses, sorted by resource. It locks the queue, checks that the resources are alive, records
// the accesses, and makes the queue wait for conflicting commands of other queues. With always, queues without hazard tracking wait
// for this command, too. If enter returns nil, the caller must call exit. The resources are unlocked on return; see waitIssued.
func (q *Queue) enter(op string, accesses []access, always bool) error {
	joint := slices.ContainsFunc(accesses, func(t access) bool { return t.joint })
	if !joint && q.issued.Load()-q.done.Load() >= offload.BoundedCommands {
		if err := q.WaitForSpace(context.Background()); err != nil { // before any lock is taken
			return err
		}
	}
	q.mu.Lock()
	for !joint && q.held != nil {
		q.held.Wait()
	}
	if q.closed {
		q.mu.Unlock()
		return closedError(op, "queue", q.object.Label).On(q.device.id, q.object.Label)
	}
	if q.device.lost != nil {
		if err := q.device.checkLost(op, q.object.Label); err != nil {
			q.mu.Unlock()
			return err
		}
	}
	eachResource(accesses, (*sync.Mutex).Lock)
	seq := q.issued.Load() + 1
	var err error
	for i := range accesses {
		t := &accesses[i]
		if t.res.closed {
			err = closedError(op, t.res.kind, t.res.label).On(q.device.id, t.res.label)
			break
		}
		if err = q.order(t, seq, always); err != nil {
			break
		}
	}
	eachResource(accesses, (*sync.Mutex).Unlock)
	if err != nil {
		q.exit(accesses, false)
	}
	return err
}

// exit ends a command and unlocks the queue. issued states whether the plugin accepted the command. If not, and accesses were
// recorded, the sequence number belongs to an empty command.
func (q *Queue) exit(accesses []access, issued bool) {
	if issued || len(accesses) > 0 {
		q.issued.Store(q.issued.Load() + 1)
	}
	q.mu.Unlock()
}

// waitIssued blocks until the plugin has command seq. The issuer holds only its own queue's lock.
func (q *Queue) waitIssued(seq uint64) {
	for look := 0; q.issued.Load() < seq; look++ {
		if look < yields {
			runtime.Gosched()
		} else {
			time.Sleep(yieldSleep)
		}
	}
}

// waitIssued yields the processor yields times, since most commands are issued within a microsecond. Then it sleeps for
// yieldSleep at a time: a command that waits for space is issued only when an earlier one has ended.
const (
	yields     = 100
	yieldSleep = 20 * time.Microsecond
)

// eachResource calls do with the locks of the resources, which are sorted and may repeat.
func eachResource(accesses []access, do func(*sync.Mutex)) {
	for i := range accesses {
		if i == 0 || accesses[i].res != accesses[i-1].res {
			do(&accesses[i].res.mu)
		}
	}
}

// fence returns a fence after the first seq commands. It does not need q.mu, so that another queue can wait while commands are
// being issued to this one.
func (q *Queue) fence(seq uint64) (fence, error) {
	q.waitIssued(seq)
	q.fences.Lock()
	defer q.fences.Unlock()
	if q.lastFence.event != nil && q.lastFence.seq >= seq {
		return q.lastFence, nil
	}
	n := q.issued.Load()
	record := q.raw.Record
	if m, ok := q.raw.(offload.Marker); ok {
		record = m.Mark
	}
	ev, err := record()
	if err != nil {
		return fence{}, located(err, q.device.id, q.object.Label)
	}
	q.lastFence = fence{ev, n, q}
	return q.lastFence, nil
}

// waitFor makes later commands of q wait until other has run its first seq commands. The caller holds q.mu.
func (q *Queue) waitFor(other *Queue, seq uint64) error {
	if q.waitsFor(other) >= seq {
		return nil
	}
	m, err := other.fence(seq)
	if err != nil {
		return err
	}
	return q.waitForFence(other, m)
}

func (q *Queue) waitForFence(other *Queue, m fence) error {
	same := other.device.platform == q.device.platform
	var err error
	if same {
		err = q.raw.Wait(m.event)
		code := offload.CodeOf(err)
		same = code != offload.Unsupported && code != offload.InvalidEvent
	}
	if !same {
		err = q.raw.Host(func() error { return m.Await(q.waits) })
	}
	if err != nil {
		return located(err, q.device.id, q.object.Label)
	}
	for i := range q.waited {
		if w := &q.waited[i]; w.queue == other {
			q.replace(*w)
			w.seq, w.after = max(w.seq, m.seq), q.issued.Load()
			return nil
		}
	}
	q.waited = slices.DeleteFunc(q.waited, func(c waited) bool { return c.seq <= c.queue.done.Load() })
	q.waited = append(q.waited, waited{position{other, m.seq}, q.issued.Load()})
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

// Needs reports whether commands of the queue that have not finished depend on a command of other, directly or through waits.
func (q *Queue) Needs(other *Queue) bool { return q.needs(q.issued.Load(), other) }

// mostEarlier is the maximum number of replaced waits that a queue keeps. Needs may miss a dependency on older ones.
const mostEarlier = 16

// replace keeps a replaced wait, unless it is over or no command was issued after it. Of more than mostEarlier waits it drops
// the oldest.
func (q *Queue) replace(w waited) {
	q.earlier = slices.DeleteFunc(q.earlier, func(c waited) bool { return c.seq <= c.queue.done.Load() })
	if w.seq <= w.queue.done.Load() || w.after == q.issued.Load() {
		return
	}
	if len(q.earlier) >= mostEarlier {
		q.earlier = slices.Delete(q.earlier, 0, 1)
	}
	q.earlier = append(q.earlier, w)
}

// needs reports whether the first seq commands depend on an issued command of another queue. It returns false once they have run.
func (q *Queue) needs(seq uint64, other *Queue) bool {
	return q.leadsTo(seq, other, map[*Queue]uint64{})
}

// leadsTo implements needs. asked holds, for each queue that was searched, how many of its commands the search covered.
func (q *Queue) leadsTo(seq uint64, other *Queue, asked map[*Queue]uint64) bool {
	if asked[q] >= seq || q.reached(seq) {
		return false
	}
	if q == other {
		return true
	}
	asked[q] = seq
	q.mu.Lock()
	list := slices.Concat(q.waited, q.earlier)
	q.mu.Unlock()
	return slices.ContainsFunc(list, func(w waited) bool { return w.after < seq && w.queue.leadsTo(w.seq, other, asked) })
}

// Reached implements [retired.Fence].
func (m fence) Reached() bool { return m.event.Done() }

// Precedes implements [retired.Fence].
func (m fence) Precedes(other fence) bool { return m.queue == other.queue && m.seq <= other.seq }

// Await waits for the fence and reports no failure of commands. If ctx ends first, it returns Cancelled or Timeout.
func (m fence) Await(ctx context.Context) error {
	err := m.event.Settle(ctx)
	if ended := contextError(ctx, "wait"); err != nil && ended != nil {
		return ended
	}
	return err
}

// reached reports whether the first seq commands are known to have run. If they are not yet, it asks the plugin whether the
// queue is idle, and records that it is.
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

// Host calls fn in order with the other commands, on a goroutine or thread of the plugin. An error or a panic of fn is a
// failure of the queue. fn must not wait for this queue.
func (q *Queue) Host(fn func() error) error {
	if err := q.enter("host function", nil, false); err != nil {
		return err
	}
	c := q.begin()
	err := q.raw.Host(func() error { return guarded(fn) })
	c.end(trace.Host, trace.Host, 0, err)
	q.exit(nil, err == nil)
	if q.watched(err) {
		q.tell(Command{Kind: HostCommand})
	}
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

// Wait makes later commands wait for an event of any queue of the session. An event that is nil or of another session is an
// InvalidEvent error.
func (q *Queue) Wait(ev *Event) error {
	if ev == nil || ev.queue.device.session != q.device.session {
		return offload.Errorf(offload.InvalidEvent, "wait", "the event belongs to another session").On(q.device.id, q.object.Label)
	}
	if err := q.enter("wait", nil, false); err != nil {
		return err
	}
	var err error
	if ev.queue != q && q.waitsFor(ev.queue) < ev.seq {
		q.need(ev.queue, ev.seq, "event", ev.label)
		err = q.waitForFence(ev.queue, fence{ev.raw, ev.seq, ev.queue})
	}
	q.exit(nil, err == nil)
	if ev.queue != q && q.watched(err) {
		q.tell(Command{Kind: WaitCommand, Behind: ev.queue})
	}
	return err
}

// WaitForSpace waits until the queue accepts a command without blocking. If ctx ends first, the commands issued so far are
// cancelled as by Sync, whose error it returns. Issuing without WaitForSpace blocks without a context.
func (q *Queue) WaitForSpace(ctx context.Context) error {
	if q.bounded == nil {
		return nil
	}
	return located(q.bounded.WaitForSpace(ctx), q.device.id, q.object.Label)
}

// Closed reports whether a queue has been closed.
func Closed(q *Queue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Idle reports whether all commands have run.
func (q *Queue) Idle() bool { return q.reached(q.issued.Load()) }

// Sync waits until all commands issued before have run. It returns the first failure that has not been reported and that no
// event of a waiting caller covers, with the number of further ones. If ctx ends first, the running command is cancelled
// where the device can, and the others are dropped.
func (q *Queue) Sync(ctx context.Context) error {
	n := q.issued.Load()
	err := q.raw.Sync(ctx)
	if n > q.done.Load() && ctx.Err() == nil {
		q.advance(n)
	}
	q.device.retired.Reap()
	if err != nil {
		err = located(err, q.device.id, q.object.Label)
		if ctx.Err() == nil {
			return q.observeFailure(err)
		}
	}
	return err
}

// Failure returns the failure that Sync would report first, without consuming it. It is nil if there is none, or the plugin
// does not support the query.
func (q *Queue) Failure() error {
	if peeker, ok := q.raw.(offload.FailurePeeker); ok {
		return located(peeker.Failure(), q.device.id, q.object.Label)
	}
	return nil
}

// takeFailure returns and consumes the failure that Failure returns, if the plugin supports that.
func (q *Queue) takeFailure() error {
	if taker, ok := q.raw.(offload.FailureTaker); ok {
		return q.observeFailure(located(taker.TakeFailure(), q.device.id, q.object.Label))
	}
	return nil
}

// stopped returns, once, the failure of the launch that the last cancellation ended, if the plugin supports that.
func (q *Queue) stopped() error {
	if s, ok := q.raw.(offload.CancelReporter); ok {
		return located(s.Stopped(), q.device.id, q.object.Label)
	}
	return nil
}

// Settle waits until all commands issued before have run, and reports no failure of commands. If ctx ends first, it returns
// Cancelled or Timeout and cancels nothing.
func (q *Queue) Settle(ctx context.Context) error {
	n := q.issued.Load()
	if n <= q.done.Load() {
		return nil
	}
	m, err := q.fence(n)
	if err != nil {
		return err
	}
	if err := m.Await(ctx); err != nil {
		return located(err, q.device.id, q.object.Label)
	}
	q.advance(m.seq)
	return nil
}

// Close waits for the commands, returns the error of Sync, and ends the queue. If ctx ends while a host function runs, Close
// returns immediately; the queue ends after the function. Errors: Closed for a second call, InvalidQueue for a device's default
// queue.
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

// shut makes the queue refuse commands. A second call returns false.
func (q *Queue) shut() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	open := !q.closed
	q.closed = true
	return open
}

// finish waits for the commands of a queue after shut, and ends it. If ctx has ended and a command still runs, such as a host function,
// a goroutine ends the queue later.
func (q *Queue) finish(ctx context.Context) error {
	_, _ = q.fence(q.issued.Load()) // for queues that wait for this one while it ends; Sync reports a failure
	failure := q.Sync(ctx)
	q.device.session.tracer.flush()
	if ctx.Err() != nil && !q.raw.Idle() {
		q.endWaits() // the commands after them were dropped
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
	q.device.retired.Reap()
	return located(err, q.device.id, q.object.Label)
}
