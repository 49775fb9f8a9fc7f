//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"bytes"
	"runtime"
	"slices"

	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	window = 64 // maximum number of commands in flight of a queue
	looks  = 8  // polls of a command before a wait; each takes a lock that the driver needs
)

// stream implements [lane.Waiter] on a command queue of the driver.
type stream struct {
	device  *device
	queue   cl.Queue
	records *lowered.Pool[records]
}

// command is the stream's part of a command in flight.
type command struct {
	event  cl.Event
	pinned runtime.Pinner
}

// flight is a command in flight.
type flight = lane.Flight[command]

func (l *stream) Check(m offload.Memory) *offload.Error { return l.device.check(m) }
func (l *stream) NewLaunch() queue.LaneLaunch           { return &launch{device: l.device} }
func (l *stream) Flush()                                { _ = l.device.lib.Flush(l.queue) }
func (l *stream) Blocks(*queue.Command) bool            { return false }

func (l *stream) Enqueue(f *flight) (err error) {
	c, e := f.Command, &f.State.event
	switch c.Kind {
	case queue.CopyBytes:
		*e, err = l.copy(f, c)
	case queue.CopyBox:
		*e, err = l.copyBox(f, c)
	case queue.FillBytes:
		*e, err = l.fill(f, c)
	case queue.LaunchKernel:
		s := c.Launch.(*launch)
		switch {
		case s.Empty():
			*e, err = l.device.lib.Mark(l.queue)
		case s.image != nil:
			*e, err = s.enqueueImage(l)
		default:
			*e, err = s.enqueue(l, f)
		}
	case queue.RecordEvent:
		*e, err = l.device.lib.Mark(l.queue)
	}
	if err == nil {
		return nil
	}
	f.State.pinned.Unpin()
	if _, ok := err.(cl.Status); ok {
		err = l.device.failure("enqueue", "", err)
	}
	return err
}

func (l *stream) Query(f *flight) (ended bool, failed error) {
	s := l.device.lib.Progress(f.State.event)
	if s < 0 {
		return true, s
	}
	return s == 0, nil
}

func (l *stream) Failure(f *flight, failed error) error {
	if k, ok := f.Command.Launch.(*launch); ok && f.Command.Kind == queue.LaunchKernel {
		return k.Located(l.device.failure("launch", "", failed))
	}
	return l.device.failure("run", "", failed)
}

func (l *stream) Wait(f *flight) { l.device.lib.Wait(f.State.event) }

func (l *stream) Stamp(f *flight) any {
	if ns, ok := l.device.lib.EndTime(f.State.event); ok {
		return ns
	}
	return nil
}

func (l *stream) Retire(f *flight) {
	l.device.lib.Release(f.State.event)
	f.State.pinned.Unpin()
}

func (l *stream) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(uint64)
	b, ok2 := earlier.(uint64)
	return int64(a - b), ok1 && ok2
}

// Close releases the command queue and the records.
func (l *stream) Close() {
	l.device.lib.ReleaseQueue(l.queue)
	l.records.Free()
}

// pin pins host memory while the driver uses it.
func pin(f *flight, host []byte) []byte {
	if len(host) > 0 {
		f.State.pinned.Pin(&host[0])
	}
	return host
}

func (l *stream) copy(f *flight, c *queue.Command) (cl.Event, error) {
	lib := l.device.lib
	switch {
	case c.Size == 0:
		return lib.Mark(l.queue)
	case c.Src.Memory == nil:
		return lib.Write(l.queue, c.Dst.Memory.(*block).handle, c.Dst.Offset, pin(f, c.Src.Host)[:c.Size])
	case c.Dst.Memory == nil:
		return lib.Read(l.queue, c.Src.Memory.(*block).handle, c.Src.Offset, pin(f, c.Dst.Host)[:c.Size], false)
	}
	return lib.Copy(l.queue, c.Dst.Memory.(*block).handle, c.Dst.Offset, c.Src.Memory.(*block).handle, c.Src.Offset, c.Size)
}

// boxOf returns a box for the driver. It sets pitches to 0 where no row depends on them; the driver then computes them.
func boxOf(p *queue.Place, extent [3]int64) cl.Box {
	b := cl.Box{RowPitch: p.RowPitch, SlicePitch: p.SlicePitch}
	if p.Memory != nil {
		b.Offset = p.Offset
	}
	if extent[1] == 1 && extent[2] == 1 {
		b.RowPitch = 0
	}
	if extent[2] == 1 {
		b.SlicePitch = 0
	}
	return b
}

// regular reports whether a driver accepts the pitches: rows do not overlap, and slices consist of whole rows.
func regular(b cl.Box, extent [3]int64) bool {
	row := b.RowPitch
	if row == 0 {
		row = extent[0]
	}
	return row >= extent[0] && (b.SlicePitch == 0 || b.SlicePitch >= extent[1]*row && b.SlicePitch%row == 0)
}

func (l *stream) copyBox(f *flight, c *queue.Command) (cl.Event, error) {
	lib := l.device.lib
	if slices.Contains(c.Extent[:], 0) {
		return lib.Mark(l.queue)
	}
	to, from := boxOf(&c.Dst, c.Extent), boxOf(&c.Src, c.Extent)
	if !regular(to, c.Extent) || !regular(from, c.Extent) {
		return l.copyRows(f, c)
	}
	switch {
	case c.Src.Memory == nil:
		return lib.WriteBox(l.queue, c.Dst.Memory.(*block).handle, to, pin(f, c.Src.Host), from, c.Extent)
	case c.Dst.Memory == nil:
		return lib.ReadBox(l.queue, c.Src.Memory.(*block).handle, from, pin(f, c.Dst.Host), to, c.Extent)
	}
	return lib.CopyBox(l.queue, c.Dst.Memory.(*block).handle, to, c.Src.Memory.(*block).handle, from, c.Extent)
}

// copyRows copies a box row by row. It returns the event of the last row.
func (l *stream) copyRows(f *flight, c *queue.Command) (last cl.Event, err error) {
	for z := range c.Extent[2] {
		for y := range c.Extent[1] {
			row := queue.Command{Kind: queue.CopyBytes, Dst: rowOf(&c.Dst, y, z, c.Extent[0]), Src: rowOf(&c.Src, y, z, c.Extent[0]), Size: c.Extent[0]}
			e, err := l.copy(f, &row)
			if err != nil {
				l.quiesce(last) // copies of earlier rows still use the host's memory
			}
			if last != 0 {
				l.device.lib.Release(last)
			}
			if last = e; err != nil {
				return 0, err
			}
		}
	}
	return last, nil
}

// quiesce waits for all commands that the driver accepted. If the driver refuses a marker, quiesce waits for last, the event of the
// latest command that the caller knows. If last is 0, it then does not wait.
func (l *stream) quiesce(last cl.Event) {
	e, err := l.device.lib.Mark(l.queue)
	switch {
	case err == nil:
		l.device.lib.Wait(e)
		l.device.lib.Release(e)
	case last != 0:
		l.device.lib.Wait(last)
	}
}

// rowOf returns the place of one row of a box.
func rowOf(p *queue.Place, y, z, size int64) queue.Place {
	at := y*p.RowPitch + z*p.SlicePitch
	if p.Memory != nil {
		return queue.Place{Memory: p.Memory, Offset: p.Offset + at}
	}
	return queue.Place{Host: p.Host[at:][:size]}
}

// fill fills memory. If the range is not made of whole aligned patterns, it copies the contents from the host.
func (l *stream) fill(f *flight, c *queue.Command) (last cl.Event, err error) {
	lib, m, n := l.device.lib, c.Dst.Memory.(*block).handle, int64(len(c.Pattern))
	switch {
	case c.Size == 0:
		return lib.Mark(l.queue)
	case c.Dst.Offset%n == 0 && c.Size%n == 0:
		return lib.Fill(l.queue, m, c.Pattern, c.Dst.Offset, c.Size)
	}
	const most = 1 << 20 // a multiple of every pattern length
	data := pin(f, bytes.Repeat(c.Pattern, int((min(c.Size, most)+n-1)/n)))
	for at := int64(0); at < c.Size; at += most {
		e, err := lib.Write(l.queue, m, c.Dst.Offset+at, data[:min(most, c.Size-at)])
		if err != nil {
			l.quiesce(last) // earlier writes still read data
		}
		if last != 0 {
			lib.Release(last)
		}
		if last = e; err != nil {
			return 0, err
		}
	}
	return last, nil
}
