package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	goruntime "runtime"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// tracer writes the commands of all queues to a time line and passes them to a hook. Marks before and behind a command have its times on the device's
// clock.
type tracer struct {
	out    *trace.Recorder
	silent bool // there is no time line
	host   trace.Track
	spans  *observe.Sink

	mu      sync.Mutex
	rows    map[uint64]string // names of queues' tracks, by the queue's id
	labels  map[[2]string]int // queues of a device with a label
	clocks  map[*Device]*deviceClock
	pending []tracedCommand // in the order of issue
	polling bool
}

// deviceClock relates a device's clock to that of the time line. Its queue is one of its own, since others may wait for the
// program.
type deviceClock struct {
	alignment
	queue    offload.Queue
	measured time.Duration // when its last measurement ended
}

// tracedCommand is a command that may not have run.
type tracedCommand struct {
	traced
	kind, name string
	owner      string
	ended      offload.Event
	passed     time.Duration // when the plugin had the command
	bytes      int64
	size       [3]int // of a launch
	place      offload.Position
}

// need is a command of another queue that a command waits for, and the reason: a resource that both use, or the call.
type need struct {
	position
	reason string
}

// need notes that the next command waits for another one. The caller holds mu.
func (q *Queue) need(other *Queue, seq uint64, kind, label string) {
	if t := q.device.session.tracer; t != nil && !t.silent {
		q.needed = append(q.needed, need{position{other, seq}, strings.TrimSpace(kind + " " + label)})
	}
}

func newTracer(out *trace.Recorder, spans *observe.Sink) *tracer {
	if out == nil && spans == nil {
		return nil
	}
	silent := out == nil
	if silent {
		out = trace.New(io.Discard)
	}
	return &tracer{out: out, silent: silent, host: out.Track("program", "commands"), spans: spans,
		rows: map[uint64]string{}, labels: map[[2]string]int{}, clocks: map[*Device]*deviceClock{}}
}

// traced is a command that is being issued. The zero value is a command that is not traced.
type traced struct {
	tracer *tracer
	queue  *Queue
	begin  offload.Event
	issued time.Duration
	seq    uint64
	needs  []need
}

// begin begins a command of the queue's time line, if there is one.
func (q *Queue) begin() traced {
	t := q.device.session.tracer
	if t == nil {
		return traced{}
	}
	t.align(q.device)
	at := t.out.Now()
	ev, ok := q.stamp()
	if !ok {
		return traced{}
	}
	needs := q.needed
	q.needed = nil
	return traced{t, q, ev, at, q.issued.Load() + 1, needs}
}

// stamp returns an event that covers no commands and has a time on the device's clock, if it has one. ok is false if there are no
// such events.
func (q *Queue) stamp() (ev offload.Event, ok bool) {
	record := func() (offload.Event, error) { return nil, errors.ErrUnsupported }
	switch raw := q.raw.(type) {
	case offload.Stamper:
		record = raw.Stamp
	case offload.Marker:
		record = raw.Mark
	}
	ev, err := record()
	return ev, err == nil
}

// end ends the command. It has a kind, a name, and a number of bytes unless it is 0.
func (c traced) end(kind, name string, bytes int64, err error) {
	if c.tracer == nil || err != nil {
		return
	}
	passed := c.tracer.out.Now()
	ev, ok := c.queue.stamp()
	if !ok {
		return
	}
	c.tracer.add(tracedCommand{traced: c, kind: kind, name: name, ended: ev, passed: passed, bytes: bytes})
}

// endLaunch ends the launch of a call.
func (c traced) endLaunch(call *Call, err error) {
	if c.tracer == nil || err != nil {
		return
	}
	passed := c.tracer.out.Now()
	ev, ok := c.queue.stamp()
	if !ok {
		return
	}
	c.tracer.add(tracedCommand{traced: c, kind: trace.Kernel, name: call.kernel.name, ended: ev, passed: passed, size: call.launch.Size, place: call.launch.Pos})
}

// The alignment of clocks. The time of an event lies between two times of the host, so that many events bound the difference of the
// clocks from both sides. Clocks drift apart, so that measurements are repeated.
const (
	alignTries  = 3                      // measurements at a device's first command
	alignMost   = 300                    // the most measurements at a time, until the error is below alignError
	alignError  = 10 * time.Microsecond  // error above which a time line measures again
	alignTime   = 100 * time.Millisecond // time after which it no longer does
	alignEvery  = 500 * time.Millisecond // time between measurements while commands run
	alignSoon   = 50 * time.Millisecond  // the same, while the error is above alignError
	alignPoll   = 200 * time.Microsecond // time for which a measurement polls
	alignAnswer = time.Second            // time to wait for an event
	drift       = 50e-6                  // the most by which quartz clocks drift apart
)

// align relates a device's clock to that of the time line at the device's first command.
func (t *tracer) align(d *Device) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clocks[d] != nil {
		return
	}
	c := &deviceClock{}
	t.clocks[d] = c
	raw, err := d.raw.NewQueue(offload.QueueOptions{Label: "time line"})
	if err != nil {
		return
	}
	c.queue = raw
	t.refine(c, alignTries)
	t.aligned(d, c)
}

// alignment relates a device's clock to that of the time line: an event of the device was reached between two times of the host.
type alignment struct {
	reference offload.Event
	low, high time.Duration
	at        time.Duration // the time of the host for which they hold
}

// host returns the time of the host at which the reference was reached.
func (a *alignment) host() time.Duration { return a.low + (a.high-a.low)/2 }

// bound returns the greatest error of that time.
func (a *alignment) bound() time.Duration { return (a.high - a.low + 1) / 2 }

// add narrows the bounds, widened by the drift since they were measured, by those of another event. If they contradict each other, a
// clock was set, and only the new ones count.
func (a *alignment) add(ev offload.Event, low, high time.Duration) {
	now := high
	if a.reference == nil {
		*a = alignment{ev, low, high, now}
		return
	}
	ns, ok := ev.Since(a.reference)
	if !ok {
		return
	}
	low, high = low-time.Duration(ns), high-time.Duration(ns)
	wider := time.Duration(drift * float64(now-a.at))
	if a.low-wider <= high && low <= a.high+wider {
		low, high = max(low, a.low-wider), min(high, a.high+wider)
	}
	a.low, a.high, a.at = low, high, now
}

// refine measures a device's clock at least so many times, and more often until its error is small.
func (t *tracer) refine(c *deviceClock, least int) {
	began := t.out.Now()
	for i := 0; i < least || !t.silent && i < alignMost && c.bound() > alignError && t.out.Now()-began < alignTime; i++ {
		if !t.measure(c) {
			return
		}
	}
}

// measure compares the clocks once.
func (t *tracer) measure(c *deviceClock) bool {
	ctx, cancel := context.WithTimeout(context.Background(), alignAnswer)
	defer cancel()
	sent := t.out.Now()
	ev, err := c.queue.Record()
	if err != nil {
		return false
	}
	for !ev.Done() && t.out.Now()-sent < alignPoll { // waking a goroutine would take longer than the way
		goruntime.Gosched()
	}
	if ev.Settle(ctx) != nil {
		return false
	}
	c.add(ev, sent, t.out.Now())
	return true
}

// aligned writes the error of a device's clock.
func (t *tracer) aligned(d *Device, c *deviceClock) {
	c.measured = t.out.Now()
	if c.reference != nil && !t.silent {
		t.out.Counter(t.out.Track(d.process(), "memory"), clockError, float64(c.bound())/1e3)
	}
}

// clockError is the name of the counter of the greatest error of a device's times, in microseconds.
const clockError = "clock error (µs)"

// realign measures the clocks of devices again whose last measurement is old. It does not hold mu while it waits for them.
func (t *tracer) realign() {
	t.mu.Lock()
	due := map[*Device]*deviceClock{}
	for d, c := range t.clocks {
		every := alignEvery
		if c.bound() > alignError && !t.silent {
			every = alignSoon
		}
		if c.queue != nil && t.out.Now()-c.measured > every && !d.IsLost() {
			due[d] = c
		}
	}
	t.mu.Unlock()
	for d, c := range due {
		finer := &deviceClock{alignment: c.alignment, queue: c.queue}
		t.refine(finer, 1)
		t.mu.Lock()
		if c.measured = t.out.Now(); t.clocks[d] == c {
			c.alignment = finer.alignment
			t.aligned(d, c)
		}
		t.mu.Unlock()
	}
}

// close writes the commands that have run, and closes the queue of a device's clock.
func (t *tracer) close(d *Device) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
	c := t.clocks[d]
	if c == nil || c.queue == nil {
		return nil
	}
	t.clocks[d] = &deviceClock{}
	return c.queue.Close()
}

// pollEvery is the time between searches for commands that have run.
const pollEvery = 5 * time.Millisecond

func (t *tracer) add(c tracedCommand) {
	c.owner = t.spans.Owner(c.queue.object.Owner) // which may have ended when the command has run
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, c)
	if !t.polling {
		t.polling = true
		go t.poll()
	}
}

// poll writes commands until all have run.
func (t *tracer) poll() {
	for {
		time.Sleep(pollEvery)
		t.realign()
		t.mu.Lock()
		t.write()
		if len(t.pending) == 0 {
			t.polling = false
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
	}
}

// flush writes the commands that have run.
func (t *tracer) flush() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
}

// write writes the commands that have run, and keeps the others. The caller holds mu.
func (t *tracer) write() {
	left := t.pending[:0]
	for i := range t.pending {
		c := &t.pending[i]
		if !c.ended.Done() {
			left = append(left, *c)
			continue
		}
		t.command(c)
	}
	clear(t.pending[len(left):])
	t.pending = left
}

// drop forgets the commands that never ran.
func (t *tracer) drop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = nil
}

// command writes a command that has run: its issue on the program's track, itself on the queue's, and an arrow between them.
func (t *tracer) command(c *tracedCommand) {
	clock := t.clocks[c.queue.device]
	at := func(ev offload.Event) (time.Duration, bool) {
		if clock.reference == nil {
			return 0, false
		}
		ns, ok := ev.Since(clock.reference)
		return clock.host() + time.Duration(ns), ok
	}
	args := t.args(c)
	start, ok := at(c.begin)
	end, also := at(c.ended)
	if !ok || !also { // a device without a clock: the times are those of the host
		start, end = c.issued, t.out.Now()
		args = append(args, trace.Text("clock", "host"))
	}
	t.spans.Send(observe.Span{Kind: observe.Kind(c.kind), Name: c.name, Device: c.queue.device.id, Owner: c.owner,
		Start: time.Now().Add(start - t.out.Now()), Duration: end - start, Bytes: c.bytes}, 0)
	if t.silent {
		return
	}
	row := t.out.Track(t.track(c.queue))
	t.out.Slice(t.host, "issue", c.name, c.issued, c.passed-c.issued)
	t.out.Slice(row, c.kind, c.name, start, end-start, args...)
	t.out.Flow("launch", t.host, c.issued, row, start)
}

// process returns the name of the device's tracks.
func (d *Device) process() string { return "device " + d.id }

// track returns the names of a queue's track: its label, with a number if an earlier queue of the device has the same. The caller holds
// mu.
func (t *tracer) track(q *Queue) (process, thread string) {
	name, known := t.rows[q.object.ID]
	if !known {
		key := [2]string{q.device.id, q.object.Label}
		t.labels[key]++
		if name = q.object.Label; t.labels[key] > 1 {
			name = fmt.Sprintf("%s (%d)", name, t.labels[key])
		}
		t.rows[q.object.ID] = name
	}
	return q.device.process(), name
}

// args returns the arguments of a command's slice.
func (t *tracer) args(c *tracedCommand) []trace.Arg {
	list := []trace.Arg{trace.Issued(c.issued), trace.Command(c.seq)}
	for i, n := range c.needs {
		process, thread := t.track(n.queue)
		list = append(list, trace.WaitsFor(i, process, thread, n.seq, n.reason))
	}
	if c.bytes > 0 {
		list = append(list, trace.Number("bytes", float64(c.bytes)))
	}
	if c.kind == trace.Kernel {
		list = append(list, trace.Text("size", fmt.Sprintf("%d×%d×%d", c.size[0], c.size[1], c.size[2])))
	}
	if c.place != (offload.Position{}) {
		list = append(list, trace.Text("place", c.place.String()))
	}
	return list
}

// TraceService begins a call of a service by a kernel of the queue, and returns the function that ends it. Without a time line it
// returns nil.
func (q *Queue) TraceService(r *offload.Request) (end func()) {
	t := q.device.session.tracer
	if t == nil || t.silent {
		return nil
	}
	return t.out.Begin(t.out.Track(q.device.process(), "services"), trace.Service, r.Name, trace.Text("kernel", r.Kernel), trace.Text("item", fmt.Sprint(r.Item)))
}

// TraceCompile begins a step of the compilation of kernels, and returns the function that ends it. Without a time line it returns nil.
func (s *Session) TraceCompile(step string) (end func()) { return s.tracer.compile("program", step) }

// compile begins a step of a process of the time line, and returns the function that ends it. Without a time line it returns nil.
func (t *tracer) compile(process, step string) (end func()) {
	if t == nil || t.silent {
		return nil
	}
	return t.out.Begin(t.out.Track(process, "compile"), trace.Compile, step)
}

// counted writes the allocated memory of a device.
func (t *tracer) counted(d *Device, bytes int64) {
	if t != nil && !t.silent {
		t.out.Counter(t.out.Track(d.process(), "memory"), "allocated bytes", float64(bytes))
	}
}

// Trace returns the recorder of the session's time line, or nil.
func (s *Session) Trace() *trace.Recorder {
	if s.tracer == nil || s.tracer.silent {
		return nil
	}
	return s.tracer.out
}

// observeFailure passes the failure of a queue's command to the session's hook.
func (q *Queue) observeFailure(err error) error {
	var e *offload.Error
	if errors.As(err, &e) {
		q.device.session.spans.Send(observe.Span{Kind: observe.Failure, Name: e.Label, Device: q.device.id, Err: err}, q.object.Owner)
	}
	return err
}
