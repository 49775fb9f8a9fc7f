package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/params"
	"github.com/orepl/orepl/bindings/offloadjs/placement"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
	contract "github.com/orepl/orepl/runtime/offload"
)

// paramPort parses the declaration of a parameter: a type, or { type, default, min, max, values, doc, unit }.
func (m *Module) paramPort(p *port, v goja.Value) error {
	p.param = &params.Param{Name: p.name}
	if t, ok := m.types.Of(v); ok {
		return m.setParamType(p, t)
	}
	if _, ok := v.(*goja.Object); !ok {
		return fmt.Errorf("expected a type or { type, default, min, max, values, doc, unit }, not %s", convert.Describe(v))
	}
	o := m.Options.Parse("pipeline", v, "type", "default", "min", "max", "values", "doc", "unit")
	p.param.Doc, p.param.Unit = o.Text("doc"), o.Text("unit")
	if o.Err != nil {
		return o.Err
	}
	if v := o.Get("type"); v != nil {
		t, ok := m.types.Of(v)
		if !ok {
			return fmt.Errorf("the type is %s: write f32, i32, bool or another type of numbers, and leave it out for texts", convert.Describe(v))
		}
		if err := m.setParamType(p, t); err != nil {
			return err
		}
	} else {
		p.param.Type = "string"
	}
	if list, ok := o.Get("values").(*goja.Object); ok {
		for i := range list.Get("length").ToInteger() {
			v, err := p.value(list.Get(fmt.Sprint(i)))
			if err != nil {
				return fmt.Errorf("values: %v", err)
			}
			p.param.Values = append(p.param.Values, v)
		}
	} else if v := o.Get("values"); v != nil {
		return fmt.Errorf("values must be an array, not %s", convert.Describe(v))
	}
	for name, to := range map[string]*any{"min": &p.param.Min, "max": &p.param.Max, "default": &p.param.Default} {
		v := o.Get(name)
		if v == nil {
			continue
		}
		var err error
		if *to, err = p.value(v); err != nil {
			return fmt.Errorf("%s: %v", name, err)
		}
		if name != "default" && p.param.Type == "string" {
			return fmt.Errorf("%s: a text has no bounds", name)
		}
	}
	if p.param.Default != nil {
		if err := p.param.Check(p.param.Default); err != nil {
			return fmt.Errorf("the default %v", err)
		}
	}
	return nil
}

func (m *Module) setParamType(p *port, t element.Type) error {
	if t.Elem.Record != nil {
		return fmt.Errorf("a record cannot be a parameter")
	}
	p.elem, p.param.Type = t, t.String()
	return nil
}

// value returns a script's value as the Go value of a parameter. It returns an error for a value that is not of the parameter's
// type.
func (at *port) value(v goja.Value) (any, error) {
	x := element.Exported(v)
	if s, ok := x.(string); ok && at.param.Type == "string" {
		return s, nil
	}
	if at.param.Type == "string" {
		return nil, fmt.Errorf("expected a text, not %s", convert.Describe(v))
	}
	_, err := element.Bits(at.elem.Elem.Scalar, v)
	return x, err
}

// setParams sets the parameters of a run and returns the values that are not allowed. [Pipeline.check] has ensured that each has a
// value.
func (p *Pipeline) setParams(in []Input) (wrong []misfit) {
	for _, at := range p.params {
		x := at.param.Default
		if i := indexOfInput(in, at.name); i >= 0 {
			x = in[i].Number
		}
		v := p.m.number(at.elem, x)
		var err error
		if at.param.Type != "string" {
			err = at.bits(v)
		}
		got, unlike := at.value(v)
		if err = cmp.Or(err, unlike); err != nil {
			wrong = append(wrong, misfit{at.name, p.fail("the parameter %q: %v", at.name, err)})
		} else if err = at.param.Check(got); err != nil {
			wrong = append(wrong, misfit{at.name, p.fail("the parameter %q %v", at.name, err)})
		}
		_ = internals.Define(p.io, at.name, v) // cannot fail on a plain object
	}
	return wrong
}

// setNumbers sets the inputs that are numbers and returns the values that do not fit.
func (p *Pipeline) setNumbers(in []Input) (wrong []misfit) {
	for i := range in {
		at := find(p.inputs, in[i].Name)
		if at == nil || at.rank > 0 {
			continue
		}
		v := p.m.number(at.elem, in[i].Number)
		if err := at.bits(v); err != nil {
			wrong = append(wrong, misfit{at.name, p.fail("the input %q: %v", at.name, err)})
		}
		_ = internals.Define(p.io, at.name, v) // cannot fail on a plain object
	}
	return wrong
}

// Port is an input or output of a pipeline.
type Port struct {
	Name string
	Type string // element type, such as "f32"
	Rank int    // number of dimensions, 0 for a number; -1 if it is known when the pipeline runs
}

// Inputs returns the declared inputs in order of declaration.
func (p *Pipeline) Inputs() []Port { return ports(p.inputs) }

// Outputs returns the declared outputs in order of declaration.
func (p *Pipeline) Outputs() []Port { return ports(p.outputs) }

// Params returns the declared parameters in order of declaration.
func (p *Pipeline) Params() []params.Param {
	list := make([]params.Param, len(p.params))
	for i, at := range p.params {
		list[i] = *at.param
	}
	return list
}

// ErrNone is the error of a script that exports no pipeline.
var ErrNone = errors.New("the script exports no pipeline")

// Load runs a script in an engine and returns the pipeline that it exports. Errors: that of the script, or a [*diag.Diagnostic]
// that wraps [ErrNone].
func Load(ctx context.Context, e *lang.Engine, path string) (*Pipeline, error) {
	exports, err := e.RunFile(ctx, path)
	if d, ok := err.(*diag.Diagnostic); ok && !d.Position.IsValid() && (d.ID == string(contract.Timeout) || d.ID == "out-of-memory") {
		placed := *d
		placed.Position = diag.Position{File: path, Line: 1, Column: 1}
		err = &placed
	}
	if err != nil {
		return nil, err
	}
	e.EndLoading()
	var p *Pipeline
	err = e.Do(ctx, func(*goja.Runtime) error {
		host, _ := e.HostValue(exports.Get("default"))
		var ok bool
		if p, ok = host.(*Pipeline); ok {
			return nil
		}
		d := diag.New("invalid-argument", "%v", ErrNone).
			WithHint("write: export default pipeline({ inputs: …, outputs: …, run(…) { … } })")
		d.Position = e.Locate(exports, "default", nil)
		if !d.Position.IsValid() {
			d.Position = diag.Position{File: path, Line: 1, Column: 1}
		}
		d.Cause = ErrNone
		return d
	})
	return p, err
}

// Choice returns the pipeline's device and why it was chosen.
func (p *Pipeline) Choice() placement.Choice { return p.choice }

// OnlyLaunches reports whether run only launches kernels, so that it may be called for a check.
func (p *Pipeline) OnlyLaunches() bool { return p.tape != nil }

// IsLost reports whether the pipeline's device has been lost.
func (p *Pipeline) IsLost() bool { return p.device.IsLost() }

func ports(list []*port) []Port {
	all := make([]Port, len(list))
	for i, at := range list {
		all[i] = Port{Name: at.name, Type: at.elem.String(), Rank: at.rank}
		if at.dims != nil {
			all[i].Rank = len(at.dims)
		} else if at.extent != nil {
			all[i].Rank = -1
		}
	}
	return all
}
