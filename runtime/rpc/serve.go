package rpc

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	spinTime = 20 * time.Microsecond  // polling time after the last request before the server sleeps
	pollTime = 50 * time.Microsecond  // sleeping time of a server whose clients do not ring
	overrun  = 100 * time.Microsecond // period of the timer; a handler that runs at two ticks loses the turn

	slowMean    = 10 * time.Microsecond // mean time from which handlers pass the turn to another goroutine at once
	sampleEvery = 16                    // calls of a handler per timed call
	meanOf      = 8                     // approximate number of samples in the mean

	awaitSpins = 2000 // polls of a mailbox before a handler passes its turn on, about 2 µs
)

// turn is the right to scan the ports, which one goroutine holds at a time. A handler runs on that goroutine, and passes the
// turn to a new goroutine when it waits for its client or overruns. A handler with a slow mean passes it at its start.
type turn struct {
	ctx   context.Context
	ended chan error // receives the result of Serve
}

// Poll makes Serve poll for requests, for clients that do not ring the bell. Polling uses up to a tenth of a core.
func (s *Server) Poll(on bool) {
	s.polling.Store(on)
	wake(s.c.control)
}

// Serve answers requests until ctx ends, whose cause it returns, or until [Server.Close], after which it returns nil. It sleeps
// without requests. A second call waits for the end of the first.
func (s *Server) Serve(ctx context.Context) error {
	s.serving.Lock()
	defer s.serving.Unlock()
	defer context.AfterFunc(ctx, func() { wake(s.c.control) })()
	t := &turn{ctx, make(chan error, 1)}
	s.turn.Store(t)
	go s.take(t)
	return <-t.ended
}

// take scans the ports until the server or the context of Serve ends, or a handler passes the turn.
func (s *Server) take(t *turn) {
	var idle time.Time
	for n := 0; ; n++ {
		if t.ctx.Err() != nil {
			t.ended <- context.Cause(t.ctx)
			return
		}
		if s.closing.Load() {
			t.ended <- nil
			return
		}
		found, kept := s.scan(t)
		if !kept {
			return
		}
		if found {
			idle = time.Time{}
			continue
		}
		if n%16 != 0 {
			continue
		}
		if now := time.Now(); idle.IsZero() {
			idle = now
		} else if now.Sub(idle) > spinTime {
			if s.polling.Load() {
				time.Sleep(pollTime)
				continue
			}
			if !s.doze(t) {
				return
			}
			idle = time.Time{}
			continue
		}
		runtime.Gosched()
	}
}

// doze arms the bell, scans once more, and sleeps until the bell rings. A client that publishes after the scan observes the
// armed bell. It reports whether the goroutine still holds the turn.
func (s *Server) doze(t *turn) bool {
	bell := &s.c.control.bell
	atomic.StoreUint32(bell, 1)
	found, kept := s.scan(t)
	if !kept {
		return false // the bell belongs to the goroutine with the turn
	}
	if found || s.closing.Load() || s.polling.Load() || t.ctx.Err() != nil {
		atomic.StoreUint32(bell, 0)
		return true
	}
	for atomic.LoadUint32(bell) == 1 {
		sleep(s.c.control)
	}
	return true
}

// scan visits every port once. It reports whether any had work, and whether the goroutine still has the turn.
func (s *Server) scan(t *turn) (found, kept bool) {
	n := len(s.ports)
	for k := range n {
		i := s.start + k
		if i >= n {
			i -= n
		}
		p := &s.ports[i]
		state := p.state.Load() // before the mailboxes: a handler hands the packets over, then makes its port idle
		if atomic.LoadUint32(p.inbox)&1 == atomic.LoadUint32(p.outbox)&1 {
			continue // the client's
		}
		switch state {
		case portIdle:
			if !s.begin(t, p) {
				return true, false
			}
			found = true
		case portWaiting:
			if p.state.CompareAndSwap(portWaiting, portBusy) {
				p.wake <- struct{}{}
				found = true
			}
		}
	}
	if s.start++; s.start >= n {
		s.start = 0
	}
	return found, true
}

// begin serves the call of a port whose packets the client has handed over. It reports whether the goroutine still has the
// turn.
func (s *Server) begin(t *turn, p *serverPort) bool {
	h := s.c.headers[p.index]
	p.mask, p.opcode, p.flags = h.mask&s.c.allLanes(), h.opcode, h.flags
	p.out, p.owned, p.received = atomic.LoadUint32(p.outbox), true, false
	e := (*s.handlers.Load())[p.opcode]
	switch {
	case p.abandoned():
		p.release()
	case e == nil:
		s.unknown(p)
	case e.f != nil:
		e.count.Add(uint64(p.Count()))
		s.inline(t, p, e)
	default:
		e.count.Add(uint64(p.Count()))
		p.serving.Store(p.opcode)
		p.state.Store(portBusy)
		s.active.Add(1)
		s.running.Add(1)
		return s.run(t, p, e)
	}
	return true
}

// errExited is the error of a handler that ended its goroutine.
var errExited = offload.Errorf(offload.BackendFailure, "rpc", "the handler of a service ended its goroutine")

// run runs a handler and reports whether the goroutine still has the turn. The reply to a call that failed before its reply
// is a status.
func (s *Server) run(t *turn, p *serverPort, e *entry) (kept bool) {
	s.calls++
	n := s.calls
	p.broken, p.call, p.turn = false, n, t
	var start time.Time
	if e.started++; e.started%sampleEvery == 1 {
		start = time.Now()
	}
	s.handling.Store(n)
	if !s.watching.Load() {
		s.rewatch()
	}
	if e.mean.Load() > int64(slowMean) {
		s.pass(t, n)
	}
	err, returned := error(errExited), false
	defer func() {
		if err != nil && !errors.Is(err, errAbandoned) && t.ctx.Err() == nil {
			s.fail(&p.Port, err)
		}
		state := uint32(portIdle)
		switch {
		case p.owned && err != nil:
			s.refuse(p, StatusError)
		case p.owned:
			p.release()
		case p.broken: // the server ends in the middle of the call
			state = portDead
		}
		p.state.Store(state)
		s.active.Add(-1)
		if kept = s.handling.CompareAndSwap(n, 0); !kept {
			ring(s.c.control) // the client may have called again
		} else if !returned {
			go s.take(t)
		}
		s.running.Done()
	}()
	err = s.call(t.ctx, p, e)
	returned = true
	if !start.IsZero() {
		e.sample(time.Since(start))
	}
	return kept
}

// sample adds the time of a call to the mean. One long call does not make a handler slow for long.
func (e *entry) sample(d time.Duration) {
	mean := e.mean.Load()
	e.mean.Store(mean + (int64(min(d, overrun))-mean)/meanOf)
}

// rewatch sets the timer unless it is set.
func (s *Server) rewatch() {
	if s.watching.CompareAndSwap(false, true) {
		s.timer.Reset(overrun)
	}
}

// watch runs when the timer fires. A handler that ran when it fired before loses the turn.
func (s *Server) watch() {
	n := s.handling.Load()
	if n != 0 && s.watched.Swap(n) == n {
		s.pass(s.turn.Load(), n)
	}
	s.watching.Store(false)
	if s.handling.Load() != 0 {
		s.rewatch()
	}
}

// pass starts a goroutine with the turn of a handler, if the handler has it.
func (s *Server) pass(t *turn, n uint64) {
	if s.handling.CompareAndSwap(n, 0) {
		go s.take(t)
	}
}

// await returns nil when the client has passed its packets. It returns an error if the client abandons the call, the server is
// closed, or the context of the handler's turn ends.
func (s *Server) await(p *serverPort) error {
	ctx := p.turn.ctx
	for range awaitSpins {
		if p.available() {
			return s.awaited(p)
		}
	}
	s.pass(p.turn, p.call)
	for {
		p.state.Store(portWaiting)
		var ended error
		if !p.available() || !p.state.CompareAndSwap(portWaiting, portBusy) {
			select {
			case <-p.wake:
			case <-ctx.Done():
				ended = context.Cause(ctx)
			case <-s.closed:
				ended = offload.Errorf(offload.Closed, "rpc", "the server has ended")
			}
		}
		if ended != nil {
			if p.state.CompareAndSwap(portWaiting, portBusy) {
				return ended
			}
			<-p.wake
		}
		if p.available() { // otherwise the scan compared the mailboxes of the wait before
			return s.awaited(p)
		}
	}
}

// awaited returns an error if the client that has handed the packets over has given up.
func (s *Server) awaited(p *serverPort) error {
	if p.abandoned() {
		p.owned = true
		return errAbandoned
	}
	return nil
}
