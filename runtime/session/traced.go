package session

import (
	"errors"
	"io"
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
	clocks *alignment.Clocks

	mu      sync.Mutex
	pending []tracedCommand // in the order of issue
	polling bool

	writing sync.Mutex  // taken before mu, and held while commands are written
	rows    trace.Names // of queues' tracks
	run     []trace.DeviceCommand
	spare   []tracedCommand
}

// tracedCommand is a command that may not have run.
type tracedCommand struct {
	traced
	kind, name string
	ownerName  string
	end        alignment.Point
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
	return &tracer{out: out, silent: silent, host: out.Track("program", "commands"), spans: spans, clocks: alignment.NewClocks(out, !silent)}
}

// traced is a command that is being issued. The zero value is a command that is not traced.
type traced struct {
	tracer *tracer
	queue  *Queue
	clock  *alignment.Clock
	begin  alignment.Point
	issued time.Duration
	seq    uint64
	needs  []need
	owner  uint64 // of the queue, or of the buffer that is cleared
}

// begin notes the beginning of a command for the time line and the hook. Without both, or if the queue cannot be marked, it
// returns the zero value.
func (q *Queue) begin() traced {
	t := q.device.session.tracer
	if t == nil {
		return traced{}
	}
	clock := t.clocks.Of(q.device.id, q.device.raw, &q.device.clock)
	c, ok := traced{tracer: t, queue: q, clock: clock, seq: q.issued.Load() + 1, owner: q.object.Owner}, false
	if c.issued, c.begin, ok = clock.Point(q.raw); !ok {
		return traced{}
	}
	c.needs, q.needed = q.needed, nil
	return c
}

// end records the issued command with its kind, name and number of bytes, which may be 0. It records nothing if err is not nil.
func (c traced) end(kind, name string, bytes int64, err error) {
	c.record(tracedCommand{kind: kind, name: name, bytes: bytes}, err)
}

// endLaunch records the issued launch of a call, as end does for other commands.
func (c traced) endLaunch(call *Call, err error) {
	c.record(tracedCommand{kind: trace.Kernel, name: call.kernel.name, size: call.launch.Size, place: call.launch.Pos}, err)
}

// record adds a command that the plugin has just accepted. It adds none if err is not nil, or the command is not traced.
func (c traced) record(done tracedCommand, err error) {
	if c.tracer == nil || err != nil {
		return
	}
	done.traced = c
	var ok bool
	if done.passed, done.end, ok = c.clock.Point(c.queue.raw); ok {
		c.tracer.add(&done)
	}
}

// close writes the commands that have run, and closes the queue of a device's clock.
func (t *tracer) close(d *Device) error {
	if t == nil {
		return nil
	}
	t.write()
	return d.clock.Load().Close()
}

// pollEvery is the time between searches for commands that have run.
const pollEvery = 5 * time.Millisecond

const mostPending = 1 << 10 // a program that issues this number of commands between searches writes them itself

func (t *tracer) add(c *tracedCommand) {
	c.ownerName = t.spans.Owner(c.owner) // which may have ended when the command has run
	t.mu.Lock()
	t.pending = append(t.pending, *c)
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
		t.clocks.Renew()
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
		if c := &list[i]; !t.command(c) {
			left = append(left, *c)
		}
	}
	t.writeRun()
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

// mostRun is the maximum number of commands that are passed to the time line at a time.
const mostRun = 64

// command collects a command that has run for writeRun, and returns false for one that has not.
func (t *tracer) command(c *tracedCommand) bool {
	end, done, also := c.clock.Reached(c.queue.raw, c.end, c.passed)
	if !done {
		return false
	}
	start, _, ok := c.clock.Reached(c.queue.raw, c.begin, c.issued)
	hosts := !ok || !also // a device without a clock: the times are those of the host
	if hosts {
		start, end = c.issued, t.out.Now()
	}
	start, end = max(start, c.issued), max(end, start, c.issued) // clocks are related with an error
	if t.spans != nil {
		t.spans.Send(observe.Span{Kind: observe.Kind(c.kind), Name: c.name, Device: c.queue.device.id, Owner: c.ownerName,
			Start: time.Now().Add(start - t.out.Now()), Duration: end - start, Bytes: c.bytes}, 0)
	}
	if t.silent {
		return true
	}
	t.run = append(t.run, trace.DeviceCommand{Program: t.host, Queue: t.track(c.queue), Kind: c.kind, Name: c.name, Issued: c.issued, Passed: c.passed,
		Start: start, End: end, Number: c.seq, Bytes: c.bytes, Size: c.size, Place: c.place})
	last := &t.run[len(t.run)-1]
	for i, n := range c.needs {
		process, thread := t.names(n.queue)
		last.Args = append(last.Args, trace.WaitsFor(i, process, thread, n.seq, n.reason))
	}
	if hosts {
		last.Args = append(last.Args, trace.Text("clock", "host"))
	}
	if len(t.run) == mostRun {
		t.writeRun()
	}
	return true
}

// writeRun writes the collected commands: their issue on the program's track, themselves on their queues', and arrows between them.
// The caller holds writing.
func (t *tracer) writeRun() {
	t.out.Commands(t.run)
	clear(t.run)
	t.run = t.run[:0]
}

// names returns the names of a queue's track. The caller holds writing.
func (t *tracer) names(q *Queue) (process, thread string) {
	return trace.DeviceProcess + q.device.id, t.rows.Name(q.object.ID, q.device.id, q.object.Label)
}

// track returns the track of a queue. The caller holds writing.
func (t *tracer) track(q *Queue) trace.Track {
	if q.track == (trace.Track{}) {
		q.track = t.out.Track(t.names(q))
	}
	return q.track
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

// observeFailure passes the failure of a queue's command to the session's hook, and returns err.
func (q *Queue) observeFailure(err error) error {
	var e *offload.Error
	if q.device.session.spans != nil && errors.As(err, &e) {
		q.device.session.spans.Send(observe.Span{Kind: observe.Failure, Name: e.Label, Device: q.device.id, Err: err}, q.object.Owner)
	}
	return err
}
