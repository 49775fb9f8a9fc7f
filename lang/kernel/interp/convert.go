package interp

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
)

// conversion is a pair of types, by which tables find the operation that converts one to the other.
type conversion struct{ from, to ir.Type }

func cast[D, S number](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[D](f, d), at[S](f, x)
		for _, i := range lanes {
			d[i] = D(x[i])
		}
	}
}

func castBool[D number](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[D](f, d), at[uint8](f, x)
		for _, i := range lanes {
			d[i] = D(x[i])
		}
	}
}

// convertOps maps type pairs to conversions to the nearest value. Narrowing to integers and float-to-integer conversions are
// separate operations.
var convertOps = later.Value[map[conversion]unary]{Make: func() map[conversion]unary {
	return map[conversion]unary{
		{ir.Bool, ir.I32}: castBool[uint32], {ir.Bool, ir.U32}: castBool[uint32],
		{ir.Bool, ir.I64}: castBool[uint64], {ir.Bool, ir.U64}: castBool[uint64],
		{ir.Bool, ir.F32}: castBool[float32], {ir.Bool, ir.F64}: castBool[float64],

		{ir.I32, ir.I64}: cast[uint64, int32], {ir.I32, ir.U64}: cast[uint64, int32],
		{ir.U32, ir.I64}: cast[uint64, uint32], {ir.U32, ir.U64}: cast[uint64, uint32],

		{ir.I32, ir.F32}: cast[float32, int32], {ir.I32, ir.F64}: cast[float64, int32],
		{ir.U32, ir.F32}: cast[float32, uint32], {ir.U32, ir.F64}: cast[float64, uint32],
		{ir.I64, ir.F32}: cast[float32, int64], {ir.I64, ir.F64}: cast[float64, int64],
		{ir.U64, ir.F32}: mapped(float32FromUint64), {ir.U64, ir.F64}: mapped(float64FromUint64),

		{ir.I64, ir.U64}: move[uint64], {ir.U64, ir.I64}: move[uint64],
		{ir.F32, ir.F64}: cast[float64, float32], {ir.F64, ir.F32}: cast[float32, float64],
	}
}}

// float32FromUint64 and float64FromUint64 use only signed conversions. They halve an operand of 2^63 or more, and keep the lost
// bit as a sticky bit.

func float32FromUint64(x uint64) float32 {
	if x>>63 == 0 {
		return float32(int64(x))
	}
	return 2 * float32(int64(x>>1|x&1))
}

func float64FromUint64(x uint64) float64 {
	if x>>63 == 0 {
		return float64(int64(x))
	}
	return 2 * float64(int64(x>>1|x&1))
}

func satI32[S float](x S) int32  { return satFloat[int32](x, math.MinInt32, math.MaxInt32, 1<<31) }
func satU32[S float](x S) uint32 { return uint32(satFloat[int64](x, 0, math.MaxUint32, 1<<32)) }
func satI64[S float](x S) int64  { return satFloat[int64](x, math.MinInt64, math.MaxInt64, 1<<63) }
func satU64[S float](x S) uint64 {
	if x >= 1<<63 {
		if x >= 1<<64 {
			return math.MaxUint64
		}
		return 1<<63 + uint64(int64(x-1<<63)) // the difference is exact
	}
	return uint64(satFloat[int64](x, 0, math.MaxInt64, 1<<63))
}

var satOps = later.Value[map[conversion]unary]{Make: func() map[conversion]unary {
	return map[conversion]unary{
		{ir.F32, ir.I32}: mapped(satI32[float32]), {ir.F64, ir.I32}: mapped(satI32[float64]),
		{ir.F32, ir.U32}: mapped(satU32[float32]), {ir.F64, ir.U32}: mapped(satU32[float64]),
		{ir.F32, ir.I64}: mapped(satI64[float32]), {ir.F64, ir.I64}: mapped(satI64[float64]),
		{ir.F32, ir.U64}: mapped(satU64[float32]), {ir.F64, ir.U64}: mapped(satU64[float64]),
	}
}}

func wrap32[S float](x S) uint32 { return uint32(wrapFloat(x)) }

var wrapOps = later.Value[map[conversion]unary]{Make: func() map[conversion]unary {
	return map[conversion]unary{
		{ir.F32, ir.I32}: mapped(wrap32[float32]), {ir.F64, ir.I32}: mapped(wrap32[float64]),
		{ir.F32, ir.U32}: mapped(wrap32[float32]), {ir.F64, ir.U32}: mapped(wrap32[float64]),
		{ir.F32, ir.I64}: mapped(wrapFloat[float32]), {ir.F64, ir.I64}: mapped(wrapFloat[float64]),
		{ir.F32, ir.U64}: mapped(wrapFloat[float32]), {ir.F64, ir.U64}: mapped(wrapFloat[float64]),

		{ir.I32, ir.I32}: move[uint32], {ir.I32, ir.U32}: move[uint32],
		{ir.U32, ir.I32}: move[uint32], {ir.U32, ir.U32}: move[uint32],
		{ir.I64, ir.I64}: move[uint64], {ir.I64, ir.U64}: move[uint64],
		{ir.U64, ir.I64}: move[uint64], {ir.U64, ir.U64}: move[uint64],
		{ir.I32, ir.I64}: cast[uint64, int32], {ir.I32, ir.U64}: cast[uint64, int32],
		{ir.U32, ir.I64}: cast[uint64, uint32], {ir.U32, ir.U64}: cast[uint64, uint32],
		{ir.I64, ir.I32}: cast[uint32, uint64], {ir.I64, ir.U32}: cast[uint32, uint64],
		{ir.U64, ir.I32}: cast[uint32, uint64], {ir.U64, ir.U32}: cast[uint32, uint64],
	}
}}

func quantHalf(x float32) float32  { return scalar.HalfToFloat(scalar.FloatToHalf(x)) }
func quantBrain(x float32) float32 { return brainValue(brainBits(x)) }

// bitcast returns the step of a Bitcast, or nil if the sizes differ or a type is bool. An integer receives the canonical bits of
// a NaN.
func bitcast(from, to ir.Type, d, x int) step {
	switch {
	case from.Size() != to.Size() || from == ir.Bool || to == ir.Bool:
		return nil
	case from == ir.F32 && to != ir.F32:
		return mapped(bits32)(d, x)
	case from == ir.F64 && to != ir.F64:
		return mapped(bits64)(d, x)
	case from.Size() == 4:
		return move[uint32](d, x)
	}
	return move[uint64](d, x)
}
