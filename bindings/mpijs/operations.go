package mpijs

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/ranks"
)

// maxTag is the greatest tag of a message.
const maxTag = 1<<32 - 1

func (m *module) methods() []lang.Method[*communicator] {
	method := func(name string, run func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error)) lang.Method[*communicator] {
		return script.Promised(m.Script, name, func(c *communicator, call goja.FunctionCall) (goja.Value, error) {
			g, err := c.open()
			if err != nil {
				return nil, err
			}
			return run(g, name, call)
		})
	}
	reduction := func(name string, rooted bool, begin func(*ranks.Group, int, *ranks.Payload, ranks.Reduction) ranks.Operation) lang.Method[*communicator] {
		return method(name, func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.reduction(call.Argument(1))
			a.options(call.Argument(2), rooted)
			return a.run(typed(a.data.typ, begin(g, a.root, a.payload(), a.operation)))
		})
	}
	return []lang.Method[*communicator]{
		method("send", m.send),
		method("recv", m.receive),
		method("recvAny", m.receiveAny),
		method("barrier", func(g *ranks.Group, op string, _ goja.FunctionCall) (goja.Value, error) {
			run := g.Barrier()
			return m.Async(nil, op, func(ctx context.Context) (func() (goja.Value, error), error) {
				_, err := run(ctx)
				return nil, err
			}), nil
		}),
		method("broadcast", func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.rootAt(call.Argument(1))
			if a.value != nil && g.Rank() != a.root {
				a.into = &a.data
			}
			return a.run(g.Broadcast(a.root, a.payload()))
		}),
		reduction("reduce", true, func(g *ranks.Group, root int, p *ranks.Payload, r ranks.Reduction) ranks.Operation {
			return g.Reduce(root, p, r)
		}),
		reduction("allReduce", false, func(g *ranks.Group, _ int, p *ranks.Payload, r ranks.Reduction) ranks.Operation {
			return g.AllReduce(p, r)
		}),
		reduction("scan", false, func(g *ranks.Group, _ int, p *ranks.Payload, r ranks.Reduction) ranks.Operation { return g.Scan(p, r) }),
		method("gather", func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.options(call.Argument(1), true)
			return a.run(typed(a.data.typ, g.Gather(a.root, a.payload())))
		}),
		method("allGather", func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.options(call.Argument(1), false)
			return a.run(typed(a.data.typ, g.AllGather(a.payload())))
		}),
		method("scatter", func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.options(call.Argument(1), true)
			a.divided()
			return a.run(g.Scatter(a.root, a.payload()))
		}),
		method("allToAll", func(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
			a := m.arguments(g, op, call)
			a.options(call.Argument(1), false)
			a.divided()
			return a.run(typed(a.data.typ, g.AllToAll(a.payload())))
		}),
		method("split", m.split),
	}
}

// typed returns run with the element type t in its result.
func typed(t offload.Type, run ranks.Operation) func(ctx context.Context) (ranks.Data, error) {
	return func(ctx context.Context) (ranks.Data, error) {
		b, err := run(ctx)
		return ranks.Data{Type: t, Bytes: b}, err
	}
}

// arguments are those of a collective operation. Their first error is that of the payload, which the other ranks receive, too.
type arguments struct {
	m         *module
	g         *ranks.Group
	op        string
	value     goja.Value // the data; nil if there are none
	data      operand
	into      *operand
	root      int
	rooted    bool // only the root has a result
	operation ranks.Reduction
	err       error
}

// arguments reads the data of a collective operation, its first argument.
func (m *module) arguments(g *ranks.Group, op string, call goja.FunctionCall) *arguments {
	a := &arguments{m: m, g: g, op: op}
	v := call.Argument(0)
	if (op == "broadcast" || op == "scatter") && (goja.IsUndefined(v) || goja.IsNull(v)) {
		return a
	}
	a.value = v
	a.data, a.err = m.operand(op, "the data", v)
	return a
}

func (a *arguments) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *arguments) rootAt(v goja.Value) {
	if v == nil || goja.IsUndefined(v) {
		return
	}
	root, err := rankOf(a.g, a.op, "the root", v)
	if err != nil {
		a.fail(err)
		return
	}
	a.root = root
}

// rankOf returns the rank that a value names.
func rankOf(g *ranks.Group, op, what string, v goja.Value) (int, error) {
	n, err := element.Integer(v)
	if err != nil || n >= g.Size() {
		return 0, offload.Errorf(offload.InvalidArgument, op, "%s must be a rank from 0 to %d, not %s", what, g.Size()-1, convert.Describe(v))
	}
	return n, nil
}

var reductions = later.Value[map[string]ranks.Reduction]{Make: func() map[string]ranks.Reduction {
	return map[string]ranks.Reduction{"sum": ranks.Sum, "product": ranks.Product, "min": ranks.Min, "max": ranks.Max}
}}

func (a *arguments) reduction(v goja.Value) {
	if goja.IsUndefined(v) {
		v = a.m.VM.ToValue("sum")
	}
	name, _ := element.Exported(v).(string)
	r, ok := reductions.Get()[name]
	if !ok {
		a.fail(offload.Errorf(offload.InvalidArgument, a.op, "the operation is %s", convert.Describe(v)).WithHint("write 'sum', 'product', 'min' or 'max'"))
	}
	if a.err == nil && !ranks.Reduces(a.data.typ) {
		a.fail(offload.Errorf(offload.Unsupported, a.op, "elements of %s cannot be reduced", a.data.typ).WithHint("the types are i8 to u64, f32 and f64"))
	}
	a.operation = r
}

// options reads the options root and into.
func (a *arguments) options(v goja.Value, rooted bool) {
	keys := []string{"into"}
	if a.rooted = rooted && a.op != "scatter"; rooted {
		keys = append(keys, "root")
	}
	o := a.m.Options.Parse(a.op, v, keys...)
	if rooted && o.Err == nil {
		a.rootAt(o.Get("root"))
	}
	if err := a.m.place(a.op, o, &a.into); err != nil {
		a.fail(err)
	}
}

// place reads the option into, and leaves *into as it is without the option.
func (m *module) place(op string, o *option.Set, into **operand) error {
	v := o.Get("into")
	if o.Err != nil || v == nil || goja.IsUndefined(v) {
		return o.Err
	}
	place, err := m.operand(op, "into", v)
	*into = &place
	return err
}

// divided checks that the data have equal parts for all ranks, and that the root of scatter has data.
func (a *arguments) divided() {
	if a.err == nil && a.data.count%a.g.Size() != 0 {
		a.fail(offload.Errorf(offload.InvalidSize, a.op, "%d elements have no equal parts for %d ranks", a.data.count, a.g.Size()))
	}
	if a.err == nil && a.op == "scatter" && a.value == nil && a.g.Rank() == a.root {
		a.fail(offload.Errorf(offload.InvalidArgument, a.op, "the root has no data"))
	}
}

// payload returns the data for the operation, or the error in its arguments. Ranks that receive the root's data need not read theirs.
func (a *arguments) payload() *ranks.Payload {
	if a.err == nil && a.op == "broadcast" && a.value == nil && a.g.Rank() == a.root {
		a.fail(offload.Errorf(offload.InvalidArgument, a.op, "the root has no data"))
	}
	if a.err == nil && (a.value == nil || (a.op == "broadcast" || a.op == "scatter") && a.g.Rank() != a.root) {
		p, set := ranks.NewPayload(a.data.typ, a.data.count)
		set(nil, nil)
		return p
	}
	if a.err == nil {
		p, err := a.data.payload(a.m, a.g, a.op)
		if err == nil {
			return p
		}
		a.fail(err)
	}
	p, set := ranks.NewPayload(a.data.typ, a.data.count)
	set(nil, a.err)
	return p
}

// run returns a promise of the result of an operation. If only the root has a result, the promise is of undefined on other
// ranks.
func (a *arguments) run(run func(ctx context.Context) (ranks.Data, error)) (goja.Value, error) {
	return a.m.Async(nil, a.op, func(ctx context.Context) (func() (goja.Value, error), error) {
		d, err := run(ctx)
		if err != nil {
			return nil, err
		}
		if a.rooted && a.g.Rank() != a.root {
			return nil, nil
		}
		if a.op == "broadcast" && a.into == nil && a.g.Rank() == a.root {
			a.g.Free(d.Bytes)
			return func() (goja.Value, error) { return a.value, nil }, nil
		}
		return func() (goja.Value, error) {
			v, err := a.m.result(a.g, a.op, d, a.into)
			return v, a.m.Explain(err)
		}, nil
	}), nil
}

// tag reads the option tag, by default 0.
func tag(o *option.Set) uint64 {
	if o.Get("tag") == nil {
		return 0
	}
	n := o.Integer("tag")
	if o.Err == nil && n > maxTag {
		o.Fail("tag must be at most %d", maxTag)
	}
	return uint64(n)
}

// send implements send(data, to, { tag }?).
func (m *module) send(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
	data, err := m.operand(op, "the data", call.Argument(0))
	if err != nil {
		return nil, err
	}
	to, err := rankOf(g, op, "the receiver", call.Argument(1))
	if err != nil {
		return nil, err
	}
	o := m.Options.Parse(op, call.Argument(2), "tag")
	number := tag(o)
	if o.Err != nil {
		return nil, o.Err
	}
	p, err := data.payload(m, g, op)
	if err != nil {
		return nil, err
	}
	done := g.Send(to, number, p)
	return m.Async(nil, op, func(ctx context.Context) (func() (goja.Value, error), error) {
		select {
		case err := <-done:
			return nil, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}), nil
}

// receive implements recv(from, { tag, into }?).
func (m *module) receive(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
	from, err := rankOf(g, op, "the sender", call.Argument(0))
	if err != nil {
		return nil, err
	}
	return m.message(g, op, call.Argument(1), func(tag uint64) *ranks.Receipt { return g.Receive(from, tag) }, func(_ *ranks.Receipt, data goja.Value) (goja.Value, error) {
		return data, nil
	})
}

// receiveAny implements recvAny({ tag, into }?), whose result has the sender and the data.
func (m *module) receiveAny(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
	return m.message(g, op, call.Argument(0), g.ReceiveAny, func(r *ranks.Receipt, data goja.Value) (goja.Value, error) {
		o := m.VM.NewObject()
		if err := o.Set("from", r.From()); err != nil {
			return nil, err
		}
		return o, o.Set("data", data)
	})
}

// message returns a promise of what finish returns for a message that is received with the options tag and into.
func (m *module) message(g *ranks.Group, op string, options goja.Value, receive func(tag uint64) *ranks.Receipt, finish func(*ranks.Receipt, goja.Value) (goja.Value, error)) (goja.Value, error) {
	o := m.Options.Parse(op, options, "tag", "into")
	number := tag(o)
	var into *operand
	if err := m.place(op, o, &into); err != nil {
		return nil, err
	}
	r := receive(number)
	return m.Async(nil, op, func(ctx context.Context) (func() (goja.Value, error), error) {
		d, err := r.Data(ctx)
		return func() (goja.Value, error) {
			v, err := m.result(g, op, d, into)
			if err != nil {
				return nil, m.Explain(err)
			}
			return finish(r, v)
		}, err
	}), nil
}

// split implements split(color, key?), which returns a promise of a communicator, or of undefined without a color.
func (m *module) split(g *ranks.Group, op string, call goja.FunctionCall) (goja.Value, error) {
	color, order := int64(-1), int64(0)
	if v := call.Argument(0); !goja.IsUndefined(v) && !goja.IsNull(v) {
		n, err := element.Integer(v)
		if err != nil {
			return nil, offload.Errorf(offload.InvalidArgument, op, "the color must be a number from 0 on, or undefined for none: %v", err)
		}
		color = int64(n)
	}
	if v := call.Argument(1); !goja.IsUndefined(v) {
		n, err := element.Number(v)
		if err != nil || n != float64(int64(n)) {
			return nil, offload.Errorf(offload.InvalidArgument, op, "the key must be an integer, not %s", convert.Describe(v))
		}
		order = int64(n)
	}
	run := g.Split(color, order)
	return m.Async(nil, op, func(ctx context.Context) (func() (goja.Value, error), error) {
		part, err := run(ctx)
		if err != nil || part == nil {
			return nil, err
		}
		return func() (goja.Value, error) { return m.class.New(&communicator{group: part}), nil }, nil
	}), nil
}
