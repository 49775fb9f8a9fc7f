package ranks

import (
	"context"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	// directRanks is the maximum size of a group in which spread and small allReduces send to all others directly.
	directRanks = 16
	// wholeBytes is the maximum number of bytes that one member reduces as a whole, except in scans; of more, each member reduces a part.
	wholeBytes = 64 << 10
)

// Operation is a collective operation that has begun. It runs when it is called, on any goroutine. It fails if a message that
// this member gets before its end shows that another's call differs in kind, root or reduction. Type and number of elements must agree,
// too, except in barriers and splits, and for receivers of a broadcast or scatter that pass no elements. If a difference of
// kind or root is found only after the end of an operation here, a later operation of the group fails.
type Operation func(ctx context.Context) ([]byte, error)

// operation returns an operation that waits for the data of this process, passes it to run, and ends the call.
func (c *Call) operation(run func(ctx context.Context, data []byte) ([]byte, error)) Operation {
	return func(ctx context.Context) ([]byte, error) {
		data, err := c.data.Bytes(ctx)
		var result []byte
		if err == nil {
			err = c.failed
		}
		if err == nil {
			result, err = run(ctx, data)
		}
		if err = c.end(ctx, err); err != nil {
			return nil, err // messages may still use the memory of buffers
		}
		c.free()
		return result, nil
	}
}

// nothing returns a payload without elements.
func nothing() *Payload {
	p, set := NewPayload(offload.Opaque, 0)
	set(nil, nil)
	return p
}

// Barrier begins an operation that ends when all members run it.
func (g *Group) Barrier() Operation {
	c := g.begin(barrier, 0, nothing())
	return c.operation(func(ctx context.Context, _ []byte) ([]byte, error) {
		n := g.Size()
		for step, distance := 0, 1; distance < n; step, distance = step+1, distance*2 {
			c.send((g.rank+distance)%n, step, nil)
			if _, err := c.receive(ctx, (g.rank-distance+n)%n, step); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// Broadcast begins an operation that returns the data of the root. Other members may pass a payload without elements.
func (g *Group) Broadcast(root int, p *Payload) func(ctx context.Context) (Data, error) {
	c := g.begin(broadcast, root, p)
	return c.typed(c.operation(func(ctx context.Context, data []byte) ([]byte, error) { return c.broadcast(ctx, root, data, 0) }))
}

// typed returns an operation whose result has the type of the root's data.
func (c *Call) typed(run Operation) func(ctx context.Context) (Data, error) {
	return func(ctx context.Context) (Data, error) {
		data, err := run(ctx)
		if c.got != nil && c.data.Count == 0 {
			return Data{c.got.Type, data}, err
		}
		return Data{c.data.Type, data}, err
	}
}

// broadcast sends data of the root down a binomial tree, and returns it at all members.
func (c *Call) broadcast(ctx context.Context, root int, data []byte, step int) ([]byte, error) {
	n := c.g.Size()
	me, bit := (c.g.rank-root+n)%n, 1
	for bit < n && me&bit == 0 {
		bit *= 2
	}
	if me != 0 {
		var err error
		if data, err = c.receive(ctx, (me-bit+root)%n, step); err != nil {
			return nil, err
		}
		c.data = c.got
	}
	for bit /= 2; bit > 0; bit /= 2 {
		if me+bit < n {
			c.send((me+bit+root)%n, step, data)
		}
	}
	return data, nil
}

// Gather begins an operation that returns the data of all members in their order at the root, nil elsewhere.
func (g *Group) Gather(root int, p *Payload) Operation {
	c := g.begin(gather, root, p)
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		if g.rank != root {
			c.send(root, 0, data)
			return nil, nil
		}
		result := g.w.spare.take(len(data) * g.Size())
		parts := divide(result, g.Size())
		copy(parts[root], data)
		return result, c.fillOthers(ctx, parts, 0)
	})
}

// divide returns n equal parts of data.
func divide(data []byte, n int) [][]byte {
	parts, size := make([][]byte, n), len(data)/n
	for i := range parts {
		parts[i] = data[i*size : (i+1)*size : (i+1)*size]
	}
	return parts
}

// fillOthers sets each part but that of this member to what the member with this rank sends in a step.
func (c *Call) fillOthers(ctx context.Context, parts [][]byte, step int) error {
	receipts := make([]*Receipt, len(parts))
	for i, part := range parts {
		if i != c.g.rank {
			receipts[i] = c.post(i, step, part)
		}
	}
	return c.fillAll(ctx, receipts)
}

// fillAll calls fill for a list of receipts by rank, of which that of this member is nil. After an error it withdraws the others.
func (c *Call) fillAll(ctx context.Context, receipts []*Receipt) (err error) {
	for i, r := range receipts {
		switch {
		case r == nil:
		case err == nil:
			err = c.fill(ctx, r, i)
		default:
			c.g.w.drop(r)
		}
	}
	return err
}

// collect returns a list of data in order of ranks: that of this member, and what each other one sent in a step. Its bytes are for use
// until the operation ends.
func (c *Call) collect(ctx context.Context, data []byte, step int) (list [][]byte, err error) {
	list = make([][]byte, c.g.Size())
	for i := range list {
		if list[i] = data; i == c.g.rank {
			continue
		}
		if list[i], err = c.borrow(ctx, i, step); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// spread sends this member's part to all other members, and sets the other parts to theirs. In a group of more than directRanks members
// it uses a step for each other member, from step on.
func (c *Call) spread(ctx context.Context, parts [][]byte, step int) error {
	n, me := c.g.Size(), c.g.rank
	if n <= directRanks {
		receipts := make([]*Receipt, n)
		for i := 1; i < n; i++ {
			from := (me + i) % n
			receipts[from] = c.post(from, step, parts[from])
		}
		for i := 1; i < n; i++ {
			c.send((me+i)%n, step, parts[me])
		}
		return c.fillAll(ctx, receipts)
	}
	before := (me - 1 + n) % n
	for i := range n - 1 { // around a ring
		r := c.post(before, step+i, parts[(before-i+n)%n])
		c.send((me+1)%n, step+i, parts[(me-i+n)%n])
		if err := c.fill(ctx, r, before); err != nil {
			return err
		}
	}
	return nil
}

// AllGather begins an operation that returns the data of all members in their order.
func (g *Group) AllGather(p *Payload) Operation {
	c := g.begin(allGather, 0, p)
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		result := g.w.spare.take(len(data) * g.Size())
		parts := divide(result, g.Size())
		copy(parts[g.rank], data)
		return result, c.spread(ctx, parts, 0)
	})
}

// Scatter begins an operation that divides the root's data in equal parts, in the order of the members, and returns this
// member's part. The number of the root's elements is a multiple of the group's size. Other members may pass a payload without
// elements.
func (g *Group) Scatter(root int, p *Payload) func(ctx context.Context) (Data, error) {
	c := g.begin(scatter, root, p)
	return c.typed(c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		if g.rank != root {
			return c.receive(ctx, root, 0)
		}
		parts := divide(data, g.Size())
		for i, part := range parts {
			if i != root {
				c.send(i, 0, part)
			}
		}
		result := g.w.spare.take(len(parts[root]))
		copy(result, parts[root])
		return result, nil
	}))
}

// AllToAll begins an operation that divides the data in equal parts and sends each member one. The number of elements is a multiple
// of the group's size. The operation returns the parts that the members sent to this one, in the order of the members.
func (g *Group) AllToAll(p *Payload) Operation {
	c := g.begin(allToAll, 0, p)
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		n := g.Size()
		parts := divide(data, n)
		for i := 1; i < n; i++ {
			to := (g.rank + i) % n
			c.send(to, 0, parts[to])
		}
		result := g.w.spare.take(len(data))
		got := divide(result, n)
		copy(got[g.rank], parts[g.rank])
		return result, c.fillOthers(ctx, got, 0)
	})
}

// parts returns the parts of data that the members reduce. They have nearly equal numbers of elements.
func (c *Call) parts(data []byte) [][]byte {
	n, size := c.g.Size(), c.data.Type.Size()
	parts := make([][]byte, n)
	for i := range parts {
		parts[i] = data[c.data.Count*i/n*size : c.data.Count*(i+1)/n*size]
	}
	return parts
}

// Reduce begins an operation that combines the data of all members in their order, element by element, at the root. The result is
// nil elsewhere.
func (g *Group) Reduce(root int, p *Payload, r Reduction) Operation {
	c := g.begin(reduce, root, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		if len(data) <= wholeBytes {
			return c.reduceAt(ctx, root, data, r)
		}
		if g.rank != root {
			mine := c.buffer(len(c.parts(data)[g.rank]))
			err := c.reducePart(ctx, data, mine, r)
			if err == nil {
				c.send(root, 1, mine)
			}
			return nil, err
		}
		result := g.w.spare.take(len(data))
		parts := c.parts(result)
		if err := c.reducePart(ctx, data, parts[root], r); err != nil {
			return nil, err
		}
		return result, c.fillOthers(ctx, parts, 1)
	})
}

// reduceAt returns the combination of all data at the root, in step 0. At other members it sends their data and returns nil.
func (c *Call) reduceAt(ctx context.Context, root int, data []byte, r Reduction) ([]byte, error) {
	if c.g.rank != root {
		c.send(root, 0, data)
		return nil, nil
	}
	list, err := c.collect(ctx, data, 0)
	if err != nil {
		return nil, err
	}
	result := c.g.w.spare.take(len(data))
	r.fold(c.data.Type, result, list)
	return result, nil
}

// reducePart sends the other members their parts of data, in step 0. It sets result to the combination of this member's parts of all
// data.
func (c *Call) reducePart(ctx context.Context, data, result []byte, r Reduction) error {
	n, parts := c.g.Size(), c.parts(data)
	for i := 1; i < n; i++ {
		to := (c.g.rank + i) % n
		c.send(to, 0, parts[to])
	}
	list, err := c.collect(ctx, parts[c.g.rank], 0)
	if err == nil {
		r.fold(c.data.Type, result, list)
	}
	return err
}

// AllReduce begins an operation that combines the data of all members in their order, element by element.
func (g *Group) AllReduce(p *Payload, r Reduction) Operation {
	c := g.begin(allReduce, 0, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		switch n := g.Size(); {
		case len(data) <= wholeBytes && n <= directRanks:
			for i := 1; i < n; i++ {
				c.send((g.rank+i)%n, 0, data)
			}
			list, err := c.collect(ctx, data, 0)
			if err != nil {
				return nil, err
			}
			result := g.w.spare.take(len(data))
			r.fold(p.Type, result, list)
			return result, nil
		case len(data) <= wholeBytes:
			sum, err := c.reduceAt(ctx, 0, data, r)
			if err != nil {
				return nil, err
			}
			return c.broadcast(ctx, 0, sum, 1)
		}
		result := g.w.spare.take(len(data))
		parts := c.parts(result)
		if err := c.reducePart(ctx, data, parts[g.rank], r); err != nil {
			return nil, err
		}
		return result, c.spread(ctx, parts, 1)
	})
}

// Scan begins an operation that combines the data of the members up to this one, itself included, in their order, element by element.
func (g *Group) Scan(p *Payload, r Reduction) Operation {
	c := g.begin(scan, 0, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		result, list := g.w.spare.take(len(data)), [][]byte{data}
		if g.rank > 0 {
			before, err := c.borrow(ctx, g.rank-1, 0)
			if err != nil {
				return nil, err
			}
			list = [][]byte{before, data}
		}
		r.fold(p.Type, result, list)
		if g.rank+1 < g.Size() {
			c.send(g.rank+1, 0, result)
		}
		return result, nil
	})
}

// Split begins an operation that returns the group of the members that pass the same color. They are in the order of the numbers
// that they pass, then of their ranks. For a negative color the group is nil.
func (g *Group) Split(color, order int64) func(ctx context.Context) (*Group, error) {
	c := g.begin(split, 0, nothing())
	return func(ctx context.Context) (*Group, error) {
		var part *Group
		err := c.failed
		if err == nil {
			part, err = c.split(ctx, color, order)
		}
		return part, c.end(ctx, err)
	}
}
