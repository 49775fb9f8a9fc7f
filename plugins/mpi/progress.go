package mpi

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
)

// progress is the state of messages on their way. A goroutine that waits for messages drives MPI itself, so that no other has to be
// woken; while none does, a background goroutine drives it at intervals.
type progress struct {
	steps   atomic.Uint64 // by goroutines that wait
	gaveUp  chan struct{} // receives when a goroutine stops to drive MPI and still waits; has room for one
	callers atomic.Int32  // goroutines that have a message to send

	calling   sync.Mutex // held by the goroutine that calls MPI
	flying    []*message
	incoming  *reception
	seen      int32 // lost processes as of the last step
	over      bool  // MPI is not called any more
	failure   error // of MPI
	abandoned []*libmpi.Request
	spare     spares
}

// spares are the buffers of large messages that have been read, for the next ones.
type spares struct {
	mu   sync.Mutex
	list [][]byte
}

const (
	spareSize = 16 << 10 // bytes of a message whose buffer is used again
	maxSpares = 8
)

// buffer returns a buffer of n bytes, whose content is undefined.
func (s *spares) buffer(n int) []byte {
	if n < spareSize || n > maxMessage {
		return make([]byte, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.list) - 1; last >= 0 {
		b := s.list[last]
		s.list = s.list[:last]
		return b[:n]
	}
	return make([]byte, n, maxMessage)
}

// free keeps a buffer for the next message.
func (s *spares) free(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) == maxMessage && len(s.list) < maxSpares {
		s.list = append(s.list, b)
	}
}

// reception is a message that arrives.
type reception struct {
	rank, tag int
	data      []byte
	request   *libmpi.Request
}

const (
	shortPause  = 20 * time.Microsecond
	driveTime   = 200 * time.Microsecond // how long a goroutine that waits drives MPI before it sleeps
	drivesAtime = 32                     // between looks at the clock
	maxAtOnce   = 16                     // messages received in one step
)

// background drives MPI until all streams have ended and this process leaves.
func (w *world) background() error {
	seen := uint64(0)
	last, gaveUp := time.Now(), time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if n := w.steps.Load(); n != seen { // a goroutine that waits drives MPI
			seen, last = n, time.Now()
			if last.Sub(gaveUp) < time.Millisecond { // another one may sleep
				rest(0, false)
				continue
			}
			timer.Reset(time.Millisecond) // each wake-up stops the driving goroutine for some 30 µs
			select {
			case <-timer.C:
			case <-w.gaveUp:
				gaveUp, seen = time.Now(), w.steps.Load()
			}
			continue
		}
		w.calling.Lock()
		worked, busy, err := w.step()
		w.calling.Unlock()
		switch {
		case err != nil:
			return err
		case worked:
			last = time.Now()
		case !busy && w.mayLeave():
			return nil
		default:
			rest(time.Since(last), busy)
		}
	}
}

// rest sleeps the longer the longer nothing has happened: processes may be more than cores. Timers of the Go runtime are too
// coarse.
func rest(idle time.Duration, busy bool) {
	d := time.Millisecond
	switch {
	case busy && idle < time.Millisecond:
		runtime.Gosched()
		return
	case busy || idle < 20*time.Millisecond:
		d = shortPause
	case idle < time.Second:
		d = 200 * time.Microsecond
	}
	pause(d)
}

// step makes progress once. The caller holds calling. busy is set while messages are on their way.
func (w *world) step() (worked, busy bool, err error) {
	if w.over || w.failure != nil {
		return false, false, w.failure
	}
	if n := w.losses.Load(); n != w.seen {
		w.seen = n
		w.abandon()
	}
	if len(w.flying) > 0 {
		rest := w.flying[:0]
		for _, m := range w.flying {
			if ok, err := w.lib.Done(m.request); ok {
				worked = true
				m.end(err)
			} else {
				rest = append(rest, m)
			}
		}
		clear(w.flying[len(rest):])
		w.flying = rest
	}
	for range maxAtOnce {
		got, err := w.receive(&w.incoming)
		if err != nil {
			w.failure = err
			return false, false, err
		}
		if !got {
			break
		}
		worked = true
	}
	return worked, len(w.flying) > 0 || w.incoming != nil, nil
}

// tryStep makes progress once if no other goroutine does or wants to. It reports whether it did.
func (w *world) tryStep() (stepped bool) {
	if w.callers.Load() == 0 && w.calling.TryLock() {
		w.steps.Add(1)
		_, _, _ = w.step() // background ends with the error
		w.calling.Unlock()
		return true
	}
	return false
}

// drive makes progress until done returns true or a while has passed. It reports whether done did. While another goroutine drives MPI,
// this one sleeps: the worker may need the processor.
func (w *world) drive(done func() bool) bool {
	if done() {
		return true
	}
	start := time.Now()
	for i := 1; ; i++ {
		if !w.tryStep() {
			pause(shortPause)
		}
		if done() {
			return true
		}
		if i%drivesAtime == 0 {
			if time.Since(start) > driveTime {
				select {
				case w.gaveUp <- struct{}{}:
				default:
				}
				return false
			}
			runtime.Gosched()
		}
	}
}

// receive receives at most one message at a time, so that those of a stream stay in order.
func (w *world) receive(r **reception) (worked bool, err error) {
	if *r == nil {
		rank, tag, size, ok, err := w.lib.Probe()
		if err != nil || !ok {
			return false, err
		}
		if s := w.streamOf(rank, tag); s != nil && s.full() {
			if rank, tag, size, ok, err = w.probeOthers(); err != nil || !ok {
				return false, err
			}
		}
		n := &reception{rank: rank, tag: tag, data: w.spare.buffer(size)}
		if n.request, err = w.lib.Receive(n.data, rank, tag); err != nil {
			return false, err
		}
		*r = n
	}
	ok, err := w.lib.Done((*r).request)
	if !ok || err != nil {
		return false, err
	}
	n := *r
	*r = nil
	return true, w.deliver(n)
}

// probeOthers finds a message behind those of streams that are full.
func (w *world) probeOthers() (rank, tag, size int, ok bool, err error) {
	var from []address // rank and tag
	for rank, role := range w.roles {
		if role == hostRole {
			from = append(from, address{rank, controlTag})
		}
	}
	w.mu.Lock()
	for at, s := range w.streams {
		if !s.full() {
			from = append(from, address{at.rank, s.peerTag()})
		}
	}
	w.mu.Unlock()
	for _, a := range from {
		if size, ok, err = w.lib.ProbeFor(a.rank, a.connection); ok || err != nil {
			return a.rank, a.connection, size, ok, err
		}
	}
	return 0, 0, 0, false, nil
}

// begin begins to send a message. It reports false if MPI has ended.
func (w *world) begin(m *message) bool {
	w.callers.Add(1)
	w.calling.Lock()
	w.callers.Add(-1)
	defer w.calling.Unlock()
	if w.over {
		return false
	}
	err := w.lostError(m.rank)
	done := err != nil
	if err == nil {
		if m.request, err = w.lib.Send(m.data, m.rank, m.tag); err == nil {
			done, err = w.lib.Done(m.request)
		} else {
			done = true
		}
	}
	if done {
		m.end(err)
	} else {
		w.flying = append(w.flying, m)
	}
	return true
}

// send sends a message and waits until its data may change.
func (w *world) send(data []byte, rank, tag int) error {
	m := &message{data: data, rank: rank, tag: tag, done: make(chan error, 1)}
	if !w.begin(m) {
		return io.ErrClosedPipe
	}
	return w.waitFor(m)
}

// waitFor waits until the data of a message may change.
func (w *world) waitFor(m *message) error {
	w.drive(func() bool { return len(m.done) > 0 })
	return <-m.done
}

// abandon ends the messages to and from lost processes. Their memory stays pinned, since MPI may still use it.
func (w *world) abandon() {
	rest := w.flying[:0]
	for _, m := range w.flying {
		if err := w.lostError(m.rank); err != nil {
			w.abandoned = append(w.abandoned, m.request)
			m.end(err)
		} else {
			rest = append(rest, m)
		}
	}
	clear(w.flying[len(rest):])
	w.flying = rest
	if w.incoming != nil && w.lostError(w.incoming.rank) != nil {
		w.abandoned = append(w.abandoned, w.incoming.request)
		w.incoming = nil
	}
}
