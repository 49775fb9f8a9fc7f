package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Bounds of the operands, as bits, for which no Newton step underflows: from the minimum up to infinity.
const (
	LeastStepped = 0x10000000 // 2^-95
	Infinity32   = 0x7f800000
)

// sqrtBySteps emits correctly rounded square roots. From a 14-bit estimate of 1/√a, one step computes g ≈ √a and h ≈
// 1/(2√a), correct to the last bits. The residual a − g² is exact. The sum g + (a − g²)h, rounded once, is the correctly
// rounded root: the test verifies it for every significand and error of the estimate. If a lane has an operand out of
// bounds, such as zero, all lanes use the square root instruction.
func (l *Lowerer) sqrtBySteps(in *ir.Instr) []vcode.Reg {
	a := l.Vector(in.Args[0])
	half := l.Constant(ir.FloatBits(ir.F32, 0.5), 4)
	out, odd := vcode.NewVecs(l.Func, l.GangRegs), l.NewMasks(l.GangRegs)
	g, h, e := vcode.NewVecs(l.Func, l.GangRegs), vcode.NewVecs(l.Func, l.GangRegs), vcode.NewVecs(l.Func, l.GangRegs)
	// The steps of all registers are interleaved to hide latency.
	each := func(step func(s, g, h, e vcode.Reg)) {
		for i := range out {
			step(vcode.Part(a, i), g[i], h[i], e[i])
		}
	}
	each(func(s, _, h, _ vcode.Reg) { l.Def(amd64.VRSQRT14PS, h.Z(), s.Z()).Folds(1, 4) })
	for i, m := range odd {
		over := l.NewVec()
		l.Op2(amd64.VPSUBD, over, vcode.Part(a, i), l.Constant(LeastStepped, 4), 4)
		in := l.Def(amd64.VPCMPUD, m.K(), over.Z(), l.Constant(Infinity32-LeastStepped, 4).Z(), vcode.Cmp(amd64.CmpGE)).Folds(2, 4)
		if l.Cur != nil {
			in.Mask = l.Cur[i]
		}
	}
	each(func(s, g, h, _ vcode.Reg) { l.Op2(amd64.VMULPS, g, h, s, 4) })
	each(func(_, _, h, _ vcode.Reg) { l.Op2(amd64.VMULPS, h, h, half, 4) })
	each(func(_, g, h, e vcode.Reg) {
		l.Def(amd64.VMOVDQA64, e.Z(), h.Z())
		l.Mod(amd64.VFNMADD213PS, e.Z(), g.Z(), half.Z()).Folds(2, 4)
	})
	each(func(_, g, _, e vcode.Reg) { l.Mod(amd64.VFMADD213PS, g.Z(), e.Z(), g.Z()) })
	each(func(_, _, h, e vcode.Reg) { l.Mod(amd64.VFMADD213PS, h.Z(), e.Z(), h.Z()) })
	each(func(s, g, _, e vcode.Reg) {
		l.Def(amd64.VMOVDQA64, e.Z(), g.Z())
		l.Mod(amd64.VFNMADD213PS, e.Z(), g.Z(), s.Z()).Folds(2, 4)
	})
	for i, d := range out {
		l.Def(amd64.VMOVDQA64, d.Z(), g[i].Z())
		l.Mod(amd64.VFMADD231PS, d.Z(), e[i].Z(), h[i].Z())
	}
	rare, back := l.NewLabel(), l.NewLabel()
	l.BranchSome(odd, rare)
	l.Bind(back)
	l.Cold(func() {
		l.Bind(rare)
		for i, d := range out {
			l.Def(amd64.VSQRTPS, d.Z(), vcode.Part(a, i).Z()).Folds(1, 4)
		}
		l.Jump(amd64.JMP, back)
	})
	return out
}
