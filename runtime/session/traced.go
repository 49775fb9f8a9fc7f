package session

import (
	"errors"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
	"github.com/orepl/orepl/runtime/trace/alignment"
)

// tracer writes the commands of all queues to a time line and passes them to a hook. Marks around a command time it by the device's clock.
type tracer struct {
	out    *trace.Recorder
	silent bool // there is no time line
	host   trace.Track
	spans  *observe.Sink

	mu      sync.Mutex
	clocks  map[*Device]*alignment.Clock
	pending []tracedCommand // in the order of issue
	polling bool

	writing sync.Mutex  // taken before mu, and held while commands are written, for which none that is issued waits
	rows    trace.Names // of queues' tracks
	list    []trace.Arg // empty, for the arguments of a command
	spare   []tracedCommand
}

// tracedCommand is a command that may not have run.
type tracedCommand struct {
	traced
	kind, name string
	ownerName  string
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
	return &tracer{out: out, silent: silent, host: out.Track("program", "commands"), spans: spans, clocks: map[*Device]*alignment.Clock{}, list: make([]trace.Arg, 0, 8)}
}

// traced is a command that is being issued. The zero value is a command that is not traced.
type traced struct {
	tracer *tracer
	queue  *Queue
	clock  *alignment.Clock
	begin  offload.Event
	issued time.Duration
	seq    uint64
	needs  []need
	owner  uint64 // of the queue, or of the buffer that is cleared
}

// begin begins a command of the queue's time line, if there is one.
func (q *Queue) begin() traced {
	t := q.device.session.tracer
	if t == nil {
		return traced{}
	}
	clock := t.align(q.device)
	at := t.out.Now()
	ev, ok := q.stamp()
	if !ok {
		return traced{}
	}
	needs := q.needed
	q.needed = nil
	return traced{t, q, clock, ev, at, q.issued.Load() + 1, needs, q.object.Owner}
}

// stamp returns an event that covers no commands and has a time on the device's clock, if it has one. ok is false without one.
func (q *Queue) stamp() (ev offload.Event, ok bool) {
	err := errors.ErrUnsupported
	switch raw := q.raw.(type) {
	case offload.Stamper:
		ev, err = raw.Stamp()
	case offload.Marker:
		ev, err = raw.Mark()
	}
	return ev, err == nil
}

// end ends the command. It has a kind, a name, and a number of bytes unless it is 0.
func (c traced) end(kind, name string, bytes int64, err error) {
	c.record(tracedCommand{kind: kind, name: name, bytes: bytes}, err)
}

// endLaunch ends the launch of a call.
func (c traced) endLaunch(call *Call, err error) {
	c.record(tracedCommand{kind: trace.Kernel, name: call.kernel.name, size: call.launch.Size, place: call.launch.Pos}, err)
}

// record adds a command that ends now, unless it failed.
func (c traced) record(done tracedCommand, err error) {
	if c.tracer == nil || err != nil {
		return
	}
	done.traced, done.passed = c, c.tracer.out.Now()
	var ok bool
	if done.ended, ok = c.queue.stamp(); ok {
		c.tracer.add(done)
	}
}

// align relates a device's clock to that of the time line at the device's first command.
func (t *tracer) align(d *Device) *alignment.Clock {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clocks[d] == nil {
		t.clocks[d] = alignment.New(d.raw, t.out.Now, !t.silent)
		t.aligned(d, t.clocks[d])
	}
	return t.clocks[d]
}

// aligned writes the error of a device's clock.
func (t *tracer) aligned(d *Device, c *alignment.Clock) {
	if bound, ok := c.Bound(); ok && !t.silent {
		t.out.Counter(t.out.Track(trace.DeviceProcess+d.id, "memory"), "clock error (µs)", float64(bound)/1e3)
	}
}

// realign measures the clocks of devices again whose last measurement is old. It does not hold mu while it waits for them.
func (t *tracer) realign() {
	t.mu.Lock()
	clocks := maps.Clone(t.clocks)
	t.mu.Unlock()
	for d, c := range clocks {
		if !d.IsLost() && c.Renew() {
			t.aligned(d, c)
		}
	}
}

// close writes the commands that have run, and closes the queue of a device's clock.
func (t *tracer) close(d *Device) error {
	if t == nil {
		return nil
	}
	t.write()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.clocks[d].Close()
}

// pollEvery is the time between searches for commands that have run.
const pollEvery = 5 * time.Millisecond

const mostPending = 1 << 12 // a program that issues this number of commands between searches writes them itself

func (t *tracer) add(c tracedCommand) {
	c.ownerName = t.spans.Owner(c.owner) // which may have ended when the command has run
	t.mu.Lock()
	t.pending = append(t.pending, c)
	if !t.polling {
		t.polling = true
		go t.poll()
	}
	many := len(t.pending)%mostPending == 0
	t.mu.Unlock()
	if many {
		t.write()
	}
}

// poll writes commands until all have run.
func (t *tracer) poll() {
	for again := true; again; {
		time.Sleep(pollEvery)
		t.realign()
		t.write()
		t.mu.Lock()
		again = len(t.pending) > 0
		t.polling = again
		t.mu.Unlock()
	}
}

// flush writes the commands that have run.
func (t *tracer) flush() {
	if t != nil {
		t.write()
	}
}

// write writes the commands that have run, and keeps the others.
func (t *tracer) write() {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	list := t.pending
	t.pending = t.spare
	t.mu.Unlock()
	left := list[:0]
	for i := range list {
		if c := &list[i]; c.ended.Done() {
			t.command(c)
		} else {
			left = append(left, *c)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	later := t.pending
	t.pending, t.spare = append(left, later...), later[:0]
	clear(list[min(len(list), len(t.pending)):])
	clear(later)
}

// drop forgets the commands that never ran.
func (t *tracer) drop() {
	if t != nil {
		t.writing.Lock()
		t.mu.Lock()
		t.pending = nil
		t.mu.Unlock()
		t.writing.Unlock()
	}
}

// command writes a command that has run: its issue on the program's track, itself on the queue's, and an arrow between them.
func (t *tracer) command(c *tracedCommand) {
	args := t.args(c)
	start, ok := c.clock.Time(c.begin)
	end, also := c.clock.Time(c.ended)
	if !ok || !also { // a device without a clock: the times are those of the host
		start, end = c.issued, t.out.Now()
		args = append(args, trace.Text("clock", "host"))
	}
	start, end = max(start, c.issued), max(end, start, c.issued) // clocks are related with an error
	t.spans.Send(observe.Span{Kind: observe.Kind(c.kind), Name: c.name, Device: c.queue.device.id, Owner: c.ownerName,
		Start: time.Now().Add(start - t.out.Now()), Duration: end - start, Bytes: c.bytes}, 0)
	if t.silent {
		return
	}
	row := t.out.Track(t.track(c.queue))
	host := t.out.Slice(t.host, "issue", c.name, c.issued, c.passed-c.issued)
	start = t.out.InOrder(row, c.kind, c.name, start, end, args...)
	t.out.Flow("launch", host, c.issued, row, start)
}

// track returns the names of a queue's track. The caller holds writing.
func (t *tracer) track(q *Queue) (process, thread string) {
	return trace.DeviceProcess + q.device.id, t.rows.Name(q.object.ID, q.device.id, q.object.Label)
}

// args returns the arguments of a command's slice, which hold until the next call. The caller holds writing.
func (t *tracer) args(c *tracedCommand) []trace.Arg {
	list := trace.CommandArgs(t.list[:0], c.kind, c.issued, c.seq, c.bytes, c.size, c.place)
	for i, n := range c.needs {
		process, thread := t.track(n.queue)
		list = append(list, trace.WaitsFor(i, process, thread, n.seq, n.reason))
	}
	return list
}

// counted writes the allocated memory of a device.
func (t *tracer) counted(d *Device, bytes int64) {
	if t != nil && !t.silent {
		t.out.Counter(t.out.Track(trace.DeviceProcess+d.id, "memory"), "allocated bytes", float64(bytes))
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
	if q.device.session.spans != nil && errors.As(err, &e) {
		q.device.session.spans.Send(observe.Span{Kind: observe.Failure, Name: e.Label, Device: q.device.id, Err: err}, q.object.Owner)
	}
	return err
}
