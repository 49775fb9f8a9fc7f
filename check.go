package orepl

import (
	"context"

	"github.com/orepl/orepl/lang/diag"
)

// Check returns all problems that a run with the inputs in would have, or nil. It finds values that do not fit, wrong extents,
// and names that run takes and the pipeline does not declare. Of launches it finds wrong arguments and kernels that do not
// compile for the pipeline's device. Problems are a [diag.Diagnostic] or a [diag.List]; each diagnostic has its position in the
// script. Other errors are [ErrClosed], the end of ctx, and a failure to load another instance.
//
// The script's function run is called, but its launches run no kernel, so buffers that it reads hold zeros. Missing inputs and
// parameters get values that the declaration allows; arrays have 16 elements along each dimension. in may be nil.
func (p *Pipeline) Check(ctx context.Context, in Data) (found error) {
	if err := p.usable(ctx); err != nil {
		return err
	}
	inputs, err := p.inputs(in)
	if err != nil {
		return diag.All(p.named(err)).Err()
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer func() { <-p.slots }()
	i, err := p.take(ctx)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if keep {
			p.leave(i)
		} else {
			p.giveBack(ctx, i, errPanic)
		}
	}()
	found = i.pipeline.Check(context.WithValue(ctx, runKey{p}, true), inputs).Err()
	keep = found == nil || ctx.Err() == nil && !stopped(found)
	return found
}

// CheckPipeline loads a pipeline, checks it as [Pipeline.Check] does and closes it. Problems of the declaration are also
// returned all at once. If there is no problem, the error is that of closing the pipeline.
func (r *Runtime) CheckPipeline(ctx context.Context, path string, opts PipelineOptions, in Data) error {
	p, err := r.LoadPipeline(ctx, path, opts)
	if err != nil {
		return diag.All(err).Err()
	}
	found := p.Check(ctx, in)
	if err := p.Close(); found == nil {
		return err
	}
	return found
}
