// Package host answers calls through ports with the services of each launch.
//
// Several launches share a channel. A client states the number of its launch, which [Host.Enter] returns. A call without a
// number belongs to the only running launch.
//
// # Design
//
// Handlers run on the goroutine that scans the ports, since a goroutine for each call costs more than most handlers. One
// that waits, or runs for 100 to 200 µs, loses the right to scan.
//
// A native kernel calls orepl_rpc_enter of its image with the launch's number, which a thread-local variable keeps. Calls of
// concurrent launches are told apart by it.
//
// A Go service runs on another goroutine unless it declares that it returns at once, so a stopped launch need not wait for
// it.
package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/rpc"
)

// These are operations of this project's clients, in the range that begins with the letter o.
const (
	OpDeclare = 'o'<<24 | 1 + iota // a stream with a service's signature; the reply holds a status, its number and its count of arguments
	OpCall                         // number, item and the first six arguments, then eight a packet; the reply holds a status and the result
	OpPrint                        // item, length and the first 48 bytes of a line; more bytes follow, 64 a packet
	OpTrap                         // the same, with the message of an assertion that failed
	OpSeed                         // the reply holds a status and a random number
	OpClock                        // the reply holds a status and the nanoseconds since 1970
)

// Launch is a running launch whose device code may call the host.
type Launch struct {
	Device, Kernel string
	Size           [3]int
	Pos            offload.Position // position of the launch
	Services       offload.Services // may be nil
	Context        context.Context  // ends when the launch is to stop
	Fail           func(error)      // receives the error of a call, on any goroutine; a Failure if the work-item is known

	mu       sync.Mutex
	left     bool        // the launch has ended
	failed   atomic.Bool // later calls fail at once
	out, err lines
}

// Failure is the error of a work-item's call.
type Failure struct {
	Item [3]int
	Err  error
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error of the service.
func (f *Failure) Unwrap() error { return f.Err }

// Memory holds a channel or a part of the heap. Free is called when the host no longer uses it.
type Memory struct {
	Bytes []byte // aligned to 8, and to 16 for the heap
	Free  func()
}

// Options are the parts of a host that depend on the device.
type Options struct {
	Layout   rpc.Layout
	Allocate func(size int) (Memory, error)
	Attach   func(address uintptr) error // sets the channel's address in the device code; 0 for none
	Silent   bool                        // the device code does not ring the bell
	Heap     int                         // maximum bytes that device code allocates
}

// Host serves the device code of one program.
type Host struct {
	opts Options

	mu       sync.Mutex
	server   *rpc.Server
	launches []*Launch                // by number - 1; nil: free; ended: reserved until the next channel
	channel  int                      // counts the channels
	called   []atomic.Pointer[string] // by port: the service of the last call
	running  int
	lost     bool // a launch ended during a call, so its port stays locked
	closed   bool

	table table
	heap  heap
	files files
	warn  func(text string) // Warn function of the last launch with a Warner; nil without one
}

// New allocates a channel, attaches it and serves it until [Host.Close]. A layout of more than one lane is an Unsupported
// error.
func New(opts Options) (*Host, error) {
	if opts.Layout.Lanes != 1 {
		return nil, offload.Errorf(offload.Unsupported, "serve", "calls of %d lanes at a time are not served", opts.Layout.Lanes)
	}
	h := &Host{opts: opts, heap: heap{allocate: opts.Allocate, limit: opts.Heap}, called: make([]atomic.Pointer[string], opts.Layout.Ports)}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h, h.start()
}

// start creates a channel. The caller holds h.mu.
func (h *Host) start() error {
	m, err := h.opts.Allocate(h.opts.Layout.Size())
	if err != nil {
		return err
	}
	h.channel++
	channel := h.channel
	s, err := rpc.NewServer(m.Bytes, h.opts.Layout, func(p *rpc.Port, err error) { h.report(channel, p, err) })
	if err != nil {
		m.Free()
		return err
	}
	handle := func(op uint32, name string, serve func(l *Launch, p *rpc.Port) error) {
		s.Handle(op, name, h.serving(channel, serve))
	}
	handle(OpDeclare, "declare", h.declare)
	handle(OpCall, "call", h.call)
	h.builtins(handle)
	if err := h.opts.Attach(uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes)))); err != nil {
		m.Free()
		return err
	}
	h.server = s
	go func() {
		_ = s.Serve(context.Background()) // returns only after Close
		s.Wait()                          // handlers may still run
		m.Free()
	}()
	return nil
}

// Enter adds a launch and returns the number that its calls state. Errors: Closed after Close, and OutOfResources if all numbers up
// to [rpc.MaxClient] are taken, by launches that run or that ended during a call.
func (h *Host) Enter(l *Launch) (number uint32, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, offload.Errorf(offload.Closed, "launch", "the program was unloaded").On(l.Device, l.Kernel)
	}
	i := 0
	for i < len(h.launches) && h.launches[i] != nil {
		i++
	}
	if i >= rpc.MaxClient {
		return 0, offload.Errorf(offload.OutOfResources, "launch", "%d launches of one program run at a time", i).On(l.Device, l.Kernel)
	}
	if i == len(h.launches) {
		h.launches = append(h.launches, nil)
	}
	h.launches[i] = l
	if h.running++; h.running == 1 && h.opts.Silent {
		h.server.Poll(true)
	}
	if w, ok := l.Services.(offload.Warner); ok {
		h.warn = w.Warn
	}
	return uint32(i + 1), nil
}

// Leave removes a launch after its one-way calls are served. whole reports that its code ran to its end. Otherwise its calls
// may hold ports indefinitely, and a new channel replaces this one when no launch runs.
func (h *Host) Leave(number uint32, whole bool) {
	h.mu.Lock()
	l, s := h.launches[number-1], h.server
	h.mu.Unlock()
	if h.opts.Silent && whole {
		_ = s.Drain(l.Context) // LLVM's clients do not mark one-way calls
	}
	_ = s.Flush(l.Context, number) // a stopped launch does not wait
	l.out.flush(l)
	l.err.flush(l)
	l.mu.Lock()
	l.left = true
	l.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.launches[number-1] = nil
	if !whole {
		h.launches[number-1] = ended // the server may still serve calls of it
	}
	h.running--
	h.lost = h.lost || !whole
	if h.lost && h.running == 0 && !h.closed {
		h.server.Close()
		if err := h.start(); err != nil {
			_ = h.opts.Attach(0) // later calls fail
			return
		}
		h.lost, h.launches = false, nil
	}
	if h.running == 0 && h.opts.Silent {
		h.server.Poll(false)
	}
}

// Channel returns the current state of the ports.
func (h *Host) Channel() *offload.Channel {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &offload.Channel{Calls: map[string]uint64{}}
	names := map[uint32]string{}
	for _, n := range h.server.Counts() {
		if names[n.Opcode] = n.Name; n.Calls > 0 {
			c.Calls[n.Name] = n.Calls
		}
	}
	busy, ports := h.server.Busy()
	c.Ports = ports
	for _, b := range busy {
		p := offload.Port{Index: b.Index, Operation: names[b.Operation], Waits: b.Waits}
		if name := h.called[b.Index].Load(); b.Operation == OpCall && name != nil {
			p.Operation = *name
		}
		c.Busy = append(c.Busy, p)
	}
	return c
}

// Close ends the server, closes the files and frees the heap. It warns of blocks that were not freed. The channel's memory is
// freed when the last handler has returned.
func (h *Host) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.closed = true
	h.server.Close()
	h.files.close()
	if leaks := h.heap.close(); leaks != "" && h.warn != nil {
		h.warn(leaks)
	}
}

// ended replaces a launch that ended during a call. Its calls fail without reporting errors.
var ended = func() *Launch {
	l := &Launch{left: true}
	l.failed.Store(true)
	return l
}()

// launch returns the launch to which a call on a port belongs, or ended for a call on an earlier channel. A call without the number
// of a launch is an error unless exactly one launch runs.
func (h *Host) launch(channel int, p *rpc.Port) (*Launch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if channel != h.channel {
		return ended, nil
	}
	n := int(p.Client())
	if n > 0 && n <= len(h.launches) && h.launches[n-1] != nil {
		return h.launches[n-1], nil
	}
	var only *Launch
	for _, l := range h.launches {
		if l != nil && l != ended {
			only = l
		}
	}
	if h.running != 1 {
		return nil, offload.Errorf(offload.NotFound, "call", "a thread that no launch started called a service while %d launches ran", h.running)
	}
	return only, nil
}

// report receives an error of a handler, or of a call of an unknown operation, and makes the launch of the call fail. If the
// launch is not known, report warns.
func (h *Host) report(channel int, p *rpc.Port, err error) {
	if l, _ := h.launch(channel, p); l != nil {
		l.fail(err)
		return
	}
	h.mu.Lock()
	warn := h.warn
	h.mu.Unlock()
	if warn != nil { // no launch to fail
		warn(err.Error())
	}
}

// serving returns a handler of a channel that calls serve with the launch of each call.
func (h *Host) serving(channel int, serve func(l *Launch, p *rpc.Port) error) rpc.Handler {
	return func(_ context.Context, p *rpc.Port) error {
		l, err := h.launch(channel, p)
		if err != nil {
			return err
		}
		if l.failed.Load() {
			return errFailed
		}
		return serve(l, p)
	}
}

// errFailed is the error of calls after one that failed.
var errFailed = offload.Errorf(offload.Cancelled, "call", "another call of the launch has failed")

// fail makes later calls of the launch fail. It reports the error, unless the launch has ended or was stopped, or another call has
// failed before.
func (l *Launch) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed.Store(true); !l.left && l.Context.Err() == nil && !errors.Is(err, errFailed) {
		l.Fail(err)
	}
}

// item returns the coordinates of an item by its number, where x varies fastest, or zeros for a negative number.
func (l *Launch) item(n int64) [3]int {
	x, y := int64(max(l.Size[0], 1)), int64(max(l.Size[1], 1))
	if n < 0 {
		return [3]int{}
	}
	return [3]int{int(n % x), int(n / x % y), int(n / x / y)}
}

func (l *Launch) message(item int64) offload.Message {
	return offload.Message{Device: l.Device, Kernel: l.Kernel, Item: l.item(item), Pos: l.Pos}
}

// sentence returns the error of an invalid call.
func sentence(format string, args ...any) error {
	return offload.Errorf(offload.InvalidArgument, "call", "%s", fmt.Sprintf(format, args...))
}
