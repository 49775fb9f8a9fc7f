package pool

import (
	"context"

	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Collective copies and reduces buffers of several devices. Its methods enqueue commands and do not wait for them.
type Collective struct {
	Context context.Context
	Pos     contract.Position // position of the caller, for errors of launches

	// AnyOrder lets AllReduce combine the buffers in any order. Unless buffers overlap, each device then first combines those
	// in its memory, and sends only the result.
	AnyOrder bool

	// Queue returns the queue for the commands of a device. NewBuffer allocates temporaries, and Launch enqueues kernels.
	Queue     func(op string, d *session.Device) (*session.Queue, error)
	NewBuffer func(d *session.Device, opts session.BufferOptions) (*session.Buffer, error)
	Launch    func(q *session.Queue, c *session.Call) error
}

// NewCollective returns a collective with the default queues of the devices.
func NewCollective(ctx context.Context) *Collective {
	return &Collective{
		Context:   ctx,
		Queue:     func(_ string, d *session.Device) (*session.Queue, error) { return d.Queue() },
		NewBuffer: func(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) { return d.NewBuffer(opts) },
		Launch:    func(q *session.Queue, c *session.Call) error { return q.Launch(c) },
	}
}

// part returns a one-dimensional view of n elements from index from.
func part(b *session.Buffer, from, n int64) (*session.Buffer, error) {
	return b.View(session.ViewOptions{Start: from, Dims: []int{int(n)}})
}

// AllReduce replaces each element of all buffers by ((b0 op b1) op b2) …, in the order of the buffers unless AnyOrder is set.
// Devices that support it reduce by a joint launch. Otherwise the first device reduces small buffers. Of larger ones, the device of
// each buffer reduces an equal part, and the parts are copied to all buffers. The function reducer returns a library with the kernel
// reduce(y, x), which computes y[i] = y[i] op x[i]. It is not called if there is nothing to reduce. Buffers of different types or
// lengths are an InvalidArgument error.
func (c *Collective) AllReduce(list []*session.Buffer, reducer func() (*session.Library, error)) error {
	const op = "allReduce"
	for i, b := range list {
		if b.Type() != list[0].Type() || b.Len() != list[0].Len() {
			return contract.Errorf(contract.InvalidArgument, op, "buffer %d has another type or number of elements than the first", i).On(b.Device().ID(), b.Label())
		}
	}
	if len(list) < 2 || list[0].Len() == 0 {
		return nil
	}
	library, err := reducer()
	if err != nil {
		return err
	}
	if c.AnyOrder {
		if groups := byDevice(list); len(groups) < len(list) && !overlap(list) {
			return c.reduceGroups(op, groups, library)
		}
	}
	return c.reduceInOrder(op, list, library)
}

// reduceInOrder reduces buffers in their order.
func (c *Collective) reduceInOrder(op string, list []*session.Buffer, library *session.Library) error {
	if ok, err := c.reduceTogether(op, list, library); ok || err != nil {
		return err
	}
	if list[0].Size() <= smallReduce {
		return c.reduceWhole(op, list, library)
	}
	return c.reduceParts(op, list, library)
}

// byDevice returns the buffers of each device. The devices are in the order of their first buffers.
func byDevice(list []*session.Buffer) (groups [][]*session.Buffer) {
	at := map[*session.Device]int{}
	for _, b := range list {
		i, ok := at[b.Device()]
		if !ok {
			i = len(groups)
			at[b.Device()], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}

// reduceGroups reduces the buffers of each device into the first of them, and then these first buffers in their order. On each
// device, it copies the result to the other buffers.
func (c *Collective) reduceGroups(op string, groups [][]*session.Buffer, library *session.Library) error {
	var firsts []*session.Buffer
	for _, g := range groups {
		firsts = append(firsts, g[0])
		if len(g) == 1 {
			continue
		}
		q, err := c.Queue(op, g[0].Device())
		if err != nil {
			return err
		}
		k, err := library.Kernel(c.Context, g[0].Device(), "reduce")
		if err != nil {
			return err
		}
		for _, b := range g[1:] {
			call, err := k.Bind(session.Config{Size: []int{int(b.Len())}, Pos: c.Pos}, session.Buf(g[0]), session.Buf(b))
			if err != nil {
				return err
			}
			if err := c.Launch(q, call); err != nil {
				return err
			}
		}
	}
	if len(firsts) > 1 {
		if err := c.reduceInOrder(op, firsts, library); err != nil {
			return err
		}
	}
	for _, g := range groups {
		for _, b := range g[1:] {
			if err := c.move(op, b, g[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// reduceTogether reduces the buffers by a joint launch of their devices. It returns false if they cannot make one or a queue is watched.
func (c *Collective) reduceTogether(op string, list []*session.Buffer, library *session.Library) (ok bool, err error) {
	var devices []contract.Device
	for _, b := range list {
		devices = append(devices, b.Device().Contract())
	}
	joiner, ok := devices[0].(contract.Joiner)
	if !ok {
		return false, nil
	}
	joint := joiner.Join(devices)
	if joint == nil {
		return false, nil
	}
	var queues []*session.Queue
	var calls []*session.Call
	for _, b := range list {
		q, err := c.Queue(op, b.Device())
		if err != nil {
			return false, err
		}
		if q.Watched() { // a recording has no joint launches
			return false, nil
		}
		k, err := library.Kernel(c.Context, b.Device(), "reduce")
		if err != nil {
			return false, err
		}
		call, err := k.Bind(session.Config{Size: []int{int(b.Len())}, Pos: c.Pos, Joint: joint}, session.Buf(b), session.Buf(b))
		if err != nil {
			return false, err
		}
		queues, calls = append(queues, q), append(calls, call)
	}
	release, err := session.Hold(c.Context, queues)
	if err != nil {
		return false, err
	}
	defer release()
	for i, q := range queues {
		if err := q.Join(op, list[i], true, nil); err != nil {
			return false, err
		}
	}
	for i, q := range queues {
		if err := c.Launch(q, calls[i]); err != nil {
			joint.Fail(err)
			return false, err
		}
	}
	return true, nil
}

// smallReduce is the maximum size, in bytes, of buffers that one device reduces whole.
const smallReduce = 64 << 10

// reduceWhole reduces all buffers on the device of the first one. Its commands are on one queue, and wait for no other device between
// them.
func (c *Collective) reduceWhole(op string, list []*session.Buffer, library *session.Library) error {
	n, d := list[0].Len(), list[0].Device()
	q, err := c.Queue(op, d)
	if err != nil {
		return err
	}
	var temps []*session.Buffer
	defer func() {
		for _, t := range temps {
			_ = t.Free() // deferred until pending commands complete
		}
	}()
	terms := make([]*session.Buffer, len(list))
	for j, b := range list {
		if j > 0 && b.Device() == d {
			if terms[j], err = part(b, 0, n); err != nil {
				return err
			}
			continue
		}
		terms[j], err = c.NewBuffer(d, session.BufferOptions{Type: b.Type(), Elem: b.Elem(), Dims: []int{int(n)}, Label: op, Uninitialized: true, Pos: c.Pos})
		if err != nil {
			return err
		}
		temps = append(temps, terms[j])
		if err := q.Copy(terms[j], b); err != nil {
			return err
		}
	}
	k, err := library.Kernel(c.Context, d, "reduce")
	if err != nil {
		return err
	}
	for _, term := range terms[1:] {
		call, err := k.Bind(session.Config{Size: []int{int(n)}, Pos: c.Pos}, session.Buf(terms[0]), session.Buf(term))
		if err != nil {
			return err
		}
		if err := c.Launch(q, call); err != nil {
			return err
		}
	}
	for _, b := range list {
		if err := q.Copy(b, terms[0]); err != nil {
			return err
		}
	}
	return nil
}

// reduceParts reduces part i of all buffers on the device of buffer i and copies the result to all buffers.
func (c *Collective) reduceParts(op string, list []*session.Buffer, library *session.Library) error {
	n, each := list[0].Len(), (list[0].Len()+int64(len(list))-1)/int64(len(list))
	var sums []*session.Buffer
	defer func() {
		for _, s := range sums {
			_ = s.Free() // deferred until pending commands complete
		}
	}()
	for i, owner := range list {
		size := min(each, n-each*int64(i))
		if size <= 0 {
			break
		}
		d := owner.Device()
		q, err := c.Queue(op, d)
		if err != nil {
			return err
		}
		var temps [2]*session.Buffer // the partial result, and the staged part of another device
		for j := range temps {
			temps[j], err = c.NewBuffer(d, session.BufferOptions{Type: owner.Type(), Elem: owner.Elem(), Dims: []int{int(size)}, Label: "allReduce", Uninitialized: true,
				Pos: c.Pos})
			if err != nil {
				return err
			}
			sums = append(sums, temps[j])
		}
		k, err := library.Kernel(c.Context, d, "reduce")
		if err != nil {
			return err
		}
		for j, b := range list {
			v, err := part(b, each*int64(i), size)
			if err != nil {
				return err
			}
			term := v
			if j == 0 || b.Device() != d {
				term = temps[min(j, 1)]
				if err := q.Copy(term, v); err != nil {
					return err
				}
			}
			if j == 0 {
				continue
			}
			call, err := k.Bind(session.Config{Size: []int{int(size)}, Pos: c.Pos}, session.Buf(temps[0]), session.Buf(term))
			if err != nil {
				return err
			}
			if err := c.Launch(q, call); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(sums); i += 2 {
		for _, b := range list {
			v, err := part(b, each*int64(i/2), sums[i].Len())
			if err != nil {
				return err
			}
			if err := c.move(op, v, sums[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
