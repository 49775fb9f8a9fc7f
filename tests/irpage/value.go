package irpage

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Registers hold the bits of values, zero-extended.

func signed(t ir.Type, b uint64) int64 {
	if t == ir.I32 {
		return int64(int32(b))
	}
	return int64(b)
}

func low(t ir.Type, b uint64) uint64 {
	if t.Size() == 4 {
		return uint64(uint32(b))
	}
	return b
}

func float(t ir.Type, b uint64) float64 {
	if t == ir.F32 {
		return float64(math.Float32frombits(uint32(b)))
	}
	return math.Float64frombits(b)
}

func floatBits(t ir.Type, x float64) uint64 {
	if t == ir.F32 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func boolBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// canonical returns the canonical NaN for a NaN, and other values unchanged.
func canonical(t ir.Type, b uint64) uint64 {
	if t.IsFloat() && float(t, b) != float(t, b) {
		return ir.FloatBits(t, math.NaN())
	}
	return b
}

// compute evaluates an operation that depends only on its operands. Integer divisors are not 0.
func compute(in *ir.Instr, a []uint64) uint64 {
	from, to := in.Args[0].Type, in.Type()
	switch in.Op {
	case ir.Select:
		if a[0] != 0 {
			return a[1]
		}
		return a[2]
	case ir.Eq, ir.Ne, ir.Lt, ir.Le:
		return boolBits(compare(in.Op, from, a[0], a[1]))
	case ir.Convert:
		return convert(from, to, a[0])
	case ir.Sat:
		return saturate(to, float(from, a[0]))
	case ir.Wrap:
		if from.IsFloat() {
			return low(to, wrap(float(from, a[0])))
		}
		return low(to, uint64(extend(from, a[0])))
	case ir.Bitcast:
		if to.IsFloat() {
			return a[0]
		}
		return canonical(from, a[0])
	case ir.Quant:
		if in.Elem.Size() == 2 {
			return loaded(in.Elem, stored(in.Elem, a[0]))
		}
		return canonical(from, a[0])
	}
	switch {
	case len(a) == 1:
		return unary(in.Op, from, a[0])
	case in.Op == ir.FMA:
		return fma(from, a[0], a[1], a[2])
	}
	return binaryOp(in.Op, from, a[0], a[1])
}

func unary(op ir.Op, t ir.Type, b uint64) uint64 {
	if t == ir.Bool { // logical not
		return b ^ 1
	}
	width := 8 * t.Size()
	switch {
	case op == ir.Not:
		return low(t, ^b)
	case op == ir.Clz:
		return uint64(bits.LeadingZeros64(b) - (64 - width))
	case op == ir.Ctz:
		return uint64(min(bits.TrailingZeros64(b), width))
	case op == ir.Popcnt:
		return uint64(bits.OnesCount64(b))
	case t.IsInt() && (op == ir.Neg || t.IsSigned() && signed(t, b) < 0):
		return low(t, -b)
	case t.IsInt(): // absolute value
		return b
	}
	sign := uint64(1) << (width - 1)
	x := float(t, b)
	switch op {
	case ir.Neg:
		return b ^ sign
	case ir.Abs:
		return b &^ sign
	case ir.Sqrt:
		return floatBits(t, math.Sqrt(x))
	case ir.Floor:
		x = math.Floor(x)
	case ir.Ceil:
		x = math.Ceil(x)
	case ir.Trunc:
		x = math.Trunc(x)
	case ir.Rint:
		x = math.RoundToEven(x)
	case ir.Round:
		whole := math.Floor(x)
		if x-whole >= 0.5 {
			whole++
		}
		x = whole
	}
	return floatBits(t, x) | b&sign // the sign of a zero result; other results have it already
}

func binaryOp(op ir.Op, t ir.Type, a, b uint64) uint64 {
	switch op {
	case ir.And:
		return a & b
	case ir.Or:
		return a | b
	case ir.Xor:
		return a ^ b
	}
	switch t {
	case ir.F32:
		x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
		return uint64(math.Float32bits(binaryFloat(op, x, y)))
	case ir.F64:
		return math.Float64bits(binaryFloat(op, float(t, a), float(t, b)))
	}
	return low(t, binaryInt(op, t, a, b))
}

func binaryFloat[T float32 | float64](op ir.Op, x, y T) T {
	switch op {
	case ir.Add:
		return x + y
	case ir.Sub:
		return x - y
	case ir.Mul:
		return T(x * y)
	case ir.Div:
		return x / y
	case ir.Rem:
		return T(math.Mod(float64(x), float64(y)))
	}
	if op == ir.Max {
		return -binaryFloat(ir.Min, -x, -y)
	}
	switch {
	case x != x || y != y:
		return T(math.NaN())
	case x < y || x == y && math.Signbit(float64(x)):
		return x
	}
	return y
}

func binaryInt(op ir.Op, t ir.Type, a, b uint64) uint64 {
	count := b & uint64(8*t.Size()-1)
	switch op {
	case ir.Add:
		return a + b
	case ir.Sub:
		return a - b
	case ir.Mul:
		return a * b
	case ir.Shl:
		return a << count
	case ir.Shr:
		if t.IsSigned() {
			return uint64(signed(t, a) >> count)
		}
		return a >> count
	case ir.Min, ir.Max:
		if compare(ir.Lt, t, a, b) == (op == ir.Min) {
			return a
		}
		return b
	}
	// The operands as exact numbers.
	x, y := exact(t, a), exact(t, b)
	switch op {
	case ir.Div:
		x.Quo(x, y)
	case ir.Rem:
		x.Rem(x, y)
	case ir.MulHi:
		x.Rsh(x.Mul(x, y), uint(8*t.Size()))
	}
	return lowOf(x)
}

// extend returns the value of an integer or bool register. Of an unsigned 64-bit value it returns the bits.
func extend(t ir.Type, b uint64) int64 {
	if t.IsSigned() {
		return signed(t, b)
	}
	return int64(b)
}

func exact(t ir.Type, b uint64) *big.Int {
	if t.IsSigned() {
		return big.NewInt(signed(t, b))
	}
	return new(big.Int).SetUint64(b)
}

// lowOf returns the low 64 bits of a number in two's complement.
func lowOf(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

func compare(op ir.Op, t ir.Type, a, b uint64) bool {
	var less, equal bool
	switch {
	case t.IsFloat():
		x, y := float(t, a), float(t, b)
		less, equal = x < y, x == y
	case t.IsSigned():
		less, equal = signed(t, a) < signed(t, b), a == b
	default:
		less, equal = a < b, a == b
	}
	switch op {
	case ir.Eq:
		return equal
	case ir.Ne:
		return !equal
	case ir.Lt:
		return less
	}
	return less || equal
}

func fma(t ir.Type, a, b, c uint64) uint64 {
	x, y, z := float(t, a), float(t, b), float(t, c)
	if t == ir.F64 {
		return math.Float64bits(math.FMA(x, y, z))
	}
	product := x * y // exact in binary64
	sum := float64(product) + z
	if sum == 0 || sum != sum || math.IsInf(sum, 0) {
		return floatBits(t, sum)
	}
	whole := func(x float64) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(x) }
	rounded, _ := new(big.Float).SetPrec(1000).Add(whole(product), whole(z)).Float32()
	return uint64(math.Float32bits(rounded))
}

func convert(from, to ir.Type, b uint64) uint64 {
	switch {
	case from == to:
		return b
	case from.IsFloat():
		return floatBits(to, float(from, b))
	case !to.IsFloat():
		return low(to, uint64(extend(from, b)))
	case from.IsSigned() && to == ir.F32:
		return uint64(math.Float32bits(float32(signed(from, b))))
	case from.IsSigned():
		return math.Float64bits(float64(signed(from, b)))
	case to == ir.F32:
		return uint64(math.Float32bits(float32(b)))
	}
	return math.Float64bits(float64(b))
}

// saturate returns the integer of type to that is nearest to x, truncated; 0 for NaN.
func saturate(to ir.Type, x float64) uint64 {
	if x != x {
		return 0
	}
	width := 8 * to.Size()
	least, over := 0.0, math.Ldexp(1, width)
	if to.IsSigned() {
		least, over = -math.Ldexp(1, width-1), math.Ldexp(1, width-1)
	}
	switch {
	case x <= least:
		return low(to, uint64(int64(least)))
	case x >= over && to.IsSigned():
		return low(to, math.MaxUint64) >> 1
	case x >= over:
		return low(to, math.MaxUint64)
	}
	return low(to, wrap(x))
}

// wrap returns the low 64 bits of x, truncated; 0 for NaN and infinities.
func wrap(x float64) uint64 {
	if x != x || math.IsInf(x, 0) {
		return 0
	}
	n, _ := big.NewFloat(x).Int(nil)
	return lowOf(n)
}

// loaded returns the register value of an element's bits.
func loaded(t ir.Type, b uint64) uint64 {
	switch t {
	case ir.Bool:
		return boolBits(b != 0)
	case ir.I8:
		return uint64(uint32(int8(b)))
	case ir.I16:
		return uint64(uint32(int16(b)))
	case ir.BF16:
		return b << 16
	case ir.F16:
		return halfValue(b)
	}
	return b
}

// stored returns the bits of an element after a store of a value.
func stored(t ir.Type, b uint64) uint64 {
	switch t {
	case ir.I8, ir.U8:
		return b & 0xff
	case ir.I16, ir.U16:
		return b & 0xffff
	case ir.F16:
		return halfBits(float(ir.F32, b))
	case ir.BF16:
		if x := float(ir.F32, b); x != x {
			return 0x7fc0
		}
		return (b + 0x7fff + b>>16&1) >> 16
	}
	return b
}

func halfValue(h uint64) uint64 {
	e, m := int(h>>10&31), float64(h&1023)
	var x float64
	switch {
	case e == 31 && m != 0:
		return ir.NaN32
	case e == 31:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(m, -24)
	default:
		x = math.Ldexp(1024+m, e-25)
	}
	return floatBits(ir.F32, x) | h>>15<<31
}

func halfBits(x float64) uint64 {
	sign := boolBits(math.Signbit(x)) << 15
	size := math.Abs(x)
	switch {
	case x != x:
		return 0x7e00
	case size >= 65520:
		return sign | 0x7c00
	}
	_, e := math.Frexp(size) // size is below 2^e
	e = max(e-1, -14)
	m := uint64(math.RoundToEven(math.Ldexp(size, 10-e)))
	if m < 1024 {
		return sign | m // subnormal
	}
	return sign | uint64(e+14)<<10 + m
}
