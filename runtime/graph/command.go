package graph

import (
	"slices"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Access is a range of bytes of a buffer's memory that a command reads or writes.
type Access struct {
	Memory   uint64 // identifies the memory, see [session.Buffer.Memory]
	From, To int64  // offsets in the memory; To is behind the last byte
	Write    bool
}

// Buffers returns the buffers that a command uses.
func Buffers(c *session.Command) (list []*session.Buffer) {
	if c.Call != nil {
		for _, a := range c.Call.Args() {
			if b := a.Buffer(); b != nil {
				list = append(list, b)
			}
		}
	}
	for _, b := range []*session.Buffer{c.Dst, c.Src} {
		if b != nil {
			list = append(list, b)
		}
	}
	return list
}

// accesses returns the ranges of memory that a command uses. A rectangle counts as the range from its first to its last byte,
// and the destination of a copied one as a whole. A global variable counts as written.
func accesses(c *session.Command) (list []Access) {
	add := func(b *session.Buffer, from, size int64, write bool) {
		id, offset, _, global := b.Memory()
		if global { // any launch of its program may write it
			offset, write = 0, true
		}
		list = append(list, Access{id, offset + from, offset + from + size, write})
	}
	if c.Call != nil {
		params := c.Call.Kernel().Info().Params
		for i, a := range c.Call.Args() {
			if b := a.Buffer(); b != nil {
				add(b, 0, b.Size(), params == nil || params[i].Writes)
			}
		}
	}
	if c.Src != nil {
		from, size := int64(0), c.Src.Size()
		if c.Rect != nil {
			from, size = reach(c.Src, c.Rect)
		}
		add(c.Src, from, size, false)
	}
	if c.Dst != nil {
		from, size := int64(0), c.Dst.Size()
		switch {
		case c.Kind == session.WriteCommand && c.Rect != nil:
			from, size = reach(c.Dst, c.Rect)
		case c.Kind == session.WriteCommand:
			from, size = c.At*int64(c.Dst.Elem()), int64(len(c.Data))
		}
		add(c.Dst, from, size, true)
	}
	return list
}

// reach returns the offset of a rectangle's first byte, and the number of bytes from it to the last one, both included. Both
// results are 0 for an empty rectangle.
func reach(b *session.Buffer, r *session.Rect) (from, size int64) {
	pitch, last := int64(b.Elem()), int64(0)
	dims := b.Dims()
	for i := len(dims) - 1; i >= 0; i-- {
		if r.Extent[i] == 0 {
			return 0, 0
		}
		from += pitch * int64(r.Origin[i])
		last += pitch * int64(r.Extent[i]-1)
		pitch *= int64(dims[i])
	}
	return from, last + int64(b.Elem())
}

// Issue issues a command again, with its queue, buffers and arguments. A wait is for all commands issued to the other queue by then. The
// command must be no read and no host function.
func Issue(c *session.Command) error {
	switch q := c.Queue; {
	case c.Kind == session.LaunchCommand:
		return q.Launch(c.Call)
	case c.Kind == session.WriteCommand && c.Rect != nil:
		return q.WriteRect(c.Dst, *c.Rect, c.Data)
	case c.Kind == session.WriteCommand:
		return q.Write(c.Dst, c.At, c.Data)
	case c.Kind == session.FillCommand:
		return q.Fill(c.Dst, c.Data)
	case c.Kind == session.ZeroCommand:
		return q.Fill(c.Dst, []byte{0})
	case c.Kind == session.CopyCommand && c.Rect != nil:
		return q.CopyRect(c.Dst, c.Origin, c.Src, *c.Rect)
	case c.Kind == session.CopyCommand:
		return q.Copy(c.Dst, c.Src)
	}
	ev, err := c.Behind.Record("")
	if err != nil {
		return err
	}
	return c.Queue.Wait(ev)
}

// replace makes a command use the buffer fresh in place of old. Views within old become views of fresh; other views of old's memory
// stay. Errors: InvalidArgument for buffers of different types or extents, InvalidDevice for buffers of different devices.
func replace(c *session.Command, old, fresh *session.Buffer) error {
	const op = "replace"
	if old.Type() != fresh.Type() || old.Elem() != fresh.Elem() || !slices.Equal(old.Dims(), fresh.Dims()) {
		return offload.Errorf(offload.InvalidArgument, op, "%v does not have the type and extents of %v", fresh, old).
			WithHint("make a buffer of the same type and extents")
	}
	if old.Device() != fresh.Device() {
		return offload.Errorf(offload.InvalidDevice, op, "%v is on another device than %v", fresh, old).WithHint("copy it to a buffer of the device")
	}
	id, start, _, _ := old.Memory()
	moved := func(b *session.Buffer) (*session.Buffer, error) {
		if b == nil {
			return nil, nil
		}
		other, from, _, _ := b.Memory()
		if other != id || from < start || from+b.Size() > start+old.Size() {
			return b, nil
		}
		if from == start && b.Type() == fresh.Type() && b.Elem() == fresh.Elem() && slices.Equal(b.Dims(), fresh.Dims()) {
			return fresh, nil
		}
		if elem := int64(fresh.Elem()); (from-start)%elem == 0 {
			return fresh.View(session.ViewOptions{Start: (from - start) / elem, Dims: b.Dims(), Type: b.Type(), Elem: b.Elem()})
		}
		bytes, err := fresh.View(session.ViewOptions{Dims: rows(fresh.Size()), Type: offload.U8, Elem: 1})
		if err != nil {
			return nil, err
		}
		return bytes.View(session.ViewOptions{Start: from - start, Dims: b.Dims(), Type: b.Type(), Elem: b.Elem()})
	}
	if c.Call != nil {
		for i, a := range c.Call.Args() {
			b, err := moved(a.Buffer())
			if err == nil && b != a.Buffer() {
				err = c.Call.SetArg(i, session.Buf(b))
			}
			if err != nil {
				return err
			}
		}
	}
	var err error
	if c.Dst, err = moved(c.Dst); err != nil {
		return err
	}
	c.Src, err = moved(c.Src)
	return err
}
