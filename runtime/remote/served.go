package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/box"
	"github.com/orepl/orepl/runtime/remote/joint"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// servedQueue is a queue of the client on a device of this process. The receiving goroutine issues commands; a second goroutine
// reports their ends.
type servedQueue struct {
	server *server
	id     uint64
	device *servedDevice
	near   offload.Queue

	// These fields belong to the receiving goroutine.
	last     uint64                     // the newest command
	incoming *incoming                  // the copy from the host whose bytes are arriving; nil if there is none
	batch    *batch                     // of the newest command, if it is an exchange with another server
	kept     map[uint64]*receivedLaunch // by kernel
	unsent   uint64                     // the newest command that ended at once and was not reported; 0 if none

	mu        sync.Mutex
	changed   sync.Cond
	pending   []pending // in order of their numbers
	atOnce    *atOnce   // the newest command, if it runs at once; nil otherwise
	reporting bool      // a command removed from pending is being reported
	stoppedTo uint64    // commands up to this number have a stop request
	closing   bool
}

// pending is a command whose end has not been reported to the client.
type pending struct {
	number uint64
	err    error            // refusal of the command
	event  offload.Event    // follows the command; nil if it was refused
	record bool             // the command records an event, whose time is reported
	data   []byte           // bytes to send to the client, once the command has read them; nil if there are none
	known  bool             // its end was reported to the client
	joint  *joint.Operation // of a joint launch; nil for other commands
	sent   int64            // if known is set, the position up to which the bytes of its memory are sent
}

// incoming is a copy from the host whose bytes are arriving.
type incoming struct {
	at      protocol.At
	dst     offload.Rect
	extent  [3]int64
	total   int64
	arrived int64
	data    []byte // bytes of all rows; nil for a single row, whose pieces are copied on arrival
	err     error
}

func (s *server) newQueue(m *protocol.NewQueue) error {
	d, err := s.device(m.Device)
	if err != nil {
		return err
	}
	return s.answer(m.Request, func(context.Context, *protocol.Reply) error {
		near, err := d.NewQueue(offload.QueueOptions{Label: m.Label})
		if err != nil {
			return err
		}
		if err := d.setBase(s.ctx, near); err != nil {
			return errors.Join(err, near.Close())
		}
		q := &servedQueue{server: s, id: m.Queue, device: d, near: near, kept: map[uint64]*receivedLaunch{}}
		q.changed.L = &q.mu
		s.mu.Lock()
		taken := s.queues == nil || s.queues[m.Queue] != nil
		if !taken {
			s.queues[m.Queue] = q
			activity.Current().Queues.Add(1)
			s.running.Go(q.report)
		}
		s.mu.Unlock()
		if taken {
			return errors.Join(offload.Errorf(offload.InvalidArgument, "create queue", "the number %d is taken", m.Queue), near.Close())
		}
		return nil
	})
}

// setBase records an event as the origin of the device's times, and waits for it. It does so at the first call, and only if the
// device has a clock.
func (d *servedDevice) setBase(ctx context.Context, q offload.Queue) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.base != nil || !d.Info().Features.Clock {
		return nil
	}
	ev, err := q.Record()
	if err != nil {
		return err
	}
	d.base = ev
	return ev.Settle(ctx)
}

// whenUnused calls free when all commands issued so far have finished and no other server copies the memory: now, or on another
// goroutine. A copy that is still arriving in the memory fails. memory is nil if free unloads a program.
func (s *server) whenUnused(memory offload.Memory, free func()) {
	var last []offload.Event
	s.mu.Lock()
	queues := slices.AppendSeq(slices.Collect(maps.Keys(s.closing)), maps.Values(s.queues))
	s.mu.Unlock()
	for _, q := range queues {
		if in := q.incoming; in != nil && in.dst.Memory == memory {
			in.err = offload.Errorf(offload.Closed, "copy", "the memory was freed")
		}
		q.follow()
		q.mu.Lock()
		for i := len(q.pending) - 1; i >= 0; i-- {
			if ev := q.pending[i].event; ev != nil {
				last = append(last, ev)
				break
			}
		}
		q.mu.Unlock()
	}
	held := memory != nil && s.isHeld(memory)
	if len(last) == 0 && !held {
		free()
		return
	}
	s.running.Go(func() {
		for _, ev := range last {
			_ = ev.Settle(context.Background()) // report sends the failure
		}
		if held {
			s.waitUnheld(memory)
		}
		free()
	})
}

// queue returns an open queue, or nil.
func (s *server) queue(number uint64) *servedQueue {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[number]
}

func (s *server) onQueue(at protocol.At, do func(*servedQueue) error) error {
	q := s.queue(at.Queue)
	if q == nil {
		return fmt.Errorf("queue %d does not exist", at.Queue)
	}
	return do(q)
}

// begins validates the number of a new command, and makes it the newest. If the command before it runs at once, begins first
// turns that one into a command of the near queue.
func (q *servedQueue) begins(at protocol.At) error {
	if at.Number <= q.last || q.incoming != nil {
		return fmt.Errorf("command %d comes after %d or within its data", at.Number, q.last)
	}
	q.follow()
	q.last, q.batch = at.Number, nil
	activity.Current().Commands.Add(1)
	return nil
}

// issue calls do, which issues a command to the plugin's queue, and keeps p until the command has ended.
func (q *servedQueue) issue(at protocol.At, p pending, do func() error) error {
	if err := q.begins(at); err != nil {
		return err
	}
	return q.issued(at, p, do())
}

// issued keeps p until the command just issued has ended. err is the error of issuing the command, or nil. A command that has already
// succeeded on an idle queue needs no p, unless it returns more than maxCopied bytes. Its report is merged with later ones, or sent
// at once if it is a record. issued itself returns an error if the queue has maxPending commands.
func (q *servedQueue) issued(at protocol.At, p pending, err error) error {
	p.number, p.err = at.Number, err
	if p.err == nil {
		p.event, p.err = q.near.Record()
	}
	ended := p.err == nil && p.event.Done()
	if ended {
		p.err = p.event.Sync(q.server.ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if ended && p.err == nil && len(p.data) <= maxCopied && q.idleLocked() {
		if p.record { // without a delay, since a client may measure the round trip
			q.sendReached()
			m := &protocol.Reached{At: at}
			q.timeOf(m, p.event)
			q.server.link.send(m)
			return nil
		}
		if q.unsent == 0 {
			q.server.ended = append(q.server.ended, q)
		}
		if len(p.data) > 0 {
			q.server.link.add(&protocol.Fragment{At: at}, p.data, false)
		}
		q.unsent = p.number
		return nil
	}
	q.sendReached()
	if len(q.pending) >= maxPending {
		return fmt.Errorf("queue %d has too many commands", q.id)
	}
	q.pending = append(q.pending, p)
	q.changed.Broadcast()
	return nil
}

// sendReached reports the commands that ended at once. The caller holds q.mu, so that later reports follow.
func (q *servedQueue) sendReached() {
	if q.unsent != 0 {
		q.server.link.send(&protocol.Reached{At: protocol.At{Queue: q.id, Number: q.unsent}})
		q.unsent = 0
	}
}

// reportAtOnce reports the commands that ended at once, when no further commands have arrived.
func (s *server) reportAtOnce() {
	for i, q := range s.ended {
		q.mu.Lock()
		q.sendReached()
		q.mu.Unlock()
		s.ended[i] = nil
	}
	s.ended = s.ended[:0]
}

func (q *servedQueue) transfer(m *protocol.Transfer) error {
	if err := q.begins(m.At); err != nil {
		return err
	}
	dst, src := q.server.memory(m.Dst.Memory), q.server.memory(m.Src.Memory)
	device := src
	if src == nil {
		device = dst
	}
	if device == nil || dst == nil && m.Dst.Memory != 0 || src == nil && m.Src.Memory != 0 {
		return errors.New("a copy of memory that does not exist")
	}
	total, ok := box.Size(m.Extent, device.Size())
	if !ok {
		return fmt.Errorf("a copy of a box of %v bytes, rows and slices", m.Extent)
	}
	single := m.Extent[1] == 1 && m.Extent[2] == 1
	switch {
	case src == nil:
		in := &incoming{at: m.At, dst: rectOf(dst, &m.Dst), extent: m.Extent, total: total}
		if !single {
			in.data = make([]byte, total)
		}
		q.incoming = in
		return nil
	case dst == nil && single && total >= landAt && rangeOf(src, m.Src.Offset, total) != nil:
		memory := rangeOf(src, m.Src.Offset, total)
		if total <= maxAtOnce && q.idle() {
			return q.sendAtOnce(m.At, memory)
		}
		return q.issued(m.At, pending{}, q.near.Host(func() error { return q.sendMemory(m.At, memory) }))
	case dst == nil:
		data := make([]byte, total)
		return q.issued(m.At, pending{data: data}, box.Retrieve(q.near, data, rectOf(src, &m.Src), m.Extent))
	case single:
		return q.issued(m.At, pending{}, q.near.Exchange(spanOf(dst, &m.Dst, total), spanOf(src, &m.Src, total)))
	}
	return q.issued(m.At, pending{}, box.Exchange(q.near, rectOf(dst, &m.Dst), rectOf(src, &m.Src), m.Extent))
}

// rangeOf returns the bytes of a range of memory, or nil if the host cannot access them or the range exceeds the memory.
func rangeOf(m offload.Memory, offset, n int64) []byte {
	b := m.Bytes()
	if offset < 0 || offset > int64(len(b)) || n > int64(len(b))-offset {
		return nil
	}
	return b[offset:][:n:n]
}

// idle reports whether all commands have ended, and those in pending were reported. The bytes of memory that they send have then
// been written to the stream. The commands up to unsent may still wait for their report.
func (q *servedQueue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.idleLocked()
}

func (q *servedQueue) idleLocked() bool {
	for i := range q.pending {
		if p := &q.pending[i]; !p.known || !q.server.link.isWritten(p.sent) {
			return false
		}
	}
	return !q.reporting && q.atOnce == nil
}

// sendAtOnce sends bytes of memory as fragments, and the report of the copy behind them, while the queue is idle. Later commands
// wait until the bytes have been written.
func (q *servedQueue) sendAtOnce(at protocol.At, memory []byte) error {
	link := q.server.link
	for sent := 0; sent < len(memory); sent += protocol.MaxFragment {
		link.add(&protocol.Fragment{At: at, Offset: int64(sent)}, memory[sent:min(sent+protocol.MaxFragment, len(memory))], false)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sendReached()
	link.send(&protocol.Reached{At: at})
	end := link.position()
	if link.isWritten(end) {
		return nil
	}
	p := pending{number: at.Number, known: true, sent: end}
	err := q.near.Host(func() error { link.waitWritten(end); return nil })
	if err == nil {
		p.event, err = q.near.Record()
	}
	if err != nil {
		link.waitWritten(end)
		return nil
	}
	q.pending = append(q.pending, p)
	q.changed.Broadcast()
	return nil
}

// sendMemory sends bytes of memory as fragments. It waits until they have been written, and returns an error if the client is gone.
func (q *servedQueue) sendMemory(at protocol.At, memory []byte) error {
	link := q.server.link
	for sent := 0; sent < len(memory); {
		link.waitForSpace()
		piece := memory[sent:min(sent+protocol.MaxFragment, len(memory))]
		link.sendWith(&protocol.Fragment{At: at, Offset: int64(sent)}, piece)
		sent += len(piece)
	}
	if !link.waitWritten(link.position()) {
		return offload.Errorf(offload.DeviceLost, "copy", "the client is gone")
	}
	return nil
}

func rectOf(m offload.Memory, p *protocol.Place) offload.Rect {
	return offload.Rect{Memory: m, Offset: p.Offset, RowPitch: p.RowPitch, SlicePitch: p.SlicePitch}
}

func spanOf(m offload.Memory, p *protocol.Place, n int64) offload.Span {
	return offload.Span{Memory: m, Offset: p.Offset, Size: n}
}

// land returns the device memory for n bytes of a fragment. It returns nil if the host cannot write to the memory, or earlier
// commands have not ended. It also returns nil if the copy has several rows or has failed, or the bytes are not expected.
func (s *server) land(m *protocol.Fragment, n int64) (to []byte) {
	_ = s.onQueue(m.At, func(q *servedQueue) error { to = q.land(m, n); return nil }) // fragment reports the error
	return to
}

func (q *servedQueue) land(m *protocol.Fragment, n int64) []byte {
	in := q.incoming
	if in == nil || m.At != in.at || m.Offset != in.arrived || n > in.total-in.arrived || in.data != nil || in.err != nil {
		return nil
	}
	if !q.idle() || in.dst.Offset < 0 {
		return nil
	}
	return rangeOf(in.dst.Memory, in.dst.Offset+m.Offset, n)
}

// fragment stores a piece of a copy from the host. landed reports that the bytes are at their destination. The last piece completes
// the command. A piece that does not follow the one before is an error.
func (q *servedQueue) fragment(m *protocol.Fragment, landed bool) error {
	in := q.incoming
	n := int64(len(m.Data))
	if in == nil || m.At != in.at || m.Offset != in.arrived || n == 0 || n > in.total-in.arrived {
		return fmt.Errorf("data of command %d come at the wrong time", m.At.Number)
	}
	in.arrived += n
	switch {
	case landed:
	case in.data != nil:
		copy(in.data[m.Offset:], m.Data)
	case in.err == nil:
		in.err = q.near.Submit(offload.Span{Memory: in.dst.Memory, Offset: in.dst.Offset + m.Offset, Size: n}, m.Data)
	}
	if in.arrived < in.total {
		return nil
	}
	q.incoming = nil
	if in.data != nil && in.err == nil {
		in.err = box.Submit(q.near, in.dst, in.data, in.extent)
	}
	return q.issued(in.at, pending{}, in.err)
}

func (q *servedQueue) fill(m *protocol.Fill) error {
	mem := q.server.memory(m.Memory)
	if mem == nil {
		return fmt.Errorf("a fill of memory %d, which does not exist", m.Memory)
	}
	return q.issue(m.At, pending{}, func() error {
		return q.near.Fill(offload.Span{Memory: mem, Offset: m.Offset, Size: m.Size}, bytes.Clone(m.Pattern))
	})
}

func (q *servedQueue) launch(m *protocol.Launch) error {
	s := q.server
	s.mu.Lock()
	k := s.kernels[m.Kernel]
	s.mu.Unlock()
	if k.Kernel == nil {
		return fmt.Errorf("a launch of kernel %d, which does not exist", m.Kernel)
	}
	l := &offload.Launch{Kernel: k.Kernel, Size: m.Size, GroupSize: m.GroupSize, Checks: m.Checks, Pos: m.Pos, SharedBytes: m.SharedBytes, Cooperative: m.Cooperative,
		Teams: m.Teams, ThreadLimit: m.ThreadLimit}
	if m.Services {
		l.Services = &hostServices{s, m.At, k.program}
	}
	for i := range m.Args {
		w := &m.Args[i]
		a := offload.Arg{Type: w.Type, Bits: w.Bits, Offset: w.Offset, Dims: w.Dims, Label: w.Label}
		if w.Struct {
			a.Data = append([]byte{}, w.Data...)
		}
		if w.Memory != 0 {
			if a.Memory = s.memory(w.Memory); a.Memory == nil {
				return fmt.Errorf("an argument has memory %d, which does not exist", w.Memory)
			}
		}
		l.Args = append(l.Args, a)
	}
	q.keepLaunch(m, l)
	return q.issue(m.At, pending{}, func() error { return q.near.Launch(l) })
}

// ended is a context that has ended, for cancellations.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// stop requests that the commands up to number n end.
func (q *servedQueue) stop(n uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stoppedTo = max(q.stoppedTo, n)
	if c := q.atOnce; c != nil && c.number <= n {
		c.operation.Fail(offload.Errorf(offload.Cancelled, "launch", "it was cancelled"))
	}
	var last offload.Event
	var sent int64
	for _, p := range q.pending {
		if p.number <= n && p.event != nil {
			last, sent = p.event, max(sent, p.sent)
			if p.joint != nil {
				p.joint.Fail(offload.Errorf(offload.Cancelled, "launch", "it was cancelled"))
			}
		}
	}
	if last != nil {
		q.server.running.Go(func() {
			q.server.link.waitWritten(sent) // the next command may write the memory being sent
			_ = last.Sync(ended)            // report sends the failure
		})
	}
}

// report reports the ends of commands to the client, until the queue is to close and no command is pending. Then it closes the
// plugin's queue.
func (q *servedQueue) report() {
	for {
		q.mu.Lock()
		for len(q.pending) == 0 && !q.closing {
			q.changed.Wait()
		}
		if len(q.pending) == 0 {
			q.mu.Unlock()
			_ = q.near.Close() // all failures were reported
			activity.Current().Queues.Add(-1)
			q.server.mu.Lock()
			delete(q.server.closing, q)
			q.server.mu.Unlock()
			return
		}
		p := q.pending[0]
		q.mu.Unlock()
		q.reportEnd(&p)
	}
}

func (q *servedQueue) reportEnd(p *pending) {
	link := q.server.link
	err := p.err
	if err == nil {
		err = p.event.Sync(context.Background())
	}
	m := &protocol.Reached{At: protocol.At{Queue: q.id, Number: p.number}}
	if err == nil && p.record {
		q.timeOf(m, p.event)
	}
	if p.joint != nil {
		p.joint.End() // its host function may have been dropped
	}
	q.mu.Lock()
	if q.pending = q.pending[1:]; p.known {
		q.mu.Unlock()
		return
	}
	q.reporting = true
	stoppedTo := q.stoppedTo
	follows := err == nil && !p.record && p.data == nil && len(q.pending) > 0 && q.pending[0].event != nil
	var next offload.Event
	if follows {
		next = q.pending[0].event
	}
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		q.reporting = false
		q.mu.Unlock()
	}()
	if follows && next.Done() {
		return // the report of the next command includes this one
	}
	switch {
	case err == nil:
		for at := 0; at < len(p.data); {
			link.waitForSpace()
			n := min(protocol.MaxFragment, len(p.data)-at)
			link.sendWith(&protocol.Fragment{At: m.At, Offset: int64(at)}, p.data[at:][:n])
			at += n
		}
	case q.server.ctx.Err() != nil: // the connection ends, which is the failure that the client is to see
		return
	default:
		m.SetFailure(err, p.number <= stoppedTo)
	}
	link.send(m)
}

// timeOf adds the time of a record to its report, if the device has a clock.
func (q *servedQueue) timeOf(m *protocol.Reached, ev offload.Event) {
	if q.device.base != nil {
		m.Time, m.Timed = ev.Since(q.device.base)
	}
}

// close closes the queue once its commands have ended. It does not wait.
func (q *servedQueue) close() {
	q.follow()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.changed.Broadcast()
}

// abort closes the queue and cancels its commands.
func (q *servedQueue) abort() {
	q.close()
	q.server.running.Go(func() { _ = q.near.Sync(ended) }) // the client's connection has ended
}

// servedLibrary is a library that the client registered, and the platforms with which it is registered.
type servedLibrary struct {
	number   uint64
	library  *offload.Library
	notified []offload.LibraryHooks
}

func (s *server) registerLibrary(m *protocol.RegisterLibrary) error {
	lib := &offload.Library{Label: m.Label, Entries: m.Entries, Requires: m.Requires}
	for i := range m.Images {
		img, err := s.image(&m.Images[i])
		if err != nil {
			return err
		}
		lib.Images = append(lib.Images, img)
	}
	return s.answer(m.Request, func(ctx context.Context, _ *protocol.Reply) error {
		l := &servedLibrary{number: m.Library, library: lib}
		for _, p := range s.platforms {
			hooks, ok := p.(offload.LibraryHooks)
			if !ok {
				continue
			}
			if err := hooks.RegisterLibrary(ctx, lib); err != nil {
				return errors.Join(err, l.unregister(context.Background())) // no platform keeps a registration
			}
			l.notified = append(l.notified, hooks)
		}
		s.mu.Lock()
		taken := slices.ContainsFunc(s.libraries, func(o *servedLibrary) bool { return o.number == m.Library })
		if !taken {
			s.libraries = append(s.libraries, l)
		}
		s.mu.Unlock()
		if taken {
			return errors.Join(offload.Errorf(offload.InvalidArgument, "register", "the number %d is taken", m.Library), l.unregister(ctx))
		}
		return nil
	})
}

func (s *server) unregisterLibrary(m *protocol.UnregisterLibrary) error {
	return s.answer(m.Request, func(ctx context.Context, _ *protocol.Reply) error {
		s.mu.Lock()
		i := slices.IndexFunc(s.libraries, func(l *servedLibrary) bool { return l.number == m.Library })
		if i < 0 {
			s.mu.Unlock()
			return offload.Errorf(offload.NotFound, "unregister", "library %d is not registered", m.Library)
		}
		l := s.libraries[i]
		s.libraries = slices.Delete(s.libraries, i, i+1)
		s.mu.Unlock()
		return l.unregister(ctx)
	})
}

// unregister calls the platforms' hooks for the end of the library, in reverse order. It joins their errors.
func (l *servedLibrary) unregister(ctx context.Context) error {
	var failures []error
	for _, hooks := range slices.Backward(l.notified) {
		failures = append(failures, hooks.UnregisterLibrary(ctx, l.library))
	}
	return errors.Join(failures...)
}
