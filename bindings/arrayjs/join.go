package arrayjs

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// chain is the value of a call of map, zip or slice that is joined with the method that the script calls on the value. Its elements
// are not computed.
type chain struct {
	host   offloadjs.Host
	method *method
	on     offloadjs.Elements // without a buffer if the call is one of a chain
	before *chain
	device *session.Device
	args   []goja.Value
	at     offload.Position
	next   string // the method that the script calls on the value
	request
	array array.Array // zero until the array is needed
}

// joined runs map or zip and returns the buffer. If the method that the script calls on the result can compute the elements
// itself, joined may instead set c.link to the joined array. It then returns undefined.
func (c *call) joined(op string, fn array.Function, t ir.Type, operands ...array.Operand) (goja.Value, error) {
	if c.next == "" || t != ir.Void || c.options != nil {
		return c.result(c.Zip(op, fn, t, operands...))
	}
	a, err := c.Join(op, fn, operands...)
	if err != nil || !a.Joined() {
		return c.result(a, err)
	}
	c.link = &chain{array: a}
	return goja.Undefined(), nil
}

// defineChains defines the class of calls that are joined.
func (s *repeats) defineChains(h offloadjs.Host) {
	spec := lang.ClassSpec[*chain]{Name: "Buffer", Light: true}
	for name, m := range s.joins {
		spec.Methods = append(spec.Methods, lang.Method[*chain]{Name: name, Call: func(l *chain, js goja.FunctionCall) (goja.Value, error) {
			v, err := s.follow(l, m, js)
			return v, l.host.Explain(err)
		}})
	}
	s.chains = lang.NewClass(h.Engine(), spec)
}

// follow calls a method on a joined array.
func (s *repeats) follow(l *chain, m *method, js goja.FunctionCall) (goja.Value, error) {
	r := s.request(l.host, m, offloadjs.Elements{}, l, js.Arguments)
	defer s.done(r)
	if v, ok, err := s.again(l.host, m, r, l.device, js); ok {
		return v, err
	}
	x, err := s.made(l)
	if err != nil {
		return nil, err
	}
	c := begin(s.ops, l.host, m.Name, l.device, js.Arguments, m.options...)
	if c.err != nil {
		return nil, c.err
	}
	c.numbers = len(l.numbers)
	return s.run(c, m, r, x, js)
}

// made returns the joined array of a call.
func (s *repeats) made(l *chain) (array.Array, error) {
	if l.array.Joined() {
		return l.array, nil
	}
	x := array.Array{Buffer: l.on.Buffer, Elem: l.on.Elem}
	numbers := 0
	if l.before != nil {
		var err error
		if x, err = s.made(l.before); err != nil {
			return x, err
		}
		numbers = len(l.before.numbers)
	}
	c := begin(s.ops, l.host, l.method.Name, l.device, l.args, l.method.options...)
	c.next, c.numbers = l.next, numbers
	if c.err == nil {
		c.Run.Pos = l.at
		if _, err := l.method.run(c, x); err != nil {
			c.note(err)
		}
	}
	if c.err != nil {
		return x, c.err
	}
	l.array = c.link.array
	return l.array, nil
}

// newChain returns the value of a call that is joined.
func (s *repeats) newChain(h offloadjs.Host, m *method, r *request, device *session.Device, args []goja.Value) *chain {
	l := &chain{host: h, method: m, on: r.on, before: r.before, device: device, args: slices.Clone(args), at: r.at, next: r.next}
	l.key, l.inputs, l.numbers = slices.Clone(r.key), slices.Clone(r.inputs), slices.Clone(r.numbers)
	return l
}
