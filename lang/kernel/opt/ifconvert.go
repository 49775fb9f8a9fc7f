package opt

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// IfConvert replaces an if by its instructions and selects if its branches together contain at most limit instructions, all
// cheap and without effects. Both branches must end in yields, which do not count. IfConvert reports whether it changed the
// kernel. It is not part of [Run]: it helps back ends that use masks, but not necessarily those with cheap branches.
func IfConvert(k *ir.Kernel, limit int) bool {
	return convertIfs(k.Body, limit)
}

// convertIfs is IfConvert for a block and the blocks in it.
func convertIfs(b *ir.Block, limit int) bool {
	changed := false
	out := make([]*ir.Instr, 0, len(b.Instrs))
	for _, in := range b.Instrs {
		for _, inner := range []*ir.Block{in.Then, in.Else} {
			if inner != nil {
				changed = convertIfs(inner, limit) || changed
			}
		}
		if in.Op != ir.If || len(in.Then.Instrs)+len(in.Else.Instrs)-2 > limit || !isCheap(in.Then) || !isCheap(in.Else) {
			out = append(out, in)
			continue
		}
		changed = true
		for _, arm := range []*ir.Block{in.Then, in.Else} {
			out = append(out, arm.Instrs[:len(arm.Instrs)-1]...)
		}
		yes, no := in.Then.Terminator().Args, in.Else.Terminator().Args
		for i, r := range in.Results {
			sel := &ir.Instr{Op: ir.Select, Args: []*ir.Value{in.Args[0], yes[i], no[i]}, Results: []*ir.Value{r}, Site: in.Site}
			r.Def = sel
			out = append(out, sel)
		}
	}
	b.Instrs = out
	return changed
}

// isCheap reports whether a block ends in a yield and contains only speculable instructions. Divisions, square roots and library
// functions are not cheap.
func isCheap(b *ir.Block) bool {
	for _, in := range b.Instrs[:len(b.Instrs)-1] {
		switch in.Op {
		case ir.Div, ir.Rem, ir.Sqrt, ir.Math:
			return false
		}
		if !analysis.IsSpeculable(in) {
			return false
		}
	}
	return analysis.EndsIn(b, ir.Yield)
}
