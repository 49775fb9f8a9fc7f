package cpu

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/sched"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	// runAlone is the estimated time on one core up to which a launch uses no other cores.
	runAlone = 30 * time.Microsecond
	// shortChunk and longChunk bound the time for which the size of a chunk is chosen. Long chunks delay a stop and let cores finish
	// unevenly.
	shortChunk = 5 * time.Microsecond
	longChunk  = 500 * time.Microsecond
	// chunksPerCore is the number of chunks per core if shortChunk and longChunk allow it. It evens out chunks of different
	// lengths.
	chunksPerCore = 16
	// fewChunks is the minimum number of chunks per core if several units run faster in one call. There are fewer chunks
	// if each would otherwise have fewer units than one call.
	fewChunks = 4
	// measureAbove is the estimated time of a launch above which every run is measured. Shorter launches are measured until the
	// cost of their units is known.
	measureAbove = time.Microsecond
)

// launch implements [queue.Launch].
type launch struct {
	*plan    // &own, or a prepared plan, which is read-only
	own      plan
	cost     time.Duration // estimated, on one core
	at       offload.Position
	host     services
	stop     *queue.Stop
	job      sched.Job
	measure  bool         // measure the time of the run
	busy     atomic.Int64 // nanoseconds, summed over all cores
	reused   atHand
	native   *nativeLaunch // made for the first launch of a native kernel
	isNative bool          // the launch is of a native kernel

	mu     sync.Mutex
	fault  *interp.Fault // fault of the earliest chunk with one; nil if none has
	first  interp.Fault  // a copy of that fault, since workers reuse theirs
	chunk  int           // first unit of that chunk
	broken error         // the error of an engine that failed, or of a panic
}

// Set implements [queue.Launch]. It checks the launch, chooses its code and stores its arguments. For a launch that this device has
// prepared, Prepare has done so.
func (l *launch) Set(o *offload.Launch) error {
	if _, l.isNative = o.Kernel.(*nativeKernel); l.isNative {
		if l.native == nil {
			l.native = &nativeLaunch{device: l.own.device}
		}
		if err := l.native.set(o); err != nil {
			l.Clear()
			return err
		}
		return nil
	}
	if ready, ok := o.Prepared.(*plan); ok && ready.device == l.own.device {
		l.plan = ready
	} else if err := l.own.set(o); err != nil {
		l.Clear()
		return err
	}
	l.at = o.Pos
	l.host.reset(o.Services, l.kernel, l.device.id)
	l.cost = time.Duration(min(float64(l.units)*l.variant.unitCost(), math.MaxInt64/2))
	return nil
}

// Detach copies a prepared plan into the launch, so that the original may change. It also attaches the services: only
// kernels without services run without Detach. For a native kernel it does nothing.
func (l *launch) Detach() {
	if l.isNative {
		return
	}
	if l.plan != &l.own {
		l.own.copy(l.plan)
		l.plan = &l.own
	}
	if l.host.host != nil {
		l.grid.Services, l.grid.Prompt = &l.host, true
	}
}

// Clear drops the launch's references, except those for the next launch: the worker in reused, or the caller in native.
func (l *launch) Clear() {
	if l.isNative {
		l.native.clear()
		l.isNative = false
		return
	}
	if l.plan == &l.own {
		l.own.clear()
	}
	l.plan, l.stop = &l.own, nil
	l.host.reset(nil, nil, "")
	l.fault, l.broken = nil, nil
}

func (l *launch) refuse(code offload.Code, format string, args ...any) *offload.Error {
	e := l.plan.refuse(code, format, args...)
	e.Pos = l.at
	return e
}

// Cost returns the estimated time of the launch on one core. sure reports whether the time of a unit hardly depends on the arguments,
// and no service is called; it is false for native kernels.
func (l *launch) Cost() (about time.Duration, sure bool) {
	if l.isNative {
		return l.native.cost(), false
	}
	return l.cost, l.variant.steady
}

// Run runs the launch on one or more cores, depending on its cost. It returns the launch's failure, or [queue.ErrStopped] after
// a stop.
func (l *launch) Run(stop *queue.Stop) error {
	if l.isNative {
		return l.native.run(stop)
	}
	if l.units == 0 {
		return nil
	}
	l.stop, l.host.stop = stop, stop
	if l.plan == &l.own {
		l.grid.Stop = stop.Flag()
	}
	l.measure = l.cost > measureAbove || l.variant.cost.Load() == 0
	if l.measure {
		l.busy.Store(0)
	}
	if l.host.mayEnd() {
		l.runApart()
	} else {
		l.runUnits()
	}
	l.host.end()
	if l.measure && l.fault == nil && l.broken == nil && !stop.Requested() {
		l.variant.measured(float64(l.busy.Load()) / float64(l.units))
	}
	switch {
	case l.broken != nil:
		return l.broken
	case l.host.interrupted.Load(): // the fault reports that a service was interrupted
		return queue.ErrStopped
	case l.fault != nil:
		return l.faultError()
	case stop.Requested():
		return queue.ErrStopped
	}
	return nil
}

// runUnits runs the units on this goroutine. Other cores help if the launch is long enough and its units may run at the same time.
func (l *launch) runUnits() {
	if l.cost <= runAlone || !l.variant.parallel() || l.device.pool.Cores() == 1 {
		l.runChunks(sched.Share{}, 0, l.units)
		return
	}
	l.device.pool.Run(&l.job, l, l.units, l.chunkUnits(), int(l.cost/(runAlone/2)))
}

// runApart runs the units on a separate goroutine, and waits for it. A service may end that goroutine.
func (l *launch) runApart() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer l.guard(sched.Share{}, &returned)
		l.runUnits()
		returned = true
	}()
	<-done
}

// chunkUnits returns the number of units per chunk, a multiple of the number that should run in one call.
func (l *launch) chunkUnits() int {
	cores := l.device.pool.Cores()
	about := min(l.cost/time.Duration(cores*chunksPerCore), longChunk)
	units := max(int(float64(max(about, shortChunk))/l.variant.unitCost()), 1)
	if n := l.code.together(&l.grid); n > 1 {
		units = (units + n - 1) / n * n
		if most := l.units / (cores * fewChunks) / n * n; units > most && most > 0 {
			units = most
		}
	}
	return units
}

// Work implements [sched.Task].
func (l *launch) Work(s sched.Share) {
	if s.OnWorker() {
		pprof.SetGoroutineLabels(l.kernel.labels)
		defer pprof.SetGoroutineLabels(context.Background())
	}
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), "kernel "+l.kernel.info.Name).End()
	}
	returned := false
	defer l.guard(s, &returned)
	if first, last, ok := s.Next(); ok {
		l.runChunks(s, first, last)
	}
	returned = true
}

// guard is deferred. Unless returned is set, it turns a panic, or a service that ended the goroutine, into the error of the launch,
// and stops the share.
func (l *launch) guard(s sched.Share, returned *bool) {
	if *returned {
		return
	}
	p := recover() // workers must not end the process
	s.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.host.exited.Load(); p == nil && err != nil {
		e := l.refuse(offload.BackendFailure, "%v", *err)
		e.Err = *err
		l.broken = e
		return
	}
	l.broken = l.refuse(offload.BackendFailure, "the engine or a service panicked: %v\n%s", p, debug.Stack())
}

// runChunks runs units [first, last), then further chunks of the share.
func (l *launch) runChunks(s sched.Share, first, last int) {
	var start time.Time
	if l.measure {
		start = time.Now()
	}
	brief := l.steady != nil && !l.measure
	w := l.code.acquire(&l.grid)
	for ok := true; ok; first, last, ok = s.Next() {
		fault, err := l.code.run(w, &l.grid, first, last, brief)
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

// fail records an error of the engine as the launch's error.
func (l *launch) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.refuse(offload.BackendFailure, "the compiled kernel failed")
	e.Err = err
	l.broken = e
}

// keep records the fault of a chunk, identified by its first unit, unless a fault of an earlier chunk is recorded. Chunks start in
// order, and finish unless the launch is stopped. So without a stop, the recorded fault is that of the first unit with a fault, on any
// number of cores.
func (l *launch) keep(chunk int, fault *interp.Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == nil || chunk < l.chunk {
		l.first = *fault
		l.fault, l.chunk = &l.first, chunk
	}
}

// faultError returns the recorded fault as an error. The fault is described only when the queue reports the error.
func (l *launch) faultError() error {
	f := &fault{kernel: l.kernel, device: l.plan.device.id, at: l.at, record: portable.NewRecord(l.kernel.ir, l.fault, &l.grid, l.labels)}
	if l.fault.Kind == interp.CallFailed {
		f.cause = l.host.failure(l.fault.Text)
	}
	return f
}

// fault is the failure of a launch by a fault of its kernel. It implements [queue.Report].
type fault struct {
	kernel *kernel
	device string
	at     offload.Position
	record portable.Record
	cause  error // the error of the service, if its call failed
}

func (f *fault) Error() string { return f.Describe().Error() }

// Describe returns the fault as an error of package offload.
func (f *fault) Describe() *offload.Error {
	k := f.kernel
	d := k.comparisons.Describe(k.module, k.ir, &f.record)
	e := &offload.Error{Code: d.Code, Op: "launch", Device: f.device, Label: k.info.Name, Pos: f.at, Fault: d, Err: f.cause}
	var known *offload.Error
	if f.cause != nil && errors.As(f.cause, &known) {
		d.Code, d.Cause = known.Code, cmp.Or(known.Text(), f.record.Text)
		e.Code, e.Hint = d.Code, known.Hint
	}
	if f.at.Line == 0 {
		e.Pos = d.Pos
	}
	return e
}
