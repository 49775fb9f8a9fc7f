package remote

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

const (
	aliveEvery     = 200 * time.Millisecond  // interval between messages of an idle server
	defaultSilence = 1800 * time.Millisecond // for a server on this machine
	distantSilence = 10 * time.Second        // for a server on another machine, and for heartbeats
	minSilence     = time.Second
)

// SilenceVariable is the environment variable with the time without messages after which a process counts as lost, and its
// devices with it. The value is a duration of at least one second, such as 5s, or off for no limit.
const SilenceVariable = "OREPL_REMOTE_SILENCE"

// silence returns the time limit for silence of a server that has not named its machine, by the addresses of dialed; 0 for no limit.
func silence(dialed io.ReadWriteCloser) (time.Duration, error) {
	if c, ok := dialed.(net.Conn); ok && IsDistant(c) {
		return silenceAfter(distantSilence)
	}
	return silenceAfter(defaultSilence)
}

// HeartbeatSilence returns the time without heartbeats after which a process is lost, or 0 for no limit.
func HeartbeatSilence() (time.Duration, error) { return silenceAfter(distantSilence) }

// silenceFrom is like silence, but goes by the server's machine unless that is zero. The addresses may be those of a tunnel.
func silenceFrom(dialed io.ReadWriteCloser, machine protocol.MachineID) (time.Duration, error) {
	switch machine {
	case protocol.MachineID{}:
		return silence(dialed)
	case protocol.ThisMachine.Get():
		return silenceAfter(defaultSilence)
	}
	return silenceAfter(distantSilence)
}

// silenceAfter returns the time in [SilenceVariable], 0 for off, usual if it is not set, or an error for a text or time not allowed.
func silenceAfter(usual time.Duration) (time.Duration, error) {
	text := os.Getenv(SilenceVariable)
	switch text {
	case "":
		return usual, nil
	case "off":
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < minSilence {
		return 0, offload.Errorf(offload.InvalidArgument, "open", "%s is %q", SilenceVariable, text).
			WithHint("write a time of at least %v, such as 5s, or off", minSilence)
	}
	return d, nil
}

// IsDistant reports whether a TCP connection leads to another machine, by its addresses. It returns false for other connections.
func IsDistant(c net.Conn) bool {
	l, ok1 := c.LocalAddr().(*net.TCPAddr)
	r, ok2 := c.RemoteAddr().(*net.TCPAddr)
	return ok1 && ok2 && !r.IP.IsLoopback() && !r.IP.Equal(l.IP)
}

// keepAlive sends a message after each idle interval of the server, until ctx ends.
func (l *link) keepAlive(ctx context.Context) {
	tick := time.NewTicker(aliveEvery)
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

// watch ends the connection to a server that sends nothing for the time limit, so that its devices are lost. It counts its own
// ticks, which exclude times when this process was stopped or handled a message.
func (c *client) watch(s *hearing, limit time.Duration) {
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	silent, last := time.Duration(0), uint64(0)
	for {
		select {
		case <-c.lost:
			return
		case <-tick.C:
		}
		if reads := s.reads.Load(); reads != last || c.link.handling.Load() {
			silent, last = 0, reads
			continue
		}
		if silent += aliveEvery; silent < limit {
			continue
		}
		c.abort(fmt.Errorf("the server has sent nothing for %v: it is stopped, or the connection is cut", limit))
		return
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
