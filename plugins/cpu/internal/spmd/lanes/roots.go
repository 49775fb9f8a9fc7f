package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Bounds of the operands, as bits, for which no Newton step underflows: from the minimum to below infinity.
const (
	LeastStepped = 0x10000000 // 2^-95
	Infinity32   = 0x7f800000
)

// SqrtBySteps emits correctly rounded square roots of 32-bit floats, on a target with masks. From a 14-bit estimate of 1/√a, one
// step computes g ≈ √a and h ≈ 1/(2√a), correct to the last bits. The residual a − g² is exact. The sum g + (a − g²)h, rounded
// once, is the correctly rounded root: a test verifies it for every significand and error of the estimate. If a lane of under
// (nil: all) has an operand out of bounds, such as zero, all lanes use the square root instruction.
func (g *Gang) SqrtBySteps(a, under []vcode.Reg) []vcode.Reg {
	half := g.Constant(ir.FloatBits(ir.F32, 0.5), 4)
	out, odd := vcode.NewVecs(g.Func, g.Registers), g.NewMasks(g.Registers)
	root, inv, e := vcode.NewVecs(g.Func, g.Registers), vcode.NewVecs(g.Func, g.Registers), vcode.NewVecs(g.Func, g.Registers)
	// The steps of all registers are interleaved to hide latency.
	each := func(step func(s, root, inv, e vcode.Reg)) {
		for i := range out {
			step(vcode.Part(a, i), root[i], inv[i], e[i])
		}
	}
	each(func(s, _, inv, _ vcode.Reg) { g.Def(amd64.VRSQRT14PS, inv.Z(), s.Z()).Folds(1, 4) })
	for i, m := range odd {
		over := g.NewVec()
		g.Op2(amd64.VPSUBD, over, vcode.Part(a, i), g.Constant(LeastStepped, 4), 4)
		in := g.Def(amd64.VPCMPUD, m.K(), over.Z(), g.Constant(Infinity32-LeastStepped, 4).Z(), vcode.Cmp(amd64.CmpGE)).Folds(2, 4)
		if under != nil {
			in.Mask = under[i]
		}
	}
	each(func(s, root, inv, _ vcode.Reg) { g.Op2(amd64.VMULPS, root, inv, s, 4) })
	each(func(_, _, inv, _ vcode.Reg) { g.Op2(amd64.VMULPS, inv, inv, half, 4) })
	each(func(_, root, inv, e vcode.Reg) {
		g.Def(amd64.VMOVDQA64, e.Z(), inv.Z())
		g.Mod(amd64.VFNMADD213PS, e.Z(), root.Z(), half.Z()).Folds(2, 4)
	})
	each(func(_, root, _, e vcode.Reg) { g.Mod(amd64.VFMADD213PS, root.Z(), e.Z(), root.Z()) })
	each(func(_, _, inv, e vcode.Reg) { g.Mod(amd64.VFMADD213PS, inv.Z(), e.Z(), inv.Z()) })
	each(func(s, root, _, e vcode.Reg) {
		g.Def(amd64.VMOVDQA64, e.Z(), root.Z())
		g.Mod(amd64.VFNMADD213PS, e.Z(), root.Z(), s.Z()).Folds(2, 4)
	})
	for i, d := range out {
		g.Def(amd64.VMOVDQA64, d.Z(), root[i].Z())
		g.Mod(amd64.VFMADD231PS, d.Z(), e[i].Z(), inv[i].Z())
	}
	rare, back := g.NewLabel(), g.NewLabel()
	g.BranchSome(odd, rare)
	g.Bind(back)
	g.Cold(func() {
		g.Bind(rare)
		for i, d := range out {
			g.Def(amd64.VSQRTPS, d.Z(), vcode.Part(a, i).Z()).Folds(1, 4)
		}
		g.Jump(amd64.JMP, back)
	})
	return out
}

// RsqrtFast emits 1/√x of 32-bit floats in n registers, within 4 units in the last place. It is one Newton step y + ye/2 from
// the instruction's estimate y of 14 or 12 bits. The residual is e = 1 − xy². The result is below the root by 3y/8·e², which
// from 12 bits is up to 3.4 units. There the residual is computed from 1 + 2⁻²³, which adds up to one unit to each result.
//
// Integer instructions replace multiplications and minima of floats: on AMD these share two of four pipes with the
// fused multiply-adds. A saturating subtraction on the upper words halves y. The residual is NaN if x is 0 or infinite,
// and −∞ if AVX2's estimate of a subnormal x is infinite. Their bits are above those of −2⁻⁸, which bounds all other
// residuals. A finite step does not change an estimate that is infinite, 0 or NaN.
func (g *Gang) RsqrtFast(x []vcode.Reg, n int) []vcode.Reg {
	y, e, s := vcode.NewVecs(g.Func, n), vcode.NewVecs(g.Func, n), vcode.NewVecs(g.Func, n)
	number := func(x float64) vcode.Reg { return g.Constant(ir.FloatBits(ir.F32, x), 4) }
	estimate, one := amd64.VRSQRT14PS, 1.0
	if !g.Target.HasMasks {
		estimate, one = amd64.VRSQRTPS, 1+0x1p-23
	}
	steps := []func(i int){
		func(i int) { g.Def(estimate, y[i].Z(), vcode.Part(x, i).Z()).Folds(1, 0) },
		func(i int) { g.Op2(amd64.VMULPS, e[i], y[i], vcode.Part(x, i), 4) },
		func(i int) { g.Mod(amd64.VFNMADD213PS, e[i].Z(), y[i].Z(), number(one).Z()).Folds(2, 4) },
		func(i int) { g.Op2(amd64.VPSUBUSW, s[i], y[i], g.Constant(1<<23, 4), 0) },
		func(i int) { g.Op2(amd64.VPMINUD, e[i], e[i], number(-0x1p-8), 4) },
		func(i int) { g.Mod(amd64.VFMADD231PS, y[i].Z(), e[i].Z(), s[i].Z()) },
	}
	if !g.Target.HasMasks { // few registers: one vector after the other
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
