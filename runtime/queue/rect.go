package queue

import (
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// SubmitRect, RetrieveRect and ExchangeRect implement [offload.RectCopier]: a box of any number of rows is one command.

// rowCost is the estimated overhead of one row.
const rowCost = 20 * time.Nanosecond

// rows describes the rows of a box in the two operands of a copy.
type rows struct {
	extent   [3]int64 // bytes per row, rows, slices
	dst, src pitches
}

type pitches struct{ row, slice int64 }

// SubmitRect issues a copy of a box from the host to the device.
func (q *Queue) SubmitRect(dst offload.Rect, src offload.HostRect, extent [3]int64) error {
	const op = "submit"
	to, err := q.deviceBox(op, dst, extent)
	if err != nil {
		return err
	}
	from, err := q.hostBox(op, src, extent)
	if err != nil {
		return err
	}
	return q.copyRows(op, to, from, rows{extent, pitches{dst.RowPitch, dst.SlicePitch}, pitches{src.RowPitch, src.SlicePitch}})
}

// RetrieveRect issues a copy of a box from the device to the host.
func (q *Queue) RetrieveRect(dst offload.HostRect, src offload.Rect, extent [3]int64) error {
	const op = "retrieve"
	to, err := q.hostBox(op, dst, extent)
	if err != nil {
		return err
	}
	from, err := q.deviceBox(op, src, extent)
	if err != nil {
		return err
	}
	return q.copyRows(op, to, from, rows{extent, pitches{dst.RowPitch, dst.SlicePitch}, pitches{src.RowPitch, src.SlicePitch}})
}

// ExchangeRect issues a copy of a box between memories of the device. The caller ensures that the boxes do not overlap.
func (q *Queue) ExchangeRect(dst, src offload.Rect, extent [3]int64) error {
	const op = "exchange"
	to, err := q.deviceBox(op, dst, extent)
	if err != nil {
		return err
	}
	from, err := q.deviceBox(op, src, extent)
	if err != nil {
		return err
	}
	return q.copyRows(op, to, from, rows{extent, pitches{dst.RowPitch, dst.SlicePitch}, pitches{src.RowPitch, src.SlicePitch}})
}

func (q *Queue) copyRows(op string, dst, src place, r rows) error {
	if dst.size == 0 {
		return nil
	}
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	c.kind, c.dst, c.src, c.rows = copyBox, dst.bytes, src.bytes, r
	if q.lane != nil {
		g := c.forLane()
		g.Kind, g.Dst, g.Src, g.Extent = CopyBox, dst.forLane(), src.forLane(), r.extent
		g.Dst.RowPitch, g.Dst.SlicePitch = r.dst.row, r.dst.slice
		g.Src.RowPitch, g.Src.SlicePitch = r.src.row, r.src.slice
	}
	count := r.extent[1] * r.extent[2]
	q.publish(time.Duration(count*r.extent[0]/copyBandwidth)+time.Duration(count)*rowCost, false)
	return nil
}

// run copies row by row until a stop is requested.
func (r *rows) run(dev Device, dst, src []byte, stop *Stop) {
	for z := range r.extent[2] {
		for y := range r.extent[1] {
			if stop.Requested() {
				return
			}
			dev.Copy(dst[z*r.dst.slice+y*r.dst.row:][:r.extent[0]], src[z*r.src.slice+y*r.src.row:][:r.extent[0]], stop)
		}
	}
}

// deviceBox returns the range from the first byte of a box of device memory to its last, or an empty one for an empty box. It returns
// an error if the box leaves the memory, its rows overlap, or the device cannot access the memory.
func (q *Queue) deviceBox(op string, r offload.Rect, extent [3]int64) (place, error) {
	all, err := q.whole(op, r.Memory)
	if err != nil {
		return place{}, err
	}
	return q.box(op, all, r.Offset, pitches{r.RowPitch, r.SlicePitch}, extent)
}

func (q *Queue) hostBox(op string, r offload.HostRect, extent [3]int64) (place, error) {
	return q.box(op, onHost(r.Data), r.Offset, pitches{r.RowPitch, r.SlicePitch}, extent)
}

func (q *Queue) box(op string, all place, offset int64, p pitches, extent [3]int64) (place, error) {
	if extent[0] < 0 || extent[1] < 0 || extent[2] < 0 {
		return place{}, q.refuse(offload.InvalidSize, op, "a box of %v", extent)
	}
	if extent[0] == 0 || extent[1] == 0 || extent[2] == 0 {
		return place{}, nil
	}
	left := all.size - offset
	n := extent[0]
	fits := offset >= 0 && n <= left
	for i, pitch := range []int64{p.row, p.slice} {
		count := extent[i+1]
		if fits && count > 1 {
			fits = pitch >= n && count-1 <= (left-n)/pitch // rows and slices must not overlap
			n += (count - 1) * pitch
		}
	}
	if !fits {
		return place{}, q.refuse(offload.InvalidSize, op, "a box of %v bytes, rows and slices at offset %d with pitches %d and %d leaves the memory of %d bytes",
			extent, offset, p.row, p.slice, all.size)
	}
	return all.part(offset, n), nil
}
