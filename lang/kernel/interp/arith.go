package interp

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// Each operation is a generic function that returns a step for its result and operand registers. Operations that are
// independent of the sign are instantiated for unsigned types only.

type unary func(d, x int) step
type binary func(d, x, y int) step

func neg[T number](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = -x[i]
		}
	}
}

func not[T unsigned](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = ^x[i]
		}
	}
}

func notBool(d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[uint8](f, d), at[uint8](f, x)
		for _, i := range lanes {
			d[i] = x[i] ^ 1
		}
	}
}

func move[T any](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = x[i]
		}
	}
}

// mapped returns an operation that calls fn for each lane.
func mapped[D, S any](fn func(S) D) unary {
	return func(d, x int) step {
		return func(f *frame, lanes []uint8) {
			d, x := at[D](f, d), at[S](f, x)
			for _, i := range lanes {
				d[i] = fn(x[i])
			}
		}
	}
}

func mapped2[D, S any](fn func(x, y S) D) binary {
	return func(d, x, y int) step {
		return func(f *frame, lanes []uint8) {
			d, x, y := at[D](f, d), at[S](f, x), at[S](f, y)
			for _, i := range lanes {
				d[i] = fn(x[i], y[i])
			}
		}
	}
}

func abs[T signed](x T) T {
	if x < 0 {
		return -x
	}
	return x
}

func absFloat32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }
func absFloat64(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ (1 << 63)) }

func sqrt[T float](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = T(math.Sqrt(float64(x[i])))
		}
	}
}

func floor[T float](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = T(math.Floor(float64(x[i])))
		}
	}
}

func ceil[T float](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = T(math.Ceil(float64(x[i])))
		}
	}
}

func trunc[T float](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = T(math.Trunc(float64(x[i])))
		}
	}
}

func rint[T float](d, x int) step {
	return func(f *frame, lanes []uint8) {
		d, x := at[T](f, d), at[T](f, x)
		for _, i := range lanes {
			d[i] = T(math.RoundToEven(float64(x[i])))
		}
	}
}

func clz32(x uint32) int32    { return int32(bits.LeadingZeros32(x)) }
func clz64(x uint64) int32    { return int32(bits.LeadingZeros64(x)) }
func ctz32(x uint32) int32    { return int32(bits.TrailingZeros32(x)) }
func ctz64(x uint64) int32    { return int32(bits.TrailingZeros64(x)) }
func popcnt32(x uint32) int32 { return int32(bits.OnesCount32(x)) }
func popcnt64(x uint64) int32 { return int32(bits.OnesCount64(x)) }

func add[T number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] + y[i]
		}
	}
}

func sub[T number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] - y[i]
		}
	}
}

func mul[T number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = T(x[i] * y[i])
		}
	}
}

func divFloat[T float](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] / y[i]
		}
	}
}

func minInt[T integer](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = min(x[i], y[i])
		}
	}
}

func maxInt[T integer](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = max(x[i], y[i])
		}
	}
}

func mulhiS32(x, y int32) int32   { return int32(int64(x) * int64(y) >> 32) }
func mulhiU32(x, y uint32) uint32 { return uint32(uint64(x) * uint64(y) >> 32) }

func and[T uint8 | unsigned](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] & y[i]
		}
	}
}

func or[T uint8 | unsigned](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] | y[i]
		}
	}
}

func xor[T uint8 | unsigned](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[T](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = x[i] ^ y[i]
		}
	}
}

// shl and shr use the lowest log2(width of T) bits of a 32-bit count. Their parameter is the mask of these bits.

func shl[T integer](count uint32) binary {
	return func(d, x, y int) step {
		return func(f *frame, lanes []uint8) {
			d, x, y := at[T](f, d), at[T](f, x), at[uint32](f, y)
			for _, i := range lanes {
				d[i] = x[i] << (y[i] & count)
			}
		}
	}
}

func shr[T integer](count uint32) binary {
	return func(d, x, y int) step {
		return func(f *frame, lanes []uint8) {
			d, x, y := at[T](f, d), at[T](f, x), at[uint32](f, y)
			for _, i := range lanes {
				d[i] = x[i] >> (y[i] & count)
			}
		}
	}
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func eq[T uint8 | number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[uint8](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = truth(x[i] == y[i])
		}
	}
}

func ne[T uint8 | number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[uint8](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = truth(x[i] != y[i])
		}
	}
}

func lt[T number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[uint8](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = truth(x[i] < y[i])
		}
	}
}

func le[T number](d, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y := at[uint8](f, d), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			d[i] = truth(x[i] <= y[i])
		}
	}
}

func fmaStep64(d, x, y, z int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y, z := at[float64](f, d), at[float64](f, x), at[float64](f, y), at[float64](f, z)
		for _, i := range lanes {
			d[i] = math.FMA(x[i], y[i], z[i])
		}
	}
}

func fmaStep32(d, x, y, z int) step {
	return func(f *frame, lanes []uint8) {
		d, x, y, z := at[float32](f, d), at[float32](f, x), at[float32](f, y), at[float32](f, z)
		for _, i := range lanes {
			d[i] = fma32(x[i], y[i], z[i])
		}
	}
}

func choose[T any](d, c, x, y int) step {
	return func(f *frame, lanes []uint8) {
		d, c, x, y := at[T](f, d), at[uint8](f, c), at[T](f, x), at[T](f, y)
		for _, i := range lanes {
			if c[i] != 0 {
				d[i] = x[i]
			} else {
				d[i] = y[i]
			}
		}
	}
}

// Tables of operations by type.

type unaries struct{ b, i32, u32, i64, u64, f32, f64 unary }

func (o *unaries) of(t ir.Type) unary {
	return pick(t, o.b, o.i32, o.u32, o.i64, o.u64, o.f32, o.f64)
}

type binaries struct{ b, i32, u32, i64, u64, f32, f64 binary }

func (o *binaries) of(t ir.Type) binary {
	return pick(t, o.b, o.i32, o.u32, o.i64, o.u64, o.f32, o.f64)
}

// pick returns the argument for type t, or the zero value for other types.
func pick[F any](t ir.Type, b, i32, u32, i64, u64, f32, f64 F) F {
	switch t {
	case ir.Bool:
		return b
	case ir.I32:
		return i32
	case ir.U32:
		return u32
	case ir.I64:
		return i64
	case ir.U64:
		return u64
	case ir.F32:
		return f32
	case ir.F64:
		return f64
	}
	var none F
	return none
}

var unaryOps = later.Value[map[ir.Op]unaries]{Make: func() map[ir.Op]unaries {
	return map[ir.Op]unaries{
		ir.Neg: {i32: neg[uint32], u32: neg[uint32], i64: neg[uint64], u64: neg[uint64], f32: neg[float32], f64: neg[float64]},
		ir.Not: {b: notBool, i32: not[uint32], u32: not[uint32], i64: not[uint64], u64: not[uint64]},
		ir.Abs: {i32: mapped(abs[int32]), u32: move[uint32], i64: mapped(abs[int64]), u64: move[uint64],
			f32: mapped(absFloat32), f64: mapped(absFloat64)},
		ir.Sqrt:  {f32: sqrt[float32], f64: sqrt[float64]},
		ir.Floor: {f32: floor[float32], f64: floor[float64]},
		ir.Ceil:  {f32: ceil[float32], f64: ceil[float64]},
		ir.Trunc: {f32: trunc[float32], f64: trunc[float64]},
		ir.Round: {f32: mapped(roundTiesUp[float32]), f64: mapped(roundTiesUp[float64])},
		ir.Rint:  {f32: rint[float32], f64: rint[float64]},
		ir.Clz:   {i32: mapped(clz32), u32: mapped(clz32), i64: mapped(clz64), u64: mapped(clz64)},
		ir.Ctz:   {i32: mapped(ctz32), u32: mapped(ctz32), i64: mapped(ctz64), u64: mapped(ctz64)},
		ir.Popcnt: {i32: mapped(popcnt32), u32: mapped(popcnt32), i64: mapped(popcnt64),
			u64: mapped(popcnt64)},
	}
}}

// binaryOps holds the operations with two operands. Their integer divisions do not fault: [dividing] adds the check.
var binaryOps = later.Value[map[ir.Op]binaries]{Make: func() map[ir.Op]binaries {
	return map[ir.Op]binaries{
		ir.Add: {i32: add[uint32], u32: add[uint32], i64: add[uint64], u64: add[uint64], f32: add[float32], f64: add[float64]},
		ir.Sub: {i32: sub[uint32], u32: sub[uint32], i64: sub[uint64], u64: sub[uint64], f32: sub[float32], f64: sub[float64]},
		ir.Mul: {i32: mul[uint32], u32: mul[uint32], i64: mul[uint64], u64: mul[uint64], f32: mul[float32], f64: mul[float64]},
		ir.Div: {i32: mapped2(divide[int32]), u32: mapped2(divide[uint32]), i64: mapped2(divide[int64]),
			u64: mapped2(divide[uint64]), f32: divFloat[float32], f64: divFloat[float64]},
		ir.Rem: {i32: mapped2(remainder[int32]), u32: mapped2(remainder[uint32]), i64: mapped2(remainder[int64]),
			u64: mapped2(remainder[uint64]), f32: mapped2(fmod[float32]), f64: mapped2(fmod[float64])},
		ir.Min: {i32: minInt[int32], u32: minInt[uint32], i64: minInt[int64], u64: minInt[uint64],
			f32: mapped2(fmin[float32]), f64: mapped2(fmin[float64])},
		ir.Max: {i32: maxInt[int32], u32: maxInt[uint32], i64: maxInt[int64], u64: maxInt[uint64],
			f32: mapped2(fmax[float32]), f64: mapped2(fmax[float64])},
		ir.MulHi: {i32: mapped2(mulhiS32), u32: mapped2(mulhiU32), i64: mapped2(mulhiS64), u64: mapped2(mulhiU64)},
		ir.And:   {b: and[uint8], i32: and[uint32], u32: and[uint32], i64: and[uint64], u64: and[uint64]},
		ir.Or:    {b: or[uint8], i32: or[uint32], u32: or[uint32], i64: or[uint64], u64: or[uint64]},
		ir.Xor:   {b: xor[uint8], i32: xor[uint32], u32: xor[uint32], i64: xor[uint64], u64: xor[uint64]},
		ir.Shl:   {i32: shl[uint32](31), u32: shl[uint32](31), i64: shl[uint64](63), u64: shl[uint64](63)},
		ir.Shr:   {i32: shr[int32](31), u32: shr[uint32](31), i64: shr[int64](63), u64: shr[uint64](63)},
		ir.Eq: {b: eq[uint8], i32: eq[uint32], u32: eq[uint32], i64: eq[uint64], u64: eq[uint64], f32: eq[float32],
			f64: eq[float64]},
		ir.Ne: {b: ne[uint8], i32: ne[uint32], u32: ne[uint32], i64: ne[uint64], u64: ne[uint64], f32: ne[float32],
			f64: ne[float64]},
		ir.Lt: {i32: lt[int32], u32: lt[uint32], i64: lt[int64], u64: lt[uint64], f32: lt[float32], f64: lt[float64]},
		ir.Le: {i32: le[int32], u32: le[uint32], i64: le[int64], u64: le[uint64], f32: le[float32], f64: le[float64]},
	}
}}
