package avx2

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// arithmetic expands arithmetic that AVX2 lacks. It returns false for other instructions. It writes destinations last, since
// they may be sources.
func (e *expander) arithmetic(in *vcode.Inst) bool {
	d, a, b := in.Args[0].Reg, in.Args[1].Reg, in.Args[2].Reg
	switch in.Op {
	case amd64.VPMINSQ, amd64.VPMINUQ:
		e.blend(d, a, b, e.greater64(in.Op == amd64.VPMINUQ, a, b))
	case amd64.VPMAXSQ, amd64.VPMAXUQ:
		e.blend(d, b, a, e.greater64(in.Op == amd64.VPMAXUQ, a, b))
	case amd64.VPABSQ:
		s := e.temp(amd64.VPCMPGTQ, e.Constant(0, 4), a)
		e.op(amd64.VPSUBQ, d, e.temp(amd64.VPXOR, a, s), s)
	case amd64.VPMULLQ:
		e.multiply64(d, a, b)
	case amd64.VPSRAQ:
		sign := e.Constant(1<<(63-uint(in.Imm)), 8)
		e.op(amd64.VPSUBQ, d, e.temp(amd64.VPXOR, e.shifted(amd64.VPSRLQ, a, in.Imm), sign), sign)
	case amd64.VPSRAVQ:
		sign := e.temp(amd64.VPSRLVQ, e.Constant(1<<63, 8), b)
		e.op(amd64.VPSUBQ, d, e.temp(amd64.VPXOR, e.temp(amd64.VPSRLVQ, a, b), sign), sign)
	case amd64.VPROLD:
		e.rotate(d, a, 4, in.Imm, amd64.VPSLLD, amd64.VPSRLD)
	case amd64.VPROLQ:
		e.rotate(d, a, 8, in.Imm, amd64.VPSLLQ, amd64.VPSRLQ)
	case amd64.VPLZCNTD:
		e.Def(amd64.VMOVDQA, d.Y(), e.leadingZeros(a).Y())
	case amd64.VPLZCNTQ:
		// The result is the upper half's count, plus the lower half's if the upper half is zero.
		n := e.leadingZeros(a)
		high := e.shifted(amd64.VPSRLQ, n, 32)
		low := e.temp(amd64.VPAND, n, e.Constant(0xffffffff, 8))
		all := e.temp(amd64.VPCMPEQQ, high, e.Constant(32, 8))
		e.op(amd64.VPADDQ, d, high, e.temp(amd64.VPAND, low, all))
	case amd64.VRANGEPS:
		e.range1(in, amd64.VMINPS, amd64.VMAXPS)
	case amd64.VRANGEPD:
		e.range1(in, amd64.VMINPD, amd64.VMAXPD)
	case amd64.VPTERNLOGD, amd64.VPTERNLOGQ:
		if in.Imm != 0xca { // only the bitwise selection by d is supported
			e.refuseOp(in)
		}
		yes, no := e.temp(amd64.VPAND, d, a), e.temp(amd64.VPANDN, d, b)
		e.op(amd64.VPOR, d, yes, no)
	default:
		return false
	}
	return true
}

// rotate expands a left rotation by n bits of elements of this size. A rotation by whole bytes is a shuffle.
func (e *expander) rotate(d, a vcode.Reg, size int, n int64, left, right amd64.Op) {
	if n%8 != 0 {
		e.op(amd64.VPOR, d, e.shifted(left, a, n), e.shifted(right, a, int64(8*size)-n))
		return
	}
	from := make([]byte, e.Target.Bytes())
	for i := range from {
		from[i] = byte(i/size*size+(i+size-int(n/8))%size) % 16
	}
	e.op(amd64.VPSHUFB, d, a, e.Pattern(from))
}

// greater64 returns the lanes in which the 64-bit integer a is greater than b.
func (e *expander) greater64(unsigned bool, a, b vcode.Reg) vcode.Reg {
	if unsigned {
		sign := e.Constant(1<<63, 8)
		a, b = e.temp(amd64.VPXOR, a, sign), e.temp(amd64.VPXOR, b, sign)
	}
	return e.temp(amd64.VPCMPGTQ, a, b)
}

// multiply64 expands the low halves of 64-bit products: the product of the low halves plus the cross products,
// shifted.
func (e *expander) multiply64(d, a, b vcode.Reg) {
	swapped := e.NewVec()
	e.Def(amd64.VPSHUFD, swapped.Y(), b.Y(), vcode.Imm(0xb1)).Folds(1, 0)
	cross := e.temp(amd64.VPMULLD, a, swapped)
	cross = e.temp(amd64.VPADDD, cross, e.shifted(amd64.VPSRLQ, cross, 32))
	cross = e.shifted(amd64.VPSLLQ, cross, 32)
	e.op(amd64.VPADDQ, d, e.temp(amd64.VPMULUDQ, a, b), cross)
}

// leadingZeros returns the number of leading zeros of 32-bit elements. It converts an element to a float and reads the
// exponent. It first clears the bit below the highest one, so that the conversion does not round up. An element with
// the highest bit set is a negative float, whose count saturates to 0.
func (e *expander) leadingZeros(a vcode.Reg) vcode.Reg {
	v := e.temp(amd64.VPANDN, e.shifted(amd64.VPSRLD, a, 1), a)
	f := e.NewVec()
	e.Def(amd64.VCVTDQ2PS, f.Y(), v.Y())
	n := e.temp(amd64.VPSUBUSW, e.Constant(127+31, 4), e.shifted(amd64.VPSRLD, f, 23))
	return e.temp(amd64.VPMINSD, n, e.Constant(32, 4))
}

// range1 expands the minimum or maximum of floats, with −0 below +0. The instructions return the second operand if both are zero;
// combining both orders yields the right sign. A minimum of a NaN is NaN; a maximum of a NaN has undefined bits.
func (e *expander) range1(in *vcode.Inst, least, greatest amd64.Op) {
	d, a, b := in.Args[0].Reg, in.Args[1].Reg, in.Args[2].Reg
	op, join := least, amd64.VPOR
	switch in.Imm {
	case 4:
	case 5:
		op, join = greatest, amd64.VPAND
	default:
		e.refuseOp(in)
	}
	e.op(join, d, e.temp(op, a, b), e.temp(op, b, a))
}
