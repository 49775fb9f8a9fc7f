package cpu

import (
	"math"
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/sched"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	// runAlone is how long a launch may take on one core before others are asked to help.
	runAlone = 30 * time.Microsecond
	// Chunks are to take between these times, so that the cores finish together and a stop is seen soon.
	shortChunk = 5 * time.Microsecond
	longChunk  = 500 * time.Microsecond
	// chunksPerCore are enough to level out uneven chunks.
	chunksPerCore = 16
	// measureAbove is how long a launch takes that is worth measuring each time.
	measureAbove = 5 * time.Microsecond
)

// launch implements [queue.Launch].
type launch struct {
	device  *device
	kernel  *kernel
	variant *variant
	code    runner
	grid    interp.Launch
	units   int
	cost    time.Duration // about, on one core
	labels  []string      // of the arguments
	pos     offload.Position
	host    services
	stop    *queue.Stop
	job     sched.Job
	measure bool         // how long it takes
	busy    atomic.Int64 // nanoseconds, of all cores together

	mu     sync.Mutex
	fault  *interp.Fault // of the first chunk that had one
	chunk  int
	broken error // an engine or a service panicked
}

// Set checks the launch and keeps what it needs of it.
func (l *launch) Set(o *offload.Launch) error {
	k, ok := o.Kernel.(*kernel)
	if !ok {
		return offload.Errorf(offload.InvalidDevice, "launch", "the kernel is of another device").On(l.device.id, o.Kernel.Info().Name)
	}
	l.kernel, l.pos = k, o.Pos
	err := l.set(o)
	if err != nil {
		l.Clear()
	}
	return err
}

func (l *launch) set(o *offload.Launch) (err error) {
	k := l.kernel
	if l.variant, err = k.variant(o.Checks); err != nil {
		return err
	}
	if err := l.setGrid(o); err != nil {
		return err
	}
	if err := l.setArgs(o.Args); err != nil {
		return err
	}
	l.grid.Unchecked = o.Checks == offload.ChecksOff
	l.grid.SubgroupSize = subgroupSize
	l.grid.Services = nil
	if o.Services != nil {
		l.host = services{host: o.Services, kernel: k.info.Name}
		l.grid.Services = &l.host
	}
	if l.code, l.units, err = l.variant.prepare(&l.grid); err != nil {
		e := l.refuse(offload.InvalidArgument, "")
		e.Err = err
		return e
	}
	l.cost = time.Duration(min(float64(l.units)*l.variant.unitCost(), math.MaxInt64/2))
	return nil
}

func (l *launch) refuse(code offload.Code, format string, args ...any) *offload.Error {
	e := offload.Errorf(code, "launch", format, args...).On(l.device.id, l.kernel.info.Name)
	e.Pos = l.pos
	return e
}

// setGrid takes over sizes.
func (l *launch) setGrid(o *offload.Launch) error {
	for axis, n := range o.Size {
		if n < 0 || n > math.MaxInt32 {
			return l.refuse(offload.InvalidSize, "size %d on axis %c is not in 0 to %d", n, "xyz"[axis], math.MaxInt32)
		}
	}
	if hi, items := bits.Mul64(uint64(o.Size[0])*uint64(o.Size[1]), uint64(o.Size[2])); hi != 0 || items > math.MaxInt64 {
		return l.refuse(offload.InvalidSize, "size %v is over 2^63 work-items", o.Size)
	}
	l.grid.Size, l.grid.GroupSize = o.Size, o.GroupSize
	if o.GroupSize == [3]int{} {
		l.grid.GroupSize = offload.DefaultGroupSize(o.Size)
		return nil
	}
	group := &o.GroupSize
	limits, items := &l.device.info.Limits, 1
	for axis, n := range group {
		if n < 1 || n > limits.GroupSize[axis] {
			return l.refuse(offload.InvalidSize, "group size %d on axis %c is not in 1 to %d", n, "xyz"[axis], limits.GroupSize[axis])
		}
		items *= n
	}
	if items > limits.GroupItems {
		return l.refuse(offload.InvalidSize, "a group of %v has %d work-items; the device has at most %d", *group, items, limits.GroupItems)
	}
	return nil
}

// setArgs takes over arguments.
func (l *launch) setArgs(args []offload.Arg) error {
	params := l.kernel.info.Params
	if len(args) != len(params) {
		return l.refuse(offload.InvalidArgument, "the kernel takes %d arguments and got %d", len(params), len(args))
	}
	l.grid.Args = l.grid.Args[:0]
	l.labels = l.labels[:0]
	for i := range args {
		p, a := &params[i], &args[i]
		l.labels = append(l.labels, a.Label)
		if !p.Buffer {
			if a.Memory != nil {
				return l.refuse(offload.InvalidArgument, "parameter %s is a scalar of type %v, and the argument a buffer", p.Name, p.Type)
			}
			if a.Type != p.Type {
				return l.refuse(offload.InvalidArgument, "parameter %s has type %v, and the argument type %v", p.Name, p.Type, a.Type)
			}
			l.grid.Args = append(l.grid.Args, interp.Arg{Bits: a.Bits})
			continue
		}
		buffer, err := l.buffer(p, a)
		if err != nil {
			return err
		}
		l.grid.Args = append(l.grid.Args, buffer)
	}
	return nil
}

// buffer takes over one buffer.
func (l *launch) buffer(p *offload.Param, a *offload.Arg) (interp.Arg, error) {
	none := interp.Arg{}
	if a.Memory == nil {
		return none, l.refuse(offload.InvalidArgument, "parameter %s is a buffer, and the argument none", p.Name)
	}
	if a.Type != p.Type {
		return none, l.refuse(offload.InvalidArgument, "parameter %s is a buffer of %v, and the argument one of %v", p.Name, p.Type, a.Type)
	}
	data, err := l.device.Bytes(a.Memory)
	if err != nil {
		e := l.refuse(offload.CodeOf(err), "parameter %s", p.Name)
		e.Err = err
		return none, e
	}
	if a.Offset < 0 || a.Offset > int64(len(data)) {
		return none, l.refuse(offload.InvalidSize, "parameter %s: offset %d leaves the memory of %d bytes", p.Name, a.Offset, len(data))
	}
	data = data[a.Offset:]
	need, fits := int64(p.Elem), true
	for _, n := range a.Dims[:p.Rank] {
		if n < 0 {
			return none, l.refuse(offload.InvalidSize, "parameter %s: extents %v", p.Name, a.Dims[:p.Rank])
		}
		if n > 0 && need > math.MaxInt64/int64(n) {
			fits = false
		}
		need *= int64(n)
	}
	if !fits || need > int64(len(data)) {
		return none, l.refuse(offload.InvalidSize, "parameter %s: extents %v of %d bytes leave the %d bytes of memory", p.Name,
			a.Dims[:p.Rank], p.Elem, len(data))
	}
	return interp.Arg{Base: unsafe.Pointer(unsafe.SliceData(data)), Bytes: int(need), Dims: a.Dims}, nil
}

// Clear drops what the launch keeps of others.
func (l *launch) Clear() {
	clear(l.grid.Args)
	clear(l.labels)
	l.grid.Services, l.grid.Stop = nil, nil
	l.host = services{}
	l.kernel, l.variant, l.code, l.stop = nil, nil, nil, nil
	l.fault, l.broken = nil, nil
}

// Cost is about how long the launch takes on one core.
func (l *launch) Cost() time.Duration { return l.cost }

// Run runs the launch on as many cores as are worth it.
func (l *launch) Run(stop *queue.Stop) error {
	if l.units == 0 {
		return nil
	}
	l.stop, l.grid.Stop = stop, stop.Flag()
	l.measure = l.cost > measureAbove || l.variant.cost.Load() == 0
	l.busy.Store(0)
	if l.cost <= runAlone || !l.variant.parallel() {
		l.runChunks(sched.Share{}, 0, l.units)
	} else {
		chunk := min(l.cost/time.Duration(l.device.pool.Cores()*chunksPerCore), longChunk)
		chunk = max(chunk, shortChunk)
		units := max(int(float64(chunk)/l.variant.unitCost()), 1)
		l.device.pool.Run(&l.job, l, l.units, units, int(l.cost/(runAlone/2)))
	}
	if l.measure && l.fault == nil && l.broken == nil && !stop.Requested() {
		l.variant.measured(float64(l.busy.Load()) / float64(l.units))
	}
	switch {
	case l.broken != nil:
		return l.broken
	case l.fault != nil:
		return l.faultError()
	case stop.Requested():
		return queue.ErrStopped
	}
	return nil
}

// Work implements [sched.Task].
func (l *launch) Work(s sched.Share) {
	defer func() {
		if p := recover(); p != nil { // workers must not end the process
			s.Stop()
			l.mu.Lock()
			l.broken = l.refuse(offload.BackendFailure, "the engine or a service panicked: %v\n%s", p, debug.Stack())
			l.mu.Unlock()
		}
	}()
	if first, last, ok := s.Next(); ok {
		l.runChunks(s, first, last)
	}
}

// runChunks runs units [first, last), and chunks of the share after them.
func (l *launch) runChunks(s sched.Share, first, last int) {
	var start time.Time
	if l.measure {
		start = time.Now()
	}
	w := l.code.acquire()
	for ok := true; ok; first, last, ok = s.Next() {
		fault, err := l.code.run(w, &l.grid, first, last)
		switch {
		case err != nil:
			l.fail(err)
			s.Stop()
		case fault != nil:
			l.keep(first, fault)
			s.Stop()
		}
		if l.stop.Requested() {
			s.Stop()
		}
	}
	l.code.release(w)
	if l.measure {
		l.busy.Add(int64(time.Since(start)))
	}
}

// fail notes that the engine itself failed.
func (l *launch) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.refuse(offload.BackendFailure, "the compiled kernel failed")
	e.Err = err
	l.broken = e
}

// keep keeps the fault if it is of an earlier chunk than the one known. Since chunks are given in order and run to their
// end, the one that is kept at last is that of the first work-group that has any, however many cores there are.
func (l *launch) keep(chunk int, fault *interp.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil || chunk < l.chunk {
		l.fault, l.chunk = fault, chunk
	}
}

// faultError is the fault as the contract has it.
func (l *launch) faultError() error {
	in := l.fault
	pos, text := position(l.kernel.module, l.kernel.ir, in.Site)
	f := &offload.Fault{Kernel: l.kernel.info.Name, Pos: pos, Text: text, Index: in.Index, Extent: in.Extent, Item: in.Item}
	if in.Array != nil {
		f.Array = in.Array.Name
		for i := range l.kernel.ir.Params {
			if a := l.kernel.ir.Params[i].Array; a != nil && a.ID == in.Array.ID {
				f.Label = l.labels[i]
			}
		}
	}
	switch in.Kind {
	case interp.OutOfBounds:
		f.Code, f.Bound = offload.OutOfBounds, bound(l.kernel.ir, in)
	case interp.DivisionByZero:
		f.Code = offload.DivisionByZero
	case interp.AssertionFailed:
		f.Code, f.Text = offload.Assertion, in.Text
	case interp.DivergentUniform:
		f.Code = offload.Divergence
	case interp.CallFailed:
		f.Code, f.Text = offload.BackendFailure, in.Text
	case interp.Race:
		f.Code = offload.Race
		at, other := position(l.kernel.module, l.kernel.ir, in.OtherSite)
		f.Other = &offload.Access{Pos: at, Text: other, Item: in.OtherItem}
	case interp.Unwritten:
		f.Code = offload.Uninitialized
	}
	e := l.refuse(f.Code, "%s", f)
	e.Fault = f
	if l.pos.Line == 0 {
		e.Pos = pos
	}
	return e
}
