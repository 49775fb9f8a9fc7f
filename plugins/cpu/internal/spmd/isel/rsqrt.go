package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Functions returns the names and types of the device library's functions that isel emits itself.
func Functions() []string { return []string{plan.FastRsqrt + ".f32"} }

// call emits a call of one of [Functions].
func (l *Lowerer) call(in *ir.Instr) []vcode.Reg {
	return l.rsqrtFast(in) // Functions lists no other function
}

// rsqrtFast emits 1/√x within 4 units in the last place. It is one Newton step y + ye/2 from the instruction's estimate
// y of 14 or 12 bits. The residual is e = 1 − xy². The result is below the root by 3y/8·e², which from 12 bits is up to
// 3.4 units. There the residual is computed from 1 + 2⁻²³, which adds up to one unit to each result.
//
// Integer instructions replace multiplications and minima of floats: on AMD these share two of four pipes with the
// fused multiply-adds. A saturating subtraction on the upper words halves y. The residual is NaN if x is 0 or infinite,
// and −∞ if AVX2's estimate of a subnormal x is infinite. Their bits are above those of −2⁻⁸, which bounds all other
// residuals. A finite step does not change an estimate that is infinite, 0 or NaN.
func (l *Lowerer) rsqrtFast(in *ir.Instr) []vcode.Reg {
	x := l.Vector(in.Args[0])
	n := l.NumVectors(in.Result())
	y, e, s := vcode.NewVecs(l.Func, n), vcode.NewVecs(l.Func, n), vcode.NewVecs(l.Func, n)
	number := func(x float64) vcode.Reg { return l.Constant(ir.FloatBits(ir.F32, x), 4) }
	estimate, one := amd64.VRSQRT14PS, 1.0
	if !l.Target.HasMasks {
		estimate, one = amd64.VRSQRTPS, 1+0x1p-23
	}
	steps := []func(i int){
		func(i int) { l.Def(estimate, y[i].Z(), vcode.Part(x, i).Z()).Folds(1, 0) },
		func(i int) { l.Op2(amd64.VMULPS, e[i], y[i], vcode.Part(x, i), 4) },
		func(i int) { l.Mod(amd64.VFNMADD213PS, e[i].Z(), y[i].Z(), number(one).Z()).Folds(2, 4) },
		func(i int) { l.Op2(amd64.VPSUBUSW, s[i], y[i], l.Constant(1<<23, 4), 0) },
		func(i int) { l.Op2(amd64.VPMINUD, e[i], e[i], number(-0x1p-8), 4) },
		func(i int) { l.Mod(amd64.VFMADD231PS, y[i].Z(), e[i].Z(), s[i].Z()) },
	}
	if !l.Target.HasMasks { // few registers: one vector after the other
		for i := range n {
			for _, step := range steps {
				step(i)
			}
		}
		return y
	}
	for _, step := range steps { // interleaves the vectors' steps to hide latency
		for i := range n {
			step(i)
		}
	}
	return y
}
