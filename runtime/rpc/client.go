package rpc

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Client calls a server in shared memory from Go. Its methods may be called concurrently.
type Client struct {
	c      *channel
	number uint32
}

// NewClient returns a client of a channel that a server has initialized. Memory of another version is an [offload.Unsupported]
// error, memory without a channel InvalidBinary or InvalidSize. A damaged channel, or memory not aligned to 8 bytes, is
// InvalidArgument.
func NewClient(memory []byte) (*Client, error) {
	c, err := open(memory)
	if err != nil {
		return nil, err
	}
	return &Client{c: c}, nil
}

// Numbered returns a client of the same channel whose calls state a number up to [MaxClient].
func (c *Client) Numbered(n uint32) *Client { return &Client{c.c, n & clientMask} }

// Lanes returns the number of lanes of a port.
func (c *Client) Lanes() int { return c.c.layout.Lanes }

// Open waits for a free port and begins a call for the lanes of mask. The port is closed by [Client.Close]. Errors: InvalidArgument
// for lanes that the channel lacks, Closed after the server's end, and the cause of an ended ctx.
func (c *Client) Open(ctx context.Context, opcode uint32, mask uint64, oneWay bool) (*Port, error) {
	if mask == 0 || mask&^c.c.allLanes() != 0 {
		return nil, offload.Errorf(offload.InvalidArgument, "rpc", "lanes %#x of a channel with %d", mask, c.c.layout.Lanes)
	}
	var pause backoff
	for {
		for index := range c.c.layout.Ports {
			if p := c.tryOpen(index, opcode, mask, oneWay); p != nil {
				p.await = func(p *Port) error { return awaitServer(ctx, p) }
				return p, nil
			}
		}
		if err := pause.wait(ctx, c.c); err != nil {
			return nil, err
		}
	}
}

// tryOpen begins a call on a port. It returns nil if another call holds the port, or if the server has not read the port's last
// packet.
func (c *Client) tryOpen(index int, opcode uint32, mask uint64, oneWay bool) *Port {
	lock, bit := c.lock(index)
	if atomic.LoadUint32(lock)&bit != 0 || atomic.OrUint32(lock, bit)&bit != 0 {
		return nil
	}
	p := &Port{c: c.c, index: index, opcode: opcode, mask: mask, inbox: &c.c.first[index], outbox: &c.c.second[index]}
	p.out = atomic.LoadUint32(p.outbox)
	if !p.available() {
		atomic.AndUint32(lock, ^bit)
		return nil
	}
	p.owned = true
	p.sent = func() { ring(c.c.control) }
	p.flags = flagOurs | c.number<<clientShift
	if oneWay {
		p.flags |= flagOneWay
	}
	h := &c.c.headers[index]
	h.mask, h.opcode = mask, opcode
	atomic.StoreUint32(&h.flags, p.flags) // a server that flushes reads the flags of all ports
	return p
}

func (c *Client) lock(index int) (word *uint32, bit uint32) {
	return &c.c.control.locks[index/32], 1 << (index % 32)
}

// Close ends a call. The server still reads a packet that was sent last. After a wait that its context ended, the port stays
// taken until the server has answered and observed the abandoned call.
func (c *Client) Close(p *Port) {
	if !p.broken {
		c.unlock(p)
		return
	}
	go func() {
		if p.available() || awaitServer(context.Background(), p) == nil {
			atomic.StoreUint32(&p.c.headers[p.index].flags, flagOurs|flagAbandoned)
			p.release()
		}
		c.unlock(p)
	}()
}

func (c *Client) unlock(p *Port) {
	lock, bit := c.lock(p.index)
	atomic.AndUint32(lock, ^bit)
}

// awaitServer waits until the server has released the packets.
func awaitServer(ctx context.Context, p *Port) error {
	var pause backoff
	for !p.available() {
		if err := pause.wait(ctx, p.c); err != nil {
			return err
		}
	}
	return nil
}

// backoff paces a loop that polls memory: it spins, then yields, then sleeps.
type backoff struct{ n int }

func (b *backoff) wait(ctx context.Context, c *channel) error {
	b.n++
	switch {
	case b.n < 64:
	case b.n < 1024:
		runtime.Gosched()
	default:
		time.Sleep(time.Duration(min(b.n-1000, 200)) * time.Microsecond)
	}
	if b.n%64 != 0 {
		return nil
	}
	if atomic.LoadUint32(&c.control.closed) != 0 {
		return offload.Errorf(offload.Closed, "rpc", "the server has ended")
	}
	return context.Cause(ctx)
}
