package mpi

import (
	"io"
	"slices"
)

// outgoing is the send queue of a stream. The goroutine that drives MPI starts its messages in order, with a limit of
// messages in flight.
type outgoing struct {
	parts  [][]byte      // not yet sent
	flying []*message    // messages in flight, in order
	bytes  int           // bytes of messages in flight
	total  int           // bytes written so far
	failed error         // the error that ended sending
	idle   chan struct{} // closed when no message is in flight; nil if no goroutine waits
}

const (
	pieceSize   = 256 << 10     // maximum bytes of a message, so that it stays in the receiver's cache
	flyingBytes = 4 * pieceSize // bytes in flight from which on no further message of a stream begins
	maxFlying   = 16            // maximum messages of a stream in flight, at which Queue accepts no parts
)

// Queue implements [remote.Queuer].
func (s *stream) Queue(parts [][]byte) (written int, ok bool, err error) {
	w := s.world
	w.callers.Add(1)
	w.calling.Lock()
	w.callers.Add(-1)
	defer w.calling.Unlock()
	o := &s.out
	if o.failed == nil && len(o.flying) >= maxFlying {
		return 0, false, nil
	}
	o.parts = append(o.parts, parts...)
	return w.pump(s), true, o.failed
}

// OnWritten implements [remote.Queuer].
func (s *stream) OnWritten(written func(n int, err error)) { s.onWritten = written }

// Write sends p in pieces and waits until all pieces have been sent.
func (s *stream) Write(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil // an empty message would end the stream
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	before := s.total()
	if _, _, err = s.Queue([][]byte{p}); err == nil {
		err = s.flushed()
	}
	return s.total() - before, err
}

func (s *stream) total() int {
	s.world.calling.Lock()
	defer s.world.calling.Unlock()
	return s.out.total
}

// flushed waits until no message is in flight, and returns the error that ended sending, if any.
func (s *stream) flushed() error {
	w, o := s.world, &s.out
	w.calling.Lock()
	for len(o.flying) > 0 {
		if o.idle == nil {
			o.idle = make(chan struct{})
		}
		idle := o.idle
		w.calling.Unlock()
		w.drive(func() bool {
			select {
			case <-idle:
				return true
			default:
				return false
			}
		})
		<-idle
		w.calling.Lock()
	}
	defer w.calling.Unlock()
	return o.failed
}

// drop discards unsent data and ends sending.
func (s *stream) drop() {
	s.world.calling.Lock()
	defer s.world.calling.Unlock()
	s.out.fail(io.ErrClosedPipe)
}

// fail ends sending with an error.
func (o *outgoing) fail(err error) {
	if o.failed == nil {
		o.failed = err
	}
	o.parts = nil
}

// pump starts messages of a stream up to the limit. It returns the number of bytes written since the last call. The caller
// holds calling.
func (w *world) pump(s *stream) (written int) {
	if w.over {
		s.out.fail(io.ErrClosedPipe)
	}
	for {
		w.post(s)
		n := s.out.retire()
		if written += n; n == 0 || len(s.out.parts) == 0 { // otherwise there is room for further messages
			return written
		}
	}
}

func (w *world) post(s *stream) {
	o := &s.out
	if o.failed != nil {
		o.parts = nil
	}
	begun := 0
	for begun < len(o.parts) && len(o.flying) < maxFlying && o.bytes < flyingBytes {
		part := o.parts[begun]
		m := &message{data: part[:min(len(part), pieceSize)], rank: s.at.rank, tag: s.tag, stream: s}
		if o.parts[begun] = part[len(m.data):]; len(o.parts[begun]) == 0 {
			begun++
		}
		done, err := w.send(m)
		if err != nil {
			o.fail(err)
			return
		}
		o.flying = append(o.flying, m)
		o.bytes += len(m.data)
		if m.sent = done; !done {
			w.flying = append(w.flying, m)
		}
	}
	clear(o.parts[:begun])
	o.parts = o.parts[begun:]
}

// retire removes the sent messages at the front and returns the number of their bytes.
func (o *outgoing) retire() (n int) {
	ended := 0
	for ended < len(o.flying) && o.flying[ended].sent {
		n += len(o.flying[ended].data)
		ended++
	}
	o.flying = slices.Delete(o.flying, 0, ended)
	o.bytes -= n
	o.total += n
	if len(o.flying) == 0 && o.idle != nil {
		close(o.idle)
		o.idle = nil
	}
	return n
}

// written is a pending call of a stream's OnWritten function.
type written struct {
	to  func(n int, err error)
	n   int
	err error
}

// sent handles the completion of a stream's message and starts further ones. The caller holds calling.
func (w *world) sent(m *message, err error) {
	s, o := m.stream, &m.stream.out
	if m.sent = true; err != nil {
		o.fail(err)
	}
	if n := w.pump(s); s.onWritten != nil && (n > 0 || o.failed != nil) {
		w.reports = append(w.reports, written{s.onWritten, n, o.failed})
	}
}

// unlock releases calling, then calls OnWritten functions. These may call [stream.Queue].
func (w *world) unlock() {
	reports := w.reports
	w.reports = nil
	w.calling.Unlock()
	for _, r := range reports {
		r.to(r.n, r.err)
	}
}
