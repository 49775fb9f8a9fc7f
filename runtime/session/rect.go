package session

import (
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// Rect is a box of elements of a buffer: start and extent in each dimension, outermost first.
type Rect struct {
	Origin []int
	Extent []int
}

// box is a rectangle in bytes: the extent of a row, rows per slice, slices, and the offset in the buffer.
type box struct {
	offset     int64 // offset of the first byte in the buffer
	rowPitch   int64
	slicePitch int64
	extent     [3]int64 // bytes per row, rows, slices
}

func (b *Buffer) box(op string, origin, extent []int) (box, error) {
	var x box
	if len(origin) != b.rank || len(extent) != b.rank {
		return x, b.fail(offload.InvalidArgument, op, "a rectangle of this buffer has %d coordinates, not %d and %d", b.rank, len(origin), len(extent))
	}
	var o, e, d [3]int64 // innermost dimension last
	for i := range 3 - b.rank {
		e[i], d[i] = 1, 1
	}
	for i := range b.rank {
		j := 3 - b.rank + i
		o[j], e[j], d[j] = int64(origin[i]), int64(extent[i]), int64(b.dims[i])
		if o[j] < 0 || e[j] < 0 || o[j] > d[j] || e[j] > d[j]-o[j] {
			return x, b.fail(offload.InvalidSize, op, "in dimension %d the rectangle covers %d to %d, the buffer 0 to %d", i, o[j], o[j]+e[j], d[j])
		}
	}
	elem := int64(b.elem)
	x.rowPitch = d[2] * elem
	x.slicePitch = d[1] * x.rowPitch
	x.offset = o[0]*x.slicePitch + o[1]*x.rowPitch + o[2]*elem
	x.extent = [3]int64{e[2] * elem, e[1], e[0]}
	return x, nil
}

// RectBytes returns the bytes of a rectangle of the buffer. Errors: InvalidArgument and InvalidSize for a rectangle that is
// not in the buffer.
func (b *Buffer) RectBytes(r Rect) (int64, error) {
	x, err := b.box("rectangle", r.Origin, r.Extent)
	return x.bytes(), err
}

func (x *box) bytes() int64 { return x.extent[0] * x.extent[1] * x.extent[2] }

// reach returns the number of bytes from the box's first byte to its last, both included. It is 0 for an empty box.
func (x *box) reach() int64 {
	if x.bytes() == 0 {
		return 0
	}
	return (x.extent[2]-1)*x.slicePitch + (x.extent[1]-1)*x.rowPitch + x.extent[0]
}

// rows calls fn for each row with its offset in the buffer and in a dense block of the box's extent. It stops at an error of
// fn, which it returns.
func (x *box) rows(fn func(offset, dense int64) error) error {
	dense := int64(0)
	for s := range x.extent[2] {
		for r := range x.extent[1] {
			if err := fn(x.offset+s*x.slicePitch+r*x.rowPitch, dense); err != nil {
				return err
			}
			dense += x.extent[0]
		}
	}
	return nil
}

func (b *Buffer) rect(x *box) offload.Rect {
	return offload.Rect{Memory: b.alloc.raw, Offset: b.offset + x.offset, RowPitch: x.rowPitch, SlicePitch: x.slicePitch}
}

func (x *box) host(data []byte) offload.HostRect {
	return offload.HostRect{Data: data, RowPitch: x.extent[0], SlicePitch: x.extent[0] * x.extent[1]}
}

// WriteRect copies src, which holds the rectangle's elements without gaps, into a rectangle of the buffer. The memory of src
// belongs to the queue until the command has run. Its errors are those of Write, and InvalidArgument for a rectangle with another
// number of dimensions than the buffer's.
func (q *Queue) WriteRect(b *Buffer, r Rect, src []byte) error {
	return q.hostRect("write", b, r, src, true)
}

// ReadRect copies a rectangle of the buffer into dst, without gaps. dst belongs to the queue until the command has run. Its errors are
// those of WriteRect.
func (q *Queue) ReadRect(dst []byte, b *Buffer, r Rect) error {
	return q.hostRect("read", b, r, dst, false)
}

func (q *Queue) hostRect(op string, b *Buffer, r Rect, data []byte, write bool) error {
	if err := q.check(op, b, 0, 0); err != nil {
		return err
	}
	if err := q.owns(op, b); err != nil {
		return err
	}
	x, err := b.box(op, r.Origin, r.Extent)
	if err != nil {
		return err
	}
	if n := int64(len(data)); n != x.bytes() {
		return b.fail(offload.InvalidSize, op, "the rectangle has %d bytes, the host's data %d", x.bytes(), n)
	}
	t := b.access(x.offset, x.reach(), write)
	err = q.command(op, t, func() (err error) {
		if x.bytes() == 0 {
			return nil
		}
		c := q.begin()
		defer func() { c.end(trace.Copy, op, x.bytes(), err) }()
		rc, fast := q.raw.(offload.RectCopier)
		switch {
		case fast && write:
			return rc.SubmitRect(b.rect(&x), x.host(data), x.extent)
		case fast:
			return rc.RetrieveRect(x.host(data), b.rect(&x), x.extent)
		}
		return x.rows(func(offset, dense int64) error {
			row := data[dense:][:x.extent[0]]
			if write {
				return q.raw.Submit(b.span(offset, x.extent[0]), row)
			}
			return q.raw.Retrieve(row, b.span(offset, x.extent[0]))
		})
	})
	if q.watched(err) {
		r := r
		if write {
			q.tell(Command{Kind: WriteCommand, Dst: b, Rect: &r, Data: data})
		} else {
			q.tell(Command{Kind: ReadCommand, Src: b, Rect: &r})
		}
	}
	return err
}

// CopyRect copies a rectangle of src to dst, starting at origin. Errors: InvalidDevice unless both buffers are on the queue's device,
// InvalidArgument for elements of different sizes, InvalidSize for a rectangle that leaves its buffer. In one buffer, the ranges from
// the first byte of a rectangle to its last must not overlap, which is InvalidArgument.
func (q *Queue) CopyRect(dst *Buffer, origin []int, src *Buffer, r Rect) error {
	const op = "copy"
	for _, b := range []*Buffer{dst, src} {
		if err := q.check(op, b, 0, 0); err != nil {
			return err
		}
		if err := q.owns(op, b); err != nil {
			return err
		}
	}
	if dst.elem != src.elem {
		return dst.fail(offload.InvalidArgument, op, "elements of %d bytes cannot be copied to elements of %d", src.elem, dst.elem)
	}
	from, err := src.box(op, r.Origin, r.Extent)
	if err != nil {
		return err
	}
	extent := make([]int, dst.rank) // the source's extent, with outer ones added or, if they are 1, dropped
	for i := range extent {
		extent[i] = 1
	}
	for i, e := range r.Extent {
		j := i + dst.rank - len(r.Extent)
		switch {
		case j >= 0:
			extent[j] = e
		case e != 1:
			return dst.fail(offload.InvalidArgument, op, "a rectangle of %v elements does not fit a buffer of %d dimensions", r.Extent, dst.rank)
		}
	}
	to, err := dst.box(op, origin, extent)
	if err != nil {
		return err
	}
	if dst.alloc == src.alloc {
		a, b := dst.offset+to.offset, src.offset+from.offset
		if a < b+from.reach() && b < a+to.reach() {
			return dst.fail(offload.InvalidArgument, op, "source and destination may overlap").WithHint("copy over a third buffer")
		}
	}
	t := pair(dst.access(to.offset, to.reach(), true), src.access(from.offset, from.reach(), false))
	if err := q.enter(op, t[:], false); err != nil {
		return err
	}
	err = q.exchangeBox(dst, &to, src, &from)
	q.exit(t[:], err == nil)
	if q.watched(err) {
		r := r
		q.tell(Command{Kind: CopyCommand, Dst: dst, Origin: origin, Src: src, Rect: &r})
	}
	return located(err, q.device.id, dst.label)
}

func (q *Queue) exchangeBox(dst *Buffer, to *box, src *Buffer, from *box) (err error) {
	if from.bytes() == 0 {
		return nil
	}
	c := q.begin()
	defer func() { c.end(trace.Copy, "copy", from.bytes(), err) }()
	if rc, ok := q.raw.(offload.RectCopier); ok {
		return rc.ExchangeRect(dst.rect(to), src.rect(from), from.extent)
	}
	row := from.extent[0]
	for s := range from.extent[2] {
		for r := range from.extent[1] {
			d := to.offset + s*to.slicePitch + r*to.rowPitch
			f := from.offset + s*from.slicePitch + r*from.rowPitch
			if err := q.raw.Exchange(dst.span(d, row), src.span(f, row)); err != nil {
				return err
			}
		}
	}
	return nil
}
