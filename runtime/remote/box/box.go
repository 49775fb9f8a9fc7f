// Package box copies boxes of memory by commands of a queue, or in pieces on a stream between two servers. An extent has the bytes of
// a row, the rows of a slice and the slices.
package box

import "github.com/orepl/orepl/runtime/offload"

// Size returns the number of bytes in a box. It returns false if an extent is not positive, or the number exceeds limit.
func Size(extent [3]int64, limit int64) (int64, bool) {
	n := int64(1)
	for _, e := range extent {
		if e <= 0 || e > limit/n {
			return 0, false
		}
		n *= e
	}
	return n, true
}

// packed returns data as a box of host memory whose rows are contiguous.
func packed(data []byte, extent [3]int64) offload.HostRect {
	return offload.HostRect{Data: data, RowPitch: extent[0], SlicePitch: extent[0] * extent[1]}
}

// EachRow calls do with the range of each row of a box, and with the row's offset in packed data. It stops at an error, which it returns.
func EachRow(r offload.Rect, extent [3]int64, do func(s offload.Span, at int64) error) error {
	at := int64(0)
	for z := range extent[2] {
		for y := range extent[1] {
			s := offload.Span{Memory: r.Memory, Offset: r.Offset + z*r.SlicePitch + y*r.RowPitch, Size: extent[0]}
			if err := do(s, at); err != nil {
				return err
			}
			at += extent[0]
		}
	}
	return nil
}

// Retrieve issues the copy of a box to packed data.
func Retrieve(q offload.Queue, data []byte, src offload.Rect, extent [3]int64) error {
	if c, ok := q.(offload.RectCopier); ok && int64(len(data)) != extent[0] {
		return c.RetrieveRect(packed(data, extent), src, extent)
	}
	return EachRow(src, extent, func(s offload.Span, at int64) error { return q.Retrieve(data[at:][:s.Size], s) })
}

// Submit issues the copy of packed data to a box.
func Submit(q offload.Queue, dst offload.Rect, data []byte, extent [3]int64) error {
	if c, ok := q.(offload.RectCopier); ok {
		return c.SubmitRect(dst, packed(data, extent), extent)
	}
	return EachRow(dst, extent, func(s offload.Span, at int64) error { return q.Submit(s, data[at:][:s.Size]) })
}

// Exchange issues the copy of one box to another of the same extent.
func Exchange(q offload.Queue, dst, src offload.Rect, extent [3]int64) error {
	if c, ok := q.(offload.RectCopier); ok {
		return c.ExchangeRect(dst, src, extent)
	}
	var to []offload.Span
	_ = EachRow(dst, extent, func(s offload.Span, _ int64) error { to = append(to, s); return nil }) // cannot fail
	return EachRow(src, extent, func(s offload.Span, at int64) error { return q.Exchange(to[at/extent[0]], s) })
}
