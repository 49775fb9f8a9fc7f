package lanes

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Widen emits conversions by the instruction op of 32-bit elements to n registers of 64-bit elements.
func (g *Gang) Widen(v []vcode.Reg, op amd64.Op, n int) []vcode.Reg {
	out := vcode.NewVecs(g.Func, n)
	for i, d := range out {
		s := vcode.Part(v, i/2)
		if e := g.Regs[s].Elem; i%2 == 0 || e == 4 || e == 8 {
			g.Def(op, d.Z(), s.Y())
			continue
		}
		h := g.NewVec()
		g.Def(amd64.VEXTRACTI64X4, h.Y(), s.Z(), vcode.Imm(1))
		g.Def(op, d.Z(), h.Y())
	}
	return out
}

// Narrow emits conversions by the instruction op of 64-bit elements to half as many registers of 32-bit elements. If uniform is
// set, the result is one register.
func (g *Gang) Narrow(v []vcode.Reg, op amd64.Op, uniform bool) []vcode.Reg {
	lower := func(r vcode.Reg) vcode.Reg {
		d := g.NewVec()
		g.Def(op, d.Y(), r.Z())
		return d
	}
	n := max(len(v)/2, 1)
	if uniform {
		n = 1
	}
	out := vcode.NewVecs(g.Func, n)
	for i, d := range out {
		lo := lower(vcode.Part(v, 2*i))
		hi := lo
		if len(v) > 1 {
			hi = lower(vcode.Part(v, 2*i+1))
		}
		g.Def(amd64.VINSERTI64X4, d.Z(), lo.Z(), hi.Y(), vcode.Imm(1))
	}
	return out
}

// Map returns a new register d for each register a of v. make emits the instructions that write d.
func (g *Gang) Map(v []vcode.Reg, make func(d, a vcode.Reg)) []vcode.Reg {
	out := vcode.NewVecs(g.Func, len(v))
	for i, d := range out {
		make(d, v[i])
	}
	return out
}

// Convert emits the conversion of numbers to n registers of another type. Floats beyond the range of an integer type are
// clamped if clamps is set, and wrap otherwise; NaN becomes 0. Integers always wrap. The flag uniform means that each register
// has one number for all lanes.
func (g *Gang) Convert(v []vcode.Reg, from, to ir.Type, clamps bool, n int, uniform bool) []vcode.Reg {
	switch {
	case from.IsFloat() && to.IsFloat():
		return g.floatToFloat(v, from, to, n, uniform)
	case to.IsFloat():
		return g.intToFloat(v, from, to, n, uniform)
	case from.IsFloat() && clamps:
		return g.saturate(v, from, to, n, uniform)
	case from.IsFloat():
		return g.wrapFloat(v, from, to, n, uniform)
	case to.Size() == from.Size():
		return v
	case to.Size() == 8 && from.IsSigned():
		return g.Widen(v, amd64.VPMOVSXDQ, n)
	case to.Size() == 8:
		return g.Widen(v, amd64.VPMOVZXDQ, n)
	}
	return g.Narrow(v, amd64.VPMOVQD, uniform)
}

func (g *Gang) floatToFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	switch {
	case from == to:
		return v
	case to == ir.F64:
		return g.Widen(v, amd64.VCVTPS2PD, n)
	}
	return g.Narrow(v, amd64.VCVTPD2PS, uniform)
}

func (g *Gang) intToFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	switch {
	case from.Size() == 4 && to == ir.F32:
		op := amd64.VCVTUDQ2PS
		if from.IsSigned() {
			op = amd64.VCVTDQ2PS
		}
		return g.Map(v, func(d, a vcode.Reg) { g.Def(op, d.Z(), a.Z()).Folds(1, 4) })
	case from.Size() == 4:
		if from.IsSigned() {
			return g.Widen(v, amd64.VCVTDQ2PD, n)
		}
		return g.Widen(v, amd64.VCVTUDQ2PD, n)
	case to == ir.F64:
		op := amd64.VCVTUQQ2PD
		if from.IsSigned() {
			op = amd64.VCVTQQ2PD
		}
		return g.Map(v, func(d, a vcode.Reg) { g.Def(op, d.Z(), a.Z()).Folds(1, 8) })
	case from.IsSigned():
		return g.Narrow(v, amd64.VCVTQQ2PS, uniform)
	}
	return g.Narrow(v, amd64.VCVTUQQ2PS, uniform)
}

// saturate emits a conversion of floats to integers that clamps to the range of the integer. NaN becomes 0.
func (g *Gang) saturate(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	e := from.Size()
	if !to.IsSigned() {
		// Negative numbers and NaN become zero. Above the range, the instructions return the maximum.
		zero := g.Constant(0, e)
		v = g.Map(v, func(d, a vcode.Reg) { g.Op2(Sized(e, amd64.VMAXPS, amd64.VMAXPD), d, a, zero, e) })
		switch {
		case e == 4 && to == ir.U32:
			return g.Map(v, func(d, a vcode.Reg) { g.Def(amd64.VCVTTPS2UDQ, d.Z(), a.Z()).Folds(1, 4) })
		case to == ir.U32:
			return g.Narrow(v, amd64.VCVTTPD2UDQ, uniform)
		case e == 4:
			return g.Widen(v, amd64.VCVTTPS2UQQ, n)
		}
		return g.Map(v, func(d, a vcode.Reg) { g.Def(amd64.VCVTTPD2UQQ, d.Z(), a.Z()).Folds(1, 8) })
	}
	// Out of range, the instructions return the minimum, which is wrong above the range and for NaN.
	convert := func(op amd64.Op, e, size int) func(d, a vcode.Reg) {
		return func(d, a vcode.Reg) {
			ordered, over := g.NewMask(), g.NewMask()
			g.Def(Sized(e, amd64.VCMPPS, amd64.VCMPPD), ordered.K(), a.Z(), a.Z(), vcode.Cmp(amd64.CmpOrdered))
			limit := g.Constant(ir.FloatBits(floatOf(e), math.Ldexp(1, 8*size-1)), e)
			g.Def(Sized(e, amd64.VCMPPS, amd64.VCMPPD), over.K(), a.Z(), limit.Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, e)
			g.Def(op, d.Z(), a.Z()).Zeroed(ordered)
			g.Def(Sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), d.Z(), g.Constant(1<<(8*size-1)-1, size).Z()).Folds(2, size).Mask = over
		}
	}
	switch {
	case e == 4 && to == ir.I32:
		return g.Map(v, convert(amd64.VCVTTPS2DQ, 4, 4))
	case e == 4:
		v = g.Widen(v, amd64.VCVTPS2PD, n)
		fallthrough
	case to == ir.I64:
		return g.Map(v, convert(amd64.VCVTTPD2QQ, 8, 8))
	}
	return g.Narrow(g.Map(v, convert(amd64.VCVTTPD2QQ, 8, 8)), amd64.VPMOVSQD, uniform)
}

func floatOf(size int) ir.Type {
	if size == 8 {
		return ir.F64
	}
	return ir.F32
}

// wrapFloat emits a conversion of floats modulo the range of the integer. NaN and infinities become 0.
func (g *Gang) wrapFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	wide := v
	if from == ir.F32 {
		m := 2 * len(v)
		if uniform {
			m = 1
		}
		wide = g.Widen(v, amd64.VCVTPS2PD, m)
	}
	if from == ir.F32 && to.Size() == 4 {
		// Beyond 2^63 the low 32 bits are 0, as in the result of the instruction.
		wide = g.Map(wide, func(d, a vcode.Reg) { g.Def(amd64.VCVTTPD2QQ, d.Z(), a.Z()).Folds(1, 8) })
		return g.Narrow(wide, amd64.VPMOVQD, uniform)
	}
	c := func(x float64) vcode.Reg { return g.Constant(ir.FloatBits(ir.F64, x), 8) }
	wide = g.Map(wide, func(d, a vcode.Reg) {
		// Subtract multiples of 2^64, then once more for a result within ±2^63. The differences are exact.
		q, rest := g.NewVec(), g.NewVec()
		g.Op2(amd64.VMULPD, q, a, c(math.Ldexp(1, -64)), 8)
		g.Def(amd64.VRNDSCALEPD, q.Z(), q.Z(), vcode.Imm(11))
		g.Def(amd64.VMOVDQA64, rest.Z(), a.Z())
		g.Mod(amd64.VFNMADD231PD, rest.Z(), q.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8)
		over, under, finite := g.NewMask(), g.NewMask(), g.NewMask()
		g.Def(amd64.VCMPPD, over.K(), rest.Z(), c(math.Ldexp(1, 63)).Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, 8)
		g.Def(amd64.VCMPPD, under.K(), rest.Z(), c(-math.Ldexp(1, 63)).Z(), vcode.Cmp(amd64.CmpLT)).Folds(2, 8)
		g.Def(amd64.VSUBPD, rest.Z(), rest.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8).Under(over)
		g.Def(amd64.VADDPD, rest.Z(), rest.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8).Under(under)
		size := g.NewVec()
		g.Op2(amd64.VPANDQ, size, a, g.Constant(math.MaxInt64, 8), 8)
		g.Def(amd64.VCMPPD, finite.K(), size.Z(), c(math.Inf(1)).Z(), vcode.Cmp(amd64.CmpLT)).Folds(2, 8)
		g.Def(amd64.VCVTTPD2QQ, d.Z(), rest.Z()).Zeroed(finite)
	})
	if to.Size() == 8 {
		return wide
	}
	return g.Narrow(wide, amd64.VPMOVQD, uniform)
}

// Quantize emits d, the 32-bit floats of a rounded to values of t, which is f16 or bf16. canonical means that each NaN in a is the
// canonical one.
func (g *Gang) Quantize(t ir.Type, d, a vcode.Reg, canonical bool) {
	if t == ir.F16 {
		h := g.NewVec()
		if !canonical {
			c := g.NewVec()
			g.Canonicalize(c, a, 4, false)
			a = c
		}
		g.Def(amd64.VCVTPS2PH, h.Y(), a.Z(), vcode.Imm(0))
		g.Def(amd64.VCVTPH2PS, d.Z(), h.Y())
		return
	}
	b := g.Brain(a, canonical)
	g.Op2(amd64.VPANDD, d, b, g.Constant(0xffff0000, 4), 4)
}

// Brain emits the rounding of 32-bit floats to bfloat16. The result is the upper half of each element. canonical states that every
// NaN in a is the canonical one, which the rounding keeps. Otherwise Brain replaces each NaN by it, since the rounding may change a
// NaN to any value.
func (g *Gang) Brain(a vcode.Reg, canonical bool) vcode.Reg {
	t, d := g.NewVec(), g.NewVec()
	g.Def(amd64.VPSRLD, t.Z(), a.Z(), vcode.Imm(16))
	g.Op2(amd64.VPANDD, t, t, g.Constant(1, 4), 4)
	g.Op2(amd64.VPADDD, d, a, t, 4)
	g.Op2(amd64.VPADDD, d, d, g.Constant(0x7fff, 4), 4)
	if canonical {
		return d
	}
	odd := g.NewMask()
	g.Unordered(odd, a, a, 4)
	g.Def(amd64.VPBLENDMD, d.Z(), d.Z(), g.Constant(uint64(ir.NaN32), 4).Z()).Folds(2, 4).Mask = odd
	return d
}
