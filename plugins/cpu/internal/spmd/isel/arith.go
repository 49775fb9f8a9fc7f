package isel

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// compute emits a pure operation.
func (l *Lowerer) compute(in *ir.Instr) {
	r := in.Result()
	switch {
	case r.Type == ir.Bool:
		l.computeBool(in)
		return
	case l.IsUniform(r) && r.Type.IsInt():
		if g, ok := l.scalar(in); ok {
			l.Set(r, Value{G: g})
			return
		}
		v := l.compute1(in)
		g := l.NewGPR()
		if r.Type.Size() == 8 {
			l.Def(amd64.VMOVQ, g.G8(), v[0].X())
		} else {
			l.Def(amd64.VMOVD, g.G4(), v[0].X())
		}
		l.Set(r, Value{G: g})
		return
	}
	l.Set(r, Value{Vec: l.compute1(in)})
}

// each calls make for each register of the result, and returns these registers.
func (l *Lowerer) each(in *ir.Instr, make func(i int, d vcode.Reg, a []vcode.Reg)) []vcode.Reg {
	n := l.NumVectors(in.Result())
	args := l.vectors(in.Args)
	out := vcode.NewVecs(l.Func, n)
	a := newSlice(len(args))
	for i := range n {
		for j := range args {
			a[j] = vcode.Part(args[j], i)
		}
		make(i, out[i], a)
	}
	return out
}

func newSlice(n int) []vcode.Reg { return make([]vcode.Reg, n) }

func (l *Lowerer) vectors(args []*ir.Value) [][]vcode.Reg {
	out := make([][]vcode.Reg, len(args))
	for i, a := range args {
		out[i] = l.Vector(a)
	}
	return out
}

// compute1 emits a pure operation whose result is in vectors.
func (l *Lowerer) compute1(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	from := in.Args[0].Type
	e := t.Size()
	if in.Op == ir.Sqrt && l.StepsForSqrt(in) {
		return l.SqrtBySteps(l.Vector(in.Args[0]), l.Cur)
	}
	switch in.Op {
	case ir.Neg, ir.Not, ir.Abs, ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Rint, ir.Round:
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Unary(in.Op, t, d, a[0]) })
	case ir.Clz, ir.Ctz, ir.Popcnt:
		return l.countBits(in)
	case ir.Min, ir.Max:
		if t.IsFloat() {
			return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.MinMax(in.Op, e, d, a[0], a[1]) })
		}
	case ir.Div, ir.Rem:
		if t.IsInt() {
			return l.divide(in)
		}
		if in.Op == ir.Rem {
			return l.byTrap(in)
		}
	case ir.MulHi:
		if e == 8 {
			return l.byTrap(in)
		}
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.MulHi(t, d, a[0], a[1]) })
	case ir.Shl, ir.Shr:
		return l.shift(in)
	case ir.Or, ir.Xor, ir.Add:
		if x, count, ok := rotation(in); ok {
			v := l.Vector(x)
			out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
			for i, d := range out {
				l.Def(lanes.Sized(e, amd64.VPROLD, amd64.VPROLQ), d.Z(), vcode.Part(v, i).Z(), vcode.Imm(count)).Folds(1, e)
			}
			return out
		}
	case ir.FMA:
		return l.multiplyAdd(in)
	case ir.Select:
		return l.choose(in)
	case ir.Convert, ir.Sat, ir.Wrap:
		return l.convert(in)
	case ir.Bitcast:
		if !from.IsFloat() || t.IsFloat() || l.Nans.Canonical(in.Args[0]) {
			return l.Vector(in.Args[0])
		}
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Canonicalize(d, a[0], e, isQuiet(in.Args[0])) })
	case ir.Math:
		return l.call(in)
	case ir.Quant:
		if in.Elem == t {
			return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Canonicalize(d, a[0], e, isQuiet(in.Args[0])) })
		}
		canonical := l.Nans.Canonical(in.Args[0])
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Quantize(in.Elem, d, a[0], canonical) })
	}
	if lanes.HasBinary(in.Op, t) {
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Binary(in.Op, t, d, a[0], a[1]) })
	}
	panic(fmt.Sprintf("isel: plan.Supported accepts %v of %v, which has no lowering", in.Op, t))
}

// isQuiet reports whether a float is the result of an instruction that never returns a signalling NaN.
func isQuiet(v *ir.Value) bool {
	return v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub || v.Def.Op == ir.Mul || v.Def.Op == ir.FMA)
}

// canonical emits a copy of 32-bit floats in which each NaN is the canonical one.
func (l *Lowerer) canonical(v *ir.Value) []vcode.Reg {
	src := l.Vector(v)
	if l.Nans.Canonical(v) {
		return src
	}
	return l.Map(src, func(d, a vcode.Reg) { l.Canonicalize(d, a, 4, isQuiet(v)) })
}

// shift emits a shift by a count modulo the width.
func (l *Lowerer) shift(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	e := t.Size()
	var byImm, byVec amd64.Op
	switch {
	case in.Op == ir.Shl:
		byImm, byVec = lanes.Sized(e, amd64.VPSLLD, amd64.VPSLLQ), lanes.Sized(e, amd64.VPSLLVD, amd64.VPSLLVQ)
	case t.IsSigned():
		byImm, byVec = lanes.Sized(e, amd64.VPSRAD, amd64.VPSRAQ), lanes.Sized(e, amd64.VPSRAVD, amd64.VPSRAVQ)
	default:
		byImm, byVec = lanes.Sized(e, amd64.VPSRLD, amd64.VPSRLQ), lanes.Sized(e, amd64.VPSRLVD, amd64.VPSRLVQ)
	}
	width := 8*e - 1
	n := l.NumVectors(in.Result())
	value := l.Vector(in.Args[0])
	out := vcode.NewVecs(l.Func, n)
	if c := in.Args[1].Def; c != nil && c.Op == ir.Const {
		for i, d := range out {
			l.Def(byImm, d.Z(), vcode.Part(value, i).Z(), vcode.Imm(int64(c.Bits)&int64(width)))
		}
		return out
	}
	counts := l.Vector(in.Args[1])
	if e == 8 {
		counts = l.Widen(counts, amd64.VPMOVZXDQ, n)
	}
	for i, d := range out {
		c := l.NewVec()
		l.Op2(lanes.Sized(e, amd64.VPANDD, amd64.VPANDQ), c, vcode.Part(counts, i), l.Constant(uint64(width), e), e)
		l.Op2(byVec, d, vcode.Part(value, i), c, e)
	}
	return out
}

// rotation reports whether an Or, Xor or Add is a rotation: it combines a left and a right shift of one value, whose counts
// add up to the width.
func rotation(in *ir.Instr) (v *ir.Value, left int64, ok bool) {
	plain := func(v *ir.Value) *ir.Value {
		for v.Def != nil && (v.Def.Op == ir.Wrap || v.Def.Op == ir.Bitcast || v.Def.Op == ir.Convert) && v.Def.Args[0].Type.IsInt() &&
			v.Def.Args[0].Type.Size() == v.Type.Size() {
			v = v.Def.Args[0]
		}
		return v
	}
	if !in.Type().IsInt() {
		return nil, 0, false
	}
	for i := range 2 {
		l, r := plain(in.Args[i]).Def, plain(in.Args[1-i]).Def
		if l == nil || r == nil || l.Op != ir.Shl || r.Op != ir.Shr || r.Args[0].Type.IsSigned() {
			continue
		}
		x, y := plain(l.Args[0]), plain(r.Args[0])
		m, okm := plan.SmallConst(l.Args[1])
		n, okn := plan.SmallConst(r.Args[1])
		width := int64(8 * in.Type().Size())
		m, n = m&(width-1), n&(width-1)
		if x == y && okm && okn && m > 0 && m+n == width {
			return x, m, true
		}
	}
	return nil, 0, false
}

// choose emits a Select.
func (l *Lowerer) choose(in *ir.Instr) []vcode.Reg {
	if out := l.chooseLess(in); out != nil {
		return out
	}
	var cond []vcode.Reg
	if l.IsUniform(in.Args[0]) {
		cond = []vcode.Reg{l.MaskOf(l.General(in.Args[0]))}
	} else {
		cond = l.condition(in.Args[0], nil)
	}
	e := in.Type().Size()
	yes, no := l.Vector(in.Args[1]), l.Vector(in.Args[2])
	neg := in.Args[1].Def
	negated := l.Target.HasMasks && in.Type().IsFloat() && neg != nil && neg.Op == ir.Neg && neg.Args[0] == in.Args[2] &&
		l.Uses[in.Args[1].ID].Count == 1 // a masked move changes some lanes only
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		m := l.PartMask(cond, i, e)
		if negated {
			l.Def(amd64.VMOVDQA64, d.Z(), vcode.Part(no, i).Z())
			l.Def(lanes.Sized(e, amd64.VPXORD, amd64.VPXORQ), d.Z(), d.Z(), l.Constant(uint64(1)<<(8*e-1), e).Z()).Folds(2, e).Under(m)
			continue
		}
		l.Def(lanes.Sized(e, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), vcode.Part(no, i).Z(), vcode.Part(yes, i).Z()).Folds(2, e).Mask = m
	}
	return out
}

// chooseLess emits a Select that matches a minimum or maximum instruction: these return the second operand unless the first
// is less, or greater, also for zeros and NaNs. It returns nil for other Selects.
func (l *Lowerer) chooseLess(in *ir.Instr) []vcode.Reg {
	test := in.Args[0].Def
	if test == nil || test.Op != ir.Lt || !in.Type().IsFloat() {
		return nil
	}
	e := in.Type().Size()
	op := lanes.Sized(e, amd64.VMINPS, amd64.VMINPD)
	switch a, b := test.Args[0], test.Args[1]; {
	case in.Args[1] == a && in.Args[2] == b:
	case in.Args[1] == b && in.Args[2] == a:
		op = lanes.Sized(e, amd64.VMAXPS, amd64.VMAXPD)
	default:
		return nil
	}
	first, second := l.Vector(in.Args[1]), l.Vector(in.Args[2])
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		l.Op2(op, d, vcode.Part(first, i), vcode.Part(second, i), e)
	}
	return out
}

// countBits emits Clz, Ctz and Popcnt. Their results have 32 bits.
func (l *Lowerer) countBits(in *ir.Instr) []vcode.Reg {
	t := in.Args[0].Type
	e := t.Size()
	arg := l.Vector(in.Args[0])
	n := len(arg)
	if l.IsUniform(in.Result()) {
		n = 1
	} else if n == 1 {
		n = l.VectorsOf(t)
	}
	counts := vcode.NewVecs(l.Func, n)
	for i, d := range counts {
		l.CountBits(in.Op, e, d, vcode.Part(arg, i))
	}
	if e == 8 {
		return l.Narrow(counts, amd64.VPMOVQD, l.IsUniform(in.Result()))
	}
	return counts
}
