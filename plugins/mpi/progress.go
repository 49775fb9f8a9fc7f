package mpi

import (
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/bell"
	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
)

// progress is the state of messages in flight. A goroutine that waits for messages drives MPI itself for a while, which saves a
// wake-up. While none does, a background goroutine drives MPI at intervals, and when another process of this machine rings.
type progress struct {
	steps    atomic.Uint64 // steps by waiting goroutines
	drivers  atomic.Int32  // goroutines that are driving MPI
	driving  atomic.Int32  // goroutines in drive
	sleepers atomic.Int32  // goroutines that sleep until a stream has input
	gaveUp   chan struct{} // receives when no goroutine drives MPI any more, and others sleep; has room for one
	callers  atomic.Int32  // goroutines about to send a message
	expected atomic.Int32  // messages that a script waits for
	roomy    bool          // all processes of the job run scripts, and each of this machine has a core
	stirred  atomic.Bool   // a message above idleBytes was sent or received, or a control message sent, since background looked
	dozing   atomic.Bool   // background is in doze
	roused   atomic.Bool   // doze is to end
	dozers   []atomic.Bool // processes that doze, by rank
	bell     *bell.Bell    // rings when a message for this process may have arrived
	bells    []*bell.Bell  // those of other processes by rank; nil for those that cannot be rung

	calling   sync.Mutex // held by the goroutine that calls MPI
	flying    []*message
	incoming  *reception
	slow      []*reception // from processes of which nothing else is received meanwhile
	reports   []written    // reports of the current step
	seen      int32        // value of losses at the last step
	over      bool         // MPI must not be called any more
	failure   error        // error of MPI
	abandoned []*libmpi.Request
	spare     spares
}

// spares are reusable buffers of large messages.
type spares struct {
	mu   sync.Mutex
	list [][]byte
}

const (
	spareSize = 16 << 10 // minimum bytes of a reusable buffer
	maxSpares = 8
)

// buffer returns a buffer of n bytes with undefined contents.
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

// free keeps a buffer for another message, if it has room for maxMessage bytes and fewer than maxSpares are kept.
func (s *spares) free(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) == maxMessage && len(s.list) < maxSpares {
		s.list = append(s.list, b)
	}
}

// reception is a message that is being received.
type reception struct {
	rank, tag int
	data      []byte
	request   *libmpi.Request
	tests     int
	since     time.Time // of the first test at which the clock was read
}

// delayed reports whether a message has been arriving for slowTest, as from a process that is frozen or dead. Only every testsAtime-th
// call reads the clock; the others return false.
func (r *reception) delayed() bool {
	if r.tests++; r.tests%testsAtime != 0 {
		return false
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	return time.Since(r.since) > slowTest
}

const (
	slowTest    = 20 * time.Millisecond
	idleBytes   = 8  // maximum size in bytes of a message that an idle worker sends
	testsAtime  = 16 // tests between looks at the clock
	shortPause  = 20 * time.Microsecond
	longPause   = 10 * time.Millisecond  // pause after dozeAfter while background does not doze
	dozePause   = 250 * time.Millisecond // maximum time of a doze
	dozeAfter   = 5 * time.Second        // time without messages
	tellTime    = time.Second            // time for other processes to learn that this one dozes
	driveTime   = 200 * time.Microsecond // time without messages after which a driving goroutine sleeps
	roomyTime   = time.Millisecond       // the same if roomy
	keenTime    = 5 * time.Millisecond   // the same if roomy while a script waits for a message
	drivesAtime = 32                     // steps between checks of the clock
	maxAtOnce   = 16                     // maximum messages received in one step
	bytesAtOnce = 64 << 10               // bytes after which a step ends, so that they stay in the reader's cache
)

// background drives MPI until mayLeave is true, and returns nil. If MPI fails before, it returns MPI's error.
func (w *world) background() error {
	seen := uint64(0)
	last, gaveUp := time.Now(), time.Now()
	var told time.Time // when the other processes were told that this one dozes
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if n := w.steps.Load(); n != seen || w.drivers.Load() > 0 { // a waiting goroutine drives MPI
			now := time.Now()
			if seen = n; w.stirred.Swap(false) {
				last = now
			}
			if now.Sub(gaveUp) < time.Millisecond { // another driving goroutine may be asleep
				pause(shortPause)
				continue
			}
			timer.Reset(time.Millisecond) // each wake-up delays the driving goroutine by about 30 µs
			select {
			case <-timer.C:
			case <-w.gaveUp:
				gaveUp, seen = time.Now(), w.steps.Load()
			}
			continue
		}
		var state uint32
		worked, busy, err := w.lockedStep()
		if err == nil && !worked && !busy {
			state = w.bell.Hear() // a message may have arrived before
			worked, busy, err = w.lockedStep()
		}
		stirred := w.stirred.Swap(false) || busy
		switch {
		case err != nil:
			return err
		case worked && stirred:
			last = time.Now()
			runtime.Gosched() // to the goroutine that it has woken, which drives MPI from now on
		case worked: // a sign of life
		case !busy && w.mayLeave():
			return nil
		case !busy && time.Since(last) > dozeAfter && w.mayDoze():
			switch {
			case told.IsZero():
				told = time.Now()
				w.beats.Doze()
			case time.Since(told) < tellTime:
				w.rest(state, time.Since(last), busy)
			case w.doze(state):
				last, told = time.Now(), time.Time{}
			}
		default:
			told = time.Time{}
			w.rest(state, time.Since(last), busy)
		}
	}
}

// mayDoze reports whether all processes that send messages to this one by themselves can wake it.
func (w *world) mayDoze() bool {
	senders := len(w.roles) - 1
	if w.role == workerRole {
		senders = len(w.scripts.hosts)
	}
	return w.beats.Silence != 0 && w.beats.Connected() >= senders
}

// doze sleeps until rouse is called, dozePause has passed, or the bell rings. It returns early if the bell has rung since state
// was heard. It reports whether this process has work, as after rouse.
func (w *world) doze(state uint32) (roused bool) {
	w.dozing.Store(true)
	defer w.dozing.Store(false)
	if !w.stirred.Load() && !w.roused.Load() {
		w.bell.Wait(state, dozePause)
	}
	return w.roused.Swap(false) || w.stirred.Load()
}

// rouse ends doze.
func (w *world) rouse() {
	w.roused.Store(true)
	w.bell.Wake()
}

// rest sleeps for a time that grows with the idle time, since processes may outnumber cores, or until the bell rings. If messages
// are in flight, which busy reports, it sleeps briefly and ignores the bell, since MPI itself needs calls to progress.
func (w *world) rest(state uint32, idle time.Duration, busy bool) {
	d := time.Millisecond
	switch {
	case busy && idle < time.Millisecond:
		runtime.Gosched()
		return
	case busy || idle < 20*time.Millisecond:
		d = shortPause
	case idle < time.Second:
		d = 200 * time.Microsecond
	case idle > dozeAfter:
		d = longPause
	}
	if busy {
		pause(d)
		return
	}
	w.bell.Wait(state, d)
	w.bell.Ignore()
}

// lockedStep runs step for a caller that does not hold calling.
func (w *world) lockedStep() (worked, busy bool, err error) {
	w.calling.Lock()
	defer w.unlock()
	return w.step()
}

// step makes progress once. The caller holds calling. worked reports whether a message has completed, busy whether messages are
// in flight. Slow messages count for neither. After MPI has ended or failed, step does nothing and returns the failure, or nil.
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
	if len(w.slow) > 0 {
		if err := w.receiveSlow(); err != nil {
			w.failure = err
			return false, false, err
		}
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
		if got > idleBytes {
			w.stirred.Store(true)
		}
		bytes += got
	}
	return worked, len(w.flying) > 0 || w.incoming != nil, nil
}

// receiveSlow delivers slow messages that have arrived.
func (w *world) receiveSlow() error {
	for i := 0; i < len(w.slow); i++ {
		r := w.slow[i]
		switch ok, err := w.lib.Done(r.request); {
		case err != nil:
			return err
		case ok:
			w.slow = slices.Delete(w.slow, i, i+1)
			i--
			if err := w.deliver(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryStep makes progress once unless another goroutine does or is about to. It reports whether it did, and whether a message
// completed.
func (w *world) tryStep() (stepped, worked bool) {
	if w.callers.Load() == 0 && w.calling.TryLock() {
		w.steps.Add(1)
		worked, _, _ = w.step() // background returns the error
		w.unlock()
		return true, worked
	}
	return false, false
}

// giveUp leaves driving MPI to background.
func (w *world) giveUp() {
	w.bell.Hear()
	select {
	case w.gaveUp <- struct{}{}:
	default:
	}
}

// drive makes progress until done returns true, which it reports, or patience passes without messages. While another
// goroutine drives MPI, this one sleeps to leave its core to the worker.
func (w *world) drive(done func() bool) bool {
	if done() {
		return true
	}
	if w.driving.Add(1) == 1 {
		w.bell.Ignore()
	}
	defer func() { // a worker's goroutine may have the last message for now, while readers of other streams sleep
		if w.driving.Add(-1) == 0 && w.role == workerRole && w.sleepers.Load() > 0 {
			w.giveUp()
		}
	}()
	start, active := time.Now(), false
	for i := 1; ; i++ {
		w.drivers.Add(1)
		stepped, worked := w.tryStep()
		switch {
		case stepped:
			active = active || worked
		case w.callers.Load() > 0: // a sender holds calling only briefly
			runtime.Gosched()
		default:
			pause(shortPause)
		}
		w.drivers.Add(-1) // calls of done do not count as driving
		if done() {
			return true
		}
		if i == 1 { // a command that the last message has begun runs before this goroutine looks on
			runtime.Gosched()
		}
		if i%drivesAtime != 0 {
			continue
		}
		switch now := time.Now(); {
		case active:
			start, active = now, false
		case now.Sub(start) > w.patience():
			w.giveUp()
			return false
		}
		yield() // processes may outnumber cores
		runtime.Gosched()
	}
}

// patience returns the time without messages after which a driving goroutine sleeps. If processes outnumber cores, it sleeps early, since
// the others need the core. So it does in a job with workers, whose kernels use all cores.
func (w *world) patience() time.Duration {
	switch {
	case !w.roomy:
		return driveTime
	case w.expected.Load() > 0:
		return keenTime
	}
	return roomyTime
}

// receive continues to receive the message *r, or begins the next one if *r is nil. One message at a time keeps the order
// within streams. It returns the size of a message that has completed; ok is false if none has. A message of a lost process is
// abandoned, and counts as completed with size 0.
func (w *world) receive(r **reception) (bytes int, ok bool, err error) {
	if *r == nil {
		rank, tag, size, ok, err := w.lib.Probe()
		if err != nil || !ok {
			return 0, false, err
		}
		if s := w.streamOf(rank, tag); s != nil && s.full() || w.isSlow(rank) {
			if rank, tag, size, ok, err = w.probeOthers(); err != nil || !ok {
				return 0, false, err
			}
		}
		n := &reception{rank: rank, tag: tag, data: w.spare.buffer(size)}
		if n.request, err = w.lib.Receive(n.data, rank, tag); err != nil {
			return 0, false, err
		}
		if w.lostError(rank) != nil { // it may never arrive, and hides others from Probe until it is received
			w.abandoned = append(w.abandoned, n.request)
			return 0, true, nil
		}
		*r = n
	}
	if ok, err = w.lib.Done((*r).request); !ok || err != nil {
		if err == nil && (*r).delayed() {
			w.slow = append(w.slow, *r)
			*r = nil
		}
		return 0, false, err
	}
	n := *r
	*r = nil
	return len(n.data), true, w.deliver(n)
}

// isSlow reports whether a message of a process is slow.
func (w *world) isSlow(rank int) bool {
	return slices.ContainsFunc(w.slow, func(r *reception) bool { return r.rank == rank })
}

// probeOthers probes for control messages of hosts, and for messages of streams that are not full. It leaves out processes with
// slow messages.
func (w *world) probeOthers() (rank, tag, size int, ok bool, err error) {
	var from []address // pairs of rank and tag
	for rank, role := range w.roles {
		if role == hostRole && !w.isSlow(rank) {
			from = append(from, address{rank, controlTag})
		}
	}
	w.mu.Lock()
	for at, s := range w.streams {
		if !s.full() && !w.isSlow(at.rank) {
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

// begin starts to send a message, whose channel done receives the result. It returns false, and sends nothing, if MPI has
// ended.
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

// send calls MPI to send a message, and reports whether it completed immediately. If the receiver is lost, send returns the
// reason instead. The caller holds calling.
func (w *world) send(m *message) (done bool, err error) {
	if err = w.lostError(m.rank); err != nil {
		return false, err
	}
	if m.request, err = w.lib.Send(m.data, m.rank, m.tag); err != nil {
		return false, err
	}
	if len(m.data) > idleBytes || m.tag == controlTag {
		w.stirred.Store(true)
		if w.dozing.Load() {
			w.rouse()
		}
		w.bells[m.rank].Ring()
		if w.dozers[m.rank].Load() && w.dozers[m.rank].Swap(false) {
			w.beats.Wake(m.rank)
		}
	}
	return w.lib.Done(m.request)
}

// sendAndWait sends a message and waits until the caller may modify data. It returns the error of sending, which is
// [io.ErrClosedPipe] after the end of MPI.
func (w *world) sendAndWait(data []byte, rank, tag int) error {
	m := &message{data: data, rank: rank, tag: tag, done: make(chan error, 1)}
	if !w.begin(m) {
		return io.ErrClosedPipe
	}
	return w.waitFor(m)
}

// waitFor waits until the caller may modify a message's data, and returns the error of sending it.
func (w *world) waitFor(m *message) error {
	w.drive(func() bool { return len(m.done) > 0 })
	return <-m.done
}

// takeEnded removes the messages for which ended returns true, and ends each with ended's error. It reports whether there
// were any.
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
	for _, e := range list { // end may start further messages
		w.end(e.m, e.err)
	}
	return len(list) > 0
}

// end delivers the result of a message. The caller holds calling.
func (w *world) end(m *message, err error) {
	if m.stream != nil {
		w.sent(m, err)
	} else {
		m.done <- err
	}
}

// abandon ends the messages to and from lost processes. Their memory stays pinned, since MPI may still access it.
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
	w.slow = slices.DeleteFunc(w.slow, func(r *reception) bool {
		lost := w.lostError(r.rank) != nil
		if lost {
			w.abandoned = append(w.abandoned, r.request)
		}
		return lost
	})
}
