package joint

import (
	"errors"
	"fmt"
	"sync"
)

// The steps of a copy.
const (
	dataStep  = iota // bytes of the sender's memory
	readyStep        // a byte that asks for what exceeds eagerBytes
)

const (
	eagerBytes = 1 << 20   // bytes of a flow that are sent unasked; a receiver that has not begun keeps them until it does
	pieceBytes = 256 << 10 // maximum size of a piece that is sent
)

// Flow is a copy between this member's memory and that of another one. Two members have at most one in each direction. Bytes
// that one flow brings and another one sends are passed on as they arrive.
type Flow struct {
	Member uint32 // the other member
	Send   bool   // from this member to the other one
	Offset int64  // of the first byte, from the Offset of [Member]
	Size   int64  // in bytes
}

// Copy is a member's part in copies between the memories of an operation's members.
type Copy struct {
	Member
	Flows []Flow

	total    int64
	links    []Link // by flow
	mu       sync.Mutex
	outgoing []outgoing
	over     bool // nothing more is sent
}

// outgoing is the state of a flow that sends.
type outgoing struct {
	flow  int
	after *Part // the part whose bytes it passes on as they arrive; nil if this member has the bytes
	sent  int64 // bytes that were sent
}

// Check prepares the copy, before Start or Run. members is the number of members. It returns an error if there are no flows, or
// for flows that contradict each other, leave the memory or name no other member.
func (c *Copy) Check(members int) error {
	for i, f := range c.Flows {
		if int64(f.Member) >= int64(members) || int(f.Member) == c.Place || f.Offset < 0 || f.Size <= 0 || f.Size > c.Memory.Size()-c.Offset-f.Offset {
			return fmt.Errorf("a copy of %d bytes at %d of member %d", f.Size, f.Offset, f.Member)
		}
		c.total = max(c.total, f.Offset+f.Size)
		o := outgoing{flow: i}
		for j, g := range c.Flows {
			switch together := f.Offset < g.Offset+g.Size && g.Offset < f.Offset+f.Size; {
			case i == j:
			case g.Member == f.Member && g.Send == f.Send, together && !f.Send && !g.Send:
				return fmt.Errorf("two copies with member %d, or to the same bytes", f.Member)
			case together && f.Send && !g.Send && (f.Offset != g.Offset || f.Size != g.Size):
				return errors.New("a copy of bytes that another one changes")
			case together && f.Send && !g.Send:
				o.after = &Part{g.Member, dataStep}
			}
		}
		if f.Send {
			c.outgoing = append(c.outgoing, o)
		}
	}
	if c.Offset < 0 || len(c.Flows) == 0 {
		return errors.New("a copy of no bytes")
	}
	return nil
}

// Start begins the copy without a wait. It returns false if the host cannot access the memory, or a link is not open. Then the caller
// calls Run. Otherwise end is called as by [Reduction.Start].
func (c *Copy) Start(end func(error)) bool {
	if c.Memory.Bytes() == nil {
		return false
	}
	c.links = make([]Link, len(c.Flows))
	for i, f := range c.Flows {
		if c.links[i] = c.Open(int(f.Member)); c.links[i] == nil {
			return false
		}
	}
	c.y = bytesOf(c.span(0, c.total))
	c.begin()
	c.Operation.Then(func() { c.finish(end) })
	return true
}

// finish ends a copy that Start has begun, once its bytes are sent.
func (c *Copy) finish(end func(error)) {
	if c.Operation.Err() == nil {
		c.advance()
	}
	if c.written() {
		end(c.end(nil))
		return
	}
	go func() { end(c.end(nil)) }()
}

// written reports whether no bytes of the memory are being sent.
func (c *Copy) written() bool {
	for _, l := range c.links {
		if l != nil && !l.Sent() {
			return false
		}
	}
	return true
}

// end ends the operation, which failed if err is not nil. It waits until no memory is used any more. It returns err, or the
// operation's failure if err is nil.
func (c *Copy) end(err error) error {
	if err != nil {
		c.Operation.Fail(err)
	}
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	for _, l := range c.links {
		if l != nil {
			_ = l.Written()
		}
	}
	if err == nil {
		err = c.Operation.Err()
	}
	c.Operation.End()
	if c.queue != nil {
		c.Spares.putQueue(c.queue, err)
	}
	return err
}

// Run copies and ends the operation. No memory is used afterwards.
func (c *Copy) Run() error {
	err := c.Operation.Err()
	if err == nil {
		err = c.copy()
	}
	return c.end(err)
}

func (c *Copy) copy() (err error) {
	c.links = make([]Link, len(c.Flows))
	for i, f := range c.Flows {
		if c.links[i], err = c.Link(int(f.Member)); err != nil {
			c.links[i] = nil
			return err
		}
	}
	if c.y = bytesOf(c.span(0, c.total)); c.y == nil {
		c.y, c.aside = make([]byte, c.total), true
		if c.queue, err = c.Spares.takeQueue(c.Device); err != nil {
			return err
		}
		for _, o := range c.outgoing {
			if f := &c.Flows[o.flow]; o.after == nil {
				err = errors.Join(err, c.queue.Retrieve(c.bytes(f), c.span(f.Offset, f.Offset+f.Size)))
			}
		}
		if err := errors.Join(err, c.queue.Sync(c.Context)); err != nil {
			return err
		}
	}
	c.begin()
	for seen := 0; !c.Operation.Settled(); seen = c.Operation.Progress(seen) {
		c.links[0].Drive(func() bool {
			for _, l := range c.links {
				l.Poll()
			}
			return c.Operation.Settled()
		})
	}
	if err := c.Operation.Wait(); err != nil {
		return err
	}
	c.advance()
	if !c.aside {
		return nil
	}
	for i := range c.Flows {
		if f := &c.Flows[i]; !f.Send {
			err = errors.Join(err, c.queue.Submit(c.span(f.Offset, f.Offset+f.Size), c.bytes(f)))
		}
	}
	return errors.Join(err, c.queue.Sync(c.Context))
}

// bytes returns the bytes of a flow.
func (c *Copy) bytes(f *Flow) []byte { return c.y[f.Offset:][:f.Size:f.Size] }

// begin sets the destinations of bytes, asks the senders for those that are not sent unasked, and sends the bytes that this member has.
func (c *Copy) begin() {
	for i := range c.Flows {
		f := &c.Flows[i]
		switch {
		case !f.Send:
			c.Operation.Expect(Part{f.Member, dataStep}, c.bytes(f))
		case f.Size > eagerBytes:
			c.Operation.Expect(Part{f.Member, readyStep}, make([]byte, 1))
		}
	}
	for i := range c.Flows {
		if f := &c.Flows[i]; !f.Send && f.Size > eagerBytes {
			c.links[i].Send(c.Number, Part{uint32(c.Place), readyStep}, 0, make([]byte, 1))
		}
	}
	c.Operation.Each(c.advance)
	c.advance()
}

// advance sends the bytes that this member has, and that their receivers have asked for or get unasked.
func (c *Copy) advance() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.outgoing {
		o := &c.outgoing[i]
		f := &c.Flows[o.flow]
		if c.over || o.sent == f.Size {
			continue
		}
		end := f.Size
		if o.after != nil {
			end = c.Operation.Arrived(*o.after)
		}
		if f.Size > eagerBytes && c.Operation.Arrived(Part{f.Member, readyStep}) == 0 {
			end = min(end, eagerBytes)
		}
		for o.sent < end {
			n := min(end-o.sent, pieceBytes)
			c.links[o.flow].Send(c.Number, Part{uint32(c.Place), dataStep}, o.sent, c.bytes(f)[o.sent:o.sent+n])
			o.sent += n
		}
	}
}
