//go:build linux && (amd64 || arm64)

package opencl

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	window = 64 // maximum number of commands in flight of a queue
	looks  = 8  // polls of a command before a wait; each takes a lock that the driver needs
)

// lane implements [queue.Lane] on a command queue of the driver.
type lane struct {
	device *device
	queue  cl.Queue

	mu      sync.Mutex
	flying  []*flight // unfinished commands, in order
	reached atomic.Uint64
	idle    map[int][]records // by number of words
}

// flight is a command in flight.
type flight struct {
	command *queue.Command
	number  uint64
	event   cl.Event
	err     error // error of the command, set when it is settled
	records records
	stopped bool // the launch was requested to stop
	pinned  runtime.Pinner

	settle  sync.Once
	settled chan struct{} // closed after the command ended and its prints were delivered
	watched atomic.Bool   // a goroutine waits for the event
}

func (l *lane) Check(m offload.Memory) error {
	b, ok := m.(*block)
	if !ok || b.device != l.device {
		return offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").WithHint("copy it through the host")
	}
	if b.freed.Load() {
		return offload.Errorf(offload.Closed, "access", "the memory was freed")
	}
	return nil
}

func (l *lane) NewLaunch() queue.LaneLaunch { return &launch{device: l.device} }
func (l *lane) Window() int                 { return window }
func (l *lane) Flush()                      { _ = l.device.lib.Flush(l.queue) }

func (l *lane) Begin(c *queue.Command) error {
	f := &flight{command: c, number: c.Number, settled: make(chan struct{})}
	var err error
	switch c.Kind {
	case queue.CopyBytes:
		f.event, err = l.copy(f, c)
	case queue.CopyBox:
		f.event, err = l.copyBox(f, c)
	case queue.FillBytes:
		f.event, err = l.fill(f, c)
	case queue.LaunchKernel:
		s := c.Launch.(*launch)
		switch {
		case slices.Contains(s.size[:], 0):
			f.event, err = l.device.lib.Mark(l.queue)
		case s.image != nil:
			f.event, err = s.enqueueImage(l)
		default:
			f.event, f.records, err = s.enqueue(l)
		}
	case queue.RecordEvent:
		f.event, err = l.device.lib.Mark(l.queue)
	}
	if err != nil {
		f.pinned.Unpin()
		if _, ok := err.(cl.Status); ok {
			err = l.device.failure("enqueue", "", err)
		}
		return err
	}
	l.mu.Lock()
	l.flying = append(l.flying, f)
	l.mu.Unlock()
	return nil
}

// pin pins host memory while the driver uses it.
func (f *flight) pin(host []byte) []byte {
	if len(host) > 0 {
		f.pinned.Pin(&host[0])
	}
	return host
}

func (l *lane) copy(f *flight, c *queue.Command) (cl.Event, error) {
	lib := l.device.lib
	switch {
	case c.Size == 0:
		return lib.Mark(l.queue)
	case c.Src.Memory == nil:
		return lib.Write(l.queue, c.Dst.Memory.(*block).handle, c.Dst.Offset, f.pin(c.Src.Host)[:c.Size])
	case c.Dst.Memory == nil:
		return lib.Read(l.queue, c.Src.Memory.(*block).handle, c.Src.Offset, f.pin(c.Dst.Host)[:c.Size], false)
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

func (l *lane) copyBox(f *flight, c *queue.Command) (cl.Event, error) {
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
		return lib.WriteBox(l.queue, c.Dst.Memory.(*block).handle, to, f.pin(c.Src.Host), from, c.Extent)
	case c.Dst.Memory == nil:
		return lib.ReadBox(l.queue, c.Src.Memory.(*block).handle, from, f.pin(c.Dst.Host), to, c.Extent)
	}
	return lib.CopyBox(l.queue, c.Dst.Memory.(*block).handle, to, c.Src.Memory.(*block).handle, from, c.Extent)
}

// copyRows copies a box row by row. It returns the event of the last row.
func (l *lane) copyRows(f *flight, c *queue.Command) (last cl.Event, err error) {
	for z := range c.Extent[2] {
		for y := range c.Extent[1] {
			row := queue.Command{Kind: queue.CopyBytes, Dst: rowOf(&c.Dst, y, z, c.Extent[0]), Src: rowOf(&c.Src, y, z, c.Extent[0]), Size: c.Extent[0]}
			e, err := l.copy(f, &row)
			if err != nil {
				l.quiesce() // copies of earlier rows still use the host's memory
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

// quiesce waits for all commands that the driver accepted.
func (l *lane) quiesce() {
	if e, err := l.device.lib.Mark(l.queue); err == nil {
		l.device.lib.Wait(e)
		l.device.lib.Release(e)
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
func (l *lane) fill(f *flight, c *queue.Command) (last cl.Event, err error) {
	lib, m, n := l.device.lib, c.Dst.Memory.(*block).handle, int64(len(c.Pattern))
	switch {
	case c.Size == 0:
		return lib.Mark(l.queue)
	case c.Dst.Offset%n == 0 && c.Size%n == 0:
		return lib.Fill(l.queue, m, c.Pattern, c.Dst.Offset, c.Size)
	}
	const most = 1 << 20 // a multiple of every pattern length
	data := f.pin(bytes.Repeat(c.Pattern, int((min(c.Size, most)+n-1)/n)))
	for at := int64(0); at < c.Size; at += most {
		e, err := lib.Write(l.queue, m, c.Dst.Offset+at, data[:min(most, c.Size-at)])
		if err != nil {
			l.quiesce() // earlier writes still read data
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

// finished settles a command after its end: it reads the launch's records and delivers its prints. Further calls do nothing.
func (f *flight) finished(l *lane, s cl.Status) {
	f.settle.Do(func() {
		defer close(f.settled)
		defer func() {
			if p := recover(); p != nil { // a panic of the host's writer
				f.err = offload.Errorf(offload.BackendFailure, "launch", "printing panicked: %v", p).On(l.device.id, "")
			}
		}()
		if s < 0 {
			f.err = l.device.failure("run", "", s)
			if k, ok := f.command.Launch.(*launch); ok && f.command.Kind == queue.LaunchKernel {
				f.err = k.located(l.device.failure("launch", "", s))
			}
			return
		}
		if f.command.Kind == queue.LaunchKernel && f.records != nil {
			f.err = f.command.Launch.(*launch).outcome(f.records)
		}
	})
}

// prints reports whether settling the command calls the host.
func (f *flight) prints() bool {
	s, ok := f.command.Launch.(*launch)
	return ok && f.command.Kind == queue.LaunchKernel && s.services != nil && s.info.Prints
}

// done reports whether a command is settled, and settles a command that has ended. A command whose settling calls the host
// is settled on another goroutine.
func (f *flight) done(l *lane) bool {
	select {
	case <-f.settled:
		return true
	default:
	}
	s := l.device.lib.Progress(f.event)
	if s > 0 {
		return false
	}
	if f.prints() {
		f.watch(l)
		return false
	}
	f.finished(l, s)
	return true
}

// watch starts a goroutine that waits for the command's end and settles it.
func (f *flight) watch(l *lane) {
	if f.watched.Swap(true) {
		return
	}
	lib := l.device.lib
	lib.Retain(f.event)
	go func() {
		for lib.Wait(f.event); lib.Progress(f.event) > 0; { // a wait may fail while the command runs
			time.Sleep(time.Millisecond)
		}
		f.finished(l, lib.Progress(f.event))
		lib.Release(f.event)
	}()
}

func (l *lane) Reached() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flying {
		if f.number <= l.reached.Load() {
			continue
		}
		if !f.done(l) {
			break
		}
		l.reached.Store(f.number)
	}
	return l.reached.Load()
}

func (l *lane) Await(ctx context.Context, n uint64) {
	for range looks {
		if l.Reached() >= n {
			return
		}
		runtime.Gosched()
	}
	l.mu.Lock()
	var f *flight
	if i := slices.IndexFunc(l.flying, func(f *flight) bool { return f.number >= n }); i >= 0 {
		f = l.flying[i]
	}
	direct := f != nil && ctx.Done() == nil && !f.prints()
	if direct {
		l.device.lib.Retain(f.event)
	} else if f != nil {
		f.watch(l)
	}
	l.mu.Unlock()
	if f == nil {
		return
	}
	if direct { // the wait cannot be interrupted
		l.device.lib.Wait(f.event)
		l.device.lib.Release(f.event)
		return
	}
	select {
	case <-f.settled:
	case <-ctx.Done():
	}
}

func (l *lane) Finish(c *queue.Command) error {
	l.mu.Lock()
	f := l.flying[0]
	l.flying = slices.Delete(l.flying, 0, 1)
	l.mu.Unlock()
	if c.Kind == queue.RecordEvent {
		if ns, ok := l.device.lib.EndTime(f.event); ok {
			c.Stamp = ns
		}
	}
	l.device.lib.Release(f.event)
	f.pinned.Unpin()
	if f.records != nil {
		l.put(f.records)
	}
	if f.stopped && f.err == nil {
		return queue.ErrStopped
	}
	return f.err
}

func (l *lane) Stop(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flying {
		if f.number <= n && f.records != nil && l.device.Info().Features.Cancel && l.device.lib.Progress(f.event) > 0 {
			f.records.stop()
			f.stopped = true
		}
	}
}

func (l *lane) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(uint64)
	b, ok2 := earlier.(uint64)
	return int64(a - b), ok1 && ok2
}

// Close releases the command queue and the records.
func (l *lane) Close() {
	l.device.lib.ReleaseQueue(l.queue)
	for _, list := range l.idle {
		for _, r := range list {
			r.free()
		}
	}
}
