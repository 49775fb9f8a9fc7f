package opt

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// IfConvert replaces each if whose branches together have at most limit instructions, all of them cheap and without
// effect, by those instructions and selections. It is no part of [Run]: a backend with masks gains by it, one with
// cheap branches may not.
func IfConvert(k *ir.Kernel, limit int) bool {
	return convertIfs(k.Body, limit)
}

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

// isCheap reports whether a block ends in a yield and everything before it costs a cycle or so wherever it runs.
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
