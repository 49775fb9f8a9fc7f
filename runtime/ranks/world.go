package ranks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// World is the processes of a job as one of them sees them.
type World struct {
	links Links
	spare spares

	mu       sync.Mutex
	peers    []*peer
	posted   map[key][]*Receipt // messages that are expected of any process of a group
	failures map[call]error     // of collective operations that failed at another process, or differ from another process's
	serial   uint64             // number of the last message or receipt, which are counted together
	lost     error              // a process is lost: operations fail unless their messages have arrived
	used     bool               // Claim has been called, and the release that it returned has not
	claims   uint64             // calls of Claim that returned a group
	agreement
}

// peer is a process of the job. The mutex of the world guards the fields that change, except stream and buf.
type peer struct {
	w       *World
	rank    int
	queue   []*sending
	writing bool           // a goroutine writes the queue
	stream  io.WriteCloser // used by the goroutine that writes the queue, as is buf; nil before the first message
	buf     []byte         // memory for small messages
	arrived map[key][]*parcel
	posted  map[key][]*Receipt
	readers int  // streams that have not ended
	left    bool // the process has ended its script
}

// NewWorld returns the processes that links connect. Nil links are those of a process alone.
func NewWorld(links Links) *World {
	if links == nil {
		links = alone{}
	}
	w := &World{links: links, posted: map[key][]*Receipt{}, failures: map[call]error{}, agreement: newAgreement()}
	for rank := range links.Size() {
		w.peers = append(w.peers, &peer{w: w, rank: rank, arrived: map[key][]*parcel{}, posted: map[key][]*Receipt{}})
	}
	links.Serve(w.accept, w.leave)
	return w
}

// alone is the links of a process without others.
type alone struct{}

func (alone) Rank() int                                                 { return 0 }
func (alone) Size() int                                                 { return 1 }
func (alone) Dial(int) (io.WriteCloser, error)                          { return nil, io.ErrClosedPipe }
func (alone) Serve(func(int, io.ReadCloser), func(rank int, why error)) {}
func (alone) Expect(int)                                                {}

// Rank returns the number of this process.
func (w *World) Rank() int { return w.links.Rank() }

// Claim returns the group of all processes for the use of one script, until release is called. The groups of the first calls in all
// processes belong together, as do those of the second calls and so on. Errors: InvalidArgument while another script uses the group.
func (w *World) Claim() (g *Group, release func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used {
		return nil, nil, offload.Errorf(offload.InvalidArgument, "mpi", "another script of this process uses the ranks")
	}
	w.used = true
	w.claims++ // each script has a context of its own
	g = &Group{w: w, context: w.claims, rank: w.Rank()}
	for rank := range w.peers {
		g.members = append(g.members, rank)
	}
	return g, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.used = false
	}, nil
}

// Receipt is a message that is expected.
type Receipt struct {
	g      *Group
	from   *peer // nil: any member of the group
	key    key
	into   []byte // memory for the bytes, if the message has as many; nil for none
	serial uint64
	posted bool // the receipt is in a list of those that wait
	done   chan struct{}

	// Valid once done is closed:
	sender int     // rank in the world of the process that sent the message
	got    *parcel // nil after a failure
	err    error
}

// wait returns the message once it has arrived, or the reason why it cannot arrive. If ctx ends first, wait returns its cause,
// and a later receipt gets the message.
func (r *Receipt) wait(ctx context.Context) (*parcel, error) {
	select {
	case <-r.done:
		return r.got, r.err
	default:
	}
	select {
	case <-r.done:
		return r.got, r.err
	case <-ctx.Done():
	}
	w := r.g.w
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-r.done:
		return r.got, r.err
	default:
	}
	r.withdraw()
	return nil, context.Cause(ctx)
}

// lists returns the receipts among which this one waits.
func (r *Receipt) lists() map[key][]*Receipt {
	if r.from == nil {
		return r.g.w.posted
	}
	return r.from.posted
}

// wait adds a receipt to those that wait. The caller holds the mutex.
func (w *World) wait(r *Receipt) {
	lists := r.lists()
	lists[r.key] = append(lists[r.key], r)
	r.posted = true
	w.links.Expect(1)
}

// withdraw removes a receipt from those that wait, without settling it. The caller holds the mutex of the world.
func (r *Receipt) withdraw() {
	r.removed()
	lists := r.lists()
	list := slices.DeleteFunc(slices.Clone(lists[r.key]), func(other *Receipt) bool { return other == r })
	if lists[r.key] = list; len(list) == 0 {
		delete(lists, r.key)
	}
}

// removed counts a receipt that waits no longer. The caller holds the mutex of the world.
func (r *Receipt) removed() {
	if r.posted {
		r.posted = false
		r.g.w.links.Expect(-1)
	}
}

// drop removes a receipt from those that wait.
func (w *World) drop(r *Receipt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.withdraw()
}

// settle ends a receipt with a message or an error. The caller holds the mutex of the world, and has removed the receipt from those that
// wait, or removes it before it releases the mutex.
func (r *Receipt) settle(got *parcel, err error) {
	r.removed()
	r.got, r.err = got, err
	close(r.done)
}

// next returns the next number of a message or a receipt. The caller holds the mutex.
func (w *World) next() uint64 {
	w.serial++
	return w.serial
}

// take settles a receipt with the oldest message of a process that has the receipt's key. There must be one. The caller holds the mutex.
func (p *peer) take(r *Receipt) {
	list := p.arrived[r.key]
	if p.arrived[r.key] = list[1:]; len(list) == 1 {
		delete(p.arrived, r.key)
	}
	r.sender = p.rank
	r.settle(list[0], nil)
}

// postAny returns a receipt for a message of any member of a group. Of messages that have arrived it takes the oldest one. If
// none has and none can arrive, the receipt has already failed.
func (w *World) postAny(g *Group, k key) *Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &Receipt{g: g, key: k, serial: w.next(), done: make(chan struct{})}
	var oldest *peer
	for _, rank := range g.members {
		p := w.peers[rank]
		if list := p.arrived[k]; len(list) > 0 && (oldest == nil || list[0].serial < oldest.arrived[k][0].serial) {
			oldest = p
		}
	}
	switch {
	case oldest != nil:
		oldest.take(r)
	case w.lost != nil:
		r.settle(nil, w.lost)
	case r.hopeless():
		r.settle(nil, allEnded())
	default:
		w.wait(r)
	}
	return r
}

// hopeless reports whether all other members of the receipt's group have ended, so that no one else is left to send. It is false for a
// group of one. The caller holds the world's mutex.
func (r *Receipt) hopeless() bool {
	for i, rank := range r.g.members {
		if i != r.g.rank && !r.g.w.peers[rank].ended() {
			return false
		}
	}
	return len(r.g.members) > 1
}

func allEnded() error {
	return offload.Errorf(offload.Closed, "mpi", "all other ranks have ended their scripts").
		WithHint("see what they printed; one rank has to send what another one receives")
}

// post returns a receipt for a message of the process from. It takes the oldest message that has arrived. If none has, and none
// can arrive or the collective operation has failed, the receipt has already failed. The bytes of a message that has not arrived may be
// read to into, unless into is nil.
func (w *World) post(g *Group, from int, k key, into []byte) *Receipt {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.peers[from]
	r := &Receipt{g: g, from: p, key: k, into: into, serial: w.next(), done: make(chan struct{}), sender: from}
	switch {
	case len(p.arrived[k]) > 0:
		p.take(r)
	case w.lost != nil:
		r.settle(nil, w.lost)
	case k.Call && w.failures[call{k.Context, k.Number}] != nil:
		r.settle(nil, w.failures[call{k.Context, k.Number}])
	case p.ended():
		r.settle(nil, endedError(p.rank))
	default:
		w.wait(r)
	}
	return r
}

func endedError(rank int) error {
	return offload.Errorf(offload.Closed, "mpi", "rank %d has ended its script", rank).WithHint(endedHint)
}

const endedHint = "see what it printed; every rank has to send what others receive, and to call the same collective operations"

// failure returns the error of the collective operation with a key, if it failed at another process or differs from another process's.
// Otherwise it returns nil.
func (w *World) failure(k key) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failures[call{k.Context, k.Number}]
}

// ended reports whether nothing can arrive from the process any more.
func (p *peer) ended() bool { return p.left && p.readers == 0 }

// deliver hands a message to the receipt that waits for it, or keeps it. A message that a collective operation has failed ends all
// receipts of this operation, also those that wait for other processes: these may wait for the sender. Of other messages of collective
// operations, deliver first compares the operation with this process's. An announcement has no receipt.
func (w *World) deliver(from int, m *parcel) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.peers[from]
	if m.Failed && m.Key.Call {
		var err error = offload.Errorf(offload.Cancelled, m.Kind.String(), "the operation failed at rank %d: %s", from, m.data)
		if m.Ended {
			err = offload.Errorf(offload.Closed, m.Kind.String(), "%s", m.data).WithHint(endedHint)
		}
		w.failCall(call{m.Key.Context, m.Key.Number}, err)
		return
	}
	if m.Key.Call {
		if w.compare(from, m); m.Key.Step == announcement {
			return
		}
	}
	var first *Receipt // that was posted first
	for _, list := range [][]*Receipt{p.posted[m.Key], w.posted[m.Key]} {
		if len(list) > 0 && (first == nil || list[0].serial < first.serial) {
			first = list[0]
		}
	}
	m.serial = w.next()
	p.arrived[m.Key] = append(p.arrived[m.Key], m)
	if first != nil {
		first.withdraw()
		p.take(first)
	}
}

// accept begins to read a stream of the process with this rank, on a goroutine that ends with the stream.
func (w *World) accept(rank int, r io.ReadCloser) {
	w.mu.Lock()
	w.peers[rank].readers++
	w.mu.Unlock()
	go func() {
		buf, in := make([]byte, headerSize), bufio.NewReaderSize(r, 4*headerSize)
		for {
			m, err := read(in, buf, func(h *header) []byte { return w.place(rank, h) })
			if err != nil {
				break
			}
			w.deliver(rank, m)
		}
		_ = r.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		p := w.peers[rank]
		p.readers--
		p.end()
	}()
}

// place returns the memory for the bytes of a message of the process with this rank. It is that of the receipt which waits for the
// message, if that has memory of this size.
func (w *World) place(rank int, h *header) []byte {
	if h.Key.Call && !h.Failed {
		w.mu.Lock()
		defer w.mu.Unlock()
		if list := w.peers[rank].posted[h.Key]; len(list) > 0 && list[0].into != nil && uint64(len(list[0].into)) == h.Size {
			return list[0].into
		}
	}
	return w.spare.take(int(h.Size))
}

// end fails what waits for the process, if the process has ended. The caller holds the mutex.
func (p *peer) end() {
	if !p.ended() {
		return
	}
	p.fail(endedError(p.rank))
	p.w.failAny(func(r *Receipt) error {
		if r.hopeless() {
			return allEnded()
		}
		return nil
	})
}

// failAny ends the receipts that accept messages of any member and for which why returns an error. The caller holds the mutex.
func (w *World) failAny(why func(*Receipt) error) {
	for _, list := range w.posted {
		for _, r := range slices.Clone(list) {
			if err := why(r); err != nil {
				r.withdraw()
				r.settle(nil, err)
			}
		}
	}
}

// fail ends with err the receipts that wait for a process, and the messages in the queue to it. The caller holds the mutex.
func (p *peer) fail(err error) {
	for k, list := range p.posted {
		delete(p.posted, k)
		for _, r := range list {
			r.settle(nil, err)
		}
	}
	for _, s := range p.queue {
		s.done <- err
	}
	p.queue = nil
}

// leave handles the end of a process, or its loss if why is not nil. The first loss fails the receipts that wait for
// any process, and the messages in the queues to them.
func (w *World) leave(rank int, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why == nil {
		w.peers[rank].left = true
		w.peers[rank].end()
		return
	}
	if w.lost != nil {
		return
	}
	w.lost = offload.Errorf(offload.DeviceLost, "mpi", "rank %d is lost: %v", rank, why).WithHint("the job cannot go on without it")
	for _, p := range w.peers {
		p.fail(w.lost)
	}
	w.failAny(func(*Receipt) error { return w.lost })
}

// sending is a message in the queue to a process.
type sending struct {
	parcel
	payload *Payload // the bytes, which may not be known yet; nil if data has them
	done    chan error
}

// send appends s to the queue to a process. It makes s.done, which receives the result. If a process is lost or the receiver
// has left, the result is that error at once.
func (w *World) send(to int, s *sending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.enqueue(to, s)
}

// enqueue is send for a caller that holds the mutex.
func (w *World) enqueue(to int, s *sending) {
	s.done = make(chan error, 1)
	p := w.peers[to]
	switch {
	case w.lost != nil:
		s.done <- w.lost
		return
	case p.left:
		s.done <- endedError(to)
		return
	}
	p.queue = append(p.queue, s)
	if !p.writing {
		p.writing = true
		go p.write()
	}
}

// write writes the queue until it is empty.
func (p *peer) write() {
	for {
		p.w.mu.Lock()
		if len(p.queue) == 0 {
			p.writing, p.queue = false, nil
			p.w.mu.Unlock()
			return
		}
		s := p.queue[0]
		p.queue = p.queue[1:]
		p.w.mu.Unlock()
		s.done <- p.post(s)
	}
}

func (p *peer) post(s *sending) error {
	var failure error
	if s.payload != nil {
		<-s.payload.ready
		s.data = s.payload.data
		if failure = s.payload.err; failure != nil {
			s.Failed, s.data = true, []byte(failure.Error())
		}
	}
	if p.rank == p.w.Rank() {
		p.w.deliver(p.rank, &s.parcel)
		return failure
	}
	if p.stream == nil {
		var err error
		if p.stream, err = p.w.links.Dial(p.rank); err != nil {
			return p.failed(err)
		}
	}
	if err := write(p.stream, &s.parcel, &p.buf); err != nil {
		return p.failed(err)
	}
	if s.payload != nil && failure == nil {
		s.payload.free(p.w)
	}
	return failure
}

// failed returns the reason for an error of a stream.
func (p *peer) failed(err error) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	switch {
	case p.w.lost != nil:
		return p.w.lost
	case p.left:
		return endedError(p.rank)
	}
	return fmt.Errorf("sending to rank %d: %w", p.rank, err)
}

// Payload is data of a message that may not be known yet.
type Payload struct {
	Type  offload.Type
	Count int // number of elements
	ready chan struct{}
	data  []byte // valid once ready is closed, as is err
	err   error
	lent  bool
}

// NewPayload returns the payload for count elements, and the function that sets their bytes, or the reason why there are none. The
// bytes must not change afterwards. The function must be called once.
func NewPayload(t offload.Type, count int) (p *Payload, set func(data []byte, err error)) {
	p = &Payload{Type: t, Count: count, ready: make(chan struct{})}
	return p, func(data []byte, err error) {
		p.data, p.err = data, err
		close(p.ready)
	}
}

// Lend lets an operation that ends without an error keep the bytes for further messages. After set, the caller does not use them.
func (p *Payload) Lend() { p.lent = true }

// free keeps the bytes of a payload that was lent. Nothing uses them any more.
func (p *Payload) free(w *World) {
	if p.lent {
		w.spare.put(p.data)
	}
}

// Bytes waits for the data and returns it, or the reason why there is none. If ctx ends first, Bytes returns its cause.
func (p *Payload) Bytes(ctx context.Context) ([]byte, error) {
	select {
	case <-p.ready:
		return p.data, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
