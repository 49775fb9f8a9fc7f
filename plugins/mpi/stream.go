package mpi

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// stream is a connection to another process, made of messages with one tag per direction. An empty message ends it.
type stream struct {
	world *world
	at    address
	tag   int // tag of outgoing messages

	writing   sync.Mutex // held during Write
	out       outgoing   // guarded by world.calling
	onWritten func(n int, err error)
	ready     atomic.Bool // Read would not wait
	calm      atomic.Bool // no message is expected soon: the last one was a sign of life, or Drive has waited in vain

	mu      sync.Mutex
	changed sync.Cond
	parked  int // number of goroutines that wait for changed
	driven  int // number of goroutines in Drive, of this stream or of others, which poll for changes
	readers int // number of goroutines in Read
	inbox   [][]byte
	read    int // number of bytes of inbox[0] already read
	bytes   int
	over    error // error that Read returns once the inbox is empty
	closed  bool  // this side has closed the stream
	left    bool  // the other side has closed the stream
	told    bool  // Close has sent the end, or failed to: until then this process must not leave the job
}

func newStream(w *world, at address, tag int) *stream {
	s := &stream{world: w, at: at, tag: tag}
	s.changed.L = &s.mu
	return s
}

// PID implements [silence.Process].
func (s *stream) PID() int { return s.world.processes[s.at.rank] }

// peerTag returns the tag of incoming messages.
func (s *stream) peerTag() int {
	if s.tag == firstTag+2*s.at.connection {
		return s.tag + 1
	}
	return s.tag - 1
}

// full reports whether the inbox of an open stream holds more than maxInbox bytes.
func (s *stream) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes > maxInbox && !s.closed
}

// put appends a message to the inbox, or drops it if this side has closed the stream. An empty message means that the other side has
// closed it.
func (s *stream) put(data []byte) {
	s.calm.Store(len(data) <= idleBytes)
	s.mu.Lock()
	if len(data) == 0 {
		s.left, s.over = true, io.EOF
	} else if !s.closed {
		s.inbox = append(s.inbox, data)
		s.bytes += len(data)
	}
	gone := s.left && s.told
	s.signal()
	s.mu.Unlock()
	if gone {
		s.remove()
	}
}

// signal updates ready, and wakes goroutines after a change. While a goroutine drives the stream, it wakes them only for a reader. The
// caller holds s.mu.
func (s *stream) signal() {
	s.ready.Store(len(s.inbox) > 0 || s.over != nil || s.closed)
	if s.parked > 0 && (s.driven == 0 || s.readers > 0) {
		s.changed.Broadcast()
	}
}

// end makes Read return an error once the inbox is empty.
func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		s.over = err
	}
	s.signal()
}

// lose ends the stream because the other process is lost.
func (s *stream) lose(why error) {
	s.end(why)
	s.mu.Lock()
	s.left = true
	gone := s.told
	s.mu.Unlock()
	if gone {
		s.remove()
	}
}

// remove deletes the stream from those of the world: this side has closed it, and the other one has closed it, too, or is lost; or its
// opening has failed.
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
	s.Driven(1)
	ok := s.world.drive(done)
	if !ok {
		s.calm.Store(true)
	}
	s.Driven(-1)
	return ok
}

// Driven implements [remote.Poller].
func (s *stream) Driven(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.driven += by
	if by < 0 && s.ready.Load() {
		s.signal() // wakes readers for data that the driving goroutine has not read
	}
}

// Wait implements [remote.Poller]. Goroutines in Drive, of this stream or of another one, read the data themselves. Wait returns only
// after they have left Drive, or when the stream has ended.
func (s *stream) Wait() {
	driven := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.driven > 0
	}
	if !driven() && !s.calm.Load() { // more data may arrive soon
		s.world.drive(func() bool { return s.ready.Load() || driven() })
	}
	s.park(func() bool { return s.driven == 0 || s.over != nil || s.closed })
}

// park waits until Read would not wait and the function until returns true, which it calls with s.mu held.
func (s *stream) park(until func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked++
	s.world.sleepers.Add(1)
	for !s.ready.Load() || !until() {
		s.changed.Wait()
	}
	s.world.sleepers.Add(-1)
	s.parked--
}

func (s *stream) Read(p []byte) (int, error) {
	if !s.ready.Load() && (s.calm.Load() || !s.world.drive(s.ready.Load)) {
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

// Close closes this side, and the other side reads the end. Unsent data of Queue and Write is dropped, and their buffers are
// unused afterwards.
func (s *stream) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.inbox, s.bytes, s.read = nil, 0, 0
	s.signal()
	s.mu.Unlock()
	s.drop()
	_ = s.flushed()
	if !first {
		return nil
	}
	err := s.world.sendAndWait(nil, s.at.rank, s.tag)
	s.mu.Lock()
	s.told = true
	gone := s.left
	s.mu.Unlock()
	if gone {
		s.remove()
	}
	return err
}

// Abort implements [remote.Aborter]. It marks the process as lost, since a send to an unresponsive process never ends.
func (s *stream) Abort() { s.world.lose(s.at.rank, errors.New("it does not answer")) }
