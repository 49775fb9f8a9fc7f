package pipelines

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/diag"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// sampleExtent is the extent of each dimension of an input that [Pipeline.Check] makes up.
const sampleExtent = 16

// rehearsal is a run whose launches compile and check kernels, and start none. It collects the errors of launches.
type rehearsal struct {
	queue *session.Queue
	found diag.List
}

// Check returns the problems of a run. They concern the values of in and the names that run takes and the declaration lacks. If
// the values are right, they also concern the extents and the launches. Kernels are compiled and bound for the pipeline's
// device. No kernel runs, so buffers hold zeros. Inputs and parameters without a value get one, which the declaration allows if
// such a value is easily found. Arrays get 16 elements along each dimension. A problem with a value has the position of the
// declaration. Check must not overlap a run.
func (p *Pipeline) Check(ctx context.Context, in []Input) diag.List {
	found := p.undeclared()
	wrong := p.check(p.sampled(in), nil)
	if len(wrong) > 0 {
		wrong = p.withNumbers(ctx, p.sampled(in), wrong)
	}
	for _, err := range wrong {
		err.Pos = p.placeOf(err.name)
		found = append(found, p.diagnosed(ctx, err.Error)...)
	}
	if len(wrong) > 0 {
		return found.Sort()
	}
	q, err := p.m.queues.DefaultOf(p.device)
	if err != nil {
		return append(found, p.diagnosed(ctx, err)...)
	}
	found = append(found, p.rehearsed(ctx, q, p.sampled(in))...)
	if fractions := p.fractional(in); fractions != nil && ctx.Err() == nil {
		for _, d := range p.rehearsed(ctx, q, fractions) {
			if d.ID == string(kerneldiag.FractionForInt) && !slices.ContainsFunc(found, func(known *diag.Diagnostic) bool { return known.ID == d.ID && known.Position == d.Position }) {
				d.Notes = append(d.Notes, diag.Note{Message: "the pipeline declares a type with fractions, and some values of it would fail so"})
				found = append(found, d)
			}
		}
	}
	p.free()
	return found.Sort()
}

// rehearsed returns the problems of the launches of one rehearsal.
func (p *Pipeline) rehearsed(ctx context.Context, q *session.Queue, in []Input) diag.List {
	p.m.queues.Restart()
	r := &rehearsal{queue: q}
	_, err := p.m.Engine.Await(ctx, func(*goja.Runtime) (goja.Value, error) {
		p.m.rehearse(r)
		v, err := p.start(q, in)
		if err == nil {
			v, err = p.finish(q, v, nil)
		}
		return v, p.m.Explain(err)
	})
	_ = p.m.Engine.Do(context.WithoutCancel(ctx), func(*goja.Runtime) error { // cannot fail
		p.m.rehearse(nil)
		return nil
	})
	if err != nil {
		_ = q.Sync(ctx) // err is reported
		r.found = append(r.found, diag.All(p.explain(ctx, err))...)
	}
	return r.found
}

// fractional returns the values of a run in which numbers that in lacks are fractions, where their types and bounds allow that. It
// returns nil if none is one.
func (p *Pipeline) fractional(in []Input) (all []Input) {
	some := false
	all = p.sampled(in)
	for _, at := range slices.Concat(p.params, p.inputs) {
		if at.rank > 0 || indexOfInput(in, at.name) >= 0 || at.elem.Elem.Record != nil || at.param != nil && at.param.Type == "string" || !at.elem.Elem.Scalar.IsFloat() {
			continue
		}
		fraction, ok := 1.5, true
		if at.param != nil {
			fraction, ok = at.param.Fraction()
		}
		if !ok {
			continue
		}
		some = true
		if i := indexOfInput(all, at.name); i >= 0 {
			all[i].Number = fraction
		} else {
			all = append(all, Input{Name: at.name, Number: fraction})
		}
	}
	if !some {
		return nil
	}
	return all
}

// withNumbers returns wrong, the misfits that [Pipeline.check] found, with those of the values of numbers and parameters, which
// check does not look at. It must not overlap a run.
func (p *Pipeline) withNumbers(ctx context.Context, in []Input, wrong []misfit) []misfit {
	_ = p.m.Engine.Do(ctx, func(*goja.Runtime) error { // after a failure, those of the check remain
		for _, w := range append(p.setParams(in), p.setNumbers(in)...) {
			if !slices.ContainsFunc(wrong, func(known misfit) bool { return known.name == w.name }) {
				wrong = append(wrong, w)
			}
		}
		return nil
	})
	return wrong
}

// diagnosed returns the diagnostics of an error, which the engine's goroutine explains.
func (p *Pipeline) diagnosed(ctx context.Context, err error) diag.List {
	return diag.All(p.explain(ctx, err))
}

// mostNamed is the maximum number of names in a hint.
const mostNamed = 8

// head returns the head of a method run that takes everything declared, such as run({ x, y }). After mostNamed names it has
// "…".
func (p *Pipeline) head() string {
	list := p.declared()
	if len(list) > mostNamed {
		list = append(list[:mostNamed], "…")
	}
	return "run({ " + strings.Join(list, ", ") + " })"
}

// declared returns the names of all ports.
func (p *Pipeline) declared() (list []string) {
	for _, part := range [][]*port{p.params, p.inputs, p.outputs, p.temporaries} {
		for _, at := range part {
			list = append(list, at.name)
		}
	}
	return list
}

// undeclared returns a problem for each name that run destructures and the declaration lacks.
func (p *Pipeline) undeclared() (found diag.List) {
	known := append([]string{"device", "queue"}, p.declared()...)
	if p.declaration.run == nil {
		return nil
	}
	for _, name := range p.declaration.run.Destructured() {
		if slices.Contains(known, name.Name) {
			continue
		}
		d := diag.New(string(contract.InvalidArgument), "run takes %q, which the pipeline does not declare", name.Name)
		if slices.Contains([]string{"params", "inputs", "outputs", "temporaries"}, name.Name) {
			d = d.WithHint("run takes the declared names themselves, as in %s", p.head())
		} else {
			d = d.WithHint("%sadd it to the params, inputs, outputs or temporaries", option.DidYouMean(name.Name, known))
		}
		script.Place(p.m.Engine, d, name.Position, len([]rune(name.Name)))
		found = append(found, d)
	}
	return found
}

// placeOf returns the position of a port's declaration, or of the pipeline's.
func (p *Pipeline) placeOf(name string) contract.Position {
	for part, list := range map[string][]*port{"params": p.params, "inputs": p.inputs, "outputs": p.outputs, "temporaries": p.temporaries} {
		if find(list, name) != nil {
			return p.declaration.place(part, name)
		}
	}
	return p.declaration.at
}

// sampled returns the values of a run with made-up ones for inputs and parameters that need one.
func (p *Pipeline) sampled(in []Input) []Input {
	in = slices.Clone(in)
	for _, at := range p.inputs {
		if indexOfInput(in, at.name) >= 0 {
			continue
		}
		sample := Input{Name: at.name, Number: int64(1)}
		if at.rank > 0 {
			size := at.elem.Size()
			for range at.rank {
				sample.Dims = append(sample.Dims, sampleExtent)
				size *= sampleExtent
			}
			sample.Number, sample.Type, sample.Data = nil, at.elem.Contract(), make([]byte, size)
		} else if at.typeName() == "bool" {
			sample.Number = true
		}
		in = append(in, sample)
	}
	for _, at := range p.params {
		if indexOfInput(in, at.name) < 0 && at.param.Default == nil {
			in = append(in, Input{Name: at.name, Number: at.param.Sample()})
		}
	}
	return in
}

// rehearse begins a rehearsal, or ends it with nil.
func (m *Module) rehearse(r *rehearsal) {
	m.rehearsal = r
	m.queues.Rehearse(r != nil)
	if r != nil {
		m.kernels.Refuse(m.skip)
	} else {
		m.kernels.Refuse(nil)
	}
}

// skip records the error of a launch in a rehearsal and returns an event in place of the launch's. Outside a rehearsal, and for
// calls that were cut short and for limits, it returns the error.
func (m *Module) skip(failed error) (goja.Value, error) {
	if m.rehearsal == nil || m.Engine.Running().Err() != nil || diag.Code(failed) == string(contract.OutOfResources) {
		return nil, failed
	}
	m.rehearsal.found = append(m.rehearsal.found, m.each(failed)...)
	return m.queues.EventAfter(m.rehearsal.queue, "")
}

// each returns a diagnostic for each mistake of a kernel, with a note of its launch, and one diagnostic for any other error.
func (m *Module) each(err error) (all diag.List) {
	var list kerneldiag.List
	if !errors.As(err, &list) {
		var e *contract.Error
		if errors.As(err, &e) && !script.Position(e.Pos).IsValid() {
			e.Pos = m.Caller()
		}
		return diag.All(m.Explain(err))
	}
	for i := range list {
		one := diag.All(script.ExplainKernel(m.Engine, list[i:i+1]))
		if at := m.Engine.Caller(); at.IsValid() && at != one[0].Position {
			one[0].Notes = append(one[0].Notes, script.Note(m.Engine, "launched here", at))
		}
		all = append(all, one...)
	}
	return all
}

// explainAll returns one error for all misfits. It must be called on the engine's goroutine.
func (m *Module) explainAll(wrong []misfit) error {
	if len(wrong) == 1 {
		return wrong[0].Error
	}
	var all diag.List
	for _, w := range wrong {
		all = append(all, diag.All(m.Explain(w.Error))...)
	}
	return all.Diagnostic()
}
