package remote

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/remote/protocol"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// keepAlive sends a message after each idle interval of the server, until ctx ends.
func (l *link) keepAlive(ctx context.Context) {
	tick := time.NewTicker(silence.Tick)
	defer tick.Stop()
	last := int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if at := l.position(); at != last {
			last = at
			continue
		}
		if l.waitWritten(last) { // without this, messages would accumulate for a client that does not read
			l.send(&protocol.Alive{})
		}
		last = l.position()
	}
}

// hearing is the state of a stream's input: the number of reads.
type hearing struct {
	reads atomic.Uint64
}

// listeningStream is a stream with its hearing.
type listeningStream struct {
	io.ReadWriteCloser
	hearing
}

func (s *listeningStream) Read(b []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(b)
	s.reads.Add(1)
	return n, err
}

// pollingStream is a listeningStream with the methods of [Poller] and [Queuer].
type pollingStream struct {
	*listeningStream
	Queuer
	Poller
}

// listenTo returns a stream that wraps dialed, and the state of its input. The stream is a [Poller] and a [Queuer] if dialed is both.
func listenTo(dialed io.ReadWriteCloser) (io.ReadWriteCloser, *hearing) {
	s := &listeningStream{ReadWriteCloser: dialed}
	p, ok1 := dialed.(Poller)
	w, ok2 := dialed.(Queuer)
	if ok1 && ok2 {
		return &pollingStream{s, w, p}, &s.hearing
	}
	return s, &s.hearing
}

// Aborter is a stream whose Close may wait for the peer. Abort ends the peer or the stream at once; Close still follows.
type Aborter interface{ Abort() }

// watch ends the connection to a server that is silent for the time limit, so that its devices are lost. Times in which this process
// handles a message are no silence.
func (c *client) watch(s *hearing, limit time.Duration) {
	tick := time.NewTicker(silence.Tick)
	defer tick.Stop()
	meter := silence.NewMeter(c.dialed)
	for {
		select {
		case <-c.lost:
			return
		case <-tick.C:
		}
		if c.link.handling.Load() {
			meter.Reset()
			continue
		}
		if meter.Tick(s.reads.Load()) >= limit {
			c.abort(fmt.Errorf("the server has sent nothing for %v: it is stopped, or the connection is cut", limit))
			return
		}
	}
}

// abort ends the connection for the reason why, without waiting for the server.
func (c *client) abort(why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	if a, ok := c.dialed.(Aborter); ok {
		a.Abort()
	}
	c.end(why)
}
