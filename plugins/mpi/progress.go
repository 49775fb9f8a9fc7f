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
	drivers atomic.Int32  // goroutines in drive that make progress
	gaveUp  chan struct{} // receives when a goroutine stops to drive MPI and still waits; has room for one
	callers atomic.Int32  // goroutines that have a message to send

	calling   sync.Mutex // held by the goroutine that calls MPI
	flying    []*message
	incoming  *reception
	reports   []written // of the current step
	seen      int32     // lost processes as of the last step
	over      bool      // MPI is not called any more
	failure   error     // of MPI
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
	driveTime   = 200 * time.Microsecond // time without messages after which a goroutine that drives MPI sleeps
	drivesAtime = 32                     // between looks at the clock
	maxAtOnce   = 16                     // messages received in one step
	bytesAtOnce = 64 << 10               // bytes after which a step ends: a reader finds them in its cache
)

// background drives MPI until all streams have ended and this process leaves.
func (w *world) background() error {
	seen := uint64(0)
	last, gaveUp := time.Now(), time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if n := w.steps.Load(); n != seen || w.drivers.Load() > 0 { // a goroutine that waits drives MPI
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
		w.unlock()
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
		worked = w.takeEnded(func(m *message) (bool, error) { return w.lib.Done(m.request) })
	}
	for n, bytes := 0, 0; n < maxAtOnce && bytes < bytesAtOnce; n++ {
		got, ok, err := w.receive(&w.incoming)
		if err != nil {
			w.failure = err
			return false, false, err
		}
		if !ok {
			break
		}
		worked = true
		bytes += got
	}
	return worked, len(w.flying) > 0 || w.incoming != nil, nil
}

// tryStep makes progress once if no other goroutine does or wants to. It reports whether it did, and whether a message has ended.
func (w *world) tryStep() (stepped, worked bool) {
	if w.callers.Load() == 0 && w.calling.TryLock() {
		w.steps.Add(1)
		worked, _, _ = w.step() // background ends with the error
		w.unlock()
		return true, worked
	}
	return false, false
}

// drive makes progress until done returns true or nothing has happened for a while. It reports whether done did. While another
// goroutine drives MPI, this one sleeps: the worker may need the processor.
func (w *world) drive(done func() bool) bool {
	if done() {
		return true
	}
	start, active := time.Now(), false
	for i := 1; ; i++ {
		w.drivers.Add(1)
		stepped, worked := w.tryStep()
		switch {
		case stepped:
			active = active || worked
		case w.callers.Load() > 0: // briefly
			runtime.Gosched()
		default:
			pause(shortPause)
		}
		w.drivers.Add(-1) // done may handle a message
		if done() {
			return true
		}
		if i%drivesAtime != 0 {
			continue
		}
		switch now := time.Now(); {
		case active:
			start, active = now, false
		case now.Sub(start) > driveTime:
			select {
			case w.gaveUp <- struct{}{}:
			default:
			}
			return false
		}
		runtime.Gosched()
	}
}

// receive receives at most one message at a time, so that those of a stream stay in order. It returns the size of a message that
// has arrived.
func (w *world) receive(r **reception) (bytes int, ok bool, err error) {
	if *r == nil {
		rank, tag, size, ok, err := w.lib.Probe()
		if err != nil || !ok {
			return 0, false, err
		}
		if s := w.streamOf(rank, tag); s != nil && s.full() {
			if rank, tag, size, ok, err = w.probeOthers(); err != nil || !ok {
				return 0, false, err
			}
		}
		n := &reception{rank: rank, tag: tag, data: w.spare.buffer(size)}
		if n.request, err = w.lib.Receive(n.data, rank, tag); err != nil {
			return 0, false, err
		}
		*r = n
	}
	if ok, err = w.lib.Done((*r).request); !ok || err != nil {
		return 0, false, err
	}
	n := *r
	*r = nil
	return len(n.data), true, w.deliver(n)
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
	if done, err := w.send(m); done || err != nil {
		m.done <- err
	} else {
		w.flying = append(w.flying, m)
	}
	return true
}

// send calls MPI to send a message. It reports whether the message was sent at once. The caller holds calling.
func (w *world) send(m *message) (done bool, err error) {
	if err = w.lostError(m.rank); err != nil {
		return false, err
	}
	if m.request, err = w.lib.Send(m.data, m.rank, m.tag); err != nil {
		return false, err
	}
	return w.lib.Done(m.request)
}

// sendAndWait sends a message and waits until its data may change.
func (w *world) sendAndWait(data []byte, rank, tag int) error {
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

// takeEnded ends the messages for which ended returns true, with its error. It reports whether there were any.
func (w *world) takeEnded(ended func(*message) (bool, error)) bool {
	type end struct {
		m   *message
		err error
	}
	var list []end
	rest := w.flying[:0]
	for _, m := range w.flying {
		if ok, err := ended(m); ok {
			list = append(list, end{m, err})
		} else {
			rest = append(rest, m)
		}
	}
	clear(w.flying[len(rest):])
	w.flying = rest
	for _, e := range list { // which may begin others
		w.end(e.m, e.err)
	}
	return len(list) > 0
}

// end reports how a message ended. The caller holds calling.
func (w *world) end(m *message, err error) {
	if m.stream != nil {
		w.sent(m, err)
	} else {
		m.done <- err
	}
}

// abandon ends the messages to and from lost processes. Their memory stays pinned, since MPI may still use it.
func (w *world) abandon() {
	w.takeEnded(func(m *message) (bool, error) {
		err := w.lostError(m.rank)
		if err != nil {
			w.abandoned = append(w.abandoned, m.request)
		}
		return err != nil, err
	})
	if w.incoming != nil && w.lostError(w.incoming.rank) != nil {
		w.abandoned = append(w.abandoned, w.incoming.request)
		w.incoming = nil
	}
}
