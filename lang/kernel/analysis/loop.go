package analysis

import "github.com/orepl/orepl/lang/kernel/ir"

// ContinuesOnlyAtEnd reports whether a loop has a single continue, at the end of its body.
func ContinuesOnlyAtEnd(loop *ir.Instr) bool {
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

// IsLast reports whether a continue ends b, the body of its loop, or the else branch or region that b ends with, and so on. It
// returns false for one that ends a then branch.
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

// ConstantStep returns the bits of the constant that an instruction adds to a value, and false for other instructions.
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

// NumInstrs returns the number of instructions in a block, including nested blocks.
func NumInstrs(b *ir.Block) int {
	n := 0
	b.Walk(func(*ir.Instr) { n++ })
	return n
}

// FallsThrough reports whether a block ends with a yield and has only constants before it.
func FallsThrough(b *ir.Block) bool { return b.Terminator().Op == ir.Yield && OnlyConstants(b) }

// LeavesLoop reports whether one arm of an If only leaves a loop, so that the If narrows the loop's mask.
func LeavesLoop(in *ir.Instr) bool {
	if in.Op != ir.If {
		return false
	}
	for _, b := range []*ir.Block{in.Then, in.Else} {
		if last := b.Terminator(); last.Op == ir.Break && last.Target.Op == ir.Loop && OnlyConstants(b) {
			return true
		}
	}
	return false
}

// OnlyConstants reports whether a block contains only constants before its terminator.
func OnlyConstants(b *ir.Block) bool {
	for _, in := range b.Instrs[:len(b.Instrs)-1] {
		if in.Op != ir.Const {
			return false
		}
	}
	return true
}
