package remote

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/orepl/orepl/runtime/activity"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/box"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// Servers exchange bytes of memory without the client: the server of one operand connects to that of the other. It proves by
// the session's number, which only the client's servers have, that both serve the same client.

// sessions are the connections of clients to servers in this process, by [protocol.SessionID].
var sessions sync.Map

// exchanges are a server's connections to other servers, for one client; under server.mu.
type exchanges struct {
	held   map[offload.Memory]int // number of exchanges of other servers per memory; nil after the client's end
	unheld sync.Cond              // held changed
	peers  map[string]*peer       // by address
	served map[io.Closer]bool     // streams to other servers that use memory of this client, except those of peers
	joints
}

// peerOutput is the size in bytes of the buffer that collects small pieces and messages for one write.
const peerOutput = 64 << 10

// peer is a connection of a server to another server, for one client.
type peer struct {
	mu     sync.Mutex         // held during an exchange
	stream io.ReadWriteCloser // nil before the first exchange, and after one that broke the connection
	in     *bufio.Reader
	out    *bufio.Writer

	state  sync.Mutex
	opened io.ReadWriteCloser // the last stream, for drop and end, which do not hold mu; nil before the first
	lost   bool
}

// exchangePeer issues a copy between memory of this server and memory of another one. The error is for a message that breaks the
// protocol.
func (q *servedQueue) exchangePeer(m *protocol.Exchange) error {
	s := q.server
	mem := s.memory(m.Near.Memory)
	if mem == nil {
		return fmt.Errorf("an exchange of memory %d, which does not exist", m.Near.Memory)
	}
	if s.options.DialPeer == nil {
		return errors.New("an exchange with a server that cannot be reached")
	}
	if err := checkBox(mem, &m.Near, m.Extent); err != nil {
		return err
	}
	e := q.join(m, mem)
	err := q.issue(m.At, pending{}, func() error { return q.near.Host(e.run) })
	q.batch = e.batch
	return err
}

// maxBatch is the maximum number of bytes of a batch of several exchanges, so that the other server reads them before it answers.
const maxBatch = 16 << 10

// batch holds successive exchanges of a queue with one server in one direction. Their answers are awaited together.
type batch struct {
	queue *servedQueue
	peer  string
	push  bool

	mu    sync.Mutex
	begun bool
	bytes int64
	list  []*batched
}

// batched is an exchange of a batch.
type batched struct {
	batch   *batch
	message *protocol.Exchange
	memory  offload.Memory
	done    bool
	failure error
}

// join adds an exchange to the batch of the commands before it, or to a new one.
func (q *servedQueue) join(m *protocol.Exchange, mem offload.Memory) *batched {
	const overhead = 128 // of messages
	bytes := overhead + (m.Extent[0]+1)*m.Extent[1]*m.Extent[2]
	e := &batched{batch: q.batch, message: m, memory: mem}
	if b := q.batch; b != nil && b.peer == m.Peer && b.push == m.Push && b.add(e, bytes) {
		return e
	}
	e.batch = &batch{queue: q, peer: m.Peer, push: m.Push, bytes: bytes, list: []*batched{e}}
	return e
}

// add adds an exchange of bytes bytes, with its messages. It returns false if the batch has no room for it or has begun.
func (b *batch) add(e *batched, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun || b.bytes+bytes > maxBatch {
		return false
	}
	b.list, b.bytes = append(b.list, e), b.bytes+bytes
	return true
}

// run executes an exchange and returns its failure. The first exchange of a batch executes the whole batch. If the first was
// cancelled, each of the others executes itself.
func (e *batched) run() error {
	if !e.done {
		b, list := e.batch, []*batched{e}
		b.mu.Lock()
		if !b.begun && b.list[0] == e {
			list = b.list
		}
		b.begun = true
		b.mu.Unlock()
		s := b.queue.server
		s.peerTo(b.peer).copy(s, b.queue.device, list)
		for _, other := range list {
			other.done = true
		}
	}
	return e.failure
}

// checkBox returns an error if a box is empty or exceeds the memory.
func checkBox(mem offload.Memory, p *protocol.Place, extent [3]int64) error {
	size := mem.Size()
	_, ok := box.Size(extent, size)
	last := p.Offset
	for i, pitch := range [3]int64{1, p.RowPitch, p.SlicePitch} {
		if !ok || last < 0 || last > size || pitch < 0 || extent[i] > 1 && pitch > size/(extent[i]-1) {
			return errors.New("a box leaves its memory")
		}
		last += (extent[i] - 1) * pitch
	}
	if last >= size {
		return errors.New("a box leaves its memory")
	}
	return nil
}

// peerTo returns the connection to another server, which may not be open yet.
func (s *server) peerTo(address string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peers[address]
	if p == nil {
		p = new(peer)
		s.peers[address] = p
	}
	return p
}

// copy executes exchanges, waits for their end and sets their failures.
func (p *peer) copy(s *server, d *servedDevice, list []*batched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answered := 0
	err := p.open(s, list[0].message)
	if err == nil {
		answered, err = p.transfer(s.ctx, d, list)
	}
	if err == nil {
		return
	}
	if p.stream != nil { // bytes of a broken exchange may still arrive
		_ = p.stream.Close()
		p.stream = nil
	}
	for _, c := range list[answered:] {
		c.failure = unreachable("exchange", list[0].message.Peer, err)
	}
}

func (p *peer) open(s *server, m *protocol.Exchange) error {
	if p.stream != nil {
		return nil
	}
	stream, err := s.options.DialPeer(s.ctx, m.Peer)
	if err != nil {
		return err
	}
	p.state.Lock()
	lost := p.lost
	p.opened = stream
	p.state.Unlock()
	if lost {
		_ = stream.Close()
		return errors.New("it is lost")
	}
	p.stream = stream
	p.in, p.out = bufio.NewReaderSize(activity.CountReads(stream), readAtOnce), bufio.NewWriterSize(activity.CountWrites(stream), peerOutput)
	h := &protocol.PeerHello{Version: protocol.Version, Session: m.Session}
	copy(h.Magic[:], protocol.Magic)
	_, err = p.out.Write(protocol.Append(nil, h, 0))
	return err
}

// transfer executes exchanges on an open connection. It returns the number of those that the other server has answered; failures of
// devices leave the connection usable.
func (p *peer) transfer(ctx context.Context, d *servedDevice, list []*batched) (answered int, err error) {
	for _, e := range list {
		m := e.message
		if _, err := p.out.Write(protocol.Append(nil, &protocol.PeerCopy{Write: m.Push, Place: m.Far, Extent: m.Extent}, 0)); err != nil {
			return 0, err
		}
		if m.Push {
			if e.failure, err = box.Write(ctx, p.out, d, rectOf(e.memory, &m.Near), m.Extent); err != nil {
				return 0, err
			}
		}
	}
	if err := p.out.Flush(); err != nil {
		return 0, err
	}
	for i, e := range list {
		if err := p.answer(ctx, d, e); err != nil {
			return i, err
		}
	}
	return len(list), nil
}

// answer reads the answer to e, and the bytes if e reads. It sets e.failure if a device failed. The result is an error of the connection.
func (p *peer) answer(ctx context.Context, d *servedDevice, e *batched) error {
	m := e.message
	packet, err := protocol.Read(p.in)
	if err != nil {
		return err
	}
	r, ok := packet.(*protocol.Reply)
	if !ok {
		return fmt.Errorf("message %T is no answer", packet)
	}
	if e.failure = cmp.Or(e.failure, offload.DecodeError(r.Error)); e.failure != nil || m.Push {
		return nil
	}
	e.failure, err = box.Read(ctx, p.in, d, rectOf(e.memory, &m.Near), m.Extent)
	return err
}

// abort closes a stream without waiting for the other side.
func abort(stream io.Closer) {
	if a, ok := stream.(Aborter); ok {
		a.Abort()
	}
	_ = stream.Close()
}

// drop closes the connection to a lost server.
func (p *peer) drop() {
	p.state.Lock()
	p.lost = true
	stream := p.opened
	p.state.Unlock()
	if stream != nil {
		abort(stream)
	}
}

// losePeer ends the connections to and from a server that the client has lost.
func (s *server) losePeer(address string) {
	s.mu.Lock()
	lost := s.peers[address]
	s.mu.Unlock()
	if lost != nil { // otherwise no exchange with it has begun
		lost.drop()
	}
	s.loseTerms(address)
	if s.options.LosePeer != nil {
		s.options.LosePeer(address)
	}
}

// end closes the connection when the client's connection has ended.
func (p *peer) end() {
	p.state.Lock()
	p.lost = true
	stream := p.opened
	p.state.Unlock()
	if stream != nil {
		_ = stream.Close()
	}
}

// errPeer reports that the other side of the stream is a server.
var errPeer = errors.New("the other side is a server")

// servePeer serves another server on the stream of s, after its first message.
func (s *server) servePeer(m *protocol.PeerHello) error {
	if string(m.Magic[:]) != protocol.Magic || m.Version != protocol.Version {
		return fmt.Errorf("the other server speaks version %d of the protocol, this program version %d", m.Version, protocol.Version)
	}
	found, ok := sessions.Load(m.Session)
	if !ok {
		return errors.New("another server named a client that this one does not have")
	}
	owner := found.(*server)
	if !owner.serves(s.link.stream) {
		return nil
	}
	defer owner.servesNoMore(s.link.stream)
	if m.From != "" {
		return owner.serveTerms(s.link, m.From)
	}
	out := bufio.NewWriterSize(activity.CountWrites(s.link.stream), peerOutput)
	for {
		p, err := protocol.Read(s.link.in)
		if err != nil {
			return err
		}
		c, ok := p.(*protocol.PeerCopy)
		if !ok {
			return fmt.Errorf("message %T is not a server's", p)
		}
		if err := owner.servePeerCopy(s.link.in, out, c); err != nil {
			return err
		}
		if s.link.in.Buffered() > 0 {
			continue // the next exchange of a batch
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// serves registers a stream in served. It returns false, and does not register the stream, if the client's connection has ended.
func (s *server) serves(stream io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.leaving {
		s.served[stream] = true
	}
	return !s.leaving
}

func (s *server) servesNoMore(stream io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.served, stream)
}

// servePeerCopy serves a copy of another server. It returns errors of the connection; failures of the device are replies.
func (s *server) servePeerCopy(in *bufio.Reader, out *bufio.Writer, m *protocol.PeerCopy) error {
	if _, ok := box.Size(m.Extent, math.MaxInt64); !ok {
		return fmt.Errorf("a copy of a box of %v bytes, rows and slices", m.Extent)
	}
	mem, d, done := s.hold(m.Place.Memory)
	var failure error
	if mem == nil {
		failure = offload.Errorf(offload.Closed, "exchange", "the memory of the other device was freed")
	} else {
		defer done()
		if err := checkBox(mem, &m.Place, m.Extent); err != nil {
			failure = offload.Errorf(offload.InvalidSize, "exchange", "%v", err)
		}
	}
	var err error
	switch {
	case m.Write && failure != nil:
		err = box.Skip(in, m.Extent)
	case m.Write:
		failure, err = box.Read(s.ctx, in, d, rectOf(mem, &m.Place), m.Extent)
	}
	if err != nil {
		return err
	}
	r := &protocol.Reply{}
	if failure != nil {
		r.Error = offload.EncodeError(offload.Nameless(failure))
	}
	if _, err := out.Write(protocol.Append(nil, r, 0)); err != nil || m.Write || failure != nil {
		return err
	}
	_, err = box.Write(s.ctx, out, d, rectOf(mem, &m.Place), m.Extent)
	return err
}

// hold returns the client's memory with this number and its device, or nil if there is none. The memory is not freed before done is called.
func (s *server) hold(number uint64) (mem offload.Memory, d *servedDevice, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mem, d = s.memoryLocked(number), s.deviceOf[number]
	if mem == nil || d == nil || s.held == nil {
		return nil, nil, nil
	}
	s.held[mem]++
	return mem, d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held[mem]--; s.held[mem] == 0 {
			delete(s.held, mem)
		}
		s.unheld.Broadcast()
	}
}

// waitUnheld waits until no exchange uses the memory.
func (s *server) waitUnheld(mem offload.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.held[mem] > 0 {
		s.unheld.Wait()
	}
}

// isHeld reports whether an exchange uses the memory.
func (s *server) isHeld(mem offload.Memory) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[mem] > 0
}
