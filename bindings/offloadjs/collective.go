package offloadjs

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
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// collective implements the export collective, whose operations use one buffer per device.
type collective struct{}

func (m *instance) defineCollective() {
	call := func(name string, fn func(string, goja.FunctionCall) error) lang.Method[*collective] {
		return script.Method(m.Script, name, func(_ *collective, c goja.FunctionCall) (goja.Value, error) { return nil, fn(name, c) })
	}
	m.collective = lang.NewClass(m.Engine, lang.ClassSpec[*collective]{
		Name: "Collective",
		Methods: []lang.Method[*collective]{
			call("broadcast", m.broadcast), call("scatter", m.scatter), call("gather", m.gather), call("allReduce", m.allReduce),
		},
		Inspect: func(*collective, inspect.Options) string { return "Collective" },
	})
}

// member parses a buffer argument of a collective operation.
func (m *instance) member(op, what string, v goja.Value) (*session.Buffer, error) {
	b := m.asBuffer(v)
	if b == nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "%s must be a buffer, not %s", what, convert.Describe(v))
	}
	return b.Buffer, nil
}

// members parses an array of buffers.
func (m *instance) members(op string, v goja.Value) (list []*session.Buffer, err error) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected an array of buffers, not %s", convert.Describe(v))
	}
	m.VM.ForOf(o, func(v goja.Value) bool {
		var b *session.Buffer
		if b, err = m.member(op, fmt.Sprintf("element %d", len(list)), v); err == nil {
			list = append(list, b)
		}
		return err == nil
	})
	return list, err
}

// move enqueues a copy on the destination's default queue. The buffers may be on different devices.
func (m *instance) move(op string, dst, src *session.Buffer) error {
	if dst.Len() == 0 && src.Len() == 0 {
		return nil
	}
	q, err := m.queueFor(op, nil, nil, dst.Device())
	if err != nil {
		return err
	}
	return q.Copy(dst, src)
}

// part returns a one-dimensional view of n elements from index from.
func part(b *session.Buffer, from, n int64) (*session.Buffer, error) {
	return b.View(session.ViewOptions{Start: from, Dims: []int{int(n)}})
}

// broadcast implements collective.broadcast(source, destinations) as a binomial tree of copies.
func (m *instance) broadcast(op string, call goja.FunctionCall) error {
	src, err := m.member(op, "the source", call.Argument(0))
	if err != nil {
		return err
	}
	list, err := m.members(op, call.Argument(1))
	if err != nil {
		return err
	}
	have := []*session.Buffer{src}
	for i, dst := range list {
		if dst.Size() != src.Size() {
			return contract.Errorf(contract.InvalidSize, op, "destination %d has %d bytes, the source %d", i, dst.Size(), src.Size()).On(dst.Device().ID(), dst.Label())
		}
		have = append(have, dst)
	}
	for first := 1; first < len(have); first *= 2 { // the number of copies doubles in each round
		for i := first; i < min(2*first, len(have)); i++ {
			if err := m.move(op, have[i], have[i-first]); err != nil {
				return err
			}
		}
	}
	return nil
}

// slices returns views of a whole buffer that match the sizes of the parts, and the parts.
func (m *instance) slices(op string, whole goja.Value, parts goja.Value) (views, list []*session.Buffer, err error) {
	all, err := m.member(op, "the whole", whole)
	if err != nil {
		return nil, nil, err
	}
	if list, err = m.members(op, parts); err != nil {
		return nil, nil, err
	}
	sum := int64(0)
	for i, p := range list {
		if p.Elem() != all.Elem() || p.Type() != all.Type() {
			return nil, nil, contract.Errorf(contract.InvalidArgument, op, "part %d has elements of another type than the whole", i).On(p.Device().ID(), p.Label())
		}
		sum += p.Len()
	}
	if sum != all.Len() {
		return nil, nil, contract.Errorf(contract.InvalidSize, op, "the parts have %d elements together, the whole has %d", sum, all.Len()).On(all.Device().ID(), all.Label())
	}
	at := int64(0)
	for _, p := range list {
		v, err := part(all, at, p.Len())
		if err != nil {
			return nil, nil, err
		}
		views = append(views, v)
		at += p.Len()
	}
	return views, list, nil
}

// scatter implements collective.scatter(whole, parts).
func (m *instance) scatter(op string, call goja.FunctionCall) error {
	views, list, err := m.slices(op, call.Argument(0), call.Argument(1))
	for i := range views {
		if err == nil {
			err = m.move(op, list[i], views[i])
		}
	}
	return err
}

// gather implements collective.gather(whole, parts).
func (m *instance) gather(op string, call goja.FunctionCall) error {
	views, list, err := m.slices(op, call.Argument(0), call.Argument(1))
	for i := range views {
		if err == nil {
			err = m.move(op, views[i], list[i])
		}
	}
	return err
}

// reductions maps the operations of allReduce to those of the kernel language.
var reductions = map[string]string{"sum": "add", "product": "mul", "min": "min", "max": "max"}

// allReduce implements collective.allReduce(buffers, operation?). Each element becomes ((b0 op b1) op b2) …, in the order of
// the buffers. Each device reduces an equal part; then the parts are copied to all devices.
func (m *instance) allReduce(op string, call goja.FunctionCall) error {
	list, err := m.members(op, call.Argument(0))
	if err != nil {
		return err
	}
	name := "sum"
	if v := call.Argument(1); !goja.IsUndefined(v) {
		name, _ = element.Exported(v).(string)
	}
	if reductions[name] == "" {
		return contract.Errorf(contract.InvalidArgument, op, "the operation is %s", convert.Describe(call.Argument(1))).
			WithHint("write 'sum', 'product', 'min' or 'max'")
	}
	for i, b := range list {
		if b.Type() != list[0].Type() || b.Len() != list[0].Len() {
			return contract.Errorf(contract.InvalidArgument, op, "buffer %d has another type or number of elements than the first", i).On(b.Device().ID(), b.Label())
		}
	}
	if len(list) < 2 || list[0].Len() == 0 {
		return nil
	}
	library, err := m.reducer(op, m.asBuffer(call.Argument(0).(*goja.Object).Get("0")).elem, reductions[name])
	if err != nil {
		return err
	}
	return m.reduceParts(op, list, library)
}

// reduceParts reduces part i of all buffers on the device of buffer i and copies the result to all buffers.
func (m *instance) reduceParts(op string, list []*session.Buffer, library *session.Library) error {
	n, each := list[0].Len(), (list[0].Len()+int64(len(list))-1)/int64(len(list))
	var sums []*session.Buffer
	defer func() {
		for _, s := range sums {
			_ = s.Free() // deferred until pending commands complete
		}
	}()
	for i, owner := range list {
		size := min(each, n-each*int64(i))
		if size <= 0 {
			break
		}
		d := owner.Device()
		q, err := m.queueFor(op, nil, nil, d)
		if err != nil {
			return err
		}
		var temps [2]*session.Buffer // the partial result, and the staged part of another device
		for j := range temps {
			temps[j], err = m.makeBuffer(d, session.BufferOptions{Type: owner.Type(), Elem: owner.Elem(), Dims: []int{int(size)}, Label: "allReduce", Uninitialized: true,
				Pos: m.Caller()})
			if err != nil {
				return err
			}
			sums = append(sums, temps[j])
		}
		k, err := library.Kernel(m.Engine.Running(), d, "reduce")
		if err != nil {
			return err
		}
		for j, b := range list {
			v, err := part(b, each*int64(i), size)
			if err != nil {
				return err
			}
			term := v
			if j == 0 || b.Device() != d {
				term = temps[min(j, 1)]
				if err := q.Copy(term, v); err != nil {
					return err
				}
			}
			if j == 0 {
				continue
			}
			c, err := k.Bind(session.Config{Size: []int{int(size)}, Pos: m.Caller()}, session.Buf(temps[0]), session.Buf(term))
			if err != nil {
				return err
			}
			if err := m.submit(q, c); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(sums); i += 2 {
		for _, b := range list {
			v, err := part(b, each*int64(i/2), sums[i].Len())
			if err != nil {
				return err
			}
			if err := m.move(op, v, sums[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// reducer returns a library with the kernel reduce(y, x), which computes y[i] = y[i] op x[i].
func (m *instance) reducer(op string, t element.Type, operation string) (*session.Library, error) {
	scalar := t.Elem.Scalar
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
	lib, err := m.env.acquire(m.Engine.Running(), "allReduce", mod)
	if err != nil {
		return nil, err
	}
	m.used.add(lib)
	return lib.Library, nil
}
