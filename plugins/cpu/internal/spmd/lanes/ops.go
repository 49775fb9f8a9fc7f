package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// byType has the vector instruction of an operation for each type. A missing entry of an unsigned type defaults to the
// signed type's.
type byType struct{ i32, u32, i64, u64, f32, f64 amd64.Op }

// of returns the instruction for a type of 32 or 64 bits, 0 if there is none.
func (o *byType) of(t ir.Type) amd64.Op {
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

// binaryOps are the operations of [Gang.Binary], except the minimum and the maximum of floats.
var binaryOps = later.Value[map[ir.Op]byType]{Make: func() map[ir.Op]byType {
	return map[ir.Op]byType{
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
}}

var rounding = later.Value[map[ir.Op]int64]{Make: func() map[ir.Op]int64 {
	return map[ir.Op]int64{ir.Rint: 8, ir.Floor: 9, ir.Ceil: 10, ir.Trunc: 11}
}}

// Sized returns op4 for elements of 4 bytes and op8 for 8 bytes.
func Sized(size int, op4, op8 amd64.Op) amd64.Op {
	if size == 8 {
		return op8
	}
	return op4
}

// HasBinary reports whether [Gang.Binary] has an operation on a type of 32 or 64 bits.
func HasBinary(op ir.Op, t ir.Type) bool {
	ops := binaryOps.Get()[op]
	return ops.of(t) != 0 || t.IsFloat() && (op == ir.Min || op == ir.Max)
}

// Binary emits the operation op on the numbers a and b of type t, with the result in d. [HasBinary] must be true for op and t.
func (g *Gang) Binary(op ir.Op, t ir.Type, d, a, b vcode.Reg) {
	e := t.Size()
	if t.IsFloat() && (op == ir.Min || op == ir.Max) {
		g.MinMax(op, e, d, a, b, true)
		return
	}
	if a != 0 && g.Regs[a].Elem != 0 && Commutes(op) {
		a, b = b, a // only the second operand can be a constant in memory
	}
	if op == ir.Mul && t.IsFloat() && g.Consts[vcode.ConstKey{Bits: ir.FloatBits(t, 2), Elem: uint8(e)}] == b {
		g.Op2(Sized(e, amd64.VADDPS, amd64.VADDPD), d, a, a, e) // adds a to itself, which needs no constant
		return
	}
	ops := binaryOps.Get()[op]
	g.Op2(ops.of(t), d, a, b, e)
}

// Commutes reports whether the operands of an operation may be exchanged.
func Commutes(op ir.Op) bool {
	return op == ir.Add || op == ir.Mul || op == ir.Min || op == ir.Max || op == ir.And || op == ir.Or || op == ir.Xor
}

// Op2 emits a vector instruction with two sources. elem is that of [vcode.Inst.Folds] for the second source.
func (g *Gang) Op2(op amd64.Op, d, a, b vcode.Reg, elem int) *vcode.Inst {
	return g.Def(op, d.Z(), a.Z(), b.Z()).Folds(2, elem)
}

// Unary emits the operation op on the number a of type t, with the result in d. op is Neg, Not, Abs, Sqrt or a rounding.
func (g *Gang) Unary(op ir.Op, t ir.Type, d, a vcode.Reg) {
	e := t.Size()
	sign := uint64(1) << (8*e - 1)
	switch {
	case op == ir.Neg && t.IsFloat():
		g.Op2(Sized(e, amd64.VPXORD, amd64.VPXORQ), d, a, g.Constant(sign, e), e)
	case op == ir.Neg:
		g.Op2(Sized(e, amd64.VPSUBD, amd64.VPSUBQ), d, g.Constant(0, e), a, e)
	case op == ir.Not:
		g.Op2(Sized(e, amd64.VPXORD, amd64.VPXORQ), d, a, g.Constant(^uint64(0), e), e)
	case op == ir.Abs && t.IsFloat():
		g.Op2(Sized(e, amd64.VPANDD, amd64.VPANDQ), d, a, g.Constant(sign-1, e), e)
	case op == ir.Abs && t.IsSigned():
		g.Def(Sized(e, amd64.VPABSD, amd64.VPABSQ), d.Z(), a.Z()).Folds(1, e)
	case op == ir.Abs:
		g.Def(amd64.VMOVDQA64, d.Z(), a.Z()).Folds(1, 0)
	case op == ir.Sqrt:
		g.Def(Sized(e, amd64.VSQRTPS, amd64.VSQRTPD), d.Z(), a.Z()).Folds(1, e)
	case op == ir.Round:
		// The floor, plus 1 if the fraction is at least a half, with the sign of the operand.
		rest, up, whole := g.NewVec(), g.NewMask(), g.NewVec()
		g.Def(Sized(e, amd64.VRNDSCALEPS, amd64.VRNDSCALEPD), whole.Z(), a.Z(), vcode.Imm(9)).Folds(1, e)
		g.Op2(Sized(e, amd64.VSUBPS, amd64.VSUBPD), rest, a, whole, e)
		g.Def(Sized(e, amd64.VCMPPS, amd64.VCMPPD), up.K(), rest.Z(), g.Constant(ir.FloatBits(t, 0.5), e).Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, e)
		g.Def(Sized(e, amd64.VADDPS, amd64.VADDPD), whole.Z(), whole.Z(), g.Constant(ir.FloatBits(t, 1), e).Z()).Folds(2, e).Under(up)
		g.Def(amd64.VMOVDQA64, d.Z(), g.Constant(sign, e).Z())
		g.Mod(Sized(e, amd64.VPTERNLOGD, amd64.VPTERNLOGQ), d.Z(), a.Z(), whole.Z(), vcode.Imm(0xca)).Folds(2, e)
	default:
		g.Def(Sized(e, amd64.VRNDSCALEPS, amd64.VRNDSCALEPD), d.Z(), a.Z(), vcode.Imm(rounding.Get()[op])).Folds(1, e)
	}
}

// MinMax emits the minimum or maximum of floats, with −0 less than +0. If an operand is NaN, the result is a NaN with any bits.
// nan reports whether an operand may be NaN.
func (g *Gang) MinMax(op ir.Op, e int, d, a, b vcode.Reg, nan bool) {
	choice := int64(4)
	if op == ir.Max {
		choice = 5
	}
	pick := func(d vcode.Reg) {
		g.Def(Sized(e, amd64.VRANGEPS, amd64.VRANGEPD), d.Z(), a.Z(), b.Z(), vcode.Imm(choice)).Folds(2, e)
	}
	if !nan || op == ir.Min && !g.Target.HasMasks { // on AVX2 the bits of the minima of both orders are joined by OR, which keeps a NaN
		pick(d)
		return
	}
	odd, t := g.NewMask(), g.NewVec()
	g.Unordered(odd, a, b, e)
	pick(t)
	if g.Target.HasMasks {
		g.Def(Sized(e, amd64.VADDPS, amd64.VADDPD), t.Z(), a.Z(), b.Z()).Folds(2, e).Under(odd)
		g.Def(amd64.VMOVDQA64, d.Z(), t.Z())
		return
	}
	g.Def(Sized(e, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), t.Z(), g.Constant(canonicalNaN(e), e).Z()).Folds(2, e).Mask = odd
}

// MulHi emits the high half of 32-bit products: even and odd lanes are multiplied separately.
func (g *Gang) MulHi(t ir.Type, d, a, b vcode.Reg) {
	op := amd64.VPMULUDQ
	if t.IsSigned() {
		op = amd64.VPMULDQ
	}
	even, a1, b1, odd, high := g.NewVec(), g.NewVec(), g.NewVec(), g.NewVec(), g.NewMask()
	g.Op2(op, even, a, b, 0)
	g.Def(amd64.VPSRLQ, a1.Z(), a.Z(), vcode.Imm(32))
	g.Def(amd64.VPSRLQ, b1.Z(), b.Z(), vcode.Imm(32))
	g.Op2(op, odd, a1, b1, 0)
	r := g.NewGPR()
	g.Def(amd64.MOV, r.G4(), vcode.Imm(0xaaaa))
	g.Def(amd64.KMOVW, high.K(), r.G4())
	g.Def(amd64.VPSRLQ, even.Z(), even.Z(), vcode.Imm(32))
	g.Def(amd64.VPBLENDMD, d.Z(), even.Z(), odd.Z()).Mask = high
}

// CountBits emits Clz, Ctz or Popcnt of elements of e bytes. The counts are elements of e bytes.
func (g *Gang) CountBits(op ir.Op, e int, d, a vcode.Reg) {
	switch op {
	case ir.Clz:
		g.Def(Sized(e, amd64.VPLZCNTD, amd64.VPLZCNTQ), d.Z(), a.Z()).Folds(1, e)
	case ir.Ctz: // the bits below the lowest set bit, counted from the top
		below, lead := g.NewVec(), g.NewVec()
		g.Op2(Sized(e, amd64.VPADDD, amd64.VPADDQ), below, a, g.Constant(^uint64(0), e), e)
		g.Op2(Sized(e, amd64.VPANDND, amd64.VPANDNQ), below, a, below, e)
		g.Def(Sized(e, amd64.VPLZCNTD, amd64.VPLZCNTQ), lead.Z(), below.Z()).Folds(1, e)
		g.Op2(Sized(e, amd64.VPSUBD, amd64.VPSUBQ), d, g.Constant(uint64(8*e), e), lead, e)
	default:
		g.popcount(e, d, a)
	}
}

// popcount emits sums of bits in fields of 2, 4 and 8 bits, then the sum of the bytes by a multiplication.
func (g *Gang) popcount(e int, d, a vcode.Reg) {
	and, sub, add := Sized(e, amd64.VPANDD, amd64.VPANDQ), Sized(e, amd64.VPSUBD, amd64.VPSUBQ), Sized(e, amd64.VPADDD, amd64.VPADDQ)
	shr, mul := Sized(e, amd64.VPSRLD, amd64.VPSRLQ), Sized(e, amd64.VPMULLD, amd64.VPMULLQ)
	c := func(b uint64) vcode.Reg { return g.Constant(b*0x0101010101010101, e) }
	t, s := g.NewVec(), g.NewVec()
	g.Def(shr, t.Z(), a.Z(), vcode.Imm(1))
	g.Op2(and, t, t, c(0x55), e)
	g.Op2(sub, s, a, t, e)
	u := g.NewVec()
	g.Def(shr, u.Z(), s.Z(), vcode.Imm(2))
	g.Op2(and, u, u, c(0x33), e)
	g.Op2(and, s, s, c(0x33), e)
	g.Op2(add, s, s, u, e)
	g.Def(shr, u.Z(), s.Z(), vcode.Imm(4))
	g.Op2(add, s, s, u, e)
	g.Op2(and, s, s, c(0x0f), e)
	g.Op2(mul, s, s, c(1), e)
	g.Def(shr, d.Z(), s.Z(), vcode.Imm(int64(8*e-8)))
}
