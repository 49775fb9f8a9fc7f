package values

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Compute emits a pure operation for which [NeedsTrap] is false. under are the active lanes, nil if all are.
func (l *Lowering) Compute(in *ir.Instr, under []vcode.Reg) {
	r := in.Result()
	if r.Type == ir.Bool {
		l.computeBool(in)
		return
	}
	if l.IsUniform(r) && r.Type.IsInt() {
		if g, ok := l.scalar(in); ok {
			l.Set(r, Value{G: g})
			return
		}
	}
	l.SetVectors(r, l.vectorsOf(in, under))
}

// SetVectors records a number that was computed in vectors. A uniform integer moves to a general purpose register.
func (l *Lowering) SetVectors(r *ir.Value, v []vcode.Reg) {
	if !l.IsUniform(r) || !r.Type.IsInt() {
		l.Set(r, Value{Vec: v})
		return
	}
	g := l.NewGPR()
	if r.Type.Size() == 8 {
		l.Def(amd64.VMOVQ, g.G8(), v[0].X())
	} else {
		l.Def(amd64.VMOVD, g.G4(), v[0].X())
	}
	l.Set(r, Value{G: g})
}

// NeedsTrap reports whether an operation on numbers needs a trap, or may fault: Compute has no code for it.
func NeedsTrap(in *ir.Instr) bool {
	switch in.Op {
	case ir.Div:
		return in.Type().IsInt()
	case ir.Rem:
		return true
	case ir.MulHi:
		return in.Type().Size() == 8
	}
	return false
}

// each calls make for each register d of the result, with the registers a of the operands. It returns the registers of the result.
func (l *Lowering) each(in *ir.Instr, make func(i int, d vcode.Reg, a []vcode.Reg)) []vcode.Reg {
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

func (l *Lowering) vectors(args []*ir.Value) [][]vcode.Reg {
	out := make([][]vcode.Reg, len(args))
	for i, a := range args {
		out[i] = l.Vector(a)
	}
	return out
}

// vectorsOf emits a pure operation whose result is in vectors.
func (l *Lowering) vectorsOf(in *ir.Instr, under []vcode.Reg) []vcode.Reg {
	t := in.Type()
	from := in.Args[0].Type
	e := t.Size()
	if in.Op == ir.Sqrt && l.StepsForSqrt(in) {
		return l.SqrtBySteps(l.Vector(in.Args[0]), under)
	}
	switch in.Op {
	case ir.Neg, ir.Not, ir.Abs, ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Rint, ir.Round:
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Unary(in.Op, t, d, a[0]) })
	case ir.Clz, ir.Ctz, ir.Popcnt:
		return l.countBits(in)
	case ir.MulHi:
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
	if t.IsFloat() && (in.Op == ir.Min || in.Op == ir.Max) {
		nan := !l.Nans.None(in.Args[0]) || !l.Nans.None(in.Args[1])
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.MinMax(in.Op, e, d, a[0], a[1], nan) })
	}
	if lanes.HasBinary(in.Op, t) {
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.Binary(in.Op, t, d, a[0], a[1]) })
	}
	panic(fmt.Sprintf("values: plan.Supported accepts %v of %v, which has no lowering", in.Op, t))
}

// isQuiet reports whether a float is the result of an Add, Sub, Mul or FMA, whose instructions never return a signalling NaN.
func isQuiet(v *ir.Value) bool {
	return v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub || v.Def.Op == ir.Mul || v.Def.Op == ir.FMA)
}

// canonical returns the vectors of a 32-bit float in which each NaN is the canonical one. It emits no copy if that is known of v.
func (l *Lowering) canonical(v *ir.Value) []vcode.Reg {
	src := l.Vector(v)
	if l.Nans.Canonical(v) {
		return src
	}
	return l.Map(src, func(d, a vcode.Reg) { l.Canonicalize(d, a, 4, isQuiet(v)) })
}

// shift emits a shift by a count modulo the width.
func (l *Lowering) shift(in *ir.Instr) []vcode.Reg {
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

// rotation reports whether an Or, Xor or Add rotates v left by a constant number of bits. The operands are then a left shift and an
// unsigned right shift of v. Their counts are constants that add up to the width.
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
func (l *Lowering) choose(in *ir.Instr) []vcode.Reg {
	if out := l.chooseLess(in); out != nil {
		return out
	}
	var cond []vcode.Reg
	if l.IsUniform(in.Args[0]) {
		cond = []vcode.Reg{l.MaskOf(l.General(in.Args[0]))}
	} else {
		cond = l.Condition(in.Args[0], nil)
	}
	e := in.Type().Size()
	yes, no := l.Vector(in.Args[1]), l.Vector(in.Args[2])
	neg := in.Args[1].Def
	negated := l.Target.HasMasks && in.Type().IsFloat() && neg != nil && neg.Op == ir.Neg && neg.Args[0] == in.Args[2] &&
		l.Uses[in.Args[1].ID].Count == 1 // only lanes that take the negation change their sign
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

// chooseLess emits a Select that matches a minimum or maximum instruction. These return the second operand unless the first is
// less, or greater, also for zeros and NaNs. It returns nil for other Selects.
func (l *Lowering) chooseLess(in *ir.Instr) []vcode.Reg {
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
func (l *Lowering) countBits(in *ir.Instr) []vcode.Reg {
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

// convert emits Convert, Sat and Wrap.
func (l *Lowering) convert(in *ir.Instr) []vcode.Reg {
	arg, r := in.Args[0], in.Result()
	from, to := arg.Type, r.Type
	if from == ir.Bool {
		return l.fromBool(in)
	}
	v := l.Vector(arg)
	uniform := l.IsUniform(r)
	n := l.NumVectors(r)
	if !uniform && len(v) == 1 { // a constant or a uniform value, whose vector stands for all registers
		full := make([]vcode.Reg, l.VectorsOf(from))
		for i := range full {
			full[i] = v[0]
		}
		v = full
	}
	return l.Convert(v, from, to, in.Op == ir.Sat, n, uniform)
}

// fromBool emits the conversion of a condition to the number 1 or 0.
func (l *Lowering) fromBool(in *ir.Instr) []vcode.Reg {
	to := in.Type()
	e := to.Size()
	one := uint64(1)
	if to.IsFloat() {
		one = ir.FloatBits(to, 1)
	}
	c := l.Constant(one, e)
	var masks []vcode.Reg
	if l.IsUniform(in.Result()) {
		masks = []vcode.Reg{l.MaskOf(l.General(in.Args[0]))}
	} else {
		masks = l.Condition(in.Args[0], nil)
	}
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		m := l.PartMask(masks, i, e)
		l.Def(lanes.Sized(e, amd64.VMOVDQA32, amd64.VMOVDQA64), d.Z(), c.Z()).Zeroed(m)
	}
	return out
}

// Functions returns the functions of the device library that this package emits itself, each as its name, a point and its type.
func Functions() []string { return []string{plan.FastRsqrt + ".f32"} }

// call emits the code of one of [Functions].
func (l *Lowering) call(in *ir.Instr) []vcode.Reg {
	return l.RsqrtFast(l.Vector(in.Args[0]), l.NumVectors(in.Result())) // Functions lists no other function
}
