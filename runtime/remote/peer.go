package remote

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Servers exchange the bytes of memory without the client: the server of one operand connects to that of the other. It proves by the
// session's number, which the client told it, that both have the same client.

// sessionID identifies a client's connection to a server. It is a secret of the client and its servers.
type sessionID [16]byte

func newSessionID() (id sessionID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}

// sessions are the connections of clients to servers in this process, by [sessionID].
var sessions sync.Map

// exchanges are what a server knows of other servers, for one client; under server.mu.
type exchanges struct {
	held   map[offload.Memory]int // exchanges of other servers that use a memory; nil when the client is gone
	unheld sync.Cond              // held changed
	peers  map[string]*peer       // by address
}

// peerBuffer is the size of the pieces that are exchanged.
const peerBuffer = 1 << 20

// peer is a connection of a server to another server, for one client.
type peer struct {
	mu     sync.Mutex // held during an exchange
	stream io.ReadWriteCloser
	in     *bufio.Reader
	out    *bufio.Writer

	state  sync.Mutex
	opened io.ReadWriteCloser // stream, for drop
	lost   bool
}

// exchangePeer copies between memory of this server and memory of another one.
func (q *servedQueue) exchangePeer(m *exchange) error {
	s := q.server
	mem := s.memory(m.Near.Memory)
	if mem == nil {
		return fmt.Errorf("an exchange of memory %d, which does not exist", m.Near.Memory)
	}
	if s.options.DialPeer == nil {
		return errors.New("an exchange with a server that cannot be reached")
	}
	total, err := checkBox(mem, &m.Near, m.Extent)
	if err != nil {
		return err
	}
	return q.issue(m.At, pending{}, func() error {
		return q.near.Host(func() error {
			return s.peerTo(m.Peer).copy(s, q.device, mem, m, total)
		})
	})
}

// checkBox returns the number of bytes of a box, which must be in the memory.
func checkBox(mem offload.Memory, p *wirePlace, extent [3]int64) (int64, error) {
	size := mem.Size()
	total, ok := boxSize(extent, size)
	last := p.Offset
	for i, pitch := range [3]int64{1, p.RowPitch, p.SlicePitch} {
		if !ok || last < 0 || last > size || pitch < 0 || extent[i] > 1 && pitch > size/(extent[i]-1) {
			return 0, errors.New("a box leaves its memory")
		}
		last += (extent[i] - 1) * pitch
	}
	if last >= size {
		return 0, errors.New("a box leaves its memory")
	}
	return total, nil
}

// peerTo returns the connection to another server, which may not be open.
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

// copy makes the exchange m. It waits.
func (p *peer) copy(s *server, d *servedDevice, mem offload.Memory, m *exchange, total int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.open(s, m)
	if err == nil {
		err = p.transfer(s.ctx, d, mem, m, total)
	}
	var failed *offload.Error
	if err == nil || errors.As(err, &failed) {
		return err
	}
	if p.stream != nil { // the bytes of a broken exchange may still come
		_ = p.stream.Close()
		p.stream = nil
	}
	e := offload.Errorf(offload.DeviceLost, "exchange", "the other device cannot be reached")
	e.Err = err
	return e
}

func (p *peer) open(s *server, m *exchange) error {
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
	p.stream, p.in, p.out = stream, bufio.NewReaderSize(stream, readAtOnce), bufio.NewWriterSize(stream, peerBuffer)
	h := &peerHello{Version: version, Session: m.Session}
	copy(h.Magic[:], magic)
	_, err = p.out.Write(appendFrame(nil, h, 0))
	return err
}

func (p *peer) transfer(ctx context.Context, d *servedDevice, mem offload.Memory, m *exchange, total int64) error {
	if _, err := p.out.Write(appendFrame(nil, &peerCopy{m.Push, m.Far, m.Extent}, 0)); err != nil {
		return err
	}
	box := rectOf(mem, &m.Near)
	if m.Push {
		if err := writeBox(ctx, p.out, d, box, m.Extent); err != nil {
			return fmt.Errorf("in the middle: %w", plain{err})
		}
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	answer, err := readPacket(p.in)
	if err != nil {
		return err
	}
	r, ok := answer.(*reply)
	if !ok {
		return fmt.Errorf("message %T is no answer", answer)
	}
	if err := offload.DecodeError(r.Error); err != nil || m.Push {
		return err
	}
	if err := readBox(ctx, p.in, d, box, m.Extent); err != nil {
		return fmt.Errorf("in the middle: %w", plain{err})
	}
	return nil
}

// plain hides the type of an error: the connection is broken, whatever the reason.
type plain struct{ error }

// drop ends the connection to a server that is lost.
func (p *peer) drop() {
	p.state.Lock()
	p.lost = true
	stream := p.opened
	p.state.Unlock()
	if a, ok := stream.(Aborter); ok {
		a.Abort()
	}
	if stream != nil {
		_ = stream.Close()
	}
}

// end ends the connection with the client.
func (p *peer) end() {
	p.state.Lock()
	p.lost = true
	stream := p.opened
	p.state.Unlock()
	if stream != nil {
		_ = stream.Close()
	}
}

// readPacket reads a message.
func readPacket(in *bufio.Reader) (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n == 0 || n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	buf := make([]byte, n)
	if _, err := io.ReadFull(in, buf); err != nil {
		return nil, err
	}
	return parse(buf)
}

// writeBox writes the bytes of a box.
func writeBox(ctx context.Context, out io.Writer, d *servedDevice, box offload.Rect, extent [3]int64) error {
	return eachPiece(ctx, d, box, extent, func(q offload.Queue, piece offload.Span, data []byte) error {
		if q != nil {
			if err := errors.Join(q.Retrieve(data, piece), q.Sync(ctx)); err != nil {
				return err
			}
		}
		_, err := out.Write(data)
		return err
	})
}

// readBox reads the bytes of a box.
func readBox(ctx context.Context, in io.Reader, d *servedDevice, box offload.Rect, extent [3]int64) error {
	return eachPiece(ctx, d, box, extent, func(q offload.Queue, piece offload.Span, data []byte) error {
		if _, err := io.ReadFull(in, data); err != nil || q == nil {
			return err
		}
		return errors.Join(q.Submit(piece, data), q.Sync(ctx))
	})
}

// eachPiece calls do with pieces of a box and their bytes: those of the memory itself, or room for them and a queue of the device.
func eachPiece(ctx context.Context, d *servedDevice, box offload.Rect, extent [3]int64, do func(q offload.Queue, piece offload.Span, data []byte) error) error {
	visible := box.Memory.Bytes()
	var q offload.Queue
	var room []byte
	if visible == nil {
		var err error
		if q, err = d.NewQueue(offload.QueueOptions{Label: "exchange"}); err != nil {
			return err
		}
		defer q.Close()
		room = make([]byte, min(peerBuffer, extent[0]))
	}
	return eachSpan(box, extent, func(row offload.Span, _ int64) error {
		for row.Size > 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			piece := row
			piece.Size = min(row.Size, peerBuffer)
			row.Offset, row.Size = row.Offset+piece.Size, row.Size-piece.Size
			data := room[:min(int64(len(room)), piece.Size)]
			if visible != nil {
				data = visible[piece.Offset:][:piece.Size]
			}
			if err := do(q, piece, data); err != nil {
				return err
			}
		}
		return nil
	})
}

// errPeer makes a server's connection one to another server.
var errPeer = errors.New("the other side is a server")

// servePeer serves another server on the stream of s, after its first message.
func (s *server) servePeer(m *peerHello) error {
	if string(m.Magic[:]) != magic || m.Version != version {
		return fmt.Errorf("the other server speaks version %d of the protocol, this program version %d", m.Version, version)
	}
	found, ok := sessions.Load(m.Session)
	if !ok {
		return errors.New("another server named a client that this one does not have")
	}
	owner := found.(*server)
	out := bufio.NewWriterSize(s.link.stream, peerBuffer)
	for {
		p, err := readPacket(s.link.in)
		if err != nil {
			return err
		}
		c, ok := p.(*peerCopy)
		if !ok {
			return fmt.Errorf("message %T is not a server's", p)
		}
		if err := owner.servePeerCopy(s.link.in, out, c); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func (s *server) servePeerCopy(in io.Reader, out io.Writer, m *peerCopy) error {
	mem, d, done := s.hold(m.Place.Memory)
	if mem == nil {
		return fmt.Errorf("an exchange of memory %d, which does not exist", m.Place.Memory)
	}
	defer done()
	if _, err := checkBox(mem, &m.Place, m.Extent); err != nil {
		return err
	}
	box := rectOf(mem, &m.Place)
	if m.Write {
		if err := readBox(s.ctx, in, d, box, m.Extent); err != nil {
			return err
		}
	}
	if _, err := out.Write(appendFrame(nil, &reply{}, 0)); err != nil || m.Write {
		return err
	}
	return writeBox(s.ctx, out, d, box, m.Extent)
}

// hold returns memory of the client, which is not freed before done is called, and its device; nil if there is none.
func (s *server) hold(number uint64) (mem offload.Memory, d *servedDevice, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mem, d = s.memories[number], s.deviceOf[number]
	if g, ok := mem.(global); ok {
		mem = g.Memory
	}
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
