package irgen

import "github.com/orepl/orepl/lang/kernel/ir"

// call emits a call of a service of [oracle.Serve].
func (g *generator) call() {
	if g.chance(50) {
		args := []*ir.Value{g.some(one(g, Values), false).Value}
		for range g.IntN(3) {
			args = append(args, g.some(one(g, Values), false).Value)
		}
		g.define(g.emit(&ir.Instr{Op: ir.Call, Fn: "first", Args: args}, args[0].Type), false)
		return
	}
	n := g.some(ir.I32, false).Value
	if g.options.NoFaults || g.chance(80) {
		n = g.b.Op(ir.And, ir.I32, n, g.b.Int(ir.I32, -2))
	}
	g.define(g.emit(&ir.Instr{Op: ir.Call, Fn: "half", Args: []*ir.Value{n}}, ir.I32), false)
}
