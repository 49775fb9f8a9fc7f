package isel

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// byType has the vector instruction of an operation for each type. A missing entry of an unsigned type defaults to the
// signed type's.
type byType struct{ i32, u32, i64, u64, f32, f64 amd64.Op }

func (o *byType) Of(t ir.Type) amd64.Op {
	pick := func(a, b amd64.Op) amd64.Op {
		if a != 0 {
			return a
		}
		return b
	}
	switch t {
	case ir.I32:
		return o.i32
	case ir.U32:
		return pick(o.u32, o.i32)
	case ir.I64:
		return o.i64
	case ir.U64:
		return pick(o.u64, o.i64)
	case ir.F32:
		return o.f32
	}
	return o.f64
}

var VectorOps = map[ir.Op]byType{
	ir.Add: {i32: amd64.VPADDD, i64: amd64.VPADDQ, f32: amd64.VADDPS, f64: amd64.VADDPD},
	ir.Sub: {i32: amd64.VPSUBD, i64: amd64.VPSUBQ, f32: amd64.VSUBPS, f64: amd64.VSUBPD},
	ir.Mul: {i32: amd64.VPMULLD, i64: amd64.VPMULLQ, f32: amd64.VMULPS, f64: amd64.VMULPD},
	ir.Div: {f32: amd64.VDIVPS, f64: amd64.VDIVPD},
	ir.Min: {i32: amd64.VPMINSD, u32: amd64.VPMINUD, i64: amd64.VPMINSQ, u64: amd64.VPMINUQ},
	ir.Max: {i32: amd64.VPMAXSD, u32: amd64.VPMAXUD, i64: amd64.VPMAXSQ, u64: amd64.VPMAXUQ},
	ir.And: {i32: amd64.VPANDD, i64: amd64.VPANDQ},
	ir.Or:  {i32: amd64.VPORD, i64: amd64.VPORQ},
	ir.Xor: {i32: amd64.VPXORD, i64: amd64.VPXORQ},
}

var rounding = map[ir.Op]int64{ir.Rint: 8, ir.Floor: 9, ir.Ceil: 10, ir.Trunc: 11}

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

// Op2 emits a vector instruction with two operands.
func (l *Lowerer) Op2(op amd64.Op, d, a, b vcode.Reg, elem int) *vcode.Inst {
	return l.Def(op, d.Z(), a.Z(), b.Z()).Folds(2, elem)
}

// Sized returns op4 for elements of 4 bytes and op8 for 8 bytes.
func Sized(size int, op4, op8 amd64.Op) amd64.Op {
	if size == 8 {
		return op8
	}
	return op4
}

// compute1 emits a pure operation whose result is in vectors.
func (l *Lowerer) compute1(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	from := in.Args[0].Type
	e := t.Size()
	if in.Op == ir.Sqrt && l.StepsForSqrt(in) {
		return l.sqrtBySteps(in)
	}
	switch in.Op {
	case ir.Neg, ir.Not, ir.Abs, ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Rint, ir.Round:
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.unary(in.Op, t, d, a[0]) })
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
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.mulHi(t, d, a[0], a[1]) })
	case ir.Shl, ir.Shr:
		return l.shift(in)
	case ir.Or, ir.Xor, ir.Add:
		if x, count, ok := rotation(in); ok {
			v := l.Vector(x)
			out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
			for i, d := range out {
				l.Def(Sized(e, amd64.VPROLD, amd64.VPROLQ), d.Z(), vcode.Part(v, i).Z(), vcode.Imm(count)).Folds(1, e)
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
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.canonicalize(d, a[0], e, isQuiet(in.Args[0])) })
	case ir.Math:
		return l.call(in)
	case ir.Quant:
		if in.Elem == t {
			return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.canonicalize(d, a[0], e, isQuiet(in.Args[0])) })
		}
		canonical := l.Nans.Canonical(in.Args[0])
		return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) { l.quantize(in.Elem, d, a[0], canonical) })
	}
	if ops, ok := VectorOps[in.Op]; ok {
		if op := ops.Of(t); op != 0 {
			return l.each(in, func(_ int, d vcode.Reg, a []vcode.Reg) {
				if a[0] != 0 && l.Regs[a[0]].Elem != 0 && commutes(in.Op) {
					a[0], a[1] = a[1], a[0] // only the second operand can be a constant in memory
				}
				if in.Op == ir.Mul && t.IsFloat() && l.Consts[vcode.ConstKey{Bits: ir.FloatBits(t, 2), Elem: uint8(e)}] == a[1] {
					l.Op2(Sized(e, amd64.VADDPS, amd64.VADDPD), d, a[0], a[0], e) // adds a to itself, which needs no constant
					return
				}
				l.Op2(op, d, a[0], a[1], e)
			})
		}
	}
	panic(fmt.Sprintf("isel: plan.Supported accepts %v of %v, which has no lowering", in.Op, t))
}

func commutes(op ir.Op) bool {
	return op == ir.Add || op == ir.Mul || op == ir.Min || op == ir.Max || op == ir.And || op == ir.Or || op == ir.Xor
}

// canonicalize emits a copy of a in which each NaN is the canonical one. quiet means that a has no signalling NaNs.
func (l *Lowerer) canonicalize(d, a vcode.Reg, e int, quiet bool) {
	nan := l.Constant(canonicalNaN(e), e)
	switch {
	case !l.Target.HasMasks:
		odd := l.NewMask()
		l.unordered(odd, a, a, e)
		l.Def(amd64.VMOVDQA64, d.Z(), a.Z()).Folds(1, 0)
		l.Def(Sized(e, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), d.Z(), nan.Z()).Folds(2, e).Mask = odd
	case quiet: // VMINPS of a NaN and a number returns the number, and of two NaNs the first
		l.Def(Sized(e, amd64.VRANGEPS, amd64.VRANGEPD), d.Z(), nan.Z(), a.Z(), vcode.Imm(4))
	default:
		l.Def(amd64.VMOVDQA64, d.Z(), nan.Z()).Folds(1, 0)
		l.Mod(Sized(e, amd64.VFIXUPIMMPS, amd64.VFIXUPIMMPD), d.Z(), a.Z(), l.Constant(keepNaNs, e).Z(), vcode.Imm(0)).Folds(2, e)
	}
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
	return l.map1(src, func(d, a vcode.Reg) { l.canonicalize(d, a, 4, isQuiet(v)) })
}

func canonicalNaN(size int) uint64 {
	if size == 8 {
		return ir.NaN64
	}
	return uint64(ir.NaN32)
}

// unordered returns the masks of the lanes in which one of two floats is NaN.
func (l *Lowerer) unordered(d, a, b vcode.Reg, size int) {
	l.Def(Sized(size, amd64.VCMPPS, amd64.VCMPPD), d.K(), a.Z(), b.Z(), vcode.Cmp(amd64.CmpUnordered)).Folds(2, size)
}

func (l *Lowerer) unary(op ir.Op, t ir.Type, d, a vcode.Reg) {
	e := t.Size()
	sign := uint64(1) << (8*e - 1)
	switch {
	case op == ir.Neg && t.IsFloat():
		l.Op2(Sized(e, amd64.VPXORD, amd64.VPXORQ), d, a, l.Constant(sign, e), e)
	case op == ir.Neg:
		l.Op2(Sized(e, amd64.VPSUBD, amd64.VPSUBQ), d, l.Constant(0, e), a, e)
	case op == ir.Not:
		l.Op2(Sized(e, amd64.VPXORD, amd64.VPXORQ), d, a, l.Constant(^uint64(0), e), e)
	case op == ir.Abs && t.IsFloat():
		l.Op2(Sized(e, amd64.VPANDD, amd64.VPANDQ), d, a, l.Constant(sign-1, e), e)
	case op == ir.Abs && t.IsSigned():
		l.Def(Sized(e, amd64.VPABSD, amd64.VPABSQ), d.Z(), a.Z()).Folds(1, e)
	case op == ir.Abs:
		l.Def(amd64.VMOVDQA64, d.Z(), a.Z()).Folds(1, 0)
	case op == ir.Sqrt:
		l.Def(Sized(e, amd64.VSQRTPS, amd64.VSQRTPD), d.Z(), a.Z()).Folds(1, e)
	case op == ir.Round:
		// The floor, plus 1 if the fraction is at least a half, with the sign of the operand.
		rest, up, whole := l.NewVec(), l.NewMask(), l.NewVec()
		l.Def(Sized(e, amd64.VRNDSCALEPS, amd64.VRNDSCALEPD), whole.Z(), a.Z(), vcode.Imm(9)).Folds(1, e)
		l.Op2(Sized(e, amd64.VSUBPS, amd64.VSUBPD), rest, a, whole, e)
		l.Def(Sized(e, amd64.VCMPPS, amd64.VCMPPD), up.K(), rest.Z(), l.Constant(ir.FloatBits(t, 0.5), e).Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, e)
		l.Def(Sized(e, amd64.VADDPS, amd64.VADDPD), whole.Z(), whole.Z(), l.Constant(ir.FloatBits(t, 1), e).Z()).Folds(2, e).Under(up)
		l.Def(amd64.VMOVDQA64, d.Z(), l.Constant(sign, e).Z())
		l.Mod(Sized(e, amd64.VPTERNLOGD, amd64.VPTERNLOGQ), d.Z(), a.Z(), whole.Z(), vcode.Imm(0xca)).Folds(2, e)
	default:
		l.Def(Sized(e, amd64.VRNDSCALEPS, amd64.VRNDSCALEPD), d.Z(), a.Z(), vcode.Imm(rounding[op])).Folds(1, e)
	}
}

// MinMax emits the minimum or maximum of floats. NaN takes precedence, and −0 is less than +0.
func (l *Lowerer) MinMax(op ir.Op, e int, d, a, b vcode.Reg) {
	odd := l.NewMask()
	choice := int64(4)
	if op == ir.Max {
		choice = 5
	}
	l.unordered(odd, a, b, e)
	t := l.NewVec()
	l.Def(Sized(e, amd64.VRANGEPS, amd64.VRANGEPD), t.Z(), a.Z(), b.Z(), vcode.Imm(choice)).Folds(2, e)
	l.Def(Sized(e, amd64.VADDPS, amd64.VADDPD), t.Z(), a.Z(), b.Z()).Folds(2, e).Under(odd)
	l.Def(amd64.VMOVDQA64, d.Z(), t.Z())
}

// mulHi emits the high half of 32-bit products: even and odd lanes are multiplied separately.
func (l *Lowerer) mulHi(t ir.Type, d, a, b vcode.Reg) {
	op := amd64.VPMULUDQ
	if t.IsSigned() {
		op = amd64.VPMULDQ
	}
	even, a1, b1, odd, high := l.NewVec(), l.NewVec(), l.NewVec(), l.NewVec(), l.NewMask()
	l.Op2(op, even, a, b, 0)
	l.Def(amd64.VPSRLQ, a1.Z(), a.Z(), vcode.Imm(32))
	l.Def(amd64.VPSRLQ, b1.Z(), b.Z(), vcode.Imm(32))
	l.Op2(op, odd, a1, b1, 0)
	r := l.NewGPR()
	l.Def(amd64.MOV, r.G4(), vcode.Imm(0xaaaa))
	l.Def(amd64.KMOVW, high.K(), r.G4())
	l.Def(amd64.VPSRLQ, even.Z(), even.Z(), vcode.Imm(32))
	l.Def(amd64.VPBLENDMD, d.Z(), even.Z(), odd.Z()).Mask = high
}

// shift emits a shift by a count modulo the width.
func (l *Lowerer) shift(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	e := t.Size()
	var byImm, byVec amd64.Op
	switch {
	case in.Op == ir.Shl:
		byImm, byVec = Sized(e, amd64.VPSLLD, amd64.VPSLLQ), Sized(e, amd64.VPSLLVD, amd64.VPSLLVQ)
	case t.IsSigned():
		byImm, byVec = Sized(e, amd64.VPSRAD, amd64.VPSRAQ), Sized(e, amd64.VPSRAVD, amd64.VPSRAVQ)
	default:
		byImm, byVec = Sized(e, amd64.VPSRLD, amd64.VPSRLQ), Sized(e, amd64.VPSRLVD, amd64.VPSRLVQ)
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
		counts = l.widen(counts, amd64.VPMOVZXDQ, n)
	}
	for i, d := range out {
		c := l.NewVec()
		l.Op2(Sized(e, amd64.VPANDD, amd64.VPANDQ), c, vcode.Part(counts, i), l.Constant(uint64(width), e), e)
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

// keepNaNs is the table of a VFIXUPIMM that replaces all but NaNs by the source. It has a 4-bit response for each class of
// floats, quiet and signalling NaNs first: 0 keeps the destination, 1 takes the source.
const keepNaNs = 0x11111100

// choose emits a Select.
func (l *Lowerer) choose(in *ir.Instr) []vcode.Reg {
	if out := l.chooseLess(in); out != nil {
		return out
	}
	var cond []vcode.Reg
	if l.IsUniform(in.Args[0]) {
		cond = []vcode.Reg{l.maskOf(l.General(in.Args[0]))}
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
			l.Def(Sized(e, amd64.VPXORD, amd64.VPXORQ), d.Z(), d.Z(), l.Constant(uint64(1)<<(8*e-1), e).Z()).Folds(2, e).Under(m)
			continue
		}
		l.Def(Sized(e, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), vcode.Part(no, i).Z(), vcode.Part(yes, i).Z()).Folds(2, e).Mask = m
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
	op := Sized(e, amd64.VMINPS, amd64.VMINPD)
	switch a, b := test.Args[0], test.Args[1]; {
	case in.Args[1] == a && in.Args[2] == b:
	case in.Args[1] == b && in.Args[2] == a:
		op = Sized(e, amd64.VMAXPS, amd64.VMAXPD)
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

// maskOf returns a mask with all lanes or none, for a condition of 0 or 1 in a general purpose register.
func (l *Lowerer) maskOf(g vcode.Reg) vcode.Reg {
	r, m := l.NewGPR(), l.NewMask()
	l.Def(amd64.MOV, r.G4(), g.G4())
	l.Mod(amd64.NEG, r.G4())
	l.maskOfScalar(m, r)
	return m
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
		a := vcode.Part(arg, i)
		switch in.Op {
		case ir.Clz:
			l.Def(Sized(e, amd64.VPLZCNTD, amd64.VPLZCNTQ), d.Z(), a.Z()).Folds(1, e)
		case ir.Ctz: // the bits below the lowest set bit, counted from the top
			below, lead := l.NewVec(), l.NewVec()
			l.Op2(Sized(e, amd64.VPADDD, amd64.VPADDQ), below, a, l.Constant(^uint64(0), e), e)
			l.Op2(Sized(e, amd64.VPANDND, amd64.VPANDNQ), below, a, below, e)
			l.Def(Sized(e, amd64.VPLZCNTD, amd64.VPLZCNTQ), lead.Z(), below.Z()).Folds(1, e)
			l.Op2(Sized(e, amd64.VPSUBD, amd64.VPSUBQ), d, l.Constant(uint64(8*e), e), lead, e)
		default:
			l.popcount(e, d, a)
		}
	}
	if e == 8 {
		return l.narrow(counts, amd64.VPMOVQD, l.IsUniform(in.Result()))
	}
	return counts
}

// popcount emits sums of bits in fields of 2, 4 and 8 bits, then the sum of the bytes by a multiplication.
func (l *Lowerer) popcount(e int, d, a vcode.Reg) {
	and, sub, add := Sized(e, amd64.VPANDD, amd64.VPANDQ), Sized(e, amd64.VPSUBD, amd64.VPSUBQ), Sized(e, amd64.VPADDD, amd64.VPADDQ)
	shr, mul := Sized(e, amd64.VPSRLD, amd64.VPSRLQ), Sized(e, amd64.VPMULLD, amd64.VPMULLQ)
	c := func(b uint64) vcode.Reg { return l.Constant(b*0x0101010101010101, e) }
	t, s := l.NewVec(), l.NewVec()
	l.Def(shr, t.Z(), a.Z(), vcode.Imm(1))
	l.Op2(and, t, t, c(0x55), e)
	l.Op2(sub, s, a, t, e)
	u := l.NewVec()
	l.Def(shr, u.Z(), s.Z(), vcode.Imm(2))
	l.Op2(and, u, u, c(0x33), e)
	l.Op2(and, s, s, c(0x33), e)
	l.Op2(add, s, s, u, e)
	l.Def(shr, u.Z(), s.Z(), vcode.Imm(4))
	l.Op2(add, s, s, u, e)
	l.Op2(and, s, s, c(0x0f), e)
	l.Op2(mul, s, s, c(1), e)
	l.Def(shr, d.Z(), s.Z(), vcode.Imm(int64(8*e-8)))
}
