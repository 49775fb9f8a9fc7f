package plan

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// SmallConst returns the value of an integer or boolean constant. Values of 32 bits are sign-extended. The second result is
// false if v is no such constant, or does not fit a sign-extended immediate of 32 bits.
func SmallConst(v *ir.Value) (int64, bool) {
	if v.Def == nil || v.Def.Op != ir.Const || v.Type.IsFloat() {
		return 0, false
	}
	n := int64(v.Def.Bits)
	if v.Type.Size() == 4 {
		n = int64(int32(n))
	}
	return n, n == int64(int32(n))
}

// IsCheap reports whether a block costs no more than the test for active lanes that would skip it.
func (l *Analysis) IsCheap(b *ir.Block) bool {
	if len(b.Instrs) > 4 {
		return false
	}
	for _, in := range b.Instrs[:len(b.Instrs)-1] {
		if !in.Op.IsArith() || in.Op.IsConvert() {
			return false
		}
		switch in.Op {
		case ir.Div, ir.Rem, ir.Sqrt, ir.Math:
			return false
		}
	}
	t := b.Terminator()
	return t.Op == ir.Yield || t.Op == ir.Break && l.Uniform.Diverges(t.Target)
}

// Continues reports whether a loop has a continue, at its end or elsewhere. Without one, its body runs at most once.
func (l *Analysis) Continues(loop *ir.Instr) bool {
	found := false
	loop.Then.Walk(func(in *ir.Instr) { found = found || in.Op == ir.Continue && in.Target == loop })
	return found
}

// maxTwice is the maximum number of instructions of a loop that tests for active lanes only in every other iteration.
const maxTwice = 24

// MayOverrun reports whether a divergent loop may execute its body once more after all lanes have left it. The body must be
// short and leave the loop by Ifs that narrow its mask. It may otherwise have only arithmetic that is cheap and cannot fault.
func (l *Analysis) MayOverrun(loop *ir.Instr) bool {
	exits, n := 0, 0
	var pure func(b *ir.Block) bool
	pure = func(b *ir.Block) bool {
		for _, in := range b.Instrs[:len(b.Instrs)-1] {
			n++
			switch {
			case in.Op == ir.If && analysis.LeavesLoop(in):
				exits++
				if !pure(in.Then) || !pure(in.Else) {
					return false
				}
			case !in.Op.IsArith() || in.Op == ir.Math || !in.IsPure() || in.Op == ir.Rem || in.Op == ir.MulHi:
				return false
			}
		}
		return true
	}
	return pure(loop.Then) && exits > 0 && n <= maxTwice
}
