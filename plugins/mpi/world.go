package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/mpi/internal/bell"
	"github.com/orepl/orepl/plugins/mpi/internal/libmpi"
	"github.com/orepl/orepl/runtime/fatal"
	"github.com/orepl/orepl/runtime/remote/heartbeat"
)

// Roles of processes.
const (
	hostRole   = 1
	workerRole = 2
)

const (
	controlTag  = 1       // tag of control messages: one byte and a number
	firstTag    = 2       // first tag of streams, which have one tag per direction
	maxTag      = 1 << 14 // MPI guarantees 32767
	maxMessage  = 1 << 20
	maxInbox    = 64 << 20 // unread bytes of a stream above which it receives nothing
	controlSize = 5
)

// Kinds of control messages.
const (
	openStream = 1 // with the connection's number; to a worker, or between hosts
	goodbye    = 2 // of a host, to all workers and other hosts
)

// world is the set of processes of the job. After initialization, only the holder of calling calls MPI.
type world struct {
	lib   *libmpi.Library
	role  byte
	roles []byte
	progress

	finishing chan struct{} // closed when background has ended
	ended     chan struct{} // closed when run has returned
	err       error         // error of run; set before finishing is closed, or by Finalize before ended is closed

	beats  *heartbeat.Watch // detects the death of processes; without connections if their time is 0
	losses atomic.Int32     // number of lost processes

	processes []int // numbers of the processes of this machine by rank; 0 for those that this process does not see

	mu      sync.Mutex
	lost    map[int]error // errors of lost processes, by rank
	left    map[int]bool  // hosts that have said goodbye or are lost
	watched map[int]bool  // hosts that have connected to this process
	streams map[address]*stream
	next    int // number of the next connection
	accept  func(*stream)
	leaving bool    // this host has said goodbye
	scripts scripts // other hosts, for package ranks; guarded by mu
}

// address identifies a stream in this process.
type address struct{ rank, connection int }

// message is an outgoing message.
type message struct {
	data      []byte
	rank, tag int
	request   *libmpi.Request
	done      chan error // receives the result without blocking; nil for messages of streams
	stream    *stream    // stream of the message, or nil
	sent      bool       // the message of a stream has completed
}

var (
	starting  sync.Once
	started   *world
	startErr  error
	startRole byte
)

// start initializes MPI and announces this process's role. The first call is collective. Later calls return the same world or
// the error of the first, or an error if their role differs. A worker calls accept for each connection that another process
// opens; a host ignores accept.
func start(role byte, accept func(*stream)) (*world, error) {
	starting.Do(func() {
		startRole = role
		w := &world{role: role, finishing: make(chan struct{}), ended: make(chan struct{}),
			progress: progress{gaveUp: make(chan struct{}, 1), bell: bell.New()}, streams: map[address]*stream{}, lost: map[int]error{}, left: map[int]bool{}, watched: map[int]bool{}}
		if w.accept = accept; role == hostRole {
			w.accept = w.scripts.accept
		}
		ready := make(chan error, 1)
		fatal.LastWord(func(reason error) { libmpi.Abort(reason.Error()) })
		go w.run(ready)
		s := newSentry()
		if startErr = s.wait(ready); startErr != nil {
			return
		}
		fatal.LastWord(nil)
		started = w
		go s.expect(w)
		go w.patrol()
	})
	if startErr != nil {
		return nil, startErr
	}
	if started.role != role {
		return nil, errors.New("this process has another role in the MPI job")
	}
	return started, nil
}

// run initializes MPI, waits for background to end, and finalizes MPI.
func (w *world) run(ready chan<- error) {
	runtime.LockOSThread()
	var err error
	if w.lib, err = libmpi.Open(); err == nil {
		err = w.introduce()
		w.lib.Poll()
	}
	ready <- err
	if err != nil {
		return
	}
	ended := make(chan error)
	go func() { ended <- w.background() }() // on an unlocked goroutine, whose wake-ups are cheaper
	w.err = <-ended
	w.calling.Lock()
	w.over = true
	flying := w.flying
	w.flying = nil
	for _, m := range flying { // messages remain only after an error
		w.end(m, io.ErrClosedPipe)
	}
	w.unlock()
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

func (w *world) streamOf(rank, tag int) *stream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.streams[address{rank, (tag - firstTag) / 2}]
}

func (w *world) deliver(r *reception) error {
	if r.tag != controlTag {
		if s := w.streamOf(r.rank, r.tag); s != nil { // otherwise this side has removed it
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
		if w.role == hostRole && w.roles[r.rank] != hostRole || n < 0 || firstTag+2*n+1 > maxTag || w.streams[at] != nil {
			return fmt.Errorf("rank %d opened connection %d, which cannot be", r.rank, n)
		}
		s := newStream(w, at, firstTag+2*n+1)
		w.streams[at] = s
		w.accept(s)
	case goodbye:
		w.left[r.rank] = true
		w.scripts.leave(r.rank, nil)
	default:
		return fmt.Errorf("rank %d sent a message of kind %d", r.rank, r.data[0])
	}
	return nil
}

// mayLeave reports whether no message can arrive any more: no stream is open, all other hosts have left, and this process is a worker or
// a leaving host.
func (w *world) mayLeave() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) > 0 {
		return false
	}
	if w.role == hostRole && !w.leaving {
		return false
	}
	for rank, r := range w.roles {
		if r == hostRole && rank != w.lib.Rank && !w.left[rank] {
			return false
		}
	}
	return true
}

func (w *world) tell(rank int, what byte, n int) error {
	return w.sendAndWait([]byte{what, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, rank, controlTag)
}

// dialPeer opens a connection of this worker to the worker of another rank.
func (w *world) dialPeer(_ context.Context, address string) (io.ReadWriteCloser, error) {
	rank, err := strconv.Atoi(address)
	if err != nil || rank < 0 || rank >= len(w.roles) || w.roles[rank] != workerRole || rank == w.lib.Rank {
		return nil, fmt.Errorf("rank %q is no other worker", address)
	}
	if err := w.lostError(rank); err != nil {
		return nil, err
	}
	return w.dial(rank)
}

// losePeer loses another worker, by its address, since the script has lost it. It ignores addresses of other processes.
func (w *world) losePeer(address string) {
	if rank, err := strconv.Atoi(address); err == nil && rank >= 0 && rank < len(w.roles) && w.roles[rank] == workerRole {
		w.lose(rank, fmt.Errorf("the script has lost the process of rank %d", rank))
	}
}

// dial opens a connection to a worker, or from a host to a host. Two processes of one role may connect to each other. So the one of
// higher rank numbers its connections with odd numbers, the other with even ones. A host that leaves the job dials no more and gets an
// error, since it waits until all connections are closed.
func (w *world) dial(rank int) (io.ReadWriteCloser, error) {
	w.mu.Lock()
	if w.scripts.closed {
		w.mu.Unlock()
		return nil, errors.New("this process leaves the job")
	}
	n := w.next
	w.next++
	if w.role == w.roles[rank] {
		n *= 2
		if rank < w.lib.Rank {
			n++
		}
	}
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

// leave ends a host's part: it closes its streams, notifies the workers and the other hosts, and finalizes MPI when all hosts have
// left. It returns the errors of all steps, except those of lost processes.
func (w *world) leave() error {
	var errs []error
	w.mu.Lock()
	w.scripts.closed = true
	left := slices.Collect(maps.Values(w.streams))
	w.mu.Unlock()
	for _, s := range left {
		if err := s.Close(); w.lostError(s.at.rank) == nil {
			errs = append(errs, err)
		}
	}
	for rank, role := range w.roles {
		if (role == workerRole || rank != w.lib.Rank) && w.lostError(rank) == nil {
			if err := w.tell(rank, goodbye, 0); w.lostError(rank) == nil {
				errs = append(errs, err)
			}
		}
	}
	w.mu.Lock()
	w.leaving = true
	w.mu.Unlock()
	w.rouse()
	return errors.Join(append(errs, w.wait())...)
}
