package arrayjs

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// joined returns the value of map and zip: a buffer. If the script only calls another method on it, which can compute the
// elements itself, the value has no memory, and nothing but that method.
func (c *call) joined(op string, fn array.Function, t ir.Type, operands ...array.Operand) (goja.Value, error) {
	next := ""
	if t == ir.Void && c.options == nil {
		next = c.Host.Chained()
	}
	m, ok := c.joins[next]
	if !ok {
		return c.result(c.Zip(op, fn, t, operands...))
	}
	a, err := c.Join(op, fn, operands...)
	if err != nil || !a.Joined() {
		return c.result(a, err)
	}
	x := bindings.NewExports(c.Engine())
	host, ops, device, joins := c.Host, c.Ops, c.device, c.joins
	x.Add(m.Name, func(js goja.FunctionCall) (goja.Value, error) {
		c := begin(ops, host, m.Name, device, js.Arguments, m.options...)
		c.joins = joins
		v, err := goja.Value(nil), c.err
		if err == nil {
			if v, err = m.run(c, a); c.err != nil {
				err = c.err
			}
		}
		return v, host.Explain(err)
	})
	return x.Done()
}
