package orepl

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/observe"
	contract "github.com/orepl/orepl/runtime/offload"
)

// DeviceChoice is a device that runs a pipeline: its id, why it was chosen, which others were not, each with the reason, and the
// number of instances that it has.
type DeviceChoice = placement.Choice

// Choices returns the devices that run the pipeline, in order of their first instances. After an instance ended, such as on a lost
// device, the next one chooses again.
func (p *Pipeline) Choices() []DeviceChoice {
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
	engine   *Engine
	pipeline *pipelines.Pipeline
	busy     bool
}

func (i *instance) device() string { return i.pipeline.Choice().Device }

// load makes an instance.
func (p *Pipeline) load(ctx context.Context) (loaded *instance, failed error) {
	start := time.Now()
	defer func() {
		s := observe.Span{Kind: observe.Instance, Start: start, Err: failed}
		if loaded != nil {
			c := loaded.pipeline.Choice()
			s.Device, s.Detail = c.Device, c.String()
			loaded.busy = true
			p.mu.Lock()
			p.live = append(p.live, loaded)
			p.mu.Unlock()
		}
		p.rt.observe(ctx, s, p)
	}()
	p.counts.loaded.Add(1)
	e, err := p.rt.Engine(p.opts.Engine)
	if err != nil {
		return nil, err
	}
	exports, err := e.lang.RunFile(ctx, p.path)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.lang.EndLoading()
	var pipeline *pipelines.Pipeline
	err = e.lang.Do(ctx, func(*goja.Runtime) error {
		host, _ := e.lang.HostValue(exports.Get("default"))
		var ok bool
		if pipeline, ok = host.(*pipelines.Pipeline); ok {
			return nil
		}
		d := diag.New("invalid-argument", "%v", ErrNoPipeline).
			WithHint("write: export default pipeline({ inputs: …, outputs: …, run(…) { … } })")
		d.Position = e.lang.Locate(exports, "default", nil)
		if !d.Position.IsValid() {
			d.Position = diag.Position{File: p.path, Line: 1, Column: 1}
		}
		d.Cause = ErrNoPipeline
		return d
	})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &instance{engine: e, pipeline: pipeline}, nil
}

// take returns an idle instance or a new one.
func (p *Pipeline) take(ctx context.Context) (*instance, error) {
	p.mu.Lock()
	if p.isEnded() {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	p.busy++
	i := p.pick()
	p.mu.Unlock()
	if i != nil && i.pipeline.IsLost() {
		p.close(i)
		i = nil
	}
	if i != nil {
		return i, nil
	}
	i, err := p.load(ctx)
	if err != nil {
		p.leave(nil)
	}
	return i, err
}

// pick removes an instance from the idle ones and returns it, or nil: of those on the device with the fewest runs the most recently
// used one. The caller holds the lock.
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

// giveBack returns an instance for the next run. A run that was stopped may have left the script's variables in any state, so
// its instance is replaced.
func (p *Pipeline) giveBack(i *instance, err error) {
	if !survives(err) {
		p.close(i)
		i = nil
	}
	p.leave(i)
}

// survives reports whether an instance can run again after a run with this error: the run was refused, or its script or kernels
// failed by themselves.
func survives(err error) bool {
	var refused *pipelines.Refusal
	if err == nil || errors.As(err, &refused) {
		return true
	}
	switch contract.Code(diag.Code(err)) {
	case "exception", contract.InvalidArgument, contract.InvalidSize, contract.NotFound, contract.CompileError, contract.OutOfBounds,
		contract.DivisionByZero, contract.Assertion, contract.Overflow, contract.Divergence, contract.Race:
		return true
	}
	return false
}

// leave ends a busy run and keeps its instance, unless it is nil or the pipeline has ended.
func (p *Pipeline) leave(i *instance) {
	p.mu.Lock()
	p.busy--
	ended := p.isEnded()
	if i != nil && !ended {
		i.busy = false
		p.idle = append(p.idle, i)
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

// close closes an instance.
func (p *Pipeline) close(i *instance) error {
	p.mu.Lock()
	p.live = slices.DeleteFunc(p.live, func(other *instance) bool { return other == i })
	p.mu.Unlock()
	i.pipeline.Free()
	return i.engine.Close()
}
