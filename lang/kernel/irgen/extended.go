package irgen

import "github.com/orepl/orepl/lang/kernel/ir"

// extend emits a version 2 operation without implementation-defined effects.
func (g *generator) extend(at context) {
	switch g.IntN(5) {
	case 0:
		g.emit(&ir.Instr{Op: ir.Fence, Order: ir.FenceOrder(g.IntN(3)), Reach: ir.FenceReach(g.IntN(3))}, ir.Void)
	case 1:
		g.emit(&ir.Instr{Op: ir.Pause}, ir.Void)
	case 2:
		before := g.emit(&ir.Instr{Op: ir.Clock}, ir.U64)
		after := g.emit(&ir.Instr{Op: ir.Clock}, ir.U64)
		g.define(g.b.Op(ir.Le, ir.Bool, before, after), false)
	default:
		g.extension(at)
	}
}

// extension emits an extension operation that no back end implements, with its fallback.
func (g *generator) extension(at context) {
	var args []*ir.Value
	for range g.IntN(4) {
		args = append(args, g.some(one(g, Values), false).Value)
	}
	in := g.nested(ir.Region, g.types(), args...)
	in.Fn = one(g, []string{"dot4", "tile multiply"})
	targets := g.targets
	g.targets = nil // no jump leaves the fallback
	g.sealed++
	g.inside(in.Then, context{uniform: at.uniform, depth: at.depth + 1}, func() { g.leave(ir.Yield, nil, in.Results) })
	g.sealed--
	g.targets = targets
	g.defineAll(in)
}
