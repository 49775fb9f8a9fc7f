package queue

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Stop is a request to a running command to end early.
type Stop struct {
	flag atomic.Bool
	// word holds the number of the running command and, in the low bits, the reason of a stop request. Holding both in one word
	// prevents a request for one command from stopping the next.
	word       atomic.Uint64
	requesting atomic.Int32

	mu       sync.Mutex
	contexts map[*context.CancelCauseFunc]struct{} // contexts of the running command's service calls
}

// reason is the reason of a stop request.
type reason uint64

const (
	timedOut  reason = iota + 1 // its time limit passed
	cancelled                   // a waiter's context ended

	reasonBits = 2
	reasonMask = 1<<reasonBits - 1
)

// Requested reports whether the running command is to end. It costs one load.
func (s *Stop) Requested() bool { return s.flag.Load() }

// Flag returns the flag that is set when the running command is to end.
func (s *Stop) Flag() *atomic.Bool { return &s.flag }

// Context returns a context that ends when the running command is to stop. The command calls release before it ends.
func (s *Stop) Context() (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	key := &cancel
	s.mu.Lock()
	if s.contexts == nil {
		s.contexts = make(map[*context.CancelCauseFunc]struct{})
	}
	s.contexts[key] = struct{}{}
	s.mu.Unlock()
	if why := s.why(); why != 0 && s.Requested() { // a request may have preceded the context
		cancel(why.cause())
	}
	return ctx, func() {
		s.mu.Lock()
		delete(s.contexts, key)
		s.mu.Unlock()
		cancel(nil)
	}
}

func (s *Stop) cancelContexts(why reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.contexts {
		(*cancel)(why.cause())
	}
}

// cause returns the context error for the reason.
func (r reason) cause() error {
	if r == timedOut {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// begin drops the requests for earlier commands, and lets request stop command n, which starts.
func (s *Stop) begin(n uint64) {
	if s.word.Swap(n<<reasonBits)&reasonMask == 0 {
		return
	}
	// The requester for the previous command may not have set the flag yet; this command must not observe it.
	s.word.Store(0)
	for s.requesting.Load() > 0 {
		runtime.Gosched()
	}
	s.flag.Store(false)
	s.word.Store(n << reasonBits)
}

// why returns the reason of the stop request, or 0.
func (s *Stop) why() reason { return reason(s.word.Load() & reasonMask) }

// request stops the running command if its number is in [from, to].
func (s *Stop) request(from, to uint64, why reason) {
	s.requesting.Add(1)
	defer s.requesting.Add(-1)
	for {
		w := s.word.Load()
		n := w >> reasonBits
		if n < from || n > to || w&reasonMask != 0 {
			return
		}
		if s.word.CompareAndSwap(w, w|uint64(why)) {
			s.flag.Store(true)
			s.cancelContexts(why)
			return
		}
	}
}
