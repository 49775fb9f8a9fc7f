package ranks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// Group is processes that communicate with each other. The ranks that its methods take and return are the members' numbers in
// the group.
type Group struct {
	w       *World
	context uint64
	members []int // ranks in the world
	rank    int
	calls   atomic.Uint64
}

// Rank returns the number of this process in the group.
func (g *Group) Rank() int { return g.rank }

// Size returns the number of processes.
func (g *Group) Size() int { return len(g.members) }

// Buffer returns n bytes with undefined contents, for example those of a payload.
func (g *Group) Buffer(n int) []byte { return g.w.spare.take(n) }

// Free keeps the bytes of a result or of a received message for further messages. The caller does not use them afterwards.
func (g *Group) Free(b []byte) { g.w.spare.put(b) }

// Data is the elements of a message, or of the result of an operation.
type Data struct {
	Type  offload.Type
	Bytes []byte
}

// Send sends a payload to a member. Messages to one member with one tag arrive in the order of the calls of Send. The channel receives
// the error of sending, or nil when the message has been sent, which may be before it is received.
func (g *Group) Send(to int, tag uint64, p *Payload) <-chan error {
	s := &sending{payload: p, parcel: parcel{header: header{Key: key{Context: g.context, Number: tag}, Type: p.Type, Count: uint64(p.Count)}}}
	g.w.send(g.members[to], s)
	return s.done
}

// Receive expects a message of a member with a tag. Calls of Receive get the messages in order.
func (g *Group) Receive(from int, tag uint64) *Receipt {
	return g.w.post(g, g.members[from], key{Context: g.context, Number: tag}, nil)
}

// ReceiveAny expects a message of any member with a tag. If receipts of Receive and ReceiveAny both match a message, the older one gets it.
func (g *Group) ReceiveAny(tag uint64) *Receipt {
	return g.w.postAny(g, key{Context: g.context, Number: tag})
}

// From returns the member that sent the message, once Data has returned it.
func (r *Receipt) From() int { return slices.Index(r.g.members, r.sender) }

// Data returns the message, once it has arrived. Errors: Closed after the end of the scripts of all processes that might send it;
// DeviceLost after the loss of any process of the job; Cancelled if the sender could not send; the cause of ctx if ctx ends first.
func (r *Receipt) Data(ctx context.Context) (Data, error) {
	p, err := r.wait(ctx)
	if err != nil {
		return Data{}, err
	}
	if p.Failed {
		return Data{}, offload.Errorf(offload.Cancelled, "recv", "rank %d could not send: %s", r.sender, p.data)
	}
	return Data{p.Type, p.data}, nil
}

// Call is a collective operation: all members of the group begin the same ones in the same order, and may have several at once.
type Call struct {
	g      *Group
	kind   kind
	number uint64
	root   int
	reduce Reduction // of an operation that combines data
	data   *Payload
	sent   []<-chan error
	got    *Payload // describes the elements of the last message received; nil before the first
	failed error    // set if an earlier operation of the group differed: this one then fails before its first message
	used   [][]byte // buffers that nothing uses after the operation, unless it fails
}

// begin returns the next collective operation of the group.
func (g *Group) begin(k kind, root int, data *Payload) *Call {
	c := &Call{g: g, kind: k, number: g.calls.Add(1), root: root, data: data}
	g.w.begin(c)
	return c
}

func (c *Call) key(step int) key {
	return key{Context: c.g.context, Number: c.number, Step: uint32(step), Call: true}
}

// send sends bytes of a step to a member.
func (c *Call) send(to, step int, data []byte) {
	h := header{Key: c.key(step), Kind: c.kind, Type: c.data.Type, Root: uint32(c.root), Reduce: uint8(c.reduce), Count: uint64(c.data.Count)}
	s := &sending{parcel: parcel{header: h, data: data}}
	c.g.w.send(c.g.members[to], s)
	c.sent = append(c.sent, s.done)
}

// buffer returns n bytes with undefined contents, for use until the operation ends.
func (c *Call) buffer(n int) []byte {
	b := c.g.w.spare.take(n)
	c.used = append(c.used, b)
	return b
}

// post expects the bytes of a step from a member. They may arrive in into, unless that is nil.
func (c *Call) post(from, step int, into []byte) *Receipt {
	return c.g.w.post(c.g, c.g.members[from], c.key(step), into)
}

// await returns the bytes for a receipt of post.
func (c *Call) await(ctx context.Context, r *Receipt, from int) ([]byte, error) {
	c.announce(ctx, r, from)
	p, err := r.wait(ctx)
	if err != nil {
		return nil, err
	}
	c.got = &Payload{Type: p.Type, Count: int(p.Count)}
	return p.data, c.agree(from, p)
}

// receive returns the bytes of a step from a member.
func (c *Call) receive(ctx context.Context, from, step int) ([]byte, error) {
	return c.await(ctx, c.post(from, step, nil), from)
}

// borrow returns the bytes of a step from a member, for use until the operation ends.
func (c *Call) borrow(ctx context.Context, from, step int) ([]byte, error) {
	b, err := c.receive(ctx, from, step)
	c.used = append(c.used, b)
	return b, err
}

// fill copies the bytes for a receipt of post to the memory into that post was called with, unless they have arrived there.
func (c *Call) fill(ctx context.Context, r *Receipt, from int) error {
	b, err := c.await(ctx, r, from)
	switch into := r.into; {
	case err != nil:
		return err
	case len(b) != len(into):
		return disagreement(c.kind, offload.InvalidSize, "rank %d sent %d bytes to rank %d, which expects %d", from, len(b), c.g.rank, len(into))
	case len(b) > 0 && &b[0] != &into[0]:
		copy(into, b)
		c.used = append(c.used, b)
	}
	return nil
}

// end waits until the operation's messages have been sent or ctx ends. It first tells the other members of err, unless err is nil, a
// loss, or a failure that they know already. It returns the first error of these: err, that of sending, the cause of ctx if that ends
// first, and that of finish.
func (c *Call) end(ctx context.Context, err error) error {
	if code := offload.CodeOf(err); err != nil && code != offload.DeviceLost && err != c.g.w.failure(c.key(0)) {
		for i, rank := range c.g.members {
			if i != c.g.rank {
				s := &sending{parcel: parcel{header: header{Key: c.key(0), Kind: c.kind, Failed: true, Ended: code == offload.Closed}, data: []byte(text(err))}}
				c.g.w.send(rank, s)
				c.sent = append(c.sent, s.done)
			}
		}
	}
	for _, done := range c.sent {
		select {
		case failed := <-done:
			err = cmp.Or(err, failed)
		case <-ctx.Done():
			err = cmp.Or(err, context.Cause(ctx))
		}
	}
	told := c.g.w.finish(c)
	for _, done := range c.g.w.toldOf(c) {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
	return cmp.Or(err, told)
}

// free keeps the buffers of an operation that has ended without an error.
func (c *Call) free() {
	for _, b := range c.used {
		c.g.w.spare.put(b)
	}
	if c.kind != broadcast { // the root returns its payload
		c.data.free(c.g.w)
	}
}

// text returns the text of an error without the operation, which the error of another member repeats.
func text(err error) string {
	if e, ok := err.(*offload.Error); ok {
		return e.Text()
	}
	return err.Error()
}

// split implements [Group.Split].
func (c *Call) split(ctx context.Context, color, order int64) (*Group, error) {
	g := c.g
	list := divide(make([]byte, 16*g.Size()), g.Size())
	binary.LittleEndian.PutUint64(list[g.rank], uint64(color))
	binary.LittleEndian.PutUint64(list[g.rank][8:], uint64(order))
	if err := c.spread(ctx, list, 0); err != nil {
		return nil, err
	}
	type member struct{ order, rank int64 }
	var members []member
	for i, b := range list {
		if int64(binary.LittleEndian.Uint64(b)) == color {
			members = append(members, member{int64(binary.LittleEndian.Uint64(b[8:])), int64(i)})
		}
	}
	if color < 0 {
		return nil, nil
	}
	slices.SortStableFunc(members, func(a, b member) int {
		switch {
		case a.order < b.order:
			return -1
		case a.order > b.order:
			return 1
		}
		return 0
	})
	// Groups of other colors have the same number, and other members.
	id := sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, g.context), c.number))
	part := &Group{w: g.w, context: binary.LittleEndian.Uint64(id[:])}
	for i, m := range members {
		if int(m.rank) == g.rank {
			part.rank = i
		}
		part.members = append(part.members, g.members[m.rank])
	}
	return part, nil
}
