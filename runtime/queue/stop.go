package queue

import "sync/atomic"

// Stop tells a running command to end early.
type Stop struct {
	// The number of the running command, shifted, and in the low bits why it shall stop. Being one word, a request
	// for a command can never hit the one after it.
	word atomic.Uint64
}

type reason uint64

const (
	running   reason = iota
	timedOut         // its time limit passed
	cancelled        // a waiter's context ended

	reasonBits = 2
	reasonMask = 1<<reasonBits - 1
)

// Requested reports whether the running command shall end now. It costs one load.
func (s *Stop) Requested() bool { return s.word.Load()&reasonMask != 0 }

// Word is the word that generated code polls: its low two bits are not zero when the running command shall end.
func (s *Stop) Word() *atomic.Uint64 { return &s.word }

// begin says that command number n runs now.
func (s *Stop) begin(n uint64) { s.word.Store(n << reasonBits) }

// why is the first reason given for the running command.
func (s *Stop) why() reason { return reason(s.word.Load() & reasonMask) }

// request stops the running command if its number is in [from, to].
func (s *Stop) request(from, to uint64, why reason) {
	for {
		w := s.word.Load()
		n := w >> reasonBits
		if n < from || n > to || w&reasonMask != 0 || s.word.CompareAndSwap(w, w|uint64(why)) {
			return
		}
	}
}
