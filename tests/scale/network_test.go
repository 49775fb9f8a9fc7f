// Package scale runs the scheduler and the protocol of workers with many ranks in one process. Their simulated network has
// latency and bandwidth, in the time of a testing/synctest bubble.
package scale

import (
	"io"
	"sync"
	"time"
)

// network simulates message passing. A message leaves after the sender's earlier messages. It arrives after the latency,
// behind messages that the receiver is still receiving.
type network struct {
	latency  time.Duration
	overhead time.Duration // per message, at both ends
	rate     float64       // bytes per nanosecond, at both ends
}

// node is a process of the network.
type node struct {
	mu      sync.Mutex
	out, in time.Time     // end of the last transmission, and of the last reception
	works   time.Duration // processor time per message
}

// message is a message in flight or received.
type message struct {
	data []byte
	at   time.Time
}

// end is one end of a connection.
type end struct {
	net        *network
	here       *node
	peer       *end
	mu         sync.Mutex
	changed    sync.Cond
	inbox      []message
	closed     bool // this end is closed
	peerClosed bool
}

// connect returns the ends of a connection between two nodes.
func (n *network) connect(a, b *node) (x, y *end) {
	x, y = &end{net: n, here: a}, &end{net: n, here: b}
	x.peer, y.peer = y, x
	x.changed.L, y.changed.L = &x.mu, &y.mu
	return x, y
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (e *end) Write(p []byte) (int, error) {
	e.mu.Lock()
	over := e.closed || e.peerClosed
	e.mu.Unlock()
	if over {
		return 0, io.ErrClosedPipe
	}
	takes := e.net.overhead + time.Duration(float64(len(p))/e.net.rate)
	there := e.peer.here
	e.here.mu.Lock()
	sent := later(time.Now(), e.here.out).Add(takes + e.here.works)
	e.here.out = sent
	e.here.mu.Unlock()
	there.mu.Lock()
	at := later(sent.Add(e.net.latency), there.in.Add(takes+there.works))
	there.in = at
	there.mu.Unlock()
	to := e.peer
	to.mu.Lock()
	to.inbox = append(to.inbox, message{append([]byte(nil), p...), at})
	to.changed.Signal()
	to.mu.Unlock()
	time.Sleep(time.Until(sent))
	return len(p), nil
}

func (e *end) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.inbox) == 0 && !e.closed && !e.peerClosed {
		e.changed.Wait()
	}
	if e.closed {
		return 0, io.ErrClosedPipe
	}
	if len(e.inbox) == 0 {
		return 0, io.EOF
	}
	m := &e.inbox[0]
	if wait := time.Until(m.at); wait > 0 {
		e.mu.Unlock()
		time.Sleep(wait)
		e.mu.Lock()
		if e.closed {
			return 0, io.ErrClosedPipe
		}
		m = &e.inbox[0]
	}
	n := copy(p, m.data)
	if m.data = m.data[n:]; len(m.data) == 0 {
		e.inbox = e.inbox[1:]
	}
	return n, nil
}

func (e *end) Close() error {
	e.mu.Lock()
	e.closed = true
	e.changed.Broadcast()
	e.mu.Unlock()
	e.peer.mu.Lock()
	e.peer.peerClosed = true
	e.peer.changed.Broadcast()
	e.peer.mu.Unlock()
	return nil
}
