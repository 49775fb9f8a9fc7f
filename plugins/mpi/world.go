package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
)

// Roles of processes.
const (
	hostRole   = 1
	workerRole = 2
)

const (
	controlTag  = 1       // a message of one byte and a number: what a host tells a worker
	firstTag    = 2       // of streams: two for each connection, one for each direction
	maxTag      = 1 << 14 // MPI guarantees 32767
	maxMessage  = 1 << 20
	maxInbox    = 64 << 20 // bytes received and not read above which nothing is received
	controlSize = 5
)

// What a host tells a worker.
const (
	openStream = 1 // with the connection's number
	goodbye    = 2
)

// world is the processes that a launcher started together. One goroutine makes all calls of MPI.
type world struct {
	lib   *libmpi.Library
	role  byte
	roles []byte
	sends chan *message

	finishing chan struct{} // closed when nothing is sent or received any more
	ended     chan struct{} // closed when the goroutine has ended
	err       error         // why; set before finishing is closed, or by the end of MPI before ended is

	silence   time.Duration  // after which a process is lost; 0 without connections
	beating   sync.WaitGroup // goroutines that write to connections
	losses    atomic.Int32   // number of lost processes
	abandoned []*libmpi.Request

	mu      sync.Mutex
	lost    map[int]error // why processes are lost, by rank
	left    map[int]bool  // hosts that have said goodbye or are lost
	streams map[address]*stream
	next    int // number of the next connection
	accept  func(*stream)
	leaving bool
	parting bool // connections that come now are not waited for
}

// address names a stream in this process.
type address struct{ rank, connection int }

// message is a message to be sent.
type message struct {
	data      []byte
	rank, tag int
	request   *libmpi.Request
	done      chan error
}

var (
	starting sync.Once
	started  *world
	startErr error
)

// start initializes MPI, once in a process, and tells the others this process's role. All processes must do so. A worker's
// accept is called for each connection that a host opens.
func start(role byte, accept func(*stream)) (*world, error) {
	starting.Do(func() {
		w := &world{role: role, accept: accept, sends: make(chan *message, 64), finishing: make(chan struct{}), ended: make(chan struct{}),
			streams: map[address]*stream{}, lost: map[int]error{}, left: map[int]bool{}}
		ready := make(chan error)
		go w.run(ready)
		if startErr = <-ready; startErr == nil {
			started = w
		}
	})
	if startErr != nil {
		return nil, startErr
	}
	if started.role != role {
		return nil, errors.New("this process has another role in the MPI job")
	}
	return started, nil
}

// run is the goroutine of MPI.
func (w *world) run(ready chan<- error) {
	runtime.LockOSThread()
	var err error
	if w.lib, err = libmpi.Open(); err == nil {
		err = w.introduce()
	}
	ready <- err
	if err != nil {
		return
	}
	w.err = w.progress()
	close(w.finishing)
	if w.err == nil {
		w.err = w.lib.Finalize()
	}
	close(w.ended)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.streams {
		s.end(cmp.Or(w.err, io.EOF))
	}
}

// progress sends and receives until all streams have ended and this process leaves.
func (w *world) progress() error {
	var flying []*message
	var incoming *reception
	seen := int32(0)
	for idle := 0; ; {
		worked := false
		if n := w.losses.Load(); n != seen {
			seen = n
			flying = w.abandon(flying, &incoming)
		}
		for more := true; more; {
			select {
			case m := <-w.sends:
				worked = true
				flying = w.begin(m, flying)
			default:
				more = false
			}
		}
		rest := flying[:0]
		for _, m := range flying {
			if ok, err := w.lib.Done(m.request); ok {
				worked = true
				m.done <- err
			} else {
				rest = append(rest, m)
			}
		}
		clear(flying[len(rest):])
		flying = rest
		got, err := w.receive(&incoming)
		if err != nil {
			return err
		}
		if worked || got {
			idle = 0
			continue
		}
		if len(flying) == 0 && incoming == nil && w.mayLeave() {
			return nil
		}
		idle++
		if m := w.rest(idle, len(flying) > 0 || incoming != nil); m != nil {
			flying = w.begin(m, flying)
		}
	}
}

// begin begins to send a message and adds it to those on their way.
func (w *world) begin(m *message, flying []*message) []*message {
	err := w.lostError(m.rank)
	if err == nil {
		m.request, err = w.lib.Send(m.data, m.rank, m.tag)
	}
	if err != nil {
		m.done <- err
		return flying
	}
	return append(flying, m)
}

// rest waits the longer the longer nothing has happened: processes may be more than cores. It returns a message to be
// sent if one ended the wait.
func (w *world) rest(idle int, busy bool) *message {
	switch {
	case idle < 500 || busy && idle < 5000:
		runtime.Gosched()
		return nil
	case idle < 2000:
		time.Sleep(20 * time.Microsecond)
		return nil
	}
	timer := time.NewTimer(time.Millisecond)
	defer timer.Stop()
	select {
	case m := <-w.sends:
		return m
	case <-timer.C:
		return nil
	}
}

// reception is a message that arrives.
type reception struct {
	rank, tag int
	data      []byte
	request   *libmpi.Request
}

// receive receives at most one message at a time, so that those of a stream stay in order.
func (w *world) receive(r **reception) (worked bool, err error) {
	if *r == nil {
		rank, tag, size, ok, err := w.lib.Probe()
		if err != nil || !ok {
			return false, err
		}
		if s := w.streamOf(rank, tag); s != nil && s.full() {
			return false, nil
		}
		n := &reception{rank: rank, tag: tag, data: make([]byte, size)}
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

func (w *world) streamOf(rank, tag int) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.streams[address{rank, (tag - firstTag) / 2}]
}

func (w *world) deliver(r *reception) error {
	if r.tag != controlTag {
		if s := w.streamOf(r.rank, r.tag); s != nil { // else it was closed here
			s.put(r.data)
		}
		return nil
	}
	if len(r.data) != controlSize {
		return fmt.Errorf("rank %d sent %d bytes that are no message of orepl", r.rank, len(r.data))
	}
	n := int(uint32(r.data[1]) | uint32(r.data[2])<<8 | uint32(r.data[3])<<16 | uint32(r.data[4])<<24)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost[r.rank] != nil {
		return nil
	}
	switch r.data[0] {
	case openStream:
		at := address{r.rank, n}
		if w.role != workerRole || n < 0 || firstTag+2*n+1 > maxTag || w.streams[at] != nil {
			return fmt.Errorf("rank %d opened connection %d, which cannot be", r.rank, n)
		}
		s := newStream(w, at, firstTag+2*n+1)
		w.streams[at] = s
		w.accept(s)
	case goodbye:
		w.left[r.rank] = true
	default:
		return fmt.Errorf("rank %d sent a message of kind %d", r.rank, r.data[0])
	}
	return nil
}

// mayLeave reports whether nothing more can come: a host that leaves, a worker whose hosts have left.
func (w *world) mayLeave() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) > 0 || len(w.sends) > 0 {
		return false
	}
	if w.role == hostRole {
		return w.leaving
	}
	for rank, r := range w.roles {
		if r == hostRole && !w.left[rank] {
			return false
		}
	}
	return true
}

// send sends a message and waits until its data may change.
func (w *world) send(data []byte, rank, tag int) error {
	m := &message{data: data, rank: rank, tag: tag, done: make(chan error, 1)}
	select {
	case w.sends <- m:
	case <-w.ended:
		return io.ErrClosedPipe
	}
	select {
	case err := <-m.done:
		return err
	case <-w.ended:
		return io.ErrClosedPipe
	}
}

func (w *world) tell(rank int, what byte, n int) error {
	return w.send([]byte{what, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, rank, controlTag)
}

// dial opens a connection to a worker.
func (w *world) dial(rank int) (io.ReadWriteCloser, error) {
	w.mu.Lock()
	n := w.next
	w.next++
	if firstTag+2*n+1 > maxTag {
		w.mu.Unlock()
		return nil, errors.New("this process has opened too many connections")
	}
	s := newStream(w, address{rank, n}, firstTag+2*n)
	w.streams[s.at] = s
	w.mu.Unlock()
	if err := w.tell(rank, openStream, n); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// leave ends a host's part: the workers are told, and MPI is finalized.
func (w *world) leave() error {
	var errs []error
	w.mu.Lock()
	left := slices.Collect(maps.Values(w.streams))
	w.mu.Unlock()
	for _, s := range left {
		if err := s.Close(); w.lostError(s.at.rank) == nil {
			errs = append(errs, err)
		}
	}
	for rank, role := range w.roles {
		if role == workerRole && w.lostError(rank) == nil {
			if err := w.tell(rank, goodbye, 0); w.lostError(rank) == nil {
				errs = append(errs, err)
			}
		}
	}
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	return errors.Join(append(errs, w.wait())...)
}
