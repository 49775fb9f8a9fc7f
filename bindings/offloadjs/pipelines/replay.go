package pipelines

import (
	"context"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/replay"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/runtime/session"
)

// tapeOf returns a tape if the script's functions only launch kernels and compute extents, else nil. Runs with equal parameters and
// shapes then launch the same.
func (p *Pipeline) tapeOf() *replay.Tape {
	if p.declaration.run == nil || !replay.OnlyLaunches(p.declaration.run.Text, p.m.meanings(p.declaration.run)) {
		return nil
	}
	for _, list := range [][]*port{p.outputs, p.temporaries} {
		for _, at := range list {
			if at.extent == nil {
				continue
			}
			info, err := p.m.Engine.FunctionInfo(at.from)
			if err != nil || !replay.IsPure(info.Text, p.m.meanings(info)) {
				return nil
			}
		}
	}
	return &replay.Tape{}
}

// meanings returns a function that returns the meaning of a name that a function of the script uses and does not declare.
func (m *Module) meanings(info *lang.FunctionInfo) func(name string) replay.Meaning {
	return func(name string) replay.Meaning {
		switch {
		case !info.Known:
			return replay.Other
		case name == "undefined" || name == "NaN" || name == "Infinity":
			return replay.Constant
		}
		if object, method, ok := strings.Cut(name, "."); ok {
			return m.builtin(object, method)
		}
		c, ok := info.Capture(name)
		if !ok {
			return replay.Absent
		}
		return m.meaning(c)
	}
}

// builtin returns the meaning of a method of Math or of arrays, which a script may have replaced.
func (m *Module) builtin(object, method string) replay.Meaning {
	o, ok := m.VM.GlobalObject().Get(object).(*goja.Object)
	if ok && object == "Array" {
		o, ok = o.Get("prototype").(*goja.Object)
	}
	if ok {
		if f, err := m.Engine.FunctionInfo(o.Get(method)); err == nil && f.Native {
			return replay.Native
		}
	}
	return replay.Other
}

func (m *Module) meaning(c *lang.Capture) replay.Meaning {
	isGlobal := c.Kind == ""
	o, isObject := c.Value.(*goja.Object)
	switch {
	case c.State != lang.Bound || len(c.Assigned) > 0 || c.Prompt:
		return replay.Other
	case isGlobal && isObject && c.Function != nil && c.Function.Native && slices.Contains([]string{"Error", "RangeError", "TypeError"}, c.Name):
		return replay.Failure
	case isGlobal:
		return replay.Other
	case !isObject:
		return replay.Constant
	}
	if m.kernels.Of(o) != nil {
		return replay.Kernel
	}
	if _, ok := m.types.Of(o); ok {
		return replay.Type
	}
	return replay.Other
}

// recorded returns an earlier run with the same parameters and shapes, or nil. It sets the key of the tape; the key is incomplete if
// a buffer has to be allocated.
func (p *Pipeline) recorded(in []Input) *replay.Run {
	if p.tape == nil {
		return nil
	}
	p.tape.Reset()
	for _, list := range [][]*port{p.inputs, p.params} {
		for _, at := range list {
			i := indexOfInput(in, at.name)
			switch {
			case at.rank > 0 && (at.buffer == nil || at.buffer.Freed() || !slices.Equal(at.shape, in[i].Dims)):
				return nil
			case at.rank > 0:
			case i < 0:
				p.tape.Number(nil)
			default:
				p.tape.Number(in[i].Number)
			}
		}
	}
	for _, list := range [][]*port{p.outputs, p.temporaries} {
		for _, at := range list {
			if at.buffer == nil || at.buffer.Freed() {
				return nil
			}
		}
	}
	return p.tape.Find()
}

// repeats reports whether a run would end in the same way again: it succeeded, or its script threw an exception. The end of
// its context, whose cause may be an exception of other work, does not repeat.
func repeats(ctx context.Context, failed error) bool {
	d, ok := failed.(*diag.Diagnostic)
	return failed == nil || ok && d.ID == "exception" && !lang.WasCut(ctx, failed)
}

// replay issues the commands of a run without its script: those of start, the recorded launches and the copies of the outputs.
func (p *Pipeline) replay(ctx context.Context, q *session.Queue, run *replay.Run, in []Input, out []Output) error {
	if ctx.Err() != nil {
		return lang.EndOf(ctx)
	}
	if limit := p.m.Engine.Options().Limits.Time; limit > 0 {
		bounded, stop := context.WithTimeoutCause(ctx, limit, lang.OutOfTime(limit))
		defer stop()
		ctx = bounded
	}
	err := p.reissue(ctx, q, run, in)
	if err == nil && run.Failed == nil {
		err = p.store(ctx, q, out)
	}
	if err == nil && run.Failed == nil {
		return nil
	}
	_ = q.Sync(ctx) // the queue may still access host memory; the first error counts
	thrown, _ := run.Failed.(*diag.Diagnostic)
	switch {
	case ctx.Err() != nil:
		ended := lang.EndOf(ctx)
		if at, ok := p.m.Explain(err).(*diag.Diagnostic); ok {
			ended.Position, ended.Excerpt = at.Position, at.Excerpt
		}
		return ended
	case err == nil && thrown != nil:
		again := *thrown
		return &again
	}
	return p.m.Explain(err) // no call of the engine runs, so that its texts do not change
}

func (p *Pipeline) reissue(ctx context.Context, q *session.Queue, run *replay.Run, in []Input) error {
	for i := range in {
		if at := find(p.inputs, in[i].Name); at != nil && len(in[i].Data) > 0 {
			if err := q.Write(at.buffer.Buffer, 0, in[i].Data); err != nil {
				return err
			}
		}
	}
	if err := p.clear(q, run); err != nil {
		return err
	}
	for _, c := range run.Launches {
		if err := q.WaitForSpace(ctx); err != nil {
			return err
		}
		if err := q.Launch(c); err != nil {
			return err
		}
	}
	return nil
}

// clear sets the outputs to zero, so that no element of an earlier run remains. It omits those that a recorded run sets; run
// may be nil.
func (p *Pipeline) clear(q *session.Queue, run *replay.Run) error {
	for _, at := range p.outputs {
		if at.buffer.Size() > 0 && (run == nil || !run.Sets(at.buffer.Buffer)) {
			if err := q.Fill(at.buffer.Buffer, zero[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

var zero [1]byte
