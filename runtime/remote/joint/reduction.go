// Package joint reduces memory of devices of several processes together. Each process sends the others the operands of their parts. Then each
// combines its own part in the order of the members, with a kernel of the device, and sends the result to the others.
//
// A [Hall] pairs the bytes that arrive with the memory that awaits them, whichever of the two is first.
package joint

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	wholeBytes = 64 << 10             // bytes of which each member reduces all instead of a part
	MostJoined = 1 << 16              // members of an operation
	patience   = 2 * time.Millisecond // time that Try waits
)

// The steps of a reduction.
const (
	operandStep = iota // an operand of the part that the receiver reduces
	resultStep         // the part that the sender has reduced
)

// Link carries bytes to another member.
type Link interface {
	// Send sends bytes of this member's part of an operation. They must not change before Sent, of the result, or AwaitSent.
	Send(operation uint64, p Part, data []byte) (position int64)
	// Sent reports whether the bytes up to a position were sent.
	Sent(position int64) bool
	// AwaitSent waits until Sent, or until the link has ended.
	AwaitSent(position int64)
	// Poll receives bytes that have arrived.
	Poll()
	// Drive receives bytes for a while, until done returns true.
	Drive(done func() bool)
}

// Reduction is a member's part in a reduction: y of all members becomes ((y0 op y1) op y2) …, in the order of the members.
type Reduction struct {
	Context   context.Context
	Operation *Operation
	Number    uint64
	Member    int
	Members   int
	Link      func(member int) (Link, error) // returns the link to another member
	Device    offload.Device
	Queue     offload.Queue  // of the device, for this reduction alone until it has ended
	Spares    *Spares        // of the device
	Launch    offload.Launch // of the kernel reduce(y, x), which computes y[i] = y[i] op x[i], without size and memory
	Memory    offload.Memory // of y
	Offset    int64          // of y in bytes
	Count     int64          // elements
	Width     int64          // bytes of an element
	Release   func()         // is called when y is used no more; may be nil

	step     int // the next one of steps
	ended    bool
	err      error  // the reason of the failure
	y        []byte // the bytes of all elements: of the memory itself if the host can access it
	aside    bool   // y is not the memory itself
	links    []Link
	sent     []int64          // positions of the links behind the bytes of y
	operands []offload.Memory // of the other members
	data     [][]byte         // the bytes of the operands
}

// steps are the parts of a reduction between its waits.
var steps = [...]func(*Reduction) error{(*Reduction).begin, (*Reduction).combine, (*Reduction).store}

// Try reduces if the bytes of the other members arrive soon. It reports whether the reduction has ended; otherwise Run completes it.
func (r *Reduction) Try() (ended bool) {
	late := time.Now().Add(patience)
	arrived := func(done func() bool) bool {
		r.drive(func() bool { return done() || time.Now().After(late) })
		return done()
	}
	for ; r.err == nil && r.step < len(steps); r.step++ {
		if !arrived(r.Operation.Settled) {
			return false
		}
		r.advance()
	}
	if r.err != nil || !arrived(r.isSent) {
		return false
	}
	r.end()
	return true
}

// Run reduces and ends the operation. No memory is used afterwards.
func (r *Reduction) Run() error {
	for ; r.err == nil && r.step < len(steps); r.step++ {
		r.await()
		r.advance()
	}
	r.Drop()
	return r.err
}

// Drop ends a reduction that Run has not been called for, or does not complete. No memory is used afterwards.
func (r *Reduction) Drop() {
	if r.ended {
		return
	}
	for i, l := range r.links {
		if l != nil {
			l.AwaitSent(r.sent[i])
		}
	}
	r.end()
}

// advance takes a step after what it needs has arrived.
func (r *Reduction) advance() {
	if r.err = r.Operation.Err(); r.err == nil {
		r.err = steps[r.step](r)
	}
	if r.err != nil {
		r.Operation.Fail(r.err)
	}
}

// isSent reports whether no bytes of y are still to be sent.
func (r *Reduction) isSent() bool {
	for i, l := range r.links {
		if l != nil && !l.Sent(r.sent[i]) {
			return false
		}
	}
	return true
}

// end ends the operation.
func (r *Reduction) end() {
	r.ended = true
	r.Operation.End()
	for _, m := range r.operands {
		if m != nil {
			r.Spares.put(m)
		}
	}
	if r.Release != nil {
		r.Release()
	}
}

// begin sends the operands.
func (r *Reduction) begin() error {
	r.links, r.sent, r.operands, r.data = make([]Link, r.Members), make([]int64, r.Members), make([]offload.Memory, r.Members), make([][]byte, r.Members)
	total := r.Count * r.Width
	if r.y = bytesOf(r.span(0, total)); r.y == nil {
		r.y, r.aside = make([]byte, total), true
		if err := errors.Join(r.Queue.Retrieve(r.y, r.span(0, total)), r.Queue.Sync(r.Context)); err != nil {
			return err
		}
	}
	for i := range r.links {
		if i != r.Member {
			l, err := r.Link(i)
			if err != nil {
				return err
			}
			r.links[i] = l
		}
	}
	from, to := r.part(r.Member)
	if err := r.expect(to - from); err != nil {
		return err
	}
	data := r.y
	if r.whole() { // the bytes that are being sent are replaced meanwhile
		data = slices.Clone(data)
	}
	r.send(operandStep, data, r.part)
	return nil
}

// combine reduces this member's part, and sends it to the others.
func (r *Reduction) combine() error {
	from, to := r.part(r.Member)
	if from < to {
		if err := r.reduce(from, to); err != nil {
			return err
		}
	}
	if r.whole() {
		return nil
	}
	for i := range r.links {
		if at, end := r.part(i); i != r.Member && at < end { // that member has this one's operand, so the bytes may be replaced
			r.Operation.Expect(Part{uint32(i), resultStep}, r.y[at:end])
		}
	}
	r.send(resultStep, r.y, func(int) (int64, int64) { return from, to })
	return nil
}

// store copies the results to memory that the host cannot access.
func (r *Reduction) store() error {
	if !r.aside || r.whole() {
		return nil
	}
	return errors.Join(r.Queue.Submit(r.span(0, int64(len(r.y))), r.y), r.Queue.Sync(r.Context))
}

// whole reports whether each member reduces all elements.
func (r *Reduction) whole() bool { return r.Count*r.Width <= wholeBytes }

// span returns a range of y.
func (r *Reduction) span(from, to int64) offload.Span {
	return offload.Span{Memory: r.Memory, Offset: r.Offset + from, Size: to - from}
}

// bytesOf returns the bytes of a range, or nil if the host cannot access them.
func bytesOf(s offload.Span) []byte {
	if b := s.Memory.Bytes(); b != nil {
		return b[s.Offset:][:s.Size:s.Size]
	}
	return nil
}

// part returns the range of bytes that a member reduces.
func (r *Reduction) part(member int) (from, to int64) {
	if r.whole() {
		return 0, r.Count * r.Width
	}
	n := int64(r.Members)
	each := (r.Count + n - 1) / n
	return min(each*int64(member), r.Count) * r.Width, min(each*int64(member+1), r.Count) * r.Width
}

// expect takes memory for the operands of the other members.
func (r *Reduction) expect(size int64) (err error) {
	for i := range r.operands {
		if i == r.Member || size == 0 {
			continue
		}
		m, err := r.Spares.take(r.Device, size)
		if err != nil {
			return err
		}
		r.operands[i] = m
		if r.data[i] = bytesOf(offload.Span{Memory: m, Size: size}); r.data[i] == nil {
			r.data[i] = make([]byte, size)
		}
		r.Operation.Expect(Part{uint32(i), operandStep}, r.data[i])
	}
	return nil
}

// send sends ranges of data to the other members.
func (r *Reduction) send(step uint32, data []byte, of func(member int) (from, to int64)) {
	for k := 1; k < r.Members; k++ { // each to another one at first
		i := (r.Member + k) % r.Members
		if from, to := of(i); from < to {
			position := r.links[i].Send(r.Number, Part{uint32(r.Member), step}, data[from:to])
			if !r.whole() {
				r.sent[i] = position
			}
		}
	}
}

// await waits until all that is expected has arrived. After each piece it receives the next ones itself for a while.
func (r *Reduction) await() {
	for seen := 0; !r.Operation.Settled(); seen = r.Operation.Progress(seen) {
		r.drive(r.Operation.Settled)
	}
}

// drive receives bytes for a while, until done returns true.
func (r *Reduction) drive(done func() bool) {
	if r.links == nil || done() {
		return
	}
	if l := r.links[(r.Member+1)%r.Members]; l != nil {
		l.Drive(func() bool {
			for _, l := range r.links {
				if l != nil {
					l.Poll()
				}
			}
			return done()
		})
	}
}

// reduce reduces a range of y in the order of the members.
func (r *Reduction) reduce(from, to int64) error {
	own := r.span(from, to)
	sum := own // the first operand, which becomes the result
	if r.Member != 0 {
		sum = offload.Span{Memory: r.operands[0], Size: to - from}
	}
	for i, m := range r.operands {
		if m != nil && m.Bytes() == nil {
			if err := r.Queue.Submit(offload.Span{Memory: m, Size: to - from}, r.data[i]); err != nil {
				return err
			}
		}
	}
	n := int((to - from) / r.Width)
	l := r.Launch
	l.Size = [3]int{n, 1, 1}
	l.Args = []offload.Arg{r.argument(sum), {}}
	for i := 1; i < r.Members; i++ {
		x := own
		if i != r.Member {
			x = offload.Span{Memory: r.operands[i], Size: to - from}
		}
		l.Args[1] = r.argument(x)
		if err := r.Queue.Launch(&l); err != nil {
			return err
		}
	}
	if r.Member != 0 {
		if err := r.Queue.Exchange(own, sum); err != nil {
			return err
		}
	}
	if r.aside {
		if err := r.Queue.Retrieve(r.y[from:to], own); err != nil {
			return err
		}
	}
	return r.Queue.Sync(r.Context)
}

// argument returns an argument of the kernel.
func (r *Reduction) argument(s offload.Span) offload.Arg {
	return offload.Arg{Type: r.Launch.Args[0].Type, Memory: s.Memory, Offset: s.Offset, Dims: [3]int32{int32(s.Size / r.Width)}}
}
