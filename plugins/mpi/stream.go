package mpi

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// stream is a connection to another process: messages of two tags, one for each direction. An empty message ends it.
type stream struct {
	world *world
	at    address
	tag   int // of what this side sends

	writing   sync.Mutex // held during Write
	out       outgoing   // guarded by world.calling
	onWritten func(n int, err error)
	ready     atomic.Bool // Read does not wait

	mu      sync.Mutex
	changed sync.Cond
	parked  int // goroutines that wait for changed
	driven  int // goroutines in Drive, which look for changes themselves
	readers int // goroutines in Read
	inbox   [][]byte
	read    int // bytes of inbox[0] that were read
	bytes   int
	over    error // what Read returns after the inbox
	closed  bool  // this side has ended it
	left    bool  // the other side has
}

func newStream(w *world, at address, tag int) *stream {
	s := &stream{world: w, at: at, tag: tag}
	s.changed.L = &s.mu
	return s
}

// peerTag returns the tag of messages of the other side.
func (s *stream) peerTag() int {
	if s.tag == firstTag+2*s.at.connection {
		return s.tag + 1
	}
	return s.tag - 1
}

// full reports whether enough bytes were received for now.
func (s *stream) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes > maxInbox && !s.closed
}

// put adds a message to the inbox.
func (s *stream) put(data []byte) {
	s.mu.Lock()
	if len(data) == 0 {
		s.left, s.over = true, io.EOF
	} else if !s.closed {
		s.inbox = append(s.inbox, data)
		s.bytes += len(data)
	}
	gone := s.left && s.closed
	s.signal()
	s.mu.Unlock()
	if gone {
		s.remove()
	}
}

// signal makes goroutines see a change. s.mu is held.
func (s *stream) signal() {
	s.ready.Store(len(s.inbox) > 0 || s.over != nil || s.closed)
	if s.parked > 0 && (s.driven == 0 || s.readers > 0) {
		s.changed.Broadcast()
	}
}

// end makes Read return an error.
func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = err
	}
	s.signal()
}

// lose makes Read return why the other process is lost.
func (s *stream) lose(why error) {
	s.end(why)
	s.mu.Lock()
	s.left = true
	gone := s.closed
	s.mu.Unlock()
	if gone {
		s.remove()
	}
}

// remove forgets the stream, which both sides have ended.
func (s *stream) remove() {
	s.world.mu.Lock()
	delete(s.world.streams, s.at)
	s.world.mu.Unlock()
}

// Poll implements [remote.Poller].
func (s *stream) Poll() bool {
	if !s.ready.Load() {
		s.world.tryStep()
	}
	return s.ready.Load()
}

// Drive implements [remote.Poller].
func (s *stream) Drive(done func() bool) bool {
	s.mu.Lock()
	s.driven++
	s.mu.Unlock()
	ok := s.world.drive(done)
	s.mu.Lock()
	s.driven--
	if s.ready.Load() {
		s.signal() // this goroutine has not read it
	}
	s.mu.Unlock()
	return ok
}

// Wait implements [remote.Poller]. It waits while a goroutine is in Drive, which reads itself.
func (s *stream) Wait() {
	driven := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.driven > 0
	}
	if !driven() { // more may follow what was just read
		s.world.drive(func() bool { return s.ready.Load() || driven() })
	}
	s.park(func() bool { return s.driven == 0 || s.over != nil || s.closed })
}

// park waits until Read does not wait and until, with s.mu held, returns true.
func (s *stream) park(until func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked++
	for !s.ready.Load() || !until() {
		s.changed.Wait()
	}
	s.parked--
}

func (s *stream) Read(p []byte) (int, error) {
	if !s.world.drive(s.ready.Load) {
		s.mu.Lock()
		s.readers++
		s.mu.Unlock()
		s.park(func() bool { return true })
		s.mu.Lock()
		s.readers--
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0, io.ErrClosedPipe
	case len(s.inbox) == 0:
		return 0, s.over
	}
	n := copy(p, s.inbox[0][s.read:])
	if s.read += n; s.read == len(s.inbox[0]) {
		s.world.spare.free(s.inbox[0])
		s.inbox[0], s.read = nil, 0
		s.inbox = s.inbox[1:]
	}
	s.bytes -= n
	s.ready.Store(len(s.inbox) > 0 || s.over != nil)
	return n, nil
}

// Close ends this side: the other reads the end. No bytes of Queue or Write are used afterwards; the unsent ones are dropped.
func (s *stream) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.inbox, s.bytes, s.read = nil, 0, 0
	gone := s.left
	s.signal()
	s.mu.Unlock()
	s.drop()
	_ = s.flushed()
	if !first {
		return nil
	}
	err := s.world.sendAndWait(nil, s.at.rank, s.tag)
	if gone {
		s.remove()
	}
	return err
}

// Abort implements [remote.Aborter]: a send to a process that does not answer never ends.
func (s *stream) Abort() { s.world.lose(s.at.rank, errors.New("it does not answer")) }
