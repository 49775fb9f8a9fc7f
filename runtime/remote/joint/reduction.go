// Package joint reduces and copies memory of devices of several processes together. For a reduction, each process sends the
// others the operands of their parts. Then each combines its own part in the order of the members, with a kernel of the device,
// and sends the result to the others.
//
// For copies, each process sends what it has. A process that passes bytes on does so piece by piece, as they arrive. Of a large
// copy it sends the first part only, until the other process asks for the rest. That process may have begun late, and keeps what
// arrives.
//
// A [Hall] pairs the bytes that arrive with the memory that awaits them, whichever of the two is first.
package joint

import (
	"bytes"
	"context"
	"errors"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	wholeBytes = 64 << 10 // maximum size of an operand that each member reduces as a whole, instead of a part
	MostJoined = 1 << 16  // maximum number of members of an operation
)

// The steps of a reduction.
const (
	operandStep = iota // an operand of the part that the receiver reduces
	resultStep         // the part that the sender has reduced
)

// Link carries bytes to another member.
type Link interface {
	// Send sends bytes at an offset of a part of an operation. They must not change before Written returns.
	Send(operation uint64, p Part, offset int64, data []byte)
	// Sent reports whether all bytes were sent.
	Sent() bool
	// Written waits until Sent. It fails if the link has ended.
	Written() error
	// Poll receives bytes that have arrived.
	Poll()
	// Drive receives bytes for a while, or until done returns true. It returns at once if the stream cannot be polled.
	Drive(done func() bool)
}

// Member holds what the parts of all operations have in common. Each member has a range of memory, which is called y.
type Member struct {
	Context   context.Context
	Operation *Operation
	Number    uint64
	Place     int                            // this member's number
	Link      func(member int) (Link, error) // returns the link to another member
	Open      func(member int) Link          // returns the link to another member if it is open already, or nil
	Device    offload.Device
	Spares    *Spares        // of the device
	Memory    offload.Memory // contains y
	Offset    int64          // offset of y in Memory, in bytes

	y     []byte // the bytes of y, or a copy of them
	aside bool   // the field y is a copy, since the host cannot access the memory
	queue offload.Queue
}

// Reduction is a member's part in a reduction: y of every member becomes ((y0 op y1) op y2) …, where y0, y1, … are the ranges y of
// the members in their order.
type Reduction struct {
	Member
	Members int
	Launch  offload.Launch // of the kernel reduce(y, x), which computes y[i] = y[i] op x[i], without size and memory
	Count   int64          // elements
	Width   int64          // bytes of an element

	links    []Link           // to each member; nil for this one, and before it is open
	operands []offload.Memory // of each other member; nil for this one
	data     [][]byte         // the bytes of the operands, or copies of them
}

// Start begins a reduction without a wait. It returns false, and the caller then calls Run, if y has more than wholeBytes or the host
// cannot access the memory. It does so too if a link is not open, or a queue or the memory of an operand cannot be had. Otherwise
// Start calls end when the operation has ended and no memory is used any more. The call is made by the goroutine that brings the
// last bytes, or by another one.
func (r *Reduction) Start(end func(error)) bool {
	total := r.Count * r.Width
	if total > wholeBytes || r.Memory.Bytes() == nil {
		return false
	}
	r.prepare()
	for i := range r.links {
		if i == r.Place {
			continue
		}
		if r.links[i] = r.Open(i); r.links[i] == nil {
			return false
		}
	}
	var err error
	if r.queue, err = r.Spares.takeQueue(r.Device); err == nil {
		err = r.expect(total)
	}
	if err != nil {
		r.keep(err)
		return false
	}
	r.y = bytes.Clone(bytesOf(r.span(0, total))) // the result replaces y before all bytes are sent
	r.send(operandStep, r.part)
	r.Operation.Then(func() { r.finish(end) })
	return true
}

// finish combines all operands of a reduction that Start has begun, once they have arrived or the operation has failed.
func (r *Reduction) finish(end func(error)) {
	err := r.Operation.Err()
	if err == nil {
		err = r.issue(0, r.Count*r.Width)
	}
	if err == nil {
		if ev, e := r.queue.Record(); e == nil && !ev.Done() {
			go func() { r.ended(r.queue.Sync(r.Context), end) }()
			return
		}
		err = r.queue.Sync(r.Context)
	}
	r.ended(err, end)
}

// ended ends a reduction that Start has begun, which failed if err is not nil, and calls end.
func (r *Reduction) ended(err error, end func(error)) {
	if err != nil {
		r.Operation.Fail(err)
	}
	r.Operation.End()
	r.keep(err)
	end(err)
}

// prepare makes the lists that have an element for each member.
func (r *Reduction) prepare() {
	r.links, r.operands, r.data = make([]Link, r.Members), make([]offload.Memory, r.Members), make([][]byte, r.Members)
}

// keep returns the queue and the memory of the operands to Spares. err is the failure of the operation, or nil.
func (r *Reduction) keep(err error) {
	if r.queue != nil {
		r.Spares.putQueue(r.queue, err)
	}
	for _, m := range r.operands {
		if m != nil {
			r.Spares.put(m)
		}
	}
	r.queue, r.operands = nil, nil
}

// Run reduces and ends the operation. No memory is used afterwards.
func (r *Reduction) Run() error {
	r.prepare()
	err := r.Operation.Err()
	if err == nil {
		err = r.reduce()
	}
	if err != nil {
		r.Operation.Fail(err)
	}
	for _, l := range r.links {
		if l != nil {
			_ = l.Written()
		}
	}
	r.Operation.End()
	r.keep(err)
	return err
}

func (r *Reduction) reduce() (err error) {
	if r.queue, err = r.Spares.takeQueue(r.Device); err != nil {
		return err
	}
	total := r.Count * r.Width
	if r.y = bytesOf(r.span(0, total)); r.y == nil {
		r.y, r.aside = make([]byte, total), true
		if err := errors.Join(r.queue.Retrieve(r.y, r.span(0, total)), r.queue.Sync(r.Context)); err != nil {
			return err
		}
	}
	for i := range r.links {
		if i != r.Place {
			l, err := r.Link(i)
			if err != nil {
				return err
			}
			r.links[i] = l
		}
	}
	from, to := r.part(r.Place)
	if err := r.expect(to - from); err != nil {
		return err
	}
	r.results(r.Operation.Admit)
	r.send(operandStep, r.part)
	if err := r.await(); err != nil {
		return err
	}
	if from < to {
		if err := r.combine(from, to); err != nil {
			return err
		}
	}
	if total <= wholeBytes {
		return nil
	}
	r.results(r.Operation.Expect)
	r.send(resultStep, func(int) (int64, int64) { return from, to })
	if err := r.await(); err != nil || !r.aside {
		return err
	}
	return errors.Join(r.queue.Submit(r.span(0, total), r.y), r.queue.Sync(r.Context))
}

// results calls do with the parts that the other members reduce, and with their destinations in y, unless each member reduces all. A
// member sends its part after it has received this one's operand, so that the bytes in y may then be replaced.
func (r *Reduction) results(do func(p Part, to []byte)) {
	for i := range r.links {
		if at, end := r.part(i); r.Count*r.Width > wholeBytes && i != r.Place && at < end {
			do(Part{uint32(i), resultStep}, r.y[at:end])
		}
	}
}

// span returns a range of y.
func (r *Member) span(from, to int64) offload.Span {
	return offload.Span{Memory: r.Memory, Offset: r.Offset + from, Size: to - from}
}

// bytesOf returns the bytes of a range, or nil if the host cannot access them.
func bytesOf(s offload.Span) []byte {
	if b := s.Memory.Bytes(); b != nil {
		return b[s.Offset:][:s.Size:s.Size]
	}
	return nil
}

// part returns the range of bytes that a member reduces: from is its first byte, and to the one behind its last.
func (r *Reduction) part(member int) (from, to int64) {
	if r.Count*r.Width <= wholeBytes {
		return 0, r.Count * r.Width
	}
	n := int64(r.Members)
	each := (r.Count + n - 1) / n
	return min(each*int64(member), r.Count) * r.Width, min(each*int64(member+1), r.Count) * r.Width
}

// expect takes memory for the operands of the other members, of size bytes each, and makes the operation wait for the operands.
func (r *Reduction) expect(size int64) (err error) {
	for i := range r.operands {
		if i == r.Place || size == 0 {
			continue
		}
		if r.operands[i], err = r.Spares.take(r.Device, size); err != nil {
			r.operands[i] = nil
			return err
		}
	}
	for i, m := range r.operands {
		if m == nil {
			continue
		}
		if r.data[i] = bytesOf(offload.Span{Memory: m, Size: size}); r.data[i] == nil {
			r.data[i] = make([]byte, size)
		}
		r.Operation.Expect(Part{uint32(i), operandStep}, r.data[i])
	}
	return nil
}

// send sends each other member, as its bytes of a step, the range of y that of returns for the member.
func (r *Reduction) send(step uint32, of func(member int) (from, to int64)) {
	for k := 1; k < r.Members; k++ { // members begin with different receivers
		i := (r.Place + k) % r.Members
		if from, to := of(i); from < to {
			r.links[i].Send(r.Number, Part{uint32(r.Place), step}, 0, r.y[from:to])
		}
	}
}

// await waits until all that is expected has arrived. After each piece it receives the next ones itself for a while.
func (r *Reduction) await() error {
	for seen := 0; !r.Operation.Settled(); seen = r.Operation.Progress(seen) {
		r.links[(r.Place+1)%r.Members].Drive(func() bool {
			for _, l := range r.links {
				if l != nil {
					l.Poll()
				}
			}
			return r.Operation.Settled()
		})
	}
	return r.Operation.Wait()
}

// combine reduces a range of y in the order of the members.
func (r *Reduction) combine(from, to int64) error {
	if r.Count*r.Width <= wholeBytes { // the result replaces bytes that may not have been sent yet
		for i, l := range r.links {
			if i == r.Place {
				continue
			}
			if err := l.Written(); err != nil {
				return err
			}
		}
	}
	if err := r.issue(from, to); err != nil {
		return err
	}
	if r.aside {
		if err := r.queue.Retrieve(r.y[from:to], r.span(from, to)); err != nil {
			return err
		}
	}
	return r.queue.Sync(r.Context)
}

// issue issues the commands that reduce a range of y. The result replaces the range.
func (r *Reduction) issue(from, to int64) error {
	own := r.span(from, to)
	sum := own // the first operand, which becomes the result
	if r.Place != 0 {
		sum = offload.Span{Memory: r.operands[0], Size: to - from}
	}
	for i, m := range r.operands {
		if m != nil && m.Bytes() == nil {
			if err := r.queue.Submit(offload.Span{Memory: m, Size: to - from}, r.data[i]); err != nil {
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
		if i != r.Place {
			x = offload.Span{Memory: r.operands[i], Size: to - from}
		}
		l.Args[1] = r.argument(x)
		if err := r.queue.Launch(&l); err != nil {
			return err
		}
	}
	if r.Place != 0 {
		return r.queue.Exchange(own, sum)
	}
	return nil
}

// argument returns the range s as an argument of the kernel.
func (r *Reduction) argument(s offload.Span) offload.Arg {
	return offload.Arg{Type: r.Launch.Args[0].Type, Memory: s.Memory, Offset: s.Offset, Dims: [3]int32{int32(s.Size / r.Width)}}
}
