package mpi

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// stream is a connection to another process: messages of two tags, one for each direction. An empty message ends it.
type stream struct {
	world *world
	at    address
	tag   int // of what this side sends

	writing sync.Mutex
	posted  atomic.Int32 // messages of Post on their way
	ready   atomic.Bool  // Read does not wait

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

// Wait implements [remote.Poller].
func (s *stream) Wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked++
	for !s.ready.Load() {
		s.changed.Wait()
	}
	s.parked--
}

func (s *stream) Read(p []byte) (int, error) {
	if !s.world.drive(s.ready.Load) {
		s.mu.Lock()
		s.readers++
		s.mu.Unlock()
		s.Wait()
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

const (
	maxPosted = 16      // messages on their way above which none is posted
	maxPost   = 8 << 10 // bytes of a posted message, which both libraries send at once
)

// Post implements [remote.Poster].
func (s *stream) Post(b []byte) bool {
	if len(b) > maxPost || s.posted.Load() >= maxPosted || !s.writing.TryLock() {
		return false
	}
	defer s.writing.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return false
	}
	s.posted.Add(1)
	return s.world.begin(&message{data: b, rank: s.at.rank, tag: s.tag, posted: &s.posted})
}

const (
	pieceSize = 256 << 10 // bytes of a message of Write: what the receiver copies stays in its cache
	maxFlying = 4         // messages of Write on their way
)

func (s *stream) Write(p []byte) (n int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	var flying [maxFlying]*message // in order
	for err == nil && (len(p) > 0 || flying[0] != nil) {
		free := slices.Index(flying[:], nil)
		if len(p) == 0 || free < 0 {
			err = s.world.waitFor(flying[0])
			if err == nil {
				n += len(flying[0].data)
			}
			copy(flying[:], flying[1:])
			flying[maxFlying-1] = nil
			continue
		}
		s.mu.Lock()
		closed := s.closed
		s.mu.Unlock()
		if closed {
			err = io.ErrClosedPipe
			break
		}
		m := &message{data: p[:min(len(p), pieceSize)], rank: s.at.rank, tag: s.tag, done: make(chan error, 1)}
		if !s.world.begin(m) {
			err = io.ErrClosedPipe
			break
		}
		flying[free] = m
		p = p[len(m.data):]
	}
	for _, m := range flying { // after an error: no byte of p is used any more
		if m != nil {
			_ = s.world.waitFor(m)
		}
	}
	return n, err
}

// Close ends this side: the other reads the end. Later bytes are dropped.
func (s *stream) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.inbox, s.bytes, s.read = nil, 0, 0
	gone := s.left
	s.signal()
	s.mu.Unlock()
	s.writing.Lock()
	err := s.world.send(nil, s.at.rank, s.tag)
	s.writing.Unlock()
	if gone {
		s.remove()
	}
	return err
}

// Abort implements [remote.Aborter]: a send to a process that does not answer never ends.
func (s *stream) Abort() { s.world.lose(s.at.rank, errors.New("it does not answer")) }
