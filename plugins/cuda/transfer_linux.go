//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"bytes"
	"time"
	"unsafe"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	pieceBytes = 4 << 20 // maximum number of bytes of a transfer that one pinned block holds
	depth      = 3       // maximum number of pinned blocks that a long transfer uses at a time
)

// at returns the device address of an operand.
func at(p *queue.Place) driver.Pointer {
	return p.Memory.(*block).at + driver.Pointer(p.Offset)
}

// transfer is a copy of a box between host and device; a plain copy has one row.
type transfer struct {
	upload bool
	device queue.Place
	host   queue.Place
	extent [3]int64
}

// transferOf returns the transfer that a command makes, or nil for a command that copies no bytes between host and device.
func transferOf(c *queue.Command) *transfer {
	t := &transfer{extent: c.Extent}
	switch {
	case c.Kind == queue.CopyBytes:
		t.extent = [3]int64{c.Size, 1, 1}
	case c.Kind != queue.CopyBox:
		return nil
	}
	switch {
	case t.bytes() == 0:
		return nil
	case c.Src.Memory == nil:
		t.upload, t.device, t.host = true, c.Dst, c.Src
	case c.Dst.Memory == nil:
		t.device, t.host = c.Src, c.Dst
	default:
		return nil
	}
	return t
}

func (t *transfer) bytes() int64 { return t.extent[0] * t.extent[1] * t.extent[2] }

// long reports whether the transfer needs several pieces; false for nil.
func (t *transfer) long() bool {
	return t != nil && (t.bytes() > pieceBytes || t.extent[2] > 1 && t.extent[1]*t.extent[2] > 1)
}

// piece is a part of a transfer: rows of one slice, or a part of one row.
type piece struct {
	x, y, z     int64 // position of its first byte
	width, rows int64
}

// pieces calls f for each piece in order. It stops at the first error, and returns it.
func (t *transfer) pieces(f func(p piece) error) error {
	for z := range t.extent[2] {
		if t.extent[0] <= pieceBytes {
			most := max(1, pieceBytes/t.extent[0])
			for y := int64(0); y < t.extent[1]; y += most {
				if err := f(piece{0, y, z, t.extent[0], min(most, t.extent[1]-y)}); err != nil {
					return err
				}
			}
			continue
		}
		for y := range t.extent[1] {
			for x := int64(0); x < t.extent[0]; x += pieceBytes {
				if err := f(piece{x, y, z, min(pieceBytes, t.extent[0]-x), 1}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rows copies the rows of a piece between a pinned block, in which they are contiguous, and the caller's memory.
func (t *transfer) rows(p piece, data []byte) {
	for y := range p.rows {
		host := t.host.Host[(p.z*t.host.SlicePitch)+(p.y+y)*t.host.RowPitch+p.x:][:p.width]
		block := data[y*p.width:][:p.width]
		if t.upload {
			memory.Copy(block, host)
		} else {
			memory.Copy(host, block)
		}
	}
}

// enqueue enqueues the copy of a piece. The context is current.
func (t *transfer) enqueue(l *stream, p piece, b *pinned) error {
	d, where := l.device.driver, at(&t.device)+driver.Pointer(p.z*t.device.SlicePitch+p.y*t.device.RowPitch+p.x)
	host := unsafe.Pointer(unsafe.SliceData(b.data))
	if p.rows == 1 || t.device.RowPitch == p.width {
		if t.upload {
			return d.Upload(where, host, p.width*p.rows, l.handle)
		}
		return d.Download(host, where, p.width*p.rows, l.handle)
	}
	if t.device.RowPitch < p.width { // rows overlap
		for y := range p.rows {
			row := driver.Pointer(y * t.device.RowPitch)
			part := unsafe.Add(host, y*p.width)
			var err error
			if t.upload {
				err = d.Upload(where+row, part, p.width, l.handle)
			} else {
				err = d.Download(part, where+row, p.width, l.handle)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	box := driver.Box{Width: uintptr(p.width), Height: uintptr(p.rows), Depth: 1}
	if t.upload {
		box.SrcHost, box.SrcPitch, box.Dst, box.DstPitch = uintptr(host), uintptr(p.width), where, uintptr(t.device.RowPitch)
	} else {
		box.Src, box.SrcPitch, box.DstHost, box.DstPitch = where, uintptr(t.device.RowPitch), uintptr(host), uintptr(p.width)
	}
	return d.CopyBox(&box, l.handle)
}

// transfer enqueues a transfer, by direct where that is possible, else through pinned blocks. A short one to the device copies the
// caller's memory first; one to the host copies to it after the command's end. A long one blocks until the host's part is done, with
// several pieces in flight. The context is current.
func (l *stream) transfer(f *flight, t *transfer) error {
	if ok, err := l.direct(f, t); ok {
		return err
	}
	pool := &l.device.pinned
	if !t.long() {
		b, err := pool.get(t.bytes())
		if err != nil {
			return err
		}
		f.State.blocks = append(f.State.blocks, b)
		p := piece{0, 0, 0, t.extent[0], t.extent[1]}
		if t.upload {
			t.rows(p, b.data)
		} else {
			f.After = func() { t.rows(p, b.data) }
		}
		return t.enqueue(l, p, b)
	}
	type part struct {
		piece piece
		block *pinned
		event driver.Event
	}
	var flying []part
	finish := func() error { // completes the oldest piece
		p := flying[0]
		if err := l.wait(p.event); err != nil {
			return err
		}
		l.device.driver.DestroyEvent(p.event)
		flying = flying[1:]
		if !t.upload {
			t.rows(p.piece, p.block.data)
		}
		pool.put(p.block)
		return nil
	}
	err := t.pieces(func(p piece) error {
		if len(flying) == depth {
			if err := finish(); err != nil {
				return err
			}
		}
		b, err := pool.get(p.width * p.rows)
		if err != nil {
			return err
		}
		if t.upload {
			t.rows(p, b.data)
		}
		flying = append(flying, part{piece: p, block: b})
		last := &flying[len(flying)-1]
		if err := t.enqueue(l, p, b); err != nil {
			return err
		}
		last.event, err = l.mark(driver.DisableTiming)
		return err
	})
	for err == nil && len(flying) > 0 {
		err = finish()
	}
	return err
}

// wait blocks until an event completes or the device is lost. The context is current.
func (l *stream) wait(e driver.Event) error {
	pause := 5 * time.Microsecond
	for {
		s := l.device.driver.Query(e)
		switch {
		case s == 0:
			return nil
		case s != driver.NotReady:
			return s
		case l.device.isLost.Load():
			return l.device.LostError()
		}
		time.Sleep(pause)
		pause = min(2*pause, 200*time.Microsecond)
	}
}

// copyBox enqueues a copy of a box within the device. It copies row by row if rows overlap, or slices do not consist of whole rows.
func (l *stream) copyBox(c *queue.Command) error {
	d := l.device.driver
	to, from, e := &c.Dst, &c.Src, c.Extent
	rows := func(p *queue.Place) (int64, bool) {
		switch {
		case e[1] > 1 && p.RowPitch < e[0]:
			return 0, false
		case e[2] == 1:
			return e[1], true
		case p.RowPitch > 0 && p.SlicePitch%p.RowPitch == 0 && p.SlicePitch >= e[1]*p.RowPitch:
			return p.SlicePitch / p.RowPitch, true
		}
		return 0, false
	}
	toRows, ok1 := rows(to)
	fromRows, ok2 := rows(from)
	if ok1 && ok2 {
		return d.CopyBox(&driver.Box{Src: at(from), SrcPitch: uintptr(max(from.RowPitch, e[0])), SrcRows: uintptr(fromRows), Dst: at(to), DstPitch: uintptr(max(to.RowPitch, e[0])),
			DstRows: uintptr(toRows), Width: uintptr(e[0]), Height: uintptr(e[1]), Depth: uintptr(e[2])}, l.handle)
	}
	for z := range e[2] {
		for y := range e[1] {
			err := d.Copy(at(to)+driver.Pointer(z*to.SlicePitch+y*to.RowPitch), at(from)+driver.Pointer(z*from.SlicePitch+y*from.RowPitch), e[0], l.handle)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// fill enqueues a fill. Aligned memory is filled by elements of 1, 2 or 4 bytes, or by columns of words if the pattern is
// longer. Other memory is filled by copies of doubling length.
func (l *stream) fill(f *flight, c *queue.Command) error {
	d, to, size := l.device.driver, at(&c.Dst), int64(len(c.Pattern))
	pattern := c.Pattern
	for len(pattern) > 1 && bytes.Equal(pattern[:len(pattern)/2], pattern[len(pattern)/2:]) {
		pattern = pattern[:len(pattern)/2]
	}
	n := int64(len(pattern))
	word := func(b []byte) (v uint32) {
		for i, x := range b {
			v |= uint32(x) << (8 * i)
		}
		return v
	}
	switch {
	case n <= 4 && c.Size%n == 0 && int64(to)%n == 0:
		return d.Fill(to, word(pattern), int(n), c.Size/n, l.handle)
	case n >= 8 && c.Size%n == 0 && int64(to)%4 == 0:
		for i := int64(0); i < n; i += 4 {
			if err := d.FillColumn(to+driver.Pointer(i), int(n), word(pattern[i:i+4]), c.Size/n, l.handle); err != nil {
				return err
			}
		}
		return nil
	}
	head := min(c.Size, (64<<10)/size*size)
	b, err := l.device.pinned.get(head)
	if err != nil {
		return err
	}
	f.State.blocks = append(f.State.blocks, b)
	for i := range b.data[:head] {
		b.data[i] = c.Pattern[int64(i)%size]
	}
	err = d.Upload(to, unsafe.Pointer(unsafe.SliceData(b.data)), head, l.handle)
	for done := head; err == nil && done < c.Size; {
		n := min(done, c.Size-done)
		err = d.Copy(to+driver.Pointer(done), to, n, l.handle)
		done += n
	}
	return err
}
