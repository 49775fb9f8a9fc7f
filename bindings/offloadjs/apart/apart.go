// Package apart runs pipelines in isolated engines: their scripts and devices are in a child process, and data is in memory that
// both processes map.
//
// # Design
//
// A run copies the inputs to shared memory, sends a message with their places, and copies the outputs from shared memory. The
// host checks the places and extents in each reply, since a child is not trusted. Files that the first instance read while it
// loaded are sent to later ones, so that all run the same texts.
package apart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/orepl/orepl/bindings/offloadjs/params"
	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/isolate"
)

// Options are the options of a pipeline in a child process.
type Options struct {
	Path     string
	Name     string // of the engine
	Engine   lang.Options
	Environ  []string // of the child's process
	Wish     placement.Wish
	Taken    placement.Taken
	Snapshot *esm.Snapshot        // files of an earlier instance; nil for the first one
	Failed   func(files []string) // receives the files that a script which failed has read
}

// Pipeline is a pipeline in a child process. Runs must not overlap.
type Pipeline struct {
	child    *isolate.Engine
	memory   *isolate.Memory
	most     int // maximum number of bytes of all outputs together
	inputs   []pipelines.Port
	outputs  []pipelines.Port
	params   []params.Param
	choice   placement.Choice
	width    int
	launches bool // run does nothing but launch kernels
	snapshot *esm.Snapshot
	lost     atomic.Bool
}

// Load starts a child and loads a script that exports a pipeline.
func Load(ctx context.Context, o Options) (*Pipeline, error) {
	text, err := json.Marshal(program{Name: o.Name, Wish: o.Wish, Taken: o.Taken})
	if err != nil {
		return nil, err
	}
	memory, err := isolate.NewMemory()
	if err != nil {
		return nil, err
	}
	p := &Pipeline{memory: memory, most: math.MaxInt, snapshot: o.Snapshot}
	if limit := o.Engine.Limits.DeviceMemory; limit > 0 {
		p.most = int(min(limit, math.MaxInt))
	}
	if p.child, err = isolate.StartWith(ctx, isolate.Config{Environ: o.Environ, Program: text, Memory: memory}, o.Engine); err != nil {
		return nil, errors.Join(err, memory.Close())
	}
	if err := p.load(ctx, o); err != nil {
		_ = p.Close() // err says more
		return nil, err
	}
	return p, nil
}

func (p *Pipeline) load(ctx context.Context, o Options) error {
	var r loaded
	if err := p.call(ctx, callLoad, load{Path: o.Path, Snapshot: p.snapshot}, &r); err != nil {
		return err
	}
	if err := r.Failed.Err(); err != nil {
		o.Failed(r.Files)
		var d *diag.Diagnostic
		if r.None && errors.As(err, &d) {
			d.Cause = pipelines.ErrNone
		}
		return err
	}
	for i := range r.Params {
		one, err := r.Params[i].param()
		if err != nil {
			return nonsense(err)
		}
		p.params = append(p.params, one)
	}
	p.inputs, p.outputs, p.choice, p.width, p.launches = r.Inputs, r.Outputs, r.Choice, r.Width, r.OnlyLaunches
	if p.snapshot == nil {
		p.snapshot = r.Snapshot
	}
	if p.snapshot == nil {
		return nonsense(errors.New("it names no files"))
	}
	return nil
}

func nonsense(err error) error {
	return diag.New("internal", "the process of an isolated pipeline sent nonsense: %v", err)
}

// call calls the child's function of this name with a message, and decodes its answer into reply.
func (p *Pipeline) call(ctx context.Context, name string, message, reply any) error {
	text, err := p.child.Handle(ctx, name, message)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return nonsense(err)
	}
	return nil
}

// Inputs returns the declared inputs.
func (p *Pipeline) Inputs() []pipelines.Port { return p.inputs }

// Outputs returns the declared outputs.
func (p *Pipeline) Outputs() []pipelines.Port { return p.outputs }

// Params returns the declared parameters.
func (p *Pipeline) Params() []params.Param { return p.params }

// Choice returns the pipeline's device and why it was chosen.
func (p *Pipeline) Choice() placement.Choice { return p.choice }

// OnlyLaunches reports whether run does nothing but launch kernels.
func (p *Pipeline) OnlyLaunches() bool { return p.launches }

// Width returns the number of devices over which instances are spread.
func (p *Pipeline) Width() int { return p.width }

// Snapshot returns the files that the first instance read while it loaded.
func (p *Pipeline) Snapshot() *esm.Snapshot { return p.snapshot }

// IsLost reports whether the child has ended or its device is lost.
func (p *Pipeline) IsLost() bool { return p.lost.Load() || p.child.Ended() }

// send copies the inputs of a run to shared memory and returns the message for the run, without its outputs.
func (p *Pipeline) send(in []pipelines.Input) (run, error) {
	m := run{Inputs: make([]input, len(in))}
	for i := range in {
		one := &m.Inputs[i]
		*one = input{Name: in[i].Name, Type: in[i].Type, Dims: in[i].Dims, Array: in[i].Dims != nil, Number: newScalar(in[i].Number)}
		if one.Array {
			one.At, one.Size = aligned(m.Used), len(in[i].Data)
			m.Used = one.At + one.Size
		}
	}
	p.memory.Settle()
	shared, err := p.memory.Bytes(m.Used)
	if err != nil {
		return m, err
	}
	for i := range in {
		copy(shared[m.Inputs[i].At:], in[i].Data)
	}
	return m, nil
}

// Run runs the pipeline once, as [pipelines.Pipeline.Run] does.
func (p *Pipeline) Run(ctx context.Context, _ any, in []pipelines.Input, out []pipelines.Output) error {
	m, err := p.send(in)
	if err != nil {
		return err
	}
	for i := range out {
		m.Outputs = append(m.Outputs, output{out[i].Name, out[i].Type})
	}
	var r ran
	if err := p.call(ctx, callRun, m, &r); err != nil {
		return err
	}
	if r.Lost {
		p.lost.Store(true)
	}
	if err := r.Error.Err(); err != nil {
		if r.Refused {
			return pipelines.Refuse(err)
		}
		return isolate.Explain(ctx, err)
	}
	return p.receive(out, r.Results)
}

// receive copies the outputs from shared memory. It returns an error if the results have places or extents that do not fit the memory
// or the limit on device memory.
func (p *Pipeline) receive(out []pipelines.Output, results []result) error {
	if len(results) != len(out) {
		return nonsense(fmt.Errorf("%d outputs instead of %d", len(results), len(out)))
	}
	end, left := 0, p.most
	for i, r := range results {
		size := out[i].Type.Size()
		for _, n := range r.Dims {
			if n < 0 || n > 0 && size > left/n {
				return nonsense(fmt.Errorf("the output %q has the extents %v", out[i].Name, r.Dims))
			}
			size *= n
		}
		if r.At < 0 || r.Size != size || size > left || r.At > math.MaxInt/2-size {
			return nonsense(fmt.Errorf("the output %q is at %d with %d bytes", out[i].Name, r.At, r.Size))
		}
		end, left = max(end, r.At+size), left-size
	}
	if size, err := p.memory.Size(); err != nil || end > size {
		return nonsense(errors.Join(fmt.Errorf("the outputs end at %d, behind the memory", end), err))
	}
	shared, err := p.memory.Bytes(end)
	if err != nil {
		return err
	}
	for i, r := range results {
		data, err := out[i].Store(r.Dims)
		if err != nil {
			return pipelines.Refuse(fmt.Errorf("the output %q: %w", out[i].Name, err))
		}
		if len(data) != r.Size {
			return fmt.Errorf("the output %q has %d bytes, but there is room for %d", out[i].Name, r.Size, len(data))
		}
		copy(data, shared[r.At:])
	}
	return nil
}

// Check returns the problems of a run, as [pipelines.Pipeline.Check] does.
func (p *Pipeline) Check(ctx context.Context, in []pipelines.Input) diag.List {
	m, err := p.send(in)
	if err != nil {
		return diag.All(err)
	}
	var r ran
	if err := p.call(ctx, callCheck, m, &r); err != nil {
		return diag.All(err)
	}
	var found diag.List
	for _, one := range r.Found {
		found = append(found, diag.All(one.Err())...)
	}
	return found
}

// Close ends the child and unmaps the memory.
func (p *Pipeline) Close() error { return errors.Join(p.child.Close(), p.memory.Close()) }

// aligned rounds an offset up to a multiple of 64 bytes, a cache line.
func aligned(at int) int { return (at + 63) &^ 63 }
