package multi

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/pool"
	"github.com/orepl/orepl/runtime/session"
)

// collective implements the export collective, whose operations take buffers of any devices.
type collective struct{}

// newCollective returns the export collective and its class.
func (m *Module) newCollective() (*goja.Object, *lang.Class[*collective]) {
	call := func(name string, most int, fn func(string, goja.FunctionCall) error) lang.Method[*collective] {
		return script.Method(m.Script, name, func(_ *collective, c goja.FunctionCall) (goja.Value, error) {
			if len(c.Arguments) > most { // options of other libraries would have no effect
				return nil, &lang.ArgumentError{Func: "collective." + name, Name: fmt.Sprintf("argument %d", most+1), Detail: "is one too many"}
			}
			return nil, fn(name, c)
		})
	}
	class := lang.NewClass(m.Engine, lang.ClassSpec[*collective]{
		Name: "Collective",
		Methods: []lang.Method[*collective]{
			call("broadcast", 2, m.broadcast), call("scatter", 2, m.scatter), call("gather", 2, m.gather), call("allReduce", 3, m.allReduce),
		},
		Inspect: func(*collective, inspect.Options) string { return "Collective" },
	})
	return class.New(&collective{}), class
}

// collective returns the collective operations within the engine's limits.
func (m *Module) collective() *pool.Collective {
	return &pool.Collective{Context: m.Engine.Running(), Pos: m.Caller(),
		Queue:     func(op string, d *session.Device) (*session.Queue, error) { return m.host.Queue(op, nil, d) },
		NewBuffer: m.host.NewBuffer, Launch: m.host.Launch}
}

// member parses a buffer argument of a collective operation.
func (m *Module) member(op, what string, v goja.Value) (element.Buffer, error) {
	b, ok := m.host.Elements(v)
	if !ok {
		return b, contract.Errorf(contract.InvalidArgument, op, "%s must be a buffer, not %s", what, convert.Describe(v))
	}
	return b, nil
}

// members parses an array of buffers, and also returns the type of the first one.
func (m *Module) members(op string, v goja.Value) (list []*session.Buffer, first element.Type, err error) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return nil, first, contract.Errorf(contract.InvalidArgument, op, "expected an array of buffers, not %s", convert.Describe(v))
	}
	m.VM.ForOf(o, func(v goja.Value) bool {
		var b element.Buffer
		if b, err = m.member(op, fmt.Sprintf("element %d", len(list)), v); err == nil {
			if len(list) == 0 {
				first.Elem = b.Elem
			}
			list = append(list, b.Buffer)
		}
		return err == nil
	})
	return list, first, err
}

// broadcast implements collective.broadcast(source, destinations).
func (m *Module) broadcast(op string, call goja.FunctionCall) error {
	src, err := m.member(op, "the source", call.Argument(0))
	if err != nil {
		return err
	}
	list, _, err := m.members(op, call.Argument(1))
	if err != nil {
		return err
	}
	return m.collective().Broadcast(src.Buffer, list)
}

// whole parses the arguments of scatter and gather: a buffer and its parts.
func (m *Module) whole(op string, call goja.FunctionCall) (whole *session.Buffer, parts []*session.Buffer, err error) {
	all, err := m.member(op, "the whole", call.Argument(0))
	if err != nil {
		return nil, nil, err
	}
	parts, _, err = m.members(op, call.Argument(1))
	return all.Buffer, parts, err
}

// scatter implements collective.scatter(whole, parts).
func (m *Module) scatter(op string, call goja.FunctionCall) error {
	whole, parts, err := m.whole(op, call)
	if err != nil {
		return err
	}
	return m.collective().Scatter(whole, parts)
}

// gather implements collective.gather(whole, parts).
func (m *Module) gather(op string, call goja.FunctionCall) error {
	whole, parts, err := m.whole(op, call)
	if err != nil {
		return err
	}
	return m.collective().Gather(whole, parts)
}

// reductions maps the operations of allReduce to those of the kernel language.
var reductions = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{"sum": "add", "product": "mul", "min": "min", "max": "max"}
}}

// allReduce implements collective.allReduce(buffers, operation?, options?).
func (m *Module) allReduce(op string, call goja.FunctionCall) error {
	list, first, err := m.members(op, call.Argument(0))
	if err != nil {
		return err
	}
	name := "sum"
	if v := call.Argument(1); !goja.IsUndefined(v) {
		name, _ = element.Exported(v).(string)
	}
	if reductions.Get()[name] == "" {
		return contract.Errorf(contract.InvalidArgument, op, "the operation is %s", convert.Describe(call.Argument(1))).
			WithHint("write 'sum', 'product', 'min' or 'max'")
	}
	o := m.Options.Parse(op, call.Argument(2), "order")
	order := o.OneOf("order", "array", "any")
	if o.Err != nil {
		return o.Err
	}
	c := m.collective()
	c.AnyOrder = order == "any"
	return c.AllReduce(list, func() (*session.Library, error) {
		return m.reducer(op, first, reductions.Get()[name])
	})
}

// reduction is a type and an operation of allReduce.
type reduction struct {
	scalar    ir.Type
	operation string
}

// reducer returns a library with the kernel reduce(y, x), which computes y[i] = y[i] op x[i]. It keeps the library in
// m.reducers. Types of other than 32 or 64 bits are an error.
func (m *Module) reducer(op string, t element.Type, operation string) (*session.Library, error) {
	scalar := t.Elem.Scalar
	if lib := m.reducers[reduction{scalar, operation}]; lib != nil {
		return lib, nil
	}
	switch scalar {
	case ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64:
	default:
		return nil, contract.Errorf(contract.Unsupported, op, "buffers of %s cannot be reduced", t).WithHint("the types are i32, u32, i64, u64, f32 and f64")
	}
	var text strings.Builder
	real, result := ir.F32, "%4"
	if scalar == ir.F64 {
		real = scalar
	}
	fmt.Fprintf(&text, "orepl-ir 1\nkernel reduce(y: %[1]s[*], x: %[1]s[*]) real %[2]s {\n  %%0: i32 = item.global.x\n  %%1: %[1]s = load y[%%0]\n  %%2: %[1]s = load x[%%0]\n  %%3: %[1]s = %[3]s %%1, %%2\n",
		scalar, real, operation)
	if scalar.IsFloat() {
		fmt.Fprintf(&text, "  %%4: %[1]s = quant.%[1]s %%3\n", scalar)
	} else {
		result = "%3"
	}
	fmt.Fprintf(&text, "  store y[%%0], %s\n  return\n}\n", result)
	mod, err := ir.ParseText("allReduce", text.String())
	if err != nil {
		return nil, err
	}
	lib, err := m.host.Library("allReduce", mod)
	if err == nil {
		m.reducers[reduction{scalar, operation}] = lib
	}
	return lib, err
}
