package ranks

import (
	"context"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	// directRanks is the maximum size of a group whose members send to all others directly.
	directRanks = 16
	// wholeBytes is the maximum number of bytes that one member reduces as a whole; of more, each member reduces a part.
	wholeBytes = 64 << 10
)

// Operation is a collective operation that has begun. It runs when it is called, on any goroutine. It fails if another member's
// call differs in kind, root or reduction. Type and number of elements must agree, too, except in barriers and splits, and for
// receivers of a broadcast or scatter that pass no elements. If a difference is found only after the end of an operation here, a later
// operation of the group fails.
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
		return result, c.end(ctx, err)
	}
}

// nothing returns a payload without elements.
func nothing() *Payload {
	p, set := NewPayload(offload.Opaque, 0)
	set(nil, nil)
	return p
}

// Barrier begins an operation that ends when all members have begun it.
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
		list, err := c.collect(ctx, root, data, 0)
		if err != nil || list == nil {
			return nil, err
		}
		return slices.Concat(list...), nil
	})
}

// collect returns the data of all members at the root, in order of their ranks. At other members it sends their data and
// returns nil.
func (c *Call) collect(ctx context.Context, root int, data []byte, step int) ([][]byte, error) {
	if c.g.rank != root {
		c.send(root, step, data)
		return nil, nil
	}
	return c.others(ctx, data, step)
}

// others returns a list in order of ranks: data for this member, and what each other one sent in a step.
func (c *Call) others(ctx context.Context, data []byte, step int) (list [][]byte, err error) {
	list = make([][]byte, c.g.Size())
	for i := range list {
		if list[i] = data; i == c.g.rank {
			continue
		}
		if list[i], err = c.receive(ctx, i, step); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// exchange sends data to all other members, and returns the data of all members in order of their ranks. In a group of more
// than directRanks members it uses a step for each other member, from step on.
func (c *Call) exchange(ctx context.Context, data []byte, step int) ([][]byte, error) {
	n, me := c.g.Size(), c.g.rank
	if n <= directRanks {
		for i := 1; i < n; i++ {
			c.send((me+i)%n, step, data)
		}
		return c.others(ctx, data, step)
	}
	list := make([][]byte, n)
	list[me] = data
	for i := range n - 1 { // around a ring
		c.send((me+1)%n, step+i, list[(me-i+n)%n])
		var err error
		if list[(me-i-1+n)%n], err = c.receive(ctx, (me-1+n)%n, step+i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// AllGather begins an operation that returns the data of all members in their order.
func (g *Group) AllGather(p *Payload) Operation {
	c := g.begin(allGather, 0, p)
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		list, err := c.exchange(ctx, data, 0)
		return slices.Concat(list...), err
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
		size := len(data) / g.Size()
		for i := range g.Size() {
			if i != root {
				c.send(i, 0, data[i*size:(i+1)*size])
			}
		}
		return slices.Clone(data[root*size : (root+1)*size]), nil
	}))
}

// AllToAll begins an operation that divides the data in equal parts and sends each member one. The number of elements is a multiple
// of the group's size. The operation returns the parts that the members sent to this one, in the order of the members.
func (g *Group) AllToAll(p *Payload) Operation {
	c := g.begin(allToAll, 0, p)
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		n := g.Size()
		size := len(data) / n
		for i := 1; i < n; i++ {
			to := (g.rank + i) % n
			c.send(to, 0, data[to*size:(to+1)*size])
		}
		list, err := c.others(ctx, data[g.rank*size:(g.rank+1)*size], 0)
		return slices.Concat(list...), err
	})
}

// part returns the bytes of the part of data that a member reduces. The parts of all members have nearly equal numbers of elements.
func (c *Call) part(data []byte, member int) []byte {
	n, size := c.g.Size(), c.data.Type.Size()
	return data[c.data.Count*member/n*size : c.data.Count*(member+1)/n*size]
}

// Reduce begins an operation that combines the data of all members in their order, element by element, at the root. The result is
// nil elsewhere.
func (g *Group) Reduce(root int, p *Payload, r Reduction) Operation {
	c := g.begin(reduce, root, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		if len(data) <= wholeBytes {
			list, err := c.collect(ctx, root, data, 0)
			if err != nil || list == nil {
				return nil, err
			}
			return r.fold(p.Type, list), nil
		}
		mine, err := c.reducePart(ctx, data, r)
		if err != nil {
			return nil, err
		}
		list, err := c.collect(ctx, root, mine, 1)
		if err != nil || list == nil {
			return nil, err
		}
		return slices.Concat(list...), nil
	})
}

// reducePart sends the other members their parts of data, in step 0. It returns the combination of this member's parts of all
// data.
func (c *Call) reducePart(ctx context.Context, data []byte, r Reduction) ([]byte, error) {
	n := c.g.Size()
	for i := 1; i < n; i++ {
		to := (c.g.rank + i) % n
		c.send(to, 0, c.part(data, to))
	}
	list, err := c.others(ctx, c.part(data, c.g.rank), 0)
	if err != nil {
		return nil, err
	}
	return r.fold(c.data.Type, list), nil
}

// AllReduce begins an operation that combines the data of all members in their order, element by element.
func (g *Group) AllReduce(p *Payload, r Reduction) Operation {
	c := g.begin(allReduce, 0, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		switch n := g.Size(); {
		case len(data) <= wholeBytes && n <= directRanks:
			list, err := c.exchange(ctx, data, 0)
			if err != nil {
				return nil, err
			}
			return r.fold(p.Type, list), nil
		case len(data) <= wholeBytes:
			list, err := c.collect(ctx, 0, data, 0)
			if err != nil {
				return nil, err
			}
			var sum []byte
			if list != nil {
				sum = r.fold(p.Type, list)
			}
			return c.broadcast(ctx, 0, sum, 1)
		}
		mine, err := c.reducePart(ctx, data, r)
		if err != nil {
			return nil, err
		}
		list, err := c.exchange(ctx, mine, 1)
		return slices.Concat(list...), err
	})
}

// Scan begins an operation that combines the data of the members up to this one, itself included, in their order, element by element.
func (g *Group) Scan(p *Payload, r Reduction) Operation {
	c := g.begin(scan, 0, p)
	c.reduce = r
	return c.operation(func(ctx context.Context, data []byte) ([]byte, error) {
		result := slices.Clone(data)
		if g.rank > 0 {
			before, err := c.receive(ctx, g.rank-1, 0)
			if err != nil {
				return nil, err
			}
			result = r.fold(p.Type, [][]byte{before, data})
		}
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
