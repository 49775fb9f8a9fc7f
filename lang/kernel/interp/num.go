package interp

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// Arithmetic for which Go has no operator and package scalar is too slow in a loop.

type signed interface{ int32 | int64 }

type unsigned interface{ uint32 | uint64 }

type integer interface{ signed | unsigned }

type float interface{ float32 | float64 }

type number interface{ integer | float }

// fma32 returns a·b + c rounded once. The product is exact in float64, so the sum usually rounds to the correct float32.
// Package scalar handles the exceptions: sums that are halfway between two float32, below 2⁻¹²⁵ in magnitude, infinite or NaN.
func fma32(a, b, c float32) float32 {
	s := float64(float64(a)*float64(b)) + float64(c)
	u := math.Float64bits(s)
	const lost = 1<<29 - 1 // the bits that float32 lacks
	if e := u >> 52 & 0x7ff; u&lost == 1<<28 || e <= 1023-126 || e == 0x7ff {
		return scalar.FMA32(a, b, c)
	}
	return float32(s)
}

// fmod returns the exact remainder. The remainder of two float32 is a float32.
func fmod[T float](x, y T) T { return T(scalar.Fmod(float64(x), float64(y))) }

// fmin returns the minimum of two floats; NaN propagates and −0 < +0.
func fmin[T float](x, y T) T {
	switch {
	case x != x || x < y:
		return x
	case y != y || y < x:
		return y
	case x == 0 && math.Signbit(float64(x)):
		return x
	}
	return y
}

// fmax returns the maximum of two floats; NaN propagates and −0 < +0.
func fmax[T float](x, y T) T {
	switch {
	case x != x || x > y:
		return x
	case y != y || y > x:
		return y
	case x == 0 && math.Signbit(float64(x)):
		return y
	}
	return x
}

// roundTiesUp implements JavaScript's Math.round.
func roundTiesUp[T float](x T) T {
	v := float64(x)
	f := math.Floor(v)
	if v-f >= 0.5 {
		f++
	}
	return T(math.Copysign(f, v))
}

func divide[T integer](x, y T) T {
	if y == 0 {
		return 0
	}
	return x / y
}

func remainder[T integer](x, y T) T {
	if y == 0 {
		return 0
	}
	return x % y
}

func mulhiS64(x, y int64) int64 {
	hi, _ := bits.Mul64(uint64(x), uint64(y))
	return int64(hi) - (x>>63)&y - (y>>63)&x
}

func mulhiU64(x, y uint64) uint64 {
	hi, _ := bits.Mul64(x, y)
	return hi
}

// satFloat truncates a float to an integer saturated to [least, most]; NaN becomes 0. over is the first power of two above
// most.
func satFloat[T integer, S float](x S, least, most T, over float64) T {
	v := float64(x)
	switch {
	case v != v:
		return 0
	case v <= float64(least):
		return least
	case v >= over:
		return most
	}
	return T(v)
}

// wrapFloat truncates a float to an integer modulo 2^64; NaN and infinities become 0.
func wrapFloat[S float](x S) uint64 {
	u := math.Float64bits(float64(x))
	e := int(u>>52&0x7ff) - 1075
	m := u&(1<<52-1) | 1<<52
	switch {
	case e >= 64 || e <= -53: // no bit of weight 1 to 2^63 is set, including infinity and NaN
		return 0
	case e >= 0:
		m <<= e
	default:
		m >>= -e
	}
	if u>>63 != 0 {
		return -m
	}
	return m
}

// bits32 and bits64 return the bits of a float, canonical for NaN.
func bits32(x float32) uint32 {
	if x != x {
		return ir.NaN32
	}
	return math.Float32bits(x)
}

func bits64(x float64) uint64 {
	if x != x {
		return ir.NaN64
	}
	return math.Float64bits(x)
}

// brainBits rounds to bfloat16, ties to even; brainValue widens the result.
func brainBits(x float32) uint16 { return uint16(scalar.Store(ir.BF16, uint64(math.Float32bits(x)))) }

func brainValue(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }
