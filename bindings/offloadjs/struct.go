package offloadjs

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
)

// newStruct implements struct({x: f32, v: [f32, 3], inner: Other}, name?), which returns a record type in C layout.
func (m *instance) newStruct(call goja.FunctionCall) (goja.Value, error) {
	const op = "struct"
	obj, ok := call.Argument(0).(*goja.Object)
	if !ok || len(obj.Keys()) == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected an object that maps field names to types, not %s", convert.Describe(call.Argument(0))).
			WithHint("write struct({x: f32, v: [f32, 3]})")
	}
	m.records++
	name := fmt.Sprintf("struct%d", m.records)
	if s, ok := element.Exported(call.Argument(1)).(string); ok {
		name = s
	}
	var fields []ir.Field
	for _, key := range obj.Keys() {
		f, err := m.field(obj.Get(key))
		if err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "field %s: %v", key, err)
		}
		f.Name = key
		fields = append(fields, f)
	}
	return m.typeObject(element.Type{Elem: ir.Elem{Record: ir.NewRecord(name, fields)}}), nil
}

// field parses the type of a field: a type, or [type, n, …] for an array.
func (m *instance) field(v goja.Value) (ir.Field, error) {
	if t, ok := m.asType(v); ok {
		return ir.Field{Elem: t.Elem}, nil
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return ir.Field{}, fmt.Errorf("expected a type such as f32 or [f32, 3], not %s", convert.Describe(v))
	}
	t, ok := m.asType(list.Get("0"))
	if !ok {
		return ir.Field{}, fmt.Errorf("expected [type, count], not %s", convert.Describe(v))
	}
	f := ir.Field{Elem: t.Elem}
	n := int(list.Get("length").ToInteger())
	for i := 1; i < n; i++ {
		d, err := element.Integer(list.Get(fmt.Sprint(i)))
		if err != nil || d == 0 {
			return ir.Field{}, fmt.Errorf("an extent must be a positive integer, not %s", convert.Describe(list.Get(fmt.Sprint(i))))
		}
		f.Dims = append(f.Dims, d)
	}
	if len(f.Dims) == 0 || len(f.Dims) > 3 {
		return ir.Field{}, fmt.Errorf("an array in a record has one to three extents, as in [f32, 3]")
	}
	return f, nil
}
