package joint

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Part identifies bytes of an operation by the member that sends them and the step in which it does.
type Part struct{ Member, Step uint32 }

// Hall pairs the operations of a server for one client with the bytes that other members send.
type Hall struct {
	mu     sync.Mutex
	open   map[uint64]*Operation
	over   map[uint64]error // why operations have ended, for bytes and commands that come later
	recent []uint64         // keys of over, the oldest first
	early  int64            // bytes that arrived before their destination was known
	closed error            // reason of Close; nil before
	next   []func()         // functions of [Operation.Then] and [Operation.Each] that unlock is to call
}

const (
	remembered = 4096    // maximum number of ended operations that a hall knows
	mostEarly  = 4 << 30 // maximum number of bytes that wait until their destination is known
)

// Operation is one joint operation at this server.
type Operation struct {
	hall   *Hall
	number uint64
	begun  bool
	peers  []string // addresses of the members
	parts  map[Part]*arrivals

	ended   bool          // End was called
	err     error         // why the operation has failed; nil if it has not
	landing int           // pieces that are being read to their destination
	left    int           // expected parts that are not complete
	pieces  int           // pieces that have arrived
	settled chan struct{} // closed when the operation fails, or a piece has arrived; nil if no goroutine waits
	failed  chan struct{} // closed when the operation fails
	then    func()        // argument of Then that was not called yet
	each    func()        // argument of Each
}

// arrivals are the bytes of a part.
type arrivals struct {
	to       []byte   // the destination; nil before Admit or Expect
	early    [][]byte // pieces that arrived before the destination was known
	arrived  int64
	expected bool // it is counted in left
}

// NewHall returns a hall without operations.
func NewHall() *Hall {
	return &Hall{open: map[uint64]*Operation{}, over: map[uint64]error{}}
}

// ErrBegun reports that the number of an operation is that of one in progress.
var ErrBegun = errors.New("the operation has begun before")

// unlock unlocks mu, then calls the functions in next.
func (h *Hall) unlock() {
	next := h.next
	h.next = nil
	h.mu.Unlock()
	for _, call := range next {
		call()
	}
}

// Begin begins an operation whose members have the addresses peers. The operation may have failed already. The error is [ErrBegun] if an
// operation with this number has begun and not ended.
func (h *Hall) Begin(number uint64, peers []string) (*Operation, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.operation(number)
	if o == nil { // ended: before its command came, unless the number is used twice
		o = h.newOperation(number)
		o.fail(h.over[number])
	}
	if o.begun {
		return nil, ErrBegun
	}
	o.begun, o.peers = true, peers
	if h.closed != nil {
		o.fail(h.closed)
	}
	h.open[number] = o
	return o, nil
}

func (h *Hall) newOperation(number uint64) *Operation {
	return &Operation{hall: h, number: number, parts: map[Part]*arrivals{}, failed: make(chan struct{})}
}

// operation returns the operation with a number, or nil if it has ended. It makes an operation that is not known, which has not
// begun.
func (h *Hall) operation(number uint64) *Operation {
	o := h.open[number]
	if _, over := h.over[number]; o == nil && !over {
		o = h.newOperation(number)
		h.open[number] = o
	}
	return o
}

func (o *Operation) part(p Part) *arrivals {
	b := o.parts[p]
	if b == nil {
		b = new(arrivals)
		o.parts[p] = b
	}
	return b
}

// Admit states where the bytes of a part go, and copies those that have arrived. Nothing waits for the part before Expect. The operation
// fails if more bytes have arrived than the part has.
func (o *Operation) Admit(p Part, to []byte) {
	o.hall.mu.Lock()
	defer o.hall.unlock()
	o.admit(o.part(p), to)
}

func (o *Operation) admit(b *arrivals, to []byte) {
	b.to = to
	if b.arrived > int64(len(to)) {
		o.fail(fmt.Errorf("%d bytes came for a part of %d", b.arrived, len(to)))
	}
	at := 0
	for _, piece := range b.early {
		at += copy(to[min(at, len(to)):], piece)
		o.hall.early -= int64(len(piece))
	}
	b.early = nil
}

// Expect makes the operation wait for all bytes of a part. If Admit was not called for the part, Expect first does what Admit does.
func (o *Operation) Expect(p Part, to []byte) {
	o.hall.mu.Lock()
	defer o.hall.unlock()
	b := o.part(p)
	if b.to == nil {
		o.admit(b, to)
	}
	if b.arrived < int64(len(to)) {
		b.expected = true
		o.left++
	}
}

// Land returns the destination of n bytes at an offset of a part, and the operation. Both are nil if the destination is not known
// yet, or if the operation has failed or ended. They are also nil if the bytes do not follow those that arrived last, or exceed the
// part. If they are not nil, the caller must call [Operation.Landed] afterwards: [Operation.End] waits for that.
func (h *Hall) Land(number uint64, p Part, offset, n int64) (to []byte, o *Operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o = h.open[number]
	if o == nil || o.err != nil || o.ended {
		return nil, nil
	}
	b := o.parts[p]
	if b == nil || b.to == nil || offset != b.arrived || n > int64(len(b.to))-offset {
		return nil, nil
	}
	o.landing++
	return b.to[offset:][:n], o
}

// Landed reports that n bytes are at the destination that Land returned for the part. n is 0 if the bytes will not come.
func (o *Operation) Landed(p Part, n int64) {
	o.hall.mu.Lock()
	defer o.hall.unlock()
	o.landing--
	o.arrive(o.parts[p], n)
	o.settle()
}

// Deliver copies bytes to their destination, or keeps them until it is known. It drops those of an operation that has failed or
// ended. It returns an error for bytes that do not follow the last ones, that exceed their part, or that are too many to keep.
func (h *Hall) Deliver(number uint64, p Part, offset int64, data []byte) error {
	h.mu.Lock()
	defer h.unlock()
	o := h.operation(number)
	if o == nil || o.err != nil {
		return nil
	}
	b := o.part(p)
	switch {
	case offset != b.arrived || b.to != nil && int64(len(data)) > int64(len(b.to))-offset:
		return fmt.Errorf("%d bytes at %d of step %d of operation %d do not follow those before", len(data), offset, p.Step, number)
	case b.to == nil && h.early+int64(len(data)) > mostEarly:
		return fmt.Errorf("more than %d bytes came before their operations began", int64(mostEarly))
	case b.to == nil:
		b.early = append(b.early, bytes.Clone(data)) // a single block would be copied again as it grows
		h.early += int64(len(data))
	default:
		copy(b.to[offset:], data)
	}
	o.arrive(b, int64(len(data)))
	return nil
}

func (o *Operation) arrive(b *arrivals, n int64) {
	b.arrived += n
	if n > 0 && b.expected && b.arrived == int64(len(b.to)) {
		o.left--
	}
	o.pieces++
	o.settle()
}

// Settled reports whether all bytes of the expected parts have arrived, or the operation has failed.
func (o *Operation) Settled() bool {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	return o.left == 0 || o.err != nil
}

// Wait waits until Settled, and returns the reason of the operation's failure, or nil.
func (o *Operation) Wait() error {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	for o.left > 0 && o.err == nil {
		o.await()
	}
	return o.err
}

// Progress waits until the number of pieces that have arrived differs from seen, or until Settled. It returns that number.
func (o *Operation) Progress(seen int) int {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	for o.left > 0 && o.err == nil && o.pieces == seen {
		o.await()
	}
	return o.pieces
}

// await waits for a change. The caller holds the lock of the hall, which await releases meanwhile.
func (o *Operation) await() {
	if o.settled == nil {
		o.settled = make(chan struct{})
	}
	settled := o.settled
	o.hall.mu.Unlock()
	<-settled
	o.hall.mu.Lock()
}

// settle wakes waiting goroutines after a change. It passes the function of Each to unlock, and that of Then once the operation is
// Settled. The caller holds the lock of the hall.
func (o *Operation) settle() {
	if o.settled != nil {
		close(o.settled)
		o.settled = nil
	}
	if o.each != nil && o.err == nil {
		o.hall.next = append(o.hall.next, o.each)
	}
	if then := o.then; then != nil && (o.left == 0 || o.err != nil) {
		o.then = nil
		if o.err != nil { // the goroutine that reports a failure must not wait for bytes that are being read
			o.hall.next = append(o.hall.next, func() { go then() })
		} else {
			o.hall.next = append(o.hall.next, then)
		}
	}
}

// Then calls a function once the operation is Settled: now, or on the goroutine that brings the last bytes. After a failure it is
// called on a goroutine of its own.
func (o *Operation) Then(call func()) {
	o.hall.mu.Lock()
	defer o.hall.unlock()
	o.then = call
	o.settle()
}

// Each sets a function that is called after bytes have arrived, on the goroutine that brings them, and once when Then is called. It is
// called before the function of Then, and not after a failure.
func (o *Operation) Each(call func()) {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	o.each = call
}

// Arrived returns the number of bytes of a part that have arrived.
func (o *Operation) Arrived(p Part) int64 {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	if b := o.parts[p]; b != nil {
		return b.arrived
	}
	return 0
}

// fail is Fail for a caller that holds the lock of the hall.
func (o *Operation) fail(why error) {
	if o.err == nil {
		o.err = why
		close(o.failed)
		o.settle()
	}
}

// Fail ends the waits of an operation, which fails with the reason why. Only the first reason is kept.
func (o *Operation) Fail(why error) {
	o.hall.mu.Lock()
	defer o.hall.unlock()
	o.fail(why)
}

// Err returns the reason of the operation's failure, or nil.
func (o *Operation) Err() error {
	o.hall.mu.Lock()
	defer o.hall.mu.Unlock()
	return o.err
}

// Failed returns a channel that is closed when the operation fails.
func (o *Operation) Failed() <-chan struct{} { return o.failed }

// errEnded is the reason in over of an operation that has ended without a failure.
var errEnded = errors.New("the operation has ended")

// End waits until no bytes of the operation are being read to their destination, and forgets the operation. A second call does
// nothing.
func (o *Operation) End() {
	h := o.hall
	h.mu.Lock()
	defer h.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = true
	for o.landing > 0 {
		o.await()
	}
	why := o.err
	if why == nil {
		why = errEnded
	}
	h.forget(o.number, why)
}

// forget removes an operation and remembers why it has ended.
func (h *Hall) forget(number uint64, why error) {
	if o := h.open[number]; o != nil {
		for _, b := range o.parts {
			for _, piece := range b.early {
				h.early -= int64(len(piece))
			}
		}
	}
	delete(h.open, number)
	if _, known := h.over[number]; known {
		return
	}
	if len(h.recent) >= remembered {
		delete(h.over, h.recent[0])
		h.recent = slices.Delete(h.recent, 0, 1)
	}
	h.over[number] = why
	h.recent = append(h.recent, number)
}

// Fail fails an operation. If it has not begun, its bytes are dropped, and a later Begin returns it as failed. Fail does not change
// an operation that has ended.
func (h *Hall) Fail(number uint64, why error) {
	h.mu.Lock()
	defer h.unlock()
	if o := h.open[number]; o != nil && o.begun {
		o.fail(why)
		return
	}
	h.forget(number, why)
}

// Leave fails the operations that have a member with the address peer, which has left.
func (h *Hall) Leave(peer string, why error) {
	h.mu.Lock()
	defer h.unlock()
	for _, o := range h.open {
		if slices.Contains(o.peers, peer) {
			o.fail(why)
		}
	}
}

// Close fails all operations with the reason why, and also those that begin later.
func (h *Hall) Close(why error) {
	h.mu.Lock()
	defer h.unlock()
	h.closed = why
	for _, o := range h.open {
		o.fail(why)
	}
}
