package mpi

import (
	"context"
	"io"
	"slices"

	"github.com/orepl/orepl/runtime/ranks"
)

// scripts is the hosts of the job as package ranks sees them. The mutex of the world guards the fields, except hosts, which is constant
// once the job has begun.
type scripts struct {
	hosts    []int                           // ranks of the hosts in the job
	taken    func(rank int, r io.ReadCloser) // argument accept of Serve; nil before
	departed func(rank int, why error)       // argument left of Serve
	early    []func()                        // calls of taken and departed before Serve
	closed   bool                            // this host ends its streams
}

// rank returns the number of a process of the job among the hosts, -1 for a worker.
func (s *scripts) rank(rank int) int { return slices.Index(s.hosts, rank) }

// accept passes a stream of another host to the function passed to Serve. If this host is leaving the job, accept closes the
// stream instead. The caller holds the mutex of the world.
func (s *scripts) accept(from *stream) {
	if s.closed {
		go func() { _ = from.Close() }()
		return
	}
	s.do(func() { s.taken(s.rank(from.at.rank), from) })
}

// leave reports to the function passed to Serve that a host has left, or why it is lost. It ignores workers. The caller holds the mutex
// of the world.
func (s *scripts) leave(rank int, why error) {
	if host := s.rank(rank); host >= 0 {
		s.do(func() { s.departed(host, why) })
	}
}

// do runs a call, or keeps it until Serve is called.
func (s *scripts) do(call func()) {
	if s.taken == nil {
		s.early = append(s.early, call)
		return
	}
	call()
}

// Links implements [ranks.Member]. It returns nil if [Launched] is false, as in a job of one process.
func (plugin) Links(ctx context.Context) (ranks.Links, error) {
	if !Launched() {
		return nil, nil
	}
	type result struct {
		w   *world
		err error
	}
	ready := make(chan result, 1)
	go func() {
		w, err := start(hostRole, nil)
		ready <- result{w, err}
	}()
	select {
	case r := <-ready:
		if r.err != nil {
			return nil, r.err
		}
		return links{r.w}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// links implements [ranks.Links].
type links struct{ w *world }

func (l links) Rank() int { return l.w.scripts.rank(l.w.lib.Rank) }
func (l links) Size() int { return len(l.w.scripts.hosts) }

func (l links) Dial(rank int) (io.WriteCloser, error) { return l.w.dial(l.w.scripts.hosts[rank]) }

func (l links) Expect(by int) { l.w.expected.Add(int32(by)) }

func (l links) Serve(accept func(rank int, r io.ReadCloser), left func(rank int, why error)) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	s := &l.w.scripts
	s.taken, s.departed = accept, left
	for _, call := range s.early {
		call()
	}
	s.early = nil
}
