package remote

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

const (
	laneWindow = 256      // maximum number of commands in flight of a queue
	laneBytes  = 64 << 20 // bytes of host memory in flight above which no command begins, since the server buffers them
	maxCalls   = 1 << 16  // maximum number of open calls of a server's work-items
	laneLooks  = 100      // polls of the reached number before a goroutine sleeps
)

// lane implements [queue.Lane] for a queue of the server.
type lane struct {
	device  *device
	id      uint64
	queue   *queue.Queue
	reached atomic.Uint64
	bytes   atomic.Int64 // host bytes of copies in flight
	window  atomic.Int64 // commands in flight

	launches sentLaunches // reused by Begin, whose calls are sequential

	mu       sync.Mutex
	flying   map[uint64]*queue.Command
	services map[uint64]offload.Services  // services of launches in flight
	failures map[uint64][]error           // errors of their services, whose causes are not transferred
	sent     map[uint64]int64             // for copies from the host, the link's position behind their bytes
	newest   uint64                       // the newest command begun
	ended    uint64                       // the newest command whose end the server reported
	stopping uint64                       // the newest command that Stop has named
	results  map[uint64]*protocol.Reached // results of ended commands that did not succeed or have a time
	inbox    []protocol.Message           // reports and prints that wait for a print to be delivered
	printing bool                         // a goroutine delivers inbox
	waiting  int                          // prints that have not been delivered
	changed  chan struct{}                // closed when reached changes; nil if no goroutine waits
	lost     error                        // why the connection has ended; nil before
}

func newLane(d *device, id uint64) *lane {
	return &lane{device: d, id: id, flying: map[uint64]*queue.Command{}, services: map[uint64]offload.Services{}, failures: map[uint64][]error{}, sent: map[uint64]int64{}, results: map[uint64]*protocol.Reached{},
		launches: sentLaunches{kept: map[uint64]*protocol.Launch{}}}
}

func (l *lane) Check(m offload.Memory) error {
	mem, ok := m.(*memory)
	if err := queue.CheckMemory(ok && (mem.device == l.device || l.device.CanExchange(mem.device)), ok && mem.freed.Load()); err != nil {
		return err
	}
	return nil
}

// own returns an error for memory of another device, which the queue can only exchange.
func (l *lane) own(m offload.Memory) error {
	if m == nil || m.(*memory).device == l.device {
		return nil
	}
	return offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").WithHint("copy it to this one")
}

func (l *lane) NewLaunch() queue.LaneLaunch { return &launch{lane: l} }

// Flush makes the link send the commands begun so far. If several are in flight, the link's writer sends them, perhaps together with
// later ones.
func (l *lane) Flush() { l.device.client.link.flush(l.window.Load() <= 1) }

func (l *lane) Window() int {
	if l.bytes.Load() > laneBytes {
		return int(l.window.Load())
	}
	return laneWindow
}

// launch is the encoded form of a launch.
type launch struct {
	lane     *lane
	message  protocol.Launch
	data     []byte // contents of structs
	services offload.Services
	joint    *together // nil if no other device takes part
	begun    bool      // the part of the joint launch was sent
}

func (s *launch) Set(o *offload.Launch) error {
	k, ok := o.Kernel.(*kernel)
	if !ok || k.device != s.lane.device {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On("", o.Kernel.Info().Name)
	}
	if err := queue.CheckLaunch(o, &s.lane.device.Info().Limits); err != nil {
		return err
	}
	m := &s.message
	*m = protocol.Launch{Kernel: k.id, Size: o.Size, GroupSize: o.GroupSize, Args: m.Args[:0], Checks: o.Checks, Pos: o.Pos, Services: o.Services != nil,
		SharedBytes: o.SharedBytes, Cooperative: o.Cooperative, Teams: o.Teams, ThreadLimit: o.ThreadLimit}
	s.data = s.data[:0]
	for i := range o.Args {
		a := &o.Args[i]
		w := protocol.Arg{Type: a.Type, Bits: a.Bits, Offset: a.Offset, Dims: a.Dims, Label: a.Label}
		if a.Memory != nil {
			err := s.lane.Check(a.Memory)
			if err == nil {
				err = s.lane.own(a.Memory)
			}
			if err != nil {
				s.Clear()
				return err
			}
			m := a.Memory.(*memory)
			w.Memory, w.Offset = m.id, a.Offset+m.base
		}
		if a.Data != nil {
			w.Struct = true
			at := len(s.data)
			s.data = append(s.data, a.Data...)
			w.Data = s.data[at:len(s.data):len(s.data)]
		}
		m.Args = append(m.Args, w)
	}
	s.services, s.begun = o.Services, false
	s.joint, _ = o.Joint.(*together)
	if k.info.AnyService && o.Services != nil {
		s.lane.device.client.warners.Launches(k.program, o.Services)
	}
	return nil
}

func (s *launch) Clear() {
	if !s.begun {
		s.fail(errDropped)
	}
	clear(s.message.Args)
	s.message.Args, s.services, s.joint = s.message.Args[:0], nil, nil
}

func wireOf(p *queue.Place) protocol.Place {
	if p.Memory == nil {
		return protocol.Place{}
	}
	m := p.Memory.(*memory)
	return protocol.Place{Memory: m.id, Offset: m.base + p.Offset, RowPitch: p.RowPitch, SlicePitch: p.SlicePitch}
}

// extentOf returns the box of a copy. A copy of bytes is one row.
func extentOf(c *queue.Command) [3]int64 {
	if c.Kind == queue.CopyBytes {
		return [3]int64{c.Size, 1, 1}
	}
	return c.Extent
}

// hostBytes returns the number of bytes that a command copies from or to host memory; 0 for other commands.
func hostBytes(c *queue.Command) int64 {
	if c.Kind > queue.CopyBox || c.Dst.Memory != nil && c.Src.Memory != nil {
		return 0
	}
	extent := extentOf(c)
	return extent[0] * extent[1] * extent[2]
}

// peerOf returns the client of the other device of a copy between two devices, or nil for other commands. It returns an error if that
// device is lost, or if c uses memory of another device where it must not.
func (l *lane) peerOf(c *queue.Command) (*client, error) {
	if c.Kind != queue.CopyBytes && c.Kind != queue.CopyBox || c.Dst.Memory == nil || c.Src.Memory == nil {
		if c.Kind <= queue.FillBytes {
			if err := l.own(c.Dst.Memory); err != nil {
				return nil, err
			}
			return nil, l.own(c.Src.Memory)
		}
		return nil, nil
	}
	dst, src := c.Dst.Memory.(*memory).device, c.Src.Memory.(*memory).device
	other := dst
	switch {
	case dst == l.device && src == l.device:
		return nil, nil
	case dst == l.device:
		other = src
	case src != l.device:
		return nil, l.own(c.Src.Memory)
	}
	select {
	case <-other.client.lost:
		return nil, other.client.refused("exchange")
	default:
		return other.client, nil
	}
}

func (l *lane) Begin(c *queue.Command) error {
	peer, err := l.peerOf(c)
	if err != nil {
		return err
	}
	s, _ := c.Launch.(*launch)
	if c.Kind == queue.LaunchKernel && s.joint != nil {
		if err := s.joint.lost(); err != nil {
			return err
		}
	}
	l.mu.Lock()
	if l.lost != nil {
		l.mu.Unlock()
		return l.lost
	}
	l.flying[c.Number] = c
	l.newest = c.Number
	activity.Current().Commands.Add(1)
	if c.Kind == queue.LaunchKernel {
		if s := c.Launch.(*launch).services; s != nil {
			l.services[c.Number] = s
		}
	}
	l.mu.Unlock()
	l.window.Add(1)
	l.bytes.Add(hostBytes(c))
	link, at := l.device.client.link, protocol.At{Queue: l.id, Number: c.Number}
	if peer != nil {
		m := &protocol.Exchange{At: at, Peer: peer.address, Session: peer.session, Push: c.Src.Memory.(*memory).device == l.device, Near: wireOf(&c.Dst), Far: wireOf(&c.Src),
			Extent: extentOf(c)}
		if m.Push {
			m.Near, m.Far = m.Far, m.Near
		}
		link.add(m, nil, false)
		return nil
	}
	switch c.Kind {
	case queue.CopyBytes, queue.CopyBox:
		link.add(&protocol.Transfer{At: at, Dst: wireOf(&c.Dst), Src: wireOf(&c.Src), Extent: extentOf(c)}, nil, false)
		if c.Src.Memory == nil {
			l.sendHost(at, c)
			l.mu.Lock()
			l.sent[c.Number] = link.position()
			l.mu.Unlock()
		}
	case queue.FillBytes:
		p := wireOf(&c.Dst)
		link.add(&protocol.Fill{At: at, Memory: p.Memory, Offset: p.Offset, Size: c.Size, Pattern: c.Pattern}, nil, false)
	case queue.LaunchKernel:
		s.message.At = at
		if s.joint != nil {
			s.join(link)
			break
		}
		link.add(l.launches.shortest(&s.message), nil, false)
	case queue.RecordEvent:
		link.add(&protocol.Record{At: at}, nil, false)
	}
	return nil
}

// sendHost sends the bytes of a copy from the host, which must not change until the copy has ended.
func (l *lane) sendHost(at protocol.At, c *queue.Command) {
	link := l.device.client.link
	sent := int64(0)
	eachRow(&c.Src, extentOf(c), func(row []byte) {
		for len(row) > 0 {
			n := min(protocol.MaxFragment, len(row))
			link.add(&protocol.Fragment{At: at, Offset: sent}, row[:n], false)
			sent += int64(n)
			row = row[n:]
		}
	})
}

// eachRow calls do with the rows of a box on the host.
func eachRow(p *queue.Place, extent [3]int64, do func(row []byte)) {
	for z := range extent[2] {
		for y := range extent[1] {
			do(p.Host[z*p.SlicePitch+y*p.RowPitch:][:extent[0]])
		}
	}
}

// retrieving returns the copy to the host that n bytes of a fragment belong to, or an error if the bytes belong to none.
func (l *lane) retrieving(m *protocol.Fragment, n int64) (*queue.Command, error) {
	l.mu.Lock()
	c, ended := l.flying[m.At.Number], m.At.Number <= l.ended
	l.mu.Unlock()
	if c == nil || c.Dst.Memory != nil || (c.Kind != queue.CopyBytes && c.Kind != queue.CopyBox) || ended {
		return nil, fmt.Errorf("data for command %d, which takes none", m.At.Number)
	}
	extent := extentOf(c)
	total := extent[0] * extent[1] * extent[2]
	if m.Offset < 0 || m.Offset > total || n > total-m.Offset {
		return nil, fmt.Errorf("data for command %d leave its memory", m.At.Number)
	}
	return c, nil
}

// land returns the host memory for n bytes of a fragment. It returns nil if the copy has several rows, or if no such bytes are expected.
func (l *lane) land(m *protocol.Fragment, n int64) []byte {
	c, err := l.retrieving(m, n)
	if err != nil || extentOf(c)[1] != 1 || extentOf(c)[2] != 1 {
		return nil
	}
	return c.Dst.Host[m.Offset:][:n]
}

// data copies a piece of the device's bytes to the host memory of a copy.
func (l *lane) data(m *protocol.Fragment) error {
	c, err := l.retrieving(m, int64(len(m.Data)))
	if err != nil {
		return err
	}
	extent := extentOf(c)
	for data, at := m.Data, m.Offset; len(data) > 0; {
		row, in := at/extent[0], at%extent[0]
		z, y := row/extent[1], row%extent[1]
		n := copy(c.Dst.Host[z*c.Dst.SlicePitch+y*c.Dst.RowPitch:][in:extent[0]], data)
		data, at = data[n:], at+int64(n)
	}
	return nil
}

// end handles a report of the server. It waits for the writer, which may still read the memory of copies that the report covers. If
// earlier prints have not been delivered, deliver handles the report after them. A report of a command that has ended already or
// has not begun is an error.
func (l *lane) end(m *protocol.Reached) error {
	l.mu.Lock()
	last := int64(0)
	for n, position := range l.sent {
		if n <= m.At.Number {
			last = max(last, position)
			delete(l.sent, n)
		}
	}
	l.mu.Unlock()
	if last > 0 && !l.device.client.link.waitWritten(last) {
		return fmt.Errorf("a report of command %d after the end", m.At.Number)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.At.Number <= l.ended || m.At.Number > l.newest || m.Outcome > protocol.Failed {
		return fmt.Errorf("a report of command %d in state %d", m.At.Number, m.Outcome)
	}
	l.ended = m.At.Number
	if m.Outcome != protocol.Succeeded {
		l.failJoint(m.At.Number, offload.DecodeError(m.Error))
	}
	if m.Outcome != protocol.Succeeded || m.Timed {
		kept := *m
		kept.Error = append([]byte(nil), m.Error...)
		l.results[m.At.Number] = &kept
	}
	if l.printing {
		l.inbox = append(l.inbox, m)
		return nil
	}
	l.advance(m.At.Number)
	return nil
}

// advance marks commands up to n as reached, and wakes the goroutines in Await. The caller holds l.mu.
func (l *lane) advance(n uint64) {
	l.reached.Store(n)
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// print delivers a line in order with the reports, on a separate goroutine, since the host's writer may be slow. It drops a line of an
// ended launch. A line of a command without services is an error, and so are more than protocol.MaxPrints waiting lines.
func (l *lane) print(m *protocol.Printed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.At.Number <= l.ended { // a late print of an ended launch, for instance after a timeout
		l.device.client.link.send(&protocol.PrintsDone{Count: 1})
		return nil
	}
	if l.services[m.At.Number] == nil {
		return fmt.Errorf("a print of command %d, which has no services", m.At.Number)
	}
	if l.waiting++; l.waiting > protocol.MaxPrints {
		return fmt.Errorf("more than %d lines at once", protocol.MaxPrints)
	}
	l.inbox = append(l.inbox, m)
	if !l.printing {
		l.printing = true
		go l.deliver()
	}
	return nil
}

func (l *lane) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	done := uint32(0)
	for len(l.inbox) > 0 {
		p := l.inbox[0]
		l.inbox = l.inbox[1:]
		switch m := p.(type) {
		case *protocol.Reached:
			if l.lost == nil {
				l.advance(m.At.Number)
			}
		case *protocol.Printed:
			if s := l.services[m.At.Number]; s != nil {
				l.mu.Unlock()
				m.Message.Device = l.device.id()
				printTo(s, &m.Message)
				l.mu.Lock()
			}
			l.waiting--
			done++
		}
		if done > 0 && (done >= protocol.MaxPrints/4 || len(l.inbox) == 0) {
			l.device.client.link.send(&protocol.PrintsDone{Count: done})
			done = 0
		}
	}
	l.printing = false
}

// printTo prints a line and recovers from a panic of the host's writer.
func printTo(s offload.Services, m *offload.Message) {
	defer func() { _ = recover() }()
	s.Print(m)
}

// call serves a request of a work-item on a separate goroutine. The answer to a request of an ended launch is an error. A
// request of a command without services is an error of the connection. So is a number that is open, and a call beyond maxCalls.
func (l *lane) call(m *protocol.ServiceCall) error {
	l.mu.Lock()
	s, over := l.services[m.At.Number], m.At.Number <= l.ended
	l.mu.Unlock()
	if over {
		l.device.client.link.send(&protocol.ServiceAnswer{Call: m.Call, Bits: 0, Error: offload.EncodeError(offload.Errorf(offload.Cancelled, "call", "the launch has ended"))})
		return nil
	}
	if s == nil {
		return fmt.Errorf("a call of command %d, which has no services", m.At.Number)
	}
	c := l.device.client
	ctx, cancel := context.WithCancel(context.Background())
	c.mu.Lock()
	if c.calls[m.Call] != nil || len(c.calls) >= maxCalls {
		c.mu.Unlock()
		cancel()
		return fmt.Errorf("call %d is open, or too many are", m.Call)
	}
	c.calls[m.Call] = cancel
	c.mu.Unlock()
	go func() {
		defer cancel()
		m.Request.Device = l.device.id()
		bits, err := guarded(ctx, s, &m.Request)
		if err != nil {
			l.failed(m.At.Number, err)
		}
		c.mu.Lock()
		delete(c.calls, m.Call)
		c.mu.Unlock()
		c.link.send(&protocol.ServiceAnswer{Call: m.Call, Bits: bits, Error: offload.EncodeError(err)})
	}()
	return nil
}

func guarded(ctx context.Context, s offload.Services, r *offload.Request) (bits uint64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = offload.Errorf(offload.BackendFailure, "call", "the service %s panicked: %v", r.Name, p)
		}
	}()
	return s.Call(ctx, r)
}

func (l *lane) Reached() uint64 { return l.reached.Load() }

func (l *lane) Await(ctx context.Context, n uint64) {
	reached := func() bool { return l.reached.Load() >= n || ctx.Err() != nil }
	l.device.client.link.flush(true)
	if l.device.client.await(reached) {
		return
	}
	for range laneLooks {
		if reached() {
			return
		}
		runtime.Gosched()
	}
	l.mu.Lock()
	if l.reached.Load() >= n {
		l.mu.Unlock()
		return
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

func (l *lane) Finish(c *queue.Command) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := c.Number
	l.window.Add(-1)
	l.bytes.Add(-hostBytes(c))
	delete(l.flying, n)
	delete(l.services, n)
	failures := l.failures[n]
	delete(l.failures, n)
	delete(l.sent, n)
	r := l.results[n]
	delete(l.results, n)
	switch {
	case n > l.ended: // reached by the loss
		return l.lost
	case r == nil:
		return nil
	case r.Timed:
		c.Stamp = r.Time
	}
	switch r.Outcome {
	case protocol.Stopped:
		return queue.ErrStopped
	case protocol.Failed:
		return caused(offload.DecodeError(r.Error), failures)
	}
	return nil
}

const mostFailures = 64 // maximum number of errors kept per launch: the one that ended it is among the first

// failed records an error of a service that the launch n has called. It drops errors of ended launches, and those beyond mostFailures.
func (l *lane) failed(n uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > l.ended && len(l.failures[n]) < mostFailures {
		l.failures[n] = append(l.failures[n], err)
	}
}

// caused replaces the decoded cause of a launch's error by the original with the same text. The original is one of failures or
// the cause of one. It changes and returns err, which stays unchanged if no original matches or err has no cause.
func caused(err error, failures []error) error {
	e, ok := err.(*offload.Error)
	if !ok || e.Err == nil {
		return err
	}
	text := e.Err.Error()
	for _, f := range failures {
		if f.Error() == text {
			e.Err = f
			break
		}
		if of, ok := f.(*offload.Error); ok && of.Err != nil && of.Code == e.Code && of.Err.Error() == text {
			e.Err = of.Err
			break
		}
	}
	return e
}

func (l *lane) Stop(n uint64) {
	l.device.client.link.send(&protocol.Stop{At: protocol.At{Queue: l.id, Number: n}})
	if !l.device.Info().Features.Cancel {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	idle := l.stopping <= l.ended
	l.stopping = max(l.stopping, min(n, l.newest))
	if idle && l.stopping > l.ended {
		go l.awaitStop()
	}
}

const (
	stopChecks = 10          // successive checks without progress after which a server that does not stop a command is lost
	stopEvery  = time.Second // interval of these checks
)

// awaitStop ends the connection if the server does not end the commands that Stop named: native code may have taken its threads. A
// command that ends, or bytes that are written, restart the wait.
func (l *lane) awaitStop() {
	c := l.device.client
	var ended uint64
	var written int64
	for waited := 0; waited < stopChecks; waited++ {
		select {
		case <-c.lost:
			return
		case <-time.After(stopEvery):
		}
		l.mu.Lock()
		now, over := l.ended, l.ended >= l.stopping
		l.mu.Unlock()
		if over {
			return
		}
		if at := c.link.doneBytes(); now != ended || at != written {
			ended, written, waited = now, at, 0
		}
	}
	c.abort(fmt.Errorf("the server has not stopped a command for %v", stopChecks*stopEvery))
}

func (l *lane) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(int64)
	b, ok2 := earlier.(int64)
	return a - b, ok1 && ok2
}

// Close makes the server close its queue after the queue's commands.
func (l *lane) Close() {
	c := l.device.client
	c.forget(l.id)
	c.link.send(&protocol.Release{Kind: protocol.QueueObject, Object: l.id})
}

// lose handles the end of the connection for the reason why. It marks all commands in flight as reached, fails joint launches
// among them, and makes the queue refuse further commands.
func (l *lane) lose(why error) {
	l.mu.Lock()
	l.lost = why
	for n := range l.flying {
		l.failJoint(n, why)
	}
	l.advance(math.MaxUint64)
	l.mu.Unlock()
	l.queue.Lose(why)
}
