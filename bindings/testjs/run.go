package testjs

import (
	"fmt"
	"math/big"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// run implements run(pipeline, inputs).
func (m *module) run(call goja.FunctionCall) (goja.Value, error) {
	host, _ := m.HostValue(call.Argument(0))
	p, ok := host.(*pipelines.Pipeline)
	inputs, isObject := call.Argument(1).(*goja.Object)
	if !ok || !isObject {
		return nil, diag.New("invalid-argument", "run: expected a pipeline and an object of inputs, not %s and %s", convert.Describe(call.Argument(0)), convert.Describe(call.Argument(1))).
			WithHint("write: const { y } = await run(pipeline, { x: [1, 2] })")
	}
	if m.running[p] {
		return nil, diag.New("invalid-argument", "run: the pipeline is running").WithHint("await the run before")
	}
	var in []pipelines.Input
	for _, name := range inputs.Keys() {
		one, err := m.input(p, name, inputs.Get(name))
		if err != nil {
			return nil, diag.New("invalid-argument", "run: the input %q: %v", name, err)
		}
		in = append(in, one)
	}
	var out []pipelines.Output
	results := map[string]*result{}
	for _, at := range p.Outputs() {
		t, _ := p.Elements(at.Name)
		r := &result{elem: t}
		results[at.Name] = r
		out = append(out, pipelines.Output{Name: at.Name, Type: t.Contract(), Store: r.store})
	}
	finish := func() (goja.Value, error) {
		o := m.VM().NewObject()
		for _, at := range p.Outputs() {
			v, err := results[at.Name].value(m.VM())
			if err != nil {
				return nil, err
			}
			_ = internals.Define(o, at.Name, v) // cannot fail on a new plain object
		}
		return o, nil
	}
	m.running[p] = true
	v, err := p.Begin(in, out)
	if err != nil {
		delete(m.running, p)
		return nil, err
	}
	promise, settle := m.Promise("the run of a pipeline")
	m.Settled(v, func(err error) {
		delete(m.running, p)
		if err != nil {
			settle.Reject(err)
			return
		}
		settle.Resolve(finish)
	})
	return promise, nil
}

// input converts a value of a script: a number, a BigInt, a boolean, a text, an array, or an object with data and shape.
func (m *module) input(p *pipelines.Pipeline, name string, v goja.Value) (in pipelines.Input, err error) {
	in.Name = name
	o, ok := v.(*goja.Object)
	if !ok {
		switch x := element.Exported(v).(type) {
		case int64, float64, bool, string, *big.Int:
			in.Number = x
			return in, nil
		}
		return in, fmt.Errorf("expected a number or an array, not %s", convert.Describe(v))
	}
	t, ok := p.Elements(name)
	if !ok {
		return in, fmt.Errorf("the pipeline takes no array of this name")
	}
	data, shape := goja.Value(o), goja.Value(nil)
	if o.Get("data") != nil && o.Get("shape") != nil {
		data, shape = o.Get("data"), o.Get("shape")
	}
	if in.Data, err = element.ToBytes(m.VM(), t, data); err != nil {
		if rows := rowsOf(data); rows > 0 {
			return in, fmt.Errorf("%w; write the elements row by row, as { data: […], shape: [%d, …] }", err, rows)
		}
		return in, err
	}
	in.Type, in.Dims = t.Contract(), []int{len(in.Data) / t.Size()}
	if shape != nil {
		in.Dims, err = element.Extents(shape)
	}
	return in, err
}

// rowsOf returns the number of elements of an array of arrays, or 0.
func rowsOf(v goja.Value) int {
	list, ok := internals.Export(v).([]any)
	if !ok || len(list) == 0 {
		return 0
	}
	if _, nested := list[0].([]any); !nested {
		return 0
	}
	return len(list)
}

// result is an output of a run.
type result struct {
	elem element.Type
	data []byte
	dims []int
}

func (r *result) store(dims []int) ([]byte, error) {
	n := r.elem.Size()
	for _, d := range dims {
		n *= d
	}
	r.data, r.dims = make([]byte, n), dims
	return r.data, nil
}

// value returns the output as a typed array, or as an array of records, with the property shape.
func (r *result) value(vm *goja.Runtime) (goja.Value, error) {
	v, err := element.FromBytes(vm, r.elem, r.data)
	if o, ok := v.(*goja.Object); ok && err == nil {
		list := make([]any, len(r.dims))
		for i, d := range r.dims {
			list[i] = d
		}
		err = o.DefineDataProperty("shape", vm.NewArray(list...), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	return v, err
}
