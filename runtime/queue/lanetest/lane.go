package lanetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// lane implements [queue.Lane]. Its commands execute in order on the device's goroutines. Their ends are reported in any order,
// so that reached lags behind.
type lane struct {
	device *Device
	using  atomic.Int32 // running calls of Begin, Flush and Finish

	// Under device.mu:
	flying   []*entry // begun and not finished, in order
	flushed  int      // number of flying commands that may execute
	executed int      // number of flying commands that have executed
	running  bool     // an entry executes
	last     uint64   // number of the newest command begun
	changed  chan struct{}
	closed   bool

	reached atomic.Uint64
}

// entry is a command in flight.
type entry struct {
	command  *queue.Command
	number   uint64
	stop     atomic.Bool
	executed bool
	reported bool
	err      error
	staged   []byte // bytes of a copy, taken from the host at Begin or copied to the host at Finish; nil if it copies directly
}

// enter checks that no other call of Begin, Flush or Finish is running. The returned function ends the call.
func (l *lane) enter() (leave func()) {
	if l.using.Add(1) != 1 {
		l.device.violated("two calls of Begin, Flush or Finish at once")
	}
	return func() { l.using.Add(-1) }
}

func (l *lane) Check(m offload.Memory) error {
	mem, ok := m.(*Memory)
	if !ok || mem.device != l.device {
		return offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device")
	}
	return nil
}

func (l *lane) NewLaunch() queue.LaneLaunch { return &launch{} }

func (l *lane) Window() int { return l.device.opts.Window }

func (l *lane) Begin(c *queue.Command) error {
	defer l.enter()()
	d := l.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost != nil {
		return d.lost
	}
	if k, ok := c.Launch.(*launch); ok && c.Kind == queue.LaunchKernel && k.kernel.Refuse != nil {
		return k.kernel.Refuse
	}
	if c.Number <= l.last {
		d.violated("command %d begins after %d", c.Number, l.last)
	}
	if len(l.flying) >= d.opts.Window {
		d.violated("%d commands in flight", len(l.flying)+1)
	}
	l.last = c.Number
	e := &entry{command: c, number: c.Number}
	if copies(c) && (c.Src.Memory == nil || c.Dst.Memory == nil) && d.random(2) == 0 {
		e.staged = make([]byte, rowBytes(c))
		if c.Src.Memory == nil {
			eachRow(c, e.staged, func(_, host, staged []byte) { copy(staged, host) })
		}
	}
	l.flying = append(l.flying, e)
	return nil
}

// copies reports whether a command copies bytes.
func copies(c *queue.Command) bool { return c.Kind == queue.CopyBytes || c.Kind == queue.CopyBox }

// rowBytes returns the number of bytes that a copy copies.
func rowBytes(c *queue.Command) int64 {
	if c.Kind == queue.CopyBytes {
		return c.Size
	}
	return c.Extent[0] * c.Extent[1] * c.Extent[2]
}

// eachRow calls do with each row of a copy in its destination and its source, and with the row's part of dense bytes or nil.
func eachRow(c *queue.Command, dense []byte, do func(dst, src, dense []byte)) {
	extent := c.Extent
	if c.Kind == queue.CopyBytes {
		extent = [3]int64{c.Size, 1, 1}
	}
	for z := range extent[2] {
		for y := range extent[1] {
			var part []byte
			if dense != nil {
				part, dense = dense[:extent[0]], dense[extent[0]:]
			}
			do(row(&c.Dst, y, z, extent[0]), row(&c.Src, y, z, extent[0]), part)
		}
	}
}

func (l *lane) Flush() {
	defer l.enter()()
	d := l.device
	d.mu.Lock()
	l.flushed = len(l.flying)
	d.mu.Unlock()
	d.wake.Broadcast()
	if d.flushed != nil {
		d.flushed()
	}
}

func (l *lane) Reached() uint64 { return l.reached.Load() }

func (l *lane) Await(ctx context.Context, n uint64) {
	d := l.device
	for {
		d.mu.Lock()
		changed, early := l.changed, d.random(50) == 0
		d.mu.Unlock()
		if early || l.reached.Load() >= n {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (l *lane) Finish(c *queue.Command) error {
	defer l.enter()()
	d := l.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(l.flying) == 0 || l.flying[0].command != c || !l.flying[0].reported {
		d.violated("command %d is finished out of turn", c.Number)
		return nil
	}
	e := l.flying[0]
	if e.staged != nil && e.err == nil && c.Dst.Memory == nil {
		eachRow(c, e.staged, func(host, _, staged []byte) { copy(host, staged) })
	}
	l.flying = l.flying[1:]
	l.flushed--
	l.executed--
	return e.err
}

func (l *lane) Stop(n uint64) {
	d := l.device
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range l.flying {
		if e.number <= n {
			e.stop.Store(true)
		}
	}
}

func (l *lane) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(time.Time)
	b, ok2 := earlier.(time.Time)
	return int64(a.Sub(b)), ok1 && ok2
}

func (l *lane) Close() {
	d := l.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(l.flying) > 0 || l.closed {
		d.violated("a lane is closed with %d commands in flight", len(l.flying))
	}
	l.closed = true
	d.remove(l)
}

// execute runs the next entry. The caller holds device.mu, which is released while the entry runs.
func (l *lane) execute() {
	d := l.device
	e := l.flying[l.executed]
	l.running = true
	lost := d.lost
	d.mu.Unlock()
	switch {
	case lost != nil:
		e.err = lost
	case e.stop.Load() && e.command.Kind != queue.RecordEvent:
		e.err = queue.ErrStopped
	default:
		e.err = run(e)
	}
	d.mu.Lock()
	l.running = false
	l.executed++
	e.executed = true
}

// report reports the end of a random executed entry.
func (l *lane) report() {
	var ended []*entry
	for _, e := range l.flying[:l.executed] {
		if !e.reported {
			ended = append(ended, e)
		}
	}
	ended[l.device.random(len(ended))].reported = true
	l.advance()
}

// unreported reports whether the end of an executed entry has not been reported.
func (l *lane) unreported() bool {
	for _, e := range l.flying[:l.executed] {
		if !e.reported {
			return true
		}
	}
	return false
}

// advance moves reached past the reported entries.
func (l *lane) advance() {
	for _, e := range l.flying {
		if !e.reported {
			return
		}
		if e.number > l.reached.Load() {
			l.reached.Store(e.number)
			close(l.changed)
			l.changed = make(chan struct{})
		}
	}
}

// run executes an entry.
func run(e *entry) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	c := e.command
	switch c.Kind {
	case queue.CopyBytes, queue.CopyBox:
		eachRow(c, e.staged, func(dst, src, staged []byte) {
			switch {
			case staged == nil:
				copy(dst, src)
			case c.Src.Memory == nil:
				copy(dst, staged)
			default:
				copy(staged, src)
			}
		})
	case queue.FillBytes:
		for dst := bytesOf(&c.Dst, c.Size); len(dst) > 0; {
			dst = dst[copy(dst, c.Pattern):]
		}
	case queue.LaunchKernel:
		return c.Launch.(*launch).kernel.Do(e.stop.Load)
	case queue.RecordEvent:
		c.Stamp = time.Now()
	}
	return nil
}

func bytesOf(p *queue.Place, n int64) []byte {
	if p.Memory == nil {
		return p.Host[:n]
	}
	return p.Memory.(*Memory).Data[p.Offset:][:n]
}

func row(p *queue.Place, y, z, n int64) []byte {
	at := y*p.RowPitch + z*p.SlicePitch
	if p.Memory == nil {
		return p.Host[at:][:n]
	}
	return p.Memory.(*Memory).Data[p.Offset+at:][:n]
}
