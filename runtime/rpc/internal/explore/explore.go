// Package explore checks the memory orders of package rpc. It runs two clients and a server through every execution that C11's
// release and acquire operations permit.
//
// The memory is operational, after Kang and others, "A promising semantics for relaxed-memory concurrency" (POPL 2017), without
// promises. A location keeps its writes in order. A read returns any write that is not older than its thread's view. An acquire
// that reads a release joins the view of the writer. Stores are last in modification order. Vector clocks detect races on the
// packets, which are not atomic.
package explore

import (
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/orepl/orepl/runtime/rpc"
)

const (
	threads   = 3 // two clients and the server
	server    = 2
	maxPorts  = 3
	locations = 3*maxPorts + 1

	locLock      = 0            // of port 0
	locClientOut = maxPorts     // the client's outbox, the server's inbox
	locServerOut = 2 * maxPorts // the server's outbox
	locBell      = 3 * maxPorts
)

// Config lists the steps of the threads.
type Config struct {
	Ports  int
	Calls  [2][]Call // calls of each client
	Bell   bool      // the server sleeps, and clients ring
	Orders []rpc.Order
	Limit  int // number of states after which Run returns an error; 0: none
}

// Call is a call of a client.
type Call uint8

const (
	OneWay Call = iota
	Reply
)

// Orders returns the orders of the protocol.
func Orders() []rpc.Order {
	list := make([]rpc.Order, len(rpc.Transitions))
	for i, t := range rpc.Transitions {
		list[i] = t.Order
	}
	return list
}

type (
	view  [locations]uint8 // the oldest write of each location that a thread may still read
	clock [threads]uint8
)

// write is a value of a location, with the view that an acquiring reader joins. The view of a relaxed write is empty.
type write struct {
	value uint8
	view  view
	clock clock
}

// data is the header and the packets of a port, which are not atomic.
type data struct {
	value   uint8
	writer  uint8
	written uint8 // clock of the writer
	read    clock
}

type thread struct {
	pc, port, call, in, out uint8
	view                    view
	clock                   clock
}

type state struct {
	threads [threads]thread
	writes  [locations][]write
	data    [maxPorts]data
	fence   view // view of sequentially consistent fences
	served  uint32
	outs    [maxPorts]uint8 // the server's own copy of its outboxes
}

// violation is a forbidden execution.
type violation string

func (v violation) Error() string { return string(v) }

type explorer struct {
	Config
	seen  map[[2]uint64]struct{}
	stack []*state
	seeds [2]maphash.Seed
	total int
}

// Run explores all executions. It returns the number of states, and an error that describes the first violation, or says that
// there are more states than c.Limit.
func Run(c Config) (states int, err error) {
	x := &explorer{Config: c, seen: map[[2]uint64]struct{}{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	x.total = len(c.Calls[0]) + len(c.Calls[1])
	defer func() {
		if v, ok := recover().(violation); ok {
			err = v
		}
		states = len(x.seen)
	}()
	s := &state{}
	for l := range s.writes {
		s.writes[l] = []write{{}}
	}
	for t := range s.threads {
		s.threads[t].clock[t] = 1
	}
	x.push(s)
	for len(x.stack) > 0 {
		s := x.stack[len(x.stack)-1]
		x.stack = x.stack[:len(x.stack)-1]
		if !x.expand(s) && !x.done(s) {
			panic(violation(fmt.Sprintf("deadlock: clients at %d and %d, %d calls served", s.threads[0].pc, s.threads[1].pc, s.served)))
		}
		if x.Limit > 0 && len(x.seen) > x.Limit {
			return len(x.seen), fmt.Errorf("more than %d states", x.Limit)
		}
	}
	return len(x.seen), nil
}

func (x *explorer) done(s *state) bool {
	return int(s.threads[0].call) == len(x.Calls[0]) && int(s.threads[1].call) == len(x.Calls[1]) && s.served == 1<<x.total-1
}

// expand pushes the state after each possible step of a thread, and reports whether there is one.
func (x *explorer) expand(s *state) bool {
	before := len(x.stack)
	stepped := false
	step := func(next *state) { stepped = true; x.push(next) }
	for t := range 2 {
		x.client(s, t, step)
	}
	x.serve(s, step)
	return stepped || len(x.stack) > before
}

// push adds a state unless it was visited.
func (x *explorer) push(s *state) {
	s.normalize(x.Ports)
	text := s.encode(x.Ports)
	key := [2]uint64{maphash.Bytes(x.seeds[0], text), maphash.Bytes(x.seeds[1], text)}
	if _, ok := x.seen[key]; !ok {
		x.seen[key] = struct{}{}
		x.stack = append(x.stack, s)
	}
}

func (s *state) clone() *state {
	n := *s
	for l := range n.writes {
		n.writes[l] = slices.Clone(s.writes[l])
	}
	return &n
}

// load calls then with each possible state after thread t has read location l, and with the value read. transition is the index
// of the read's memory order.
func (x *explorer) load(s *state, t, l, transition int, then func(n *state, value uint8)) {
	for at := int(s.threads[t].view[l]); at < len(s.writes[l]); at++ {
		n := s.clone()
		n.read(t, l, at, x.Orders[transition])
		then(n, s.writes[l][at].value)
	}
}

func (s *state) read(t, l, at int, order rpc.Order) {
	th, w := &s.threads[t], &s.writes[l][at]
	th.view[l] = max(th.view[l], uint8(at))
	if order == rpc.Acquire {
		for i := range th.view {
			th.view[i] = max(th.view[i], w.view[i])
		}
		for i := range th.clock {
			th.clock[i] = max(th.clock[i], w.clock[i])
		}
	}
}

// store appends a write of thread t.
func (s *state) store(t, l int, value uint8, order rpc.Order) {
	th := &s.threads[t]
	at := uint8(len(s.writes[l]))
	th.view[l] = at
	w := write{value: value}
	w.view[l] = at
	if order == rpc.Release {
		w.view, w.clock = th.view, th.clock
		th.clock[t]++
	}
	s.writes[l] = append(s.writes[l], w)
}

// sync applies a sequentially consistent fence. It ignores weaker fences.
func (s *state) sync(t int, order rpc.Order) {
	if order != rpc.SeqCst {
		return
	}
	th := &s.threads[t]
	for i := range th.view {
		m := max(th.view[i], s.fence[i])
		th.view[i], s.fence[i] = m, m
	}
}

func (s *state) readData(t, port int) uint8 {
	d, th := &s.data[port], &s.threads[t]
	if d.written > th.clock[d.writer] {
		panic(violation(fmt.Sprintf("race: thread %d reads the packet of port %d that thread %d writes", t, port, d.writer)))
	}
	d.read[t] = th.clock[t]
	return d.value
}

func (s *state) writeData(t, port int, value uint8) {
	d, th := &s.data[port], &s.threads[t]
	for r, c := range d.read {
		if c > th.clock[r] {
			panic(violation(fmt.Sprintf("race: thread %d writes the packet of port %d that thread %d reads", t, port, r)))
		}
	}
	if d.written > th.clock[d.writer] {
		panic(violation(fmt.Sprintf("race: threads %d and %d write the packet of port %d", t, d.writer, port)))
	}
	*d = data{value: value, writer: uint8(t), written: th.clock[t]}
}

// normalize makes equivalent states equal. It removes the writes that no thread can read any more, and renumbers the remaining
// writes and the clocks.
func (s *state) normalize(ports int) {
	for l := range s.writes {
		oldest := uint8(len(s.writes[l]) - 1)
		if l >= maxPorts { // only atomic read-modify-writes read a lock, and they read the last write
			for t := range s.threads {
				if t != server || l < locServerOut || l == locBell { // the server has a copy of its own outboxes
					oldest = min(oldest, s.threads[t].view[l])
				}
			}
		}
		shift := func(v *view) { v[l] = max(v[l], oldest) - oldest }
		s.writes[l] = s.writes[l][oldest:]
		for t := range s.threads {
			shift(&s.threads[t].view)
		}
		shift(&s.fence)
		for k := range s.writes {
			for i := range s.writes[k] {
				shift(&s.writes[k][i].view)
			}
		}
	}
	for c := range threads {
		var used [256]bool
		s.clocks(c, func(v *uint8) { used[*v] = true })
		used[0] = true
		var rank [256]uint8
		n := uint8(0)
		for i := range used {
			if used[i] {
				rank[i] = n
				n++
			}
		}
		s.clocks(c, func(v *uint8) { *v = rank[*v] })
	}
}

// clocks calls visit for all values of component c of a clock.
func (s *state) clocks(c int, visit func(*uint8)) {
	for t := range s.threads {
		visit(&s.threads[t].clock[c])
	}
	for l := range s.writes {
		for i := range s.writes[l] {
			visit(&s.writes[l][i].clock[c])
		}
	}
	for p := range s.data {
		d := &s.data[p]
		if int(d.writer) == c {
			visit(&d.written)
		}
		visit(&d.read[c])
	}
}

func (s *state) encode(ports int) []byte {
	b := make([]byte, 0, 512)
	for t := range s.threads {
		th := &s.threads[t]
		b = append(b, th.pc, th.port, th.call, th.in, th.out)
		b = append(append(b, th.view[:]...), th.clock[:]...)
	}
	for l := range s.writes {
		b = append(b, byte(len(s.writes[l])))
		for _, w := range s.writes[l] {
			b = append(append(append(b, w.value), w.view[:]...), w.clock[:]...)
		}
	}
	for _, d := range s.data[:ports] {
		b = append(append(b, d.value, d.writer, d.written), d.read[:]...)
	}
	b = append(b, s.fence[:]...)
	b = append(b, s.outs[:]...)
	return append(b, byte(s.served), byte(s.served>>8))
}
