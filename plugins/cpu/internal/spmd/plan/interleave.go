package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Iterations per round of an interleaved loop (Turns), and the numbers of instructions of a loop up to which they hold.
const (
	MostTurns  = 8
	SweepTurns = 6 // of short loops over several rows whose gangs share a counter
	ManyTurns  = 4
	SomeTurns  = 2
	tinyLoop   = 14 // limit of MostTurns
	shortLoop  = 24 // limit of ManyTurns
	middleLoop = 48 // limit of SomeTurns
	atomicCost = 48 // weight of an atomic operation or an inner loop, in instructions
)

// ItersPerRound returns the number of iterations that a gang executes in one round of an interleaved loop. rows is the number
// of its [Analysis.StridedLoads].
func ItersPerRound(loop *ir.Instr, rows int) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Const:
		case ir.Atomic, ir.Loop:
			n += atomicCost
		default:
			n++
		}
	})
	switch {
	case n <= tinyLoop && rows == 1:
		return MostTurns
	case n <= shortLoop:
		return ManyTurns
	case n <= middleLoop:
		return SomeTurns
	}
	return 1
}

// OnlyExit returns the If that is the only exit of a loop, or nil. It must be directly in the loop's body, and only loads and
// pure instructions may precede it there. The loop must continue only at its end, and must have no group operations and no operations
// with an order among items.
func OnlyExit(loop *ir.Instr) *ir.Instr {
	var exit *ir.Instr
	for _, in := range loop.Then.Instrs {
		if analysis.LeavesLoop(in) && len(in.Results) == 0 && (analysis.FallsThrough(in.Then) || analysis.FallsThrough(in.Else)) {
			exit = in
			break
		}
		if in.Then != nil || !in.IsPure() && in.Op != ir.Load {
			return nil
		}
	}
	if exit == nil {
		return nil
	}
	outside := 0 // number of exits of the loop
	inside := map[*ir.Instr]bool{}
	loop.Then.Walk(func(in *ir.Instr) {
		inside[in] = true
		switch in.Op {
		case ir.Break, ir.Continue:
			if !inside[in.Target] {
				outside++
			}
		case ir.Return, ir.Unreachable, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup:
			exit = nil
		default:
			if Ordered(in.Op) {
				exit = nil
			}
		}
	})
	if outside != 2 { // the exit, and the continue at the end
		return nil
	}
	return exit
}

// IsStreaming reports whether interleaving a loop pays. Some access of a buffer must be strided; see [Analysis.isStrided]. The loop must
// carry at most two varying values for each such access; affine values do not count.
func (l *Analysis) IsStreaming(loop *ir.Instr) bool {
	rows, carried := 0, 0
	for _, p := range loop.Then.Params {
		if _, affine := l.Affine.Strides(p); !affine && !l.IsUniform(p) {
			carried++
		}
	}
	loop.Then.Walk(func(in *ir.Instr) {
		if (in.Op == ir.Load || in.Op == ir.Store) && in.Array.Space == ir.Global && l.isStrided(in, loop) {
			rows++
		}
	})
	return rows > 0 && carried <= 2*rows
}

// StridedLoads returns the number of a loop's loads from buffers that are strided; see [Analysis.isStrided].
func (l *Analysis) StridedLoads(loop *ir.Instr) int {
	rows := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load && in.Array.Space == ir.Global && l.isStrided(in, loop) {
			rows++
		}
	})
	return rows
}

// isStrided reports whether an access moves, per iteration, farther than the width of a gang, or by an unknown distance. The
// lanes must access adjacent elements.
func (l *Analysis) isStrided(in, loop *ir.Instr) bool {
	r := in.Resolve()
	apart, step, far := int64(0), int64(0), false
	for i := range r.Strides {
		v := in.Args[i]
		s, ok := l.Affine.Strides(v)
		if !ok || s[0] != 0 && r.Inner[i] > 0 {
			return false
		}
		apart += int64(s[0]) * int64(r.Strides[i])
		d, known := l.Step(v, loop, 0)
		far = far || !known || d != 0 && r.Inner[i] > 0
		step += d * int64(r.Strides[i])
	}
	size := int64(r.Scalar.Size())
	return apart == size && (far || max(step, -step) > size*int64(l.Lanes()))
}

// NumOperations estimates the number of machine instructions of an iteration of a loop.
func (l *Analysis) NumOperations(loop *ir.Instr) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Const, in.Op == ir.Yield, in.Op == ir.Break, in.Op == ir.Continue:
		case len(in.Results) == 1 && !l.IsUniform(in.Results[0]):
			n += l.GangRegs
		default:
			n++
		}
	})
	return n
}

// Step returns the increment of a value per iteration of a loop, and whether it is known. depth is the number of operations
// followed so far, 0 at first.
func (l *Analysis) Step(v *ir.Value, loop *ir.Instr, depth int) (int64, bool) {
	if i := slices.Index(loop.Then.Params, v); i >= 0 {
		next := l.carriedBy(loop, i)
		if next == nil || next.Def == nil || next.Def.Op != ir.Add && next.Def.Op != ir.Sub || next.Def.Args[0] != v {
			return 0, false
		}
		c, ok := SmallConst(next.Def.Args[1])
		if next.Def.Op == ir.Sub {
			c = -c
		}
		return c, ok
	}
	in := v.Def
	if in == nil || l.Uses[v.ID].Loop != loop {
		return 0, true // defined before the loop, or in a loop inside it, which counts as constant
	}
	if depth > MaxDepth || len(in.Args) == 0 {
		return 0, false
	}
	a, ok := l.Step(in.Args[0], loop, depth+1)
	if !ok {
		return 0, false
	}
	switch in.Op {
	case ir.Add, ir.Sub:
		b, ok := l.Step(in.Args[1], loop, depth+1)
		if in.Op == ir.Sub {
			b = -b
		}
		return a + b, ok
	case ir.Mul:
		c, ok := SmallConst(in.Args[1])
		return a * c, ok
	case ir.Shl:
		c, ok := SmallConst(in.Args[1])
		return a << (c & 31), ok
	case ir.Wrap, ir.Bitcast:
		return a, in.Args[0].Type.Size() == 4
	}
	return 0, false
}

// carriedBy returns the value that a loop's only continue passes to a parameter. It returns nil if the loop has several
// continues or none.
func (l *Analysis) carriedBy(loop *ir.Instr, param int) *ir.Value {
	var next *ir.Value
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Continue && in.Target == loop {
			next = in.Args[param]
			n++
		}
	})
	if n != 1 {
		return nil
	}
	return next
}
