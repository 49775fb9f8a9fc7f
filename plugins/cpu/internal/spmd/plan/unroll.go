package plan

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// maxRepeated is the maximum number of instructions of an unrolled body in gangs of one register. The maximum for gangs of n
// registers is an n-th of it.
const maxRepeated = 192

// Unroll returns a kernel with profitable loops of constant trip count unrolled, after [SplitSums]. It also returns the unroll
// factors by loop, or nil if no loop is unrolled.
func Unroll(k *ir.Kernel, options Options, spec Spec) (*ir.Kernel, map[*ir.Instr]int) {
	k, added := SplitSums(k, options, spec)
	some := false
	k.Body.Walk(func(in *ir.Instr) { some = some || in.Op == ir.Loop && mayCount(in) })
	if !some {
		return k, nil // the kernel itself, not a copy
	}
	c := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone().Kernels[0]
	limits := opt.PartialUnrollLimits{Whole: maxRepeated / spec.Gang, Body: maxRepeated / spec.Gang, Total: MaxBoth * 3 / 4 / spec.Gang}
	limits.Total += added * limits.Body
	if spec.Adjacent || options.InterleaveAll {
		u := c.Uniformity(gangScope(spec.Is2D()))
		limits.Leave = func(loop *ir.Instr) bool { return OnlyExit(loop) != nil && loadsRows(loop, u) }
	}
	if times, changed := opt.PartialUnroll(c, limits); changed {
		return c, times
	}
	return k, nil
}

// mayCount reports whether a loop has a less-than or less-or-equal comparison with a constant, outside of nested blocks.
func mayCount(loop *ir.Instr) bool {
	for _, in := range loop.Then.Instrs {
		if (in.Op == ir.Lt || in.Op == ir.Le) && (isConst(in.Args[0]) || isConst(in.Args[1])) {
			return true
		}
	}
	return false
}

// loadsRows reports whether a loop loads from or stores to buffers at varying indices, and so may be interleaved.
func loadsRows(loop *ir.Instr, u *ir.Uniformity) bool {
	found := false
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Array != nil && in.Array.Space == ir.Global && (in.Op == ir.Load || in.Op == ir.Store) {
			for _, v := range in.Args[:in.NumIndices()] {
				found = found || u.Value(v) == ir.Varying
			}
		}
	})
	return found
}

// isConst reports whether a value is a constant.
func isConst(v *ir.Value) bool { return v.Def != nil && v.Def.Op == ir.Const }
