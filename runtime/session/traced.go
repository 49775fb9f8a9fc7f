package session

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	clocks  map[*Device]*deviceClock
	pending []tracedCommand // in the order of issue
	polling bool
}

// deviceClock relates a device's clock to that of the time line. The reference was reached at host. Its queue is one of its own,
// since others may wait for the program.
type deviceClock struct {
	queue     offload.Queue
	reference offload.Event
	host      time.Duration
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
	return &tracer{out: out, silent: silent, host: out.Track("program", "commands"), spans: spans, clocks: map[*Device]*deviceClock{}}
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
	m, ok := q.raw.(offload.Marker)
	if !ok {
		return traced{}
	}
	t.align(q.device)
	at := t.out.Now()
	ev, err := m.Mark()
	if err != nil {
		return traced{}
	}
	needs := q.needed
	q.needed = nil
	return traced{t, q, ev, at, q.issued.Load() + 1, needs}
}

// end ends the command. It has a kind, a name, and a number of bytes unless it is 0.
func (c traced) end(kind, name string, bytes int64, err error) {
	if c.tracer == nil || err != nil {
		return
	}
	passed := c.tracer.out.Now()
	ev, err := c.queue.raw.(offload.Marker).Mark()
	if err != nil {
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
	ev, err := c.queue.raw.(offload.Marker).Mark()
	if err != nil {
		return
	}
	c.tracer.add(tracedCommand{traced: c, kind: trace.Kernel, name: call.kernel.name, ended: ev, passed: passed, size: call.launch.Size, place: call.launch.Pos})
}

// alignments is the number of measurements of a device's clock, of which that with the shortest way counts.
const alignments = 3

// align relates a device's clock to that of the time line at the device's first command. The error is at most half of the way to
// the device and back.
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
	shortest := time.Duration(1<<63 - 1)
	for range alignments {
		sent := t.out.Now()
		ev, err := raw.Record()
		if err != nil || ev.Settle(context.Background()) != nil {
			break
		}
		if way := t.out.Now() - sent; way < shortest {
			shortest, c.reference, c.host = way, ev, sent+way/2
		}
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
		return clock.host + time.Duration(ns), ok
	}
	args := c.args()
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
	row := t.out.Track(c.queue.track())
	t.out.Slice(t.host, "issue", c.name, c.issued, c.passed-c.issued)
	t.out.Slice(row, c.kind, c.name, start, end-start, args...)
	t.out.Flow("launch", t.host, c.issued, row, start)
}

// track returns the names of the queue's track.
func (q *Queue) track() (process, thread string) { return "device " + q.device.id, q.object.Label }

// args returns the arguments of a command's slice.
func (c *tracedCommand) args() []trace.Arg {
	list := []trace.Arg{trace.Issued(c.issued), trace.Command(c.seq)}
	for i, n := range c.needs {
		process, thread := n.queue.track()
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

// counted writes the allocated memory of a device.
func (t *tracer) counted(d *Device, bytes int64) {
	if t != nil && !t.silent {
		t.out.Counter(t.out.Track("device "+d.id, "memory"), "allocated bytes", float64(bytes))
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
