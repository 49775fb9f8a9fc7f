package orepl

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals/goroutine"
	"github.com/orepl/orepl/runtime/observe"
	contract "github.com/orepl/orepl/runtime/offload"
)

// DeviceChoice is a device that runs a pipeline. It has the id, why the device was chosen, why each other one was not, and the
// number of instances on it.
type DeviceChoice = placement.Choice

// Choices returns the devices that run the pipeline, in order of their first instances. After an instance ended, such as on a
// lost device, the next one chooses again. While there is no instance, Choices returns the device of the first one. It returns nil
// for a nil or zero Pipeline.
func (p *Pipeline) Choices() []DeviceChoice {
	if !p.loaded() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []DeviceChoice
	for _, i := range p.live {
		c := i.pipeline.Choice()
		at := slices.IndexFunc(list, func(other DeviceChoice) bool { return other.Device == c.Device })
		if at < 0 {
			at, list = len(list), append(list, c)
		}
		list[at].Instances++
	}
	if list == nil {
		list = []DeviceChoice{p.declared.Choice()}
	}
	return list
}

// instance is an engine with the loaded script.
type instance struct {
	pipeline program
	close    func() error
	busy     bool
	runner   atomic.Uint64 // number of the goroutine whose run it serves, or 0
}

// program is a loaded pipeline, in this process or in a child.
type program interface {
	Inputs() []Port
	Outputs() []Port
	Params() []Param
	Choice() DeviceChoice
	IsLost() bool
	OnlyLaunches() bool // reports whether the script's function run only launches kernels
	Run(ctx context.Context, mark any, in []pipelines.Input, out []pipelines.Output) error
	Check(ctx context.Context, in []pipelines.Input) diag.List
}

func (i *instance) device() string { return i.pipeline.Choice().Device }

// load makes a busy instance, reports the load or its failure to the hook, and adds the instance to p.live. If the hook panics,
// load closes the instance instead. needed tells whether a run waits for the instance.
func (p *Pipeline) load(ctx context.Context, needed bool) (loaded *instance, failed error) {
	start := time.Now()
	var of *Pipeline // that a run waits for
	if needed {
		of = p
	}
	me := goroutine.Current()
	p.rt.loads.Store(me, of)
	defer p.rt.loads.Delete(me)
	defer func() {
		s := observe.Span{Kind: observe.Instance, Start: start, Err: failed}
		told := false
		defer func() { // also after a panic of the hook
			switch {
			case loaded == nil:
			case !told:
				_ = loaded.close() // the panic says more
			default:
				loaded.busy = true
				p.mu.Lock()
				p.live = append(p.live, loaded)
				p.mu.Unlock()
			}
		}()
		if loaded != nil {
			c := loaded.pipeline.Choice()
			s.Device, s.Detail = c.Device, c.String()
		}
		p.rt.observe(ctx, s, p)
		told = true
	}()
	p.counts.loaded.Add(1)
	if p.opts.Engine.Isolate {
		return p.loadIsolated(ctx)
	}
	e, err := p.rt.Engine(p.opts.Engine)
	if err != nil {
		return nil, err
	}
	pipeline, err := pipelines.Load(ctx, e.lang, p.path)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &instance{pipeline: pipeline, close: func() error {
		pipeline.Free()
		return e.Close()
	}}, nil
}

// take returns an idle instance, a new one, or the next that becomes idle. The run counts as busy until leave or giveBack ends
// it, or take fails. Idle instances whose device is lost are replaced. It fails if ctx ends, the pipeline is closed, or the load
// of a new one fails.
func (p *Pipeline) take(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	if p.isEnded() {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.busy++
	i := p.pick()
	for i != nil && i.pipeline.IsLost() {
		p.replace(i)
		i = p.pick()
	}
	if i != nil {
		p.mu.Unlock()
		return i, nil
	}
	if len(p.live)+p.making < p.opts.Instances {
		p.making++
		p.mu.Unlock()
		return p.make(ctx)
	}
	next := make(chan *instance, 1)
	p.waiting = append(p.waiting, next)
	p.mu.Unlock()
	var err error
	select {
	case i := <-next:
		if i != nil {
			return i, nil
		}
		p.mu.Lock()
		p.making++
		p.mu.Unlock()
		return p.make(ctx) // the replacement failed: this run reports why, or succeeds
	case <-ctx.Done():
		err = lang.EndOf(ctx)
	case <-p.ended:
		err = ErrClosed
	}
	p.leave(p.forgo(next))
	return nil, err
}

// make loads an instance for a busy run. The caller has counted the load in p.making. After a failure the run is no longer
// busy.
func (p *Pipeline) make(ctx context.Context) (made *instance, err error) {
	defer func() { // also after a panic
		p.mu.Lock()
		p.making--
		p.mu.Unlock()
		if made == nil {
			p.leave(nil)
		}
	}()
	return p.load(ctx, true)
}

// forgo ends waiting for an instance and returns one that was offered meanwhile, or nil.
func (p *Pipeline) forgo(next chan *instance) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(other chan *instance) bool { return other == next })
	select {
	case i := <-next:
		return i
	default:
		return nil
	}
}

// offer passes an instance to the run that waits longest. If no run waits, the instance becomes idle. i is nil for a
// replacement that failed. The caller holds the lock.
func (p *Pipeline) offer(i *instance) {
	switch {
	case len(p.waiting) > 0:
		next := p.waiting[0]
		p.waiting = p.waiting[1:]
		next <- i
	case i != nil:
		i.busy = false
		p.idle = append(p.idle, i)
	}
}

// replace removes an instance from p.live. In the background it then closes the instance and makes another one. The caller
// holds the lock, and the pipeline has not ended.
func (p *Pipeline) replace(i *instance) {
	p.drop(i)
	p.making++
	p.builds.Go(func() {
		_ = i.close()                          // reported by the run that ended it
		made, _ := p.load(p.background, false) // a hook receives the error, and so does the next run if it fails, too
		p.mu.Lock()
		defer p.mu.Unlock()
		p.making--
		if made != nil && p.isEnded() {
			p.drop(made)
			p.builds.Go(func() { _ = made.close() })
			return
		}
		p.offer(made)
	})
}

// drop removes an instance from p.live. The caller holds the lock.
func (p *Pipeline) drop(i *instance) {
	p.live = slices.DeleteFunc(p.live, func(other *instance) bool { return other == i })
}

// pick removes an instance from the idle ones and returns it, or nil. It takes the most recently used one on the device with the
// fewest runs. The caller holds the lock.
func (p *Pipeline) pick() *instance {
	best, fewest := -1, 0
	for at, i := range slices.Backward(p.idle) {
		runs := 0
		for _, other := range p.live {
			if other.busy && other.device() == i.device() {
				runs++
			}
		}
		if best < 0 || runs < fewest {
			best, fewest = at, runs
		}
	}
	if best < 0 {
		return nil
	}
	i := p.idle[best]
	p.idle = slices.Delete(p.idle, best, best+1)
	i.busy = true
	return i
}

// isEnded reports whether Close was called. The caller holds the lock.
func (p *Pipeline) isEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// giveBack ends a busy run with the context ctx and the error err. It keeps the run's instance i for the next run if [survives] is
// true. Otherwise the script's variables may be in any state: the instance is replaced in the background. If the pipeline has
// ended, giveBack closes the instance in either case.
func (p *Pipeline) giveBack(ctx context.Context, i *instance, err error) {
	if survives(ctx, err) {
		p.leave(i)
		return
	}
	p.mu.Lock()
	if p.isEnded() {
		p.mu.Unlock()
		p.close(i)
	} else {
		p.replace(i)
		p.mu.Unlock()
	}
	p.leave(nil)
}

// survives reports whether an instance can run again after a run with this context and error. It can if the run succeeded or was
// refused, or if its script or kernels failed by themselves.
func survives(ctx context.Context, err error) bool {
	var refused *pipelines.Refusal
	switch {
	case err == nil:
		return true
	case err == errPanic, lang.WasCut(ctx, err): // a cause may have any code
		return false
	case errors.As(err, &refused):
		return true
	}
	switch contract.Code(diag.Code(err)) {
	case "exception", contract.InvalidArgument, contract.InvalidSize, contract.NotFound, contract.CompileError, contract.OutOfBounds,
		contract.DivisionByZero, contract.Assertion, contract.Overflow, contract.Divergence, contract.Race, contract.Uninitialized:
		return true
	}
	return false
}

// stopped reports whether a problem that a check found prevents further runs of the instance. Its script was stopped by a limit, an
// exit or the end of the context, or the device or the process was lost.
func stopped(found error) bool {
	return slices.ContainsFunc(diag.All(found), func(d *diag.Diagnostic) bool {
		switch Code(d.ID) {
		case "", "iterations", CodeTimeout, CodeCancelled, CodeOutOfMemory, CodeStackOverflow, CodeDeviceLost, CodeCrashed:
			return true
		}
		return false
	})
}

// leave ends a busy run and keeps its instance i, which may be nil. If the pipeline has ended, leave closes i instead.
func (p *Pipeline) leave(i *instance) {
	p.mu.Lock()
	p.busy--
	ended := p.isEnded()
	if i != nil && !ended {
		p.offer(i)
		i = nil
	}
	last := ended && p.busy == 0
	p.mu.Unlock()
	if i != nil {
		p.close(i)
	}
	if last {
		close(p.empty)
	}
}

// close removes an instance from p.live and closes it.
func (p *Pipeline) close(i *instance) error {
	p.mu.Lock()
	p.drop(i)
	p.mu.Unlock()
	return i.close()
}
