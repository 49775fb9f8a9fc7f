package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
)

// jumps describes how control leaves a structured instruction other than by the ends of its blocks.
type jumps struct {
	diverts bool    // a Break or Continue inside has a divergent target around the instruction
	returns bool    // a Return or Unreachable is inside
	parts   bool    // a Return or Unreachable is inside, and the instruction or a nested one around the jump diverges
	arms    [2]arms // the jumps in Then and in Else
}

// arms describes the jumps in a block of a structured instruction.
type arms struct {
	jumps  bool // the block contains a jump, perhaps in a nested instruction
	breaks bool // the block contains a Break from the instruction
}

// findJumps describes the jumps of all structured instructions in b, also of nested ones. It visits each instruction once.
func findJumps(b *ir.Block, diverges func(*ir.Instr) bool) map[*ir.Instr]*jumps {
	f := jumpFinder{diverges: diverges, found: map[*ir.Instr]*jumps{}, depths: map[*ir.Instr]int{}}
	f.block(b, 0)
	return f.found
}

type jumpFinder struct {
	diverges func(*ir.Instr) bool
	found    map[*ir.Instr]*jumps
	depths   map[*ir.Instr]int // the number of structured instructions around an instruction
	arm      []*arms           // the blocks around the current position
	around   []*ir.Instr       // the structured instructions to which these blocks belong
}

// passed describes the jumps in a block or in a structured instruction, for the instruction around it.
type passed struct {
	least                 int // the least depth of a divergent target of a Break or Continue; deepest if there is none
	returns, parts, jumps bool
}

// deepest is greater than all depths.
const deepest = 1 << 30

// block finds the jumps in a block, which may be nil. depth is the number of structured instructions around it.
func (f *jumpFinder) block(b *ir.Block, depth int) passed {
	out := passed{least: deepest}
	if b == nil {
		return out
	}
	for _, in := range b.Instrs {
		out.jumps = out.jumps || in.Op.IsJump()
		switch in.Op {
		case ir.Break, ir.Continue:
			if f.diverges(in.Target) {
				out.least = min(out.least, f.depths[in.Target])
			}
			for i, x := range f.around {
				if x == in.Target && in.Op == ir.Break {
					f.arm[i].breaks = true
				}
			}
		case ir.Return, ir.Unreachable:
			out.returns = true
		}
		if in.Then != nil {
			inner := f.structured(in, depth)
			out.least = min(out.least, inner.least)
			out.returns, out.parts, out.jumps = out.returns || inner.returns, out.parts || inner.parts, out.jumps || inner.jumps
		}
	}
	return out
}

// structured finds the jumps in a structured instruction at a depth, and records them.
func (f *jumpFinder) structured(in *ir.Instr, depth int) passed {
	j := &jumps{}
	f.found[in], f.depths[in] = j, depth
	all := passed{least: deepest}
	for i, b := range []*ir.Block{in.Then, in.Else} {
		f.arm, f.around = append(f.arm, &j.arms[i]), append(f.around, in)
		p := f.block(b, depth+1)
		f.arm, f.around = f.arm[:len(f.arm)-1], f.around[:len(f.around)-1]
		j.arms[i].jumps = p.jumps
		all.least = min(all.least, p.least)
		all.returns, all.parts, all.jumps = all.returns || p.returns, all.parts || p.parts, all.jumps || p.jumps
	}
	all.parts = all.parts || all.returns && f.diverges(in)
	j.diverts, j.returns, j.parts = all.least < depth, all.returns, all.parts
	return all
}
