package remote

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/remote/joint"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// together implements [offload.Joint] for devices of different servers of a cluster.
type together struct {
	number  uint64
	members []*device
	flows   []offload.Flow // of a copy; nil for a reduction
	failed  atomic.Bool
}

var jointNumbers atomic.Uint64

// Join implements [offload.Joiner].
func (d *device) Join(members []offload.Device) offload.Joint {
	if j := d.with(members); j != nil {
		return j
	}
	return nil
}

// Move implements [offload.Mover].
func (d *device) Move(op string, members []offload.Device, flows []offload.Flow) (parts []offload.Launch) {
	if j := d.with(members); j != nil {
		j.flows = flows
		for _, m := range j.members {
			parts = append(parts, offload.Launch{Kernel: &kernel{device: m, info: offload.KernelInfo{Name: op}}, Size: [3]int{1, 1, 1}, Joint: j})
		}
	}
	return parts
}

// with returns a joint launch of members, or nil unless they are of different servers and can exchange memory with d or are d.
func (d *device) with(members []offload.Device) *together {
	j := &together{number: jointNumbers.Add(1)}
	for _, m := range members {
		o, ok := m.(*device)
		if !ok || o != d && !d.CanExchange(o) || slices.ContainsFunc(j.members, func(other *device) bool { return other.client == o.client }) {
			return nil
		}
		j.members = append(j.members, o)
	}
	return j
}

// Fail implements [offload.Joint].
func (j *together) Fail(why error) {
	if j.failed.Swap(true) {
		return
	}
	for _, d := range j.members {
		d.client.link.send(&protocol.Abandon{Operation: j.number, Error: offload.EncodeError(offload.Nameless(why))})
	}
}

// lost returns the error of a member that is lost, or nil.
func (j *together) lost() error {
	for _, d := range j.members {
		select {
		case <-d.client.lost:
			return d.client.refused("launch")
		default:
		}
	}
	return nil
}

// fail tells the servers of all members that this part of a joint launch has failed. It does nothing for other launches, or if a
// failure was reported before.
func (s *launch) fail(why error) {
	if s.joint == nil || s.joint.failed.Load() {
		return
	}
	e := offload.Errorf(cmp.Or(offload.CodeOf(why), offload.BackendFailure), "launch", "the part of %s in the common operation has failed", s.lane.device.id())
	e.Err = why
	s.joint.Fail(e)
}

// errDropped is the reason why a part of a joint launch does not begin.
var errDropped = offload.Errorf(offload.Cancelled, "launch", "it was cancelled")

// join sends this device's part of a joint launch to its server.
func (s *launch) join(link *link) {
	m := &protocol.JointLaunch{Launch: s.message, Operation: s.joint.number}
	for i, d := range s.joint.members {
		if d == s.lane.device {
			m.Member = uint32(i)
		}
		m.Members = append(m.Members, protocol.JointMember{Peer: d.client.address, Session: d.client.session})
	}
	for _, f := range s.joint.flows {
		if f.From == int(m.Member) {
			m.Flows = append(m.Flows, joint.Flow{Member: uint32(f.To), Send: true, Offset: f.Source, Size: f.Size})
		}
		if f.To == int(m.Member) {
			m.Flows = append(m.Flows, joint.Flow{Member: uint32(f.From), Offset: f.Target, Size: f.Size})
		}
	}
	s.begun = true
	link.add(m, nil, false)
	if err := s.joint.lost(); err != nil { // the servers may have heard of the loss before this launch
		s.joint.Fail(err)
	}
}

// failJoint calls fail if command n is in flight and a joint launch. A nil why means that it was cancelled. The caller holds l.mu.
func (l *lane) failJoint(n uint64, why error) {
	c := l.flying[n]
	if c == nil || c.Kind != queue.LaunchKernel {
		return
	}
	if s := c.Launch.(*launch); s.joint != nil {
		s.fail(cmp.Or(why, error(errDropped)))
	}
}

// errGone is the error of a joint launch whose client has left.
var errGone = offload.Errorf(offload.DeviceLost, "launch", "the client is gone")

// termsLink carries operands between two servers, for one client.
type termsLink struct {
	*link
	server *server
	peer   string

	// Of the piece that is being read to its destination; landing is nil if there is none:
	landing *joint.Operation
	part    joint.Part
}

// joints are a server's joint operations.
type joints struct {
	hall    *joint.Hall
	links   *joint.Links
	dialing sync.Mutex // held while a link is opened
}

// awaitAll waits for a message of the client for a while, if other servers have links. It handles their messages meanwhile.
func (s *server) awaitAll() {
	var others []*link
	for _, l := range s.links.All() {
		if t := l.(*termsLink); t.poller != nil && len(others) < mostOthers {
			others = append(others, t.link)
		}
	}
	if len(others) > 0 {
		s.link.driveWith(others, s.link.poller.Poll)
	}
}

// carries makes l the link for operands to the server with the address peer.
func (s *server) carries(l *link, peer string) *termsLink {
	t := &termsLink{link: l, server: s, peer: peer}
	l.handle, l.land, l.idle = t.take, t.place, nil
	s.links.Add(peer, t)
	return t
}

// serve receives operands until the link ends. Then it fails the operations with the other server.
func (t *termsLink) serve() error {
	err := t.receive()
	if t.landing != nil {
		t.landing.Landed(t.part, 0)
	}
	t.end()
	s := t.server
	s.links.Remove(t.peer, t)
	s.hall.Leave(t.peer, unreachable("launch", t.peer, err))
	return err
}

// unreachable returns the error of an operation with another server.
func unreachable(op, peer string, why error) error {
	e := offload.Errorf(offload.DeviceLost, op, "worker %s cannot be reached", peer)
	e.Err = why
	return e
}

func partOf(m *protocol.Fragment) joint.Part {
	return joint.Part{Member: uint32(m.At.Number >> 32), Step: uint32(m.At.Number)}
}

// place returns the destination of n bytes of a piece, or nil if take is to deliver them. It sets part and landing.
func (t *termsLink) place(m *protocol.Fragment, n int64) (to []byte) {
	t.part = partOf(m)
	to, t.landing = t.server.hall.Land(m.At.Queue, t.part, m.Offset, n)
	return to
}

// take delivers a piece to its operation.
func (t *termsLink) take(p protocol.Message) error {
	switch m := p.(type) {
	case *protocol.Fragment:
		return t.server.hall.Deliver(m.At.Queue, partOf(m), m.Offset, m.Data)
	case *landed:
		t.landing.Landed(t.part, int64(len(m.Data)))
		t.landing = nil
		return nil
	}
	return fmt.Errorf("message %T is not a server's", p)
}

// Send implements [joint.Link].
func (t *termsLink) Send(operation uint64, p joint.Part, offset int64, data []byte) {
	at := protocol.At{Queue: operation, Number: uint64(p.Member)<<32 | uint64(p.Step)}
	for sent := 0; sent < len(data); sent += protocol.MaxFragment {
		t.add(&protocol.Fragment{At: at, Offset: offset + int64(sent)}, data[sent:min(sent+protocol.MaxFragment, len(data))], false)
	}
	t.flush(true)
}

// Sent implements [joint.Link].
func (t *termsLink) Sent() bool { return t.isWritten(t.position()) }

// Written implements [joint.Link].
func (t *termsLink) Written() error {
	if !t.waitWritten(t.position()) {
		return unreachable("launch", t.peer, errors.New("the connection has ended"))
	}
	return nil
}

// Poll implements [joint.Link].
func (t *termsLink) Poll() {
	if t.poller != nil {
		t.poll()
	}
}

// Drive implements [joint.Link].
func (t *termsLink) Drive(done func() bool) {
	if t.poller != nil {
		t.poller.Drive(done)
	}
}

// jointPart is this server's part in a joint launch.
type jointPart interface {
	// Start begins the part without a wait, or returns false. If it begins, end is called with the part's failure, or nil, when no
	// memory is used any more.
	Start(end func(error)) bool
	// Run executes the part and returns its failure. No memory is used afterwards.
	Run() error
}

// joint begins this server's part in a joint launch. The error is for a message that breaks the protocol.
func (q *servedQueue) joint(m *protocol.JointLaunch) error {
	s, l := q.server, &m.Launch
	s.mu.Lock()
	k := s.kernels[l.Kernel]
	s.mu.Unlock()
	n, place := len(m.Members), int(m.Member)
	if k.Kernel == nil && len(m.Flows) == 0 || len(l.Args) == 0 || n < 2 || n > joint.MostJoined || place >= n || s.options.DialPeer == nil {
		return fmt.Errorf("a joint launch of kernel %d by %d members", l.Kernel, n)
	}
	y := &l.Args[0]
	b := joint.Member{Context: s.ctx, Number: m.Operation, Place: place, Device: q.device, Spares: &q.device.spares, Memory: s.memory(y.Memory), Offset: y.Offset}
	width := int64(y.Type.Size())
	if b.Memory == nil || b.Offset < 0 || len(m.Flows) == 0 && (width <= 0 || l.Size[0] <= 0 || int64(l.Size[0]) > (b.Memory.Size()-b.Offset)/width) {
		return fmt.Errorf("a joint launch on memory %d", y.Memory)
	}
	peers := make([]string, n)
	for i := range m.Members {
		peers[i] = m.Members[i].Peer
	}
	copied := &joint.Copy{Member: b, Flows: m.Flows}
	if len(m.Flows) > 0 {
		if err := copied.Check(n); err != nil {
			return err
		}
	}
	var err error
	if b.Operation, err = s.hall.Begin(m.Operation, peers); err != nil {
		return err
	}
	b.Link = func(member int) (joint.Link, error) { return s.termsTo(&m.Members[member], b.Operation) }
	b.Open = func(member int) joint.Link { return s.links.To(peers[member]) }
	if err := q.begins(l.At); err != nil {
		return err
	}
	var r jointPart = copied
	if copied.Member = b; len(m.Flows) == 0 {
		r = &joint.Reduction{Member: b, Members: n, Launch: offload.Launch{Kernel: k.Kernel, GroupSize: l.GroupSize, Checks: l.Checks, Pos: l.Pos, Args: []offload.Arg{{Type: y.Type}}},
			Count: int64(l.Size[0]), Width: width}
	}
	if q.idle() && q.startAtOnce(l.At.Number, b.Operation, r) {
		return nil
	}
	return q.issued(l.At, pending{joint: b.Operation}, q.near.Host(r.Run))
}

// atOnce is a joint launch that no goroutine waits for. The goroutine with the last bytes, or one it starts, ends it and tells the client.
type atOnce struct {
	number    uint64
	operation *joint.Operation
	ended     chan struct{} // closed after err was set
	err       error
	followed  bool // it has become a command of the near queue, since another one follows
}

// startAtOnce begins a joint launch while the queue is idle. It returns false if r cannot start without a wait.
func (q *servedQueue) startAtOnce(number uint64, o *joint.Operation, r jointPart) bool {
	c := &atOnce{number: number, operation: o, ended: make(chan struct{})}
	q.mu.Lock()
	q.sendReached()
	q.atOnce = c
	q.mu.Unlock()
	q.server.running.Add(1)
	if r.Start(func(err error) { q.endAtOnce(c, err) }) {
		return true
	}
	q.server.running.Done()
	q.mu.Lock()
	q.atOnce = nil
	q.mu.Unlock()
	return false
}

// endAtOnce ends c, which failed if err is not nil. It tells the client, unless c has followed or the connection ends.
func (q *servedQueue) endAtOnce(c *atOnce, err error) {
	defer q.server.running.Done()
	q.mu.Lock()
	defer q.mu.Unlock()
	c.err = err
	close(c.ended)
	if c.followed {
		return
	}
	q.atOnce = nil
	if q.server.ctx.Err() != nil { // the connection ends, which is the failure that the client is to see
		return
	}
	if err != nil && offload.CodeOf(err) == "" {
		e := offload.Errorf(offload.BackendFailure, "launch", "the common operation failed")
		e.Err, err = err, e
	}
	m := &protocol.Reached{At: protocol.At{Queue: q.id, Number: c.number}}
	m.SetFailure(err, c.number <= q.stoppedTo)
	q.server.link.send(m)
}

// follow turns the command that runs at once, if any, into a command of the near queue, so that others can follow it.
func (q *servedQueue) follow() {
	q.mu.Lock()
	c := q.atOnce
	if c != nil {
		c.followed, q.atOnce = true, nil
	}
	q.mu.Unlock()
	if c == nil {
		return
	}
	p := pending{number: c.number, joint: c.operation}
	if p.err = q.near.Host(func() error { <-c.ended; return c.err }); p.err == nil {
		p.event, p.err = q.near.Record()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = append(q.pending, p)
	q.changed.Broadcast()
}

// termsTo returns the link to another member. The server with the smaller address opens it, and the other one waits for that.
func (s *server) termsTo(m *protocol.JointMember, o *joint.Operation) (joint.Link, error) {
	if s.options.Address > m.Peer {
		return s.links.Await(m.Peer, o)
	}
	s.dialing.Lock()
	defer s.dialing.Unlock()
	if l := s.links.To(m.Peer); l != nil {
		return l, nil
	}
	stream, err := s.options.DialPeer(s.ctx, m.Peer)
	if err != nil {
		return nil, unreachable("launch", m.Peer, err)
	}
	if !s.serves(stream) {
		_ = stream.Close()
		return nil, errGone
	}
	h := &protocol.PeerHello{Version: protocol.Version, Session: m.Session, From: s.options.Address}
	copy(h.Magic[:], protocol.Magic)
	t := s.carries(newLink(stream, false), m.Peer)
	t.send(h)
	go func() {
		defer s.servesNoMore(stream)
		_ = t.serve()
	}()
	return t, nil
}

// serveTerms receives the operands of another server, which has opened the link.
func (s *server) serveTerms(l *link, from string) error {
	l.mu.Lock()
	l.keeps, l.broken = false, nil
	l.mu.Unlock()
	return s.carries(l, from).serve()
}

// loseTerms ends the link to a lost server, and fails the operations with it.
func (s *server) loseTerms(address string) {
	if l, ok := s.links.To(address).(*termsLink); ok {
		abort(l.stream)
	}
	s.hall.Leave(address, unreachable("launch", address, errors.New("it is lost")))
}
