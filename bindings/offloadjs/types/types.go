// Package types implements the element types of the module 'offload': the class of types, and struct().
package types

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/habits"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Module holds the element types of one engine.
type Module struct {
	*script.Script
	class   *lang.Class[element.Type]
	objects map[ir.Type]*goja.Object
	records int // types declared by struct()
}

// New returns the types of an engine.
func New(s *script.Script) *Module {
	m := &Module{Script: s, objects: map[ir.Type]*goja.Object{}}
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[element.Type]{
		Name: "Type",
		Fields: []lang.Field[element.Type]{
			script.Value(m.Script, "name", func(t element.Type) any { return t.String() }),
			script.Value(m.Script, "size", func(t element.Type) any { return t.Size() }),
			script.Field(m.Script, "layout", func(t element.Type) (goja.Value, error) {
				if t.Elem.Record == nil {
					return goja.Undefined(), nil
				}
				return element.Layout(m.VM, t.Elem.Record), nil
			}),
		},
		Inspect: func(t element.Type, _ inspect.Options) string { return t.String() },
		Call:    element.CallError,
		JSON:    func(t element.Type) (goja.Value, error) { return m.VM.ToValue(t.String()), nil },
	})
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor()}
}

// NewStruct implements struct({x: f32, v: [f32, 3], inner: Other}, name?), which returns a record type in C layout.
func (m *Module) NewStruct(call goja.FunctionCall) (goja.Value, error) {
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
	return m.ObjectOf(element.Type{Elem: ir.Elem{Record: ir.NewRecord(name, fields)}}), nil
}

// field parses the type of a field: a type, or [type, n, …] for an array.
func (m *Module) field(v goja.Value) (ir.Field, error) {
	if t, ok := m.Of(v); ok {
		return ir.Field{Elem: t.Elem}, nil
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return ir.Field{}, fmt.Errorf("expected a type such as f32 or [f32, 3], not %s", convert.Describe(v))
	}
	t, ok := m.Of(list.Get("0"))
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

// ParamType returns the type of a kernel's parameter that a script's value stands for: a type for a number, [type] or
// [type, rank] for a buffer.
func (m *Module) ParamType(v goja.Value) (kernel.Arg, error) {
	if t, ok := m.Of(v); ok {
		if t.Elem.Record != nil {
			return kernel.Arg{}, fmt.Errorf("a record cannot be passed by value: write [%s] for a buffer", t)
		}
		if wide := t.Elem.Scalar.Value(); wide != t.Elem.Scalar {
			return kernel.Arg{}, fmt.Errorf("values in kernels are never %s: write %s for a number, [%s] for a buffer", t, wide, t)
		}
		return kernel.Arg{Kind: kernel.Scalar, Type: t.Elem.Scalar}, nil
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return kernel.Arg{}, fmt.Errorf("expected a type such as f32 or [f32, 2], not %s", convert.Describe(v))
	}
	t, ok := m.Of(list.Get("0"))
	if !ok {
		first := list.Get("0")
		if first == nil {
			first = goja.Undefined()
		}
		return kernel.Arg{}, fmt.Errorf("expected [type] or [type, rank]; %s is no type, such as f32 of module 'offload'", convert.Describe(first))
	}
	if n := list.Get("length").ToInteger(); n > 2 {
		return kernel.Arg{}, fmt.Errorf("expected [type] or [type, rank], not an array of length %d: %s", n, rankOf(t, n-1))
	}
	arg := kernel.Arg{Kind: kernel.Buffer, Elem: t.Elem, Rank: 1}
	if rank := list.Get("1"); rank != nil {
		n, err := element.Integer(rank)
		if o, ok := rank.(*goja.Object); ok && o.ClassName() == "Array" {
			return kernel.Arg{}, fmt.Errorf("the rank must be 1, 2 or 3, not an array: %s", rankOf(t, o.Get("length").ToInteger()))
		}
		if err != nil || n < 1 || n > 3 {
			return kernel.Arg{}, fmt.Errorf("the rank must be 1, 2 or 3, not %s", convert.Describe(rank))
		}
		arg.Rank = n
	}
	return arg, nil
}

// rankOf explains the rank of a buffer to a script that declared this number of extents.
func rankOf(t element.Type, extents int64) string {
	return fmt.Sprintf("the rank is the number of extents, as in [%s, %d]; the buffer itself has the extents", t, min(max(extents, 1), 3))
}

func (m *Module) Of(v goja.Value) (element.Type, bool) { return m.class.Of(v) }

// ObjectOf returns the script object of an element type. Each scalar type has one object.
func (m *Module) ObjectOf(t element.Type) *goja.Object {
	if t.Elem.Record != nil {
		return m.class.New(t)
	}
	o := m.objects[t.Elem.Scalar]
	if o == nil {
		o = m.class.New(t)
		m.objects[t.Elem.Scalar] = o
	}
	return o
}

// ForeignType returns the element type for its own name, for that of a typed array, or for that in another language. It
// returns false for other names.
func ForeignType(name string) (ir.Type, bool) {
	for _, t := range element.ScalarTypes {
		if name == t.String() {
			return t, true
		}
	}
	if t, ok := element.ArrayTypes[name]; ok {
		return t, true
	}
	if own := habits.Types.Get()[name]; own != "" {
		return ForeignType(own)
	}
	return ir.Void, false
}
