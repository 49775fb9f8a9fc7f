// Package network relays TCP connections of tests through the faults of a network: small pieces, delays, stalls, and cuts at any byte.
package network

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// End is the way in which a connection ends after Faults.Cut bytes.
type End int

const (
	// Close ends both directions in order, behind the last byte.
	Close End = iota
	// Reset ends both directions with an error.
	Reset
	// Silent drops all further bytes, and leaves both sides connected.
	Silent
)

// Faults are those of one connection.
type Faults struct {
	Seed  uint64
	Piece int           // maximum bytes that are passed on at once; 0 for no limit
	Delay time.Duration // maximum delay of a piece
	Stall time.Duration // a pause at a random byte among the first MiB, in about half of the directions; 0 for none
	Cut   int64         // bytes of one direction after which the connection ends; 0 for no end
	Back  bool          // Cut counts the bytes of the side that accepted the connection
	End   End
}

// Relay passes connections on to an address.
type Relay struct {
	listener net.Listener
	target   string
	faults   func(n int) Faults

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	wait   sync.WaitGroup
}

// New starts a relay to the address target of this machine. faults returns the faults of connection n; the first connection is
// 0.
func New(target string, faults func(n int) Faults) (*Relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: l, target: target, faults: faults, open: map[net.Conn]bool{}}
	r.wait.Go(r.accept)
	return r, nil
}

// Address returns the address at which the relay listens.
func (r *Relay) Address() string { return r.listener.Addr().String() }

// Close ends the relay and all its connections.
func (r *Relay) Close() {
	_ = r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for c := range r.open {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wait.Wait()
}

func (r *Relay) accept() {
	for n := 0; ; n++ {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.target)
		if err != nil {
			reset(near)
			continue
		}
		f := r.faults(n)
		r.relay(near, far, f)
	}
}

// relay passes the bytes of a connection on in both directions.
func (r *Relay) relay(near, far net.Conn, f Faults) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_, _ = near.Close(), far.Close()
		return
	}
	r.open[near], r.open[far] = true, true
	c := &connection{near: near, far: far, faults: f, silent: make(chan struct{})}
	var both sync.WaitGroup
	both.Go(func() { c.pass(far, near, rand.New(rand.NewPCG(f.Seed, 1)), !f.Back) })
	both.Go(func() { c.pass(near, far, rand.New(rand.NewPCG(f.Seed, 2)), f.Back) })
	r.wait.Go(func() {
		both.Wait()
		_, _ = near.Close(), far.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.open, near)
		delete(r.open, far)
	})
}

// connection is a connection that is passed on.
type connection struct {
	near, far net.Conn
	faults    Faults
	once      sync.Once
	silent    chan struct{} // closed when bytes are dropped
}

// pass copies bytes from src to dst until either ends. cuts says whether Faults.Cut counts these bytes.
func (c *connection) pass(dst, src net.Conn, r *rand.Rand, cuts bool) {
	f := c.faults
	stall := int64(-1)
	if f.Stall > 0 && r.IntN(2) == 0 {
		stall = r.Int64N(1 << 20)
	}
	passed := int64(0)
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		for data := buf[:n]; len(data) > 0; {
			piece := data
			if f.Piece > 0 {
				piece = piece[:min(len(piece), 1+r.IntN(f.Piece))]
			}
			if cuts && passed < f.Cut {
				piece = piece[:min(int64(len(piece)), f.Cut-passed)]
			}
			if f.Delay > 0 {
				time.Sleep(time.Duration(r.Int64N(int64(f.Delay))))
			}
			if stall >= 0 && passed >= stall {
				time.Sleep(f.Stall)
				stall = -1
			}
			if !c.isSilent() {
				if _, err := dst.Write(piece); err != nil {
					_ = src.Close()
					return
				}
			}
			data = data[len(piece):]
			if passed += int64(len(piece)); cuts && passed == f.Cut {
				if c.end(); f.End != Silent {
					return
				}
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) && !c.isSilent() {
				_ = dst.(*net.TCPConn).CloseWrite()
			} else {
				_ = dst.Close()
			}
			return
		}
	}
}

func (c *connection) isSilent() bool {
	select {
	case <-c.silent:
		return true
	default:
		return false
	}
}

// end ends the connection as its faults say.
func (c *connection) end() {
	switch c.faults.End {
	case Silent:
		c.once.Do(func() { close(c.silent) })
	case Reset:
		reset(c.near)
		reset(c.far)
	default:
		_, _ = c.near.Close(), c.far.Close()
	}
}

// reset closes a connection such that the other side reads an error.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}
