package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// SmallConst returns a constant integer that fits an immediate.
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

// endsEarly reports whether an item may end before the end of the kernel.
func endsEarly(k *ir.Kernel, unchecked bool) bool {
	early := false
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Return, ir.Unreachable:
			early = early || in != k.Body.Terminator()
		case ir.Assert, ir.Call, ir.Uniform:
			early = true
		case ir.Div, ir.Rem:
			early = early || !unchecked && !in.IsPure()
		case ir.Load, ir.Store, ir.Atomic:
			early = early || !unchecked && in.Proved != allProved(in)
		}
	})
	return early
}

// IsCheap reports whether a block costs about as much as the test for active lanes that would skip it.
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

// Continues reports whether a lane may continue a loop from the middle of its body.
func (l *Analysis) Continues(loop *ir.Instr) bool {
	found := false
	loop.Then.Walk(func(in *ir.Instr) { found = found || in.Op == ir.Continue && in.Target == loop })
	return found
}

// OnlyLast reports whether a loop has one continue, which ends its body.
func OnlyLast(loop *ir.Instr) bool {
	last := loop.Then.Terminator()
	return last.Op == ir.Continue && last.Target == loop && NumContinues(loop) == 1
}

// NumContinues returns the number of continues of a loop.
func NumContinues(loop *ir.Instr) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Continue && in.Target == loop {
			n++
		}
	})
	return n
}

// IsLast reports whether no instruction of a loop's body follows a continue.
func IsLast(in *ir.Instr, b *ir.Block) bool {
	last := b.Terminator()
	if last == in {
		return true
	}
	if len(b.Instrs) < 2 || len(last.Args) > 0 {
		return false
	}
	switch last := b.Instrs[len(b.Instrs)-2]; last.Op {
	case ir.If:
		return IsLast(in, last.Else)
	case ir.Region:
		return IsLast(in, last.Then)
	}
	return false
}

// ExitsOf returns the breaks of a loop.
func ExitsOf(loop *ir.Instr) (exits []*ir.Instr) {
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Break && in.Target == loop {
			exits = append(exits, in)
		}
	})
	return exits
}

// ConstantStep returns the constant that an instruction adds to a value.
func ConstantStep(in *ir.Instr, v *ir.Value) (uint64, bool) {
	if in == nil || in.Op != ir.Add {
		return 0, false
	}
	for i, a := range in.Args {
		if c := in.Args[1-i].Def; a == v && c != nil && c.Op == ir.Const {
			return c.Bits, true
		}
	}
	return 0, false
}

// maxTwice is the largest number of instructions in a loop that tests for active lanes in every other iteration only.
const maxTwice = 24

// MayOverrun reports whether a divergent loop may execute its body once more after all lanes have left it. The body
// must be short, have only arithmetic that cannot fail, and be left by a narrowed mask.
func (l *Analysis) MayOverrun(loop *ir.Instr) bool {
	exits, n := 0, 0
	var pure func(b *ir.Block) bool
	pure = func(b *ir.Block) bool {
		for _, in := range b.Instrs[:len(b.Instrs)-1] {
			n++
			switch {
			case in.Op == ir.If && leaves(in):
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

// Size returns the number of instructions of a block and the blocks in it.
func Size(b *ir.Block) int {
	n := 0
	b.Walk(func(*ir.Instr) { n++ })
	return n
}
