package rpc

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Func serves an operation of one packet: it replaces the packet of a lane by the reply. It runs on the server's goroutine and
// must not block.
type Func func(lane int, d *Packet)

// Handler serves an operation by its own sequence of sends and receives, the first of which is a receive. It starts on the
// server's goroutine and may block: after 100 to 200 µs, another goroutine serves the other calls. An error is reported and
// ends the call.
type Handler func(ctx context.Context, p *Port) error

type entry struct {
	name   string
	f      Func
	h      Handler
	oneWay bool
	count  atomic.Uint64

	started uint64       // calls of h, counted by the goroutine with the turn
	mean    atomic.Int64 // mean of sampled calls of h, in nanoseconds
}

// Server answers the clients of a channel.
type Server struct {
	c      *channel
	report func(p *Port, err error)

	mu       sync.Mutex // guards the replacement of handlers
	handlers atomic.Pointer[map[uint32]*entry]

	ports   []serverPort
	start   int // first port of the next scan
	active  atomic.Int64
	running sync.WaitGroup // counts running handlers
	closing atomic.Bool
	polling atomic.Bool
	closed  chan struct{}
	serving sync.Mutex // held by Serve

	turn     atomic.Pointer[turn] // turn of the running Serve
	calls    uint64               // started handlers, counted by the goroutine with the turn
	handling atomic.Uint64        // number of the handler that runs on that goroutine; 0: none
	watching atomic.Bool          // the timer is set
	watched  atomic.Uint64        // handler that ran when the timer last fired
	timer    *time.Timer
}

// serverPort is the server's side of a port.
type serverPort struct {
	Port
	state   atomic.Uint32
	serving atomic.Uint32 // the operation, unless state is portIdle
	wake    chan struct{}
	call    uint64 // number of the handler
	turn    *turn  // turn at the start of the handler
}

// These are the states of a port at the server.
const (
	portIdle    = iota // the next packet begins a call
	portBusy           // a handler runs
	portWaiting        // a handler waits for the client
	portDead           // the server has ended while a handler waited for the client
)

// NewServer initializes memory as a channel and returns its server. memory outlives server and clients. report, which may be nil,
// receives the errors of handlers and calls of unknown operations. Errors: InvalidSize for memory of less than [Layout.Size] bytes;
// InvalidArgument for a wrong layout, and for memory that is not aligned to 8 bytes; Unsupported on a big-endian host.
func NewServer(memory []byte, l Layout, report func(p *Port, err error)) (*Server, error) {
	if bigEndian {
		return nil, offload.Errorf(offload.Unsupported, "rpc", "this host is big-endian")
	}
	c, err := view(memory, l)
	if err != nil {
		return nil, err
	}
	clear(memory[:l.Size()])
	*c.control = control{magic: magic, version: Version, ports: uint32(l.Ports), lanes: uint32(l.Lanes)}
	s := &Server{c: c, report: report, closed: make(chan struct{}), ports: make([]serverPort, l.Ports)}
	s.handlers.Store(&map[uint32]*entry{})
	s.timer = time.AfterFunc(time.Hour, s.watch)
	s.timer.Stop()
	for i := range s.ports {
		p := &s.ports[i]
		p.Port = Port{c: c, index: i, server: true, inbox: &c.second[i], outbox: &c.first[i]}
		p.wake = make(chan struct{}, 1)
		p.await = func(*Port) error { return s.await(p) }
	}
	return s, nil
}

// Func registers f for an operation, in place of an earlier function or handler. oneWay states that the client expects no
// reply.
func (s *Server) Func(opcode uint32, name string, oneWay bool, f Func) {
	s.set(opcode, &entry{name: name, f: f, oneWay: oneWay})
}

// Handle registers h for an operation, in place of an earlier function or handler.
func (s *Server) Handle(opcode uint32, name string, h Handler) {
	s.set(opcode, &entry{name: name, h: h})
}

// Remove unregisters an operation. Later calls of it are answered with StatusUnknown, and reported.
func (s *Server) Remove(opcode uint32) { s.set(opcode, nil) }

func (s *Server) set(opcode uint32, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := maps.Clone(*s.handlers.Load())
	if m[opcode] = e; e == nil {
		delete(m, opcode)
	}
	s.handlers.Store(&m)
}

// Count is the number of calls of an operation, counted by lane.
type Count struct {
	Opcode uint32
	Name   string
	Calls  uint64
}

// PortState is a port with a running or waiting handler.
type PortState struct {
	Index     int
	Operation uint32
	Waits     bool // waits for the client
}

// Busy returns the ports with a handler, in ascending order, and the number of all ports.
func (s *Server) Busy() (busy []PortState, ports int) {
	for i := range s.ports {
		p := &s.ports[i]
		if state := p.state.Load(); state == portBusy || state == portWaiting {
			busy = append(busy, PortState{Index: i, Operation: p.serving.Load(), Waits: state == portWaiting})
		}
	}
	return busy, len(s.ports)
}

// Counts returns the number of calls of each operation, in no particular order.
func (s *Server) Counts() []Count {
	var list []Count
	for op, e := range *s.handlers.Load() {
		list = append(list, Count{op, e.name, e.count.Load()})
	}
	return list
}

// Close ends Serve, and the waits of handlers and of clients in Go. The memory may be freed after [Server.Wait].
func (s *Server) Close() {
	if s.closing.Swap(true) {
		return
	}
	close(s.closed)
	atomic.StoreUint32(&s.c.control.closed, 1)
	wake(s.c.control)
}

// Wait waits, after [Server.Close], until Serve and the handlers have returned. The server accesses no memory afterwards.
func (s *Server) Wait() {
	s.serving.Lock()
	defer s.serving.Unlock()
	s.running.Wait()
	forget(s.c.control)
}

// Drain waits until all packets sent before are served and no handler runs. Serve must be running. If ctx ends first, Drain returns
// its cause. A closed server is an [offload.Closed] error.
func (s *Server) Drain(ctx context.Context) error {
	for {
		if !s.pending() {
			return nil
		}
		ring(s.c.control)
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits for a moment, unless the context or the server ends.
func (s *Server) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return offload.Errorf(offload.Closed, "rpc", "the server has ended")
	case <-time.After(10 * time.Microsecond):
		return nil
	}
}

// Flush waits until the one-way calls that a client sent before are served. Serve must be running. If ctx ends first, Flush returns
// its cause. A closed server is an [offload.Closed] error.
func (s *Server) Flush(ctx context.Context, client uint32) error {
	for i := range s.ports {
		for n := 0; s.posted(i, client); n++ {
			ring(s.c.control)
			if n < 100 {
				runtime.Gosched()
				continue
			}
			if err := s.pause(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// posted reports whether a port has an unserved one-way call of a client.
func (s *Server) posted(port int, client uint32) bool {
	p := &s.ports[port]
	if p.state.Load() == portDead || atomic.LoadUint32(p.inbox)&1 == atomic.LoadUint32(p.outbox)&1 {
		return false
	}
	flags := atomic.LoadUint32(&s.c.headers[port].flags)
	return flags&flagMask == flagOurs && flags&flagOneWay != 0 && clientOf(flags) == client
}

// pending reports whether a request is unserved or a handler runs.
func (s *Server) pending() bool {
	if s.active.Load() != 0 {
		return true
	}
	for i := range s.ports {
		p := &s.ports[i]
		if p.state.Load() != portDead && atomic.LoadUint32(p.inbox)&1 != atomic.LoadUint32(p.outbox)&1 {
			return true
		}
	}
	return s.active.Load() != 0
}

// inline serves a call of one packet. The reply and the acknowledgement of a one-way call are the same transition. If the
// service ends the goroutine, another one takes the turn.
func (s *Server) inline(t *turn, p *serverPort, e *entry) {
	returned := false
	defer func() {
		if returned {
			return
		}
		err := error(errExited)
		r := recover()
		if r != nil {
			err = offload.Errorf(offload.BackendFailure, "rpc", "the service %s panicked: %v", e.name, r)
		}
		s.fail(&p.Port, err)
		s.refuse(p, StatusError)
		if r == nil {
			go s.take(t)
		}
	}()
	packets := s.c.lanes(p.index)
	for lane := range p.Lanes() {
		d := packets[lane]
		e.f(lane, &d)
		if !e.oneWay {
			packets[lane] = d
		}
	}
	returned = true
	p.release()
}

// errAbandoned is the error of a handler whose client has abandoned the call.
var errAbandoned = offload.Errorf(offload.Cancelled, "rpc", "the client has abandoned the call")

// abandoned reports whether the client has abandoned the call whose packets it released.
func (p *serverPort) abandoned() bool {
	f := p.c.headers[p.index].flags
	return f&flagMask == flagOurs && f&flagAbandoned != 0
}

// refuse answers a call with a status.
func (s *Server) refuse(p *serverPort, status Status) {
	packets := s.c.lanes(p.index)
	for lane := range p.Lanes() {
		packets[lane] = Packet{uint64(status)}
	}
	p.release()
}

func (s *Server) call(ctx context.Context, p *serverPort, e *entry) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = offload.Errorf(offload.BackendFailure, "rpc", "the service %s panicked: %v", e.name, r)
		}
	}()
	return e.h(ctx, &p.Port)
}

// unknown answers a call of an unregistered operation. The reply to this project's clients holds a status.
func (s *Server) unknown(p *serverPort) {
	err := offload.Errorf(offload.NotFound, "rpc", "device code called operation %#x, which no service has", p.opcode)
	if op := p.opcode >> 24; op >= 'A' && op <= 'z' {
		err = offload.Errorf(offload.NotFound, "rpc", "device code called operation %c:%d, which no service has", rune(op), p.opcode&0xffffff)
	}
	s.fail(&p.Port, err)
	s.refuse(p, StatusUnknown)
}

func (s *Server) fail(p *Port, err error) {
	if s.report != nil {
		s.report(p, err)
	}
}

// Status is the first word of a reply to this project's clients.
type Status uint64

const (
	StatusOK      Status = 0
	StatusError   Status = 0x1000 // equals LLVM's RPC_ERROR
	StatusUnknown Status = 0x1001 // equals LLVM's RPC_UNHANDLED_OPCODE
)

func (s Status) String() string {
	switch s {
	case StatusOK:
		return "ok"
	case StatusError:
		return "error"
	case StatusUnknown:
		return "unknown operation"
	}
	return fmt.Sprintf("status %#x", uint64(s))
}
