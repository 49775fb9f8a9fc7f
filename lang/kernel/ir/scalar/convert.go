package scalar

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Convert implements the operation Convert: to the nearest value of another type, ties to even. Between integer types it keeps
// the low bits, or extends: signed types by the sign, others by zeros.
func Convert(from, to ir.Type, b uint64) uint64 {
	switch {
	case from.IsFloat() && to.IsFloat():
		return narrow(to, widen(from, b))
	case to.IsFloat():
		if from.IsSigned() && Signed(from, b) < 0 {
			return narrow(to, -intToFloat(to, uint64(-Signed(from, b))))
		}
		return narrow(to, intToFloat(to, b))
	case from.IsSigned():
		return truncate(to, uint64(Signed(from, b)))
	}
	return truncate(to, b)
}

// intToFloat rounds n to the precision of t.
func intToFloat(t ir.Type, n uint64) float64 {
	precision := 53
	if t == ir.F32 {
		precision = 24
	}
	drop := bits.Len64(n) - precision
	if drop <= 0 {
		return float64(n)
	}
	kept, lost, half := n>>drop, n&(1<<drop-1), uint64(1)<<(drop-1)
	if lost > half || lost == half && kept&1 == 1 {
		kept++
	}
	return compose(normal(kept, drop))
}

// normal halves m and increments e if rounding up has produced m = 2^53.
func normal(m uint64, e int) (uint64, int) {
	if m == 1<<53 {
		return m >> 1, e + 1
	}
	return m, e
}

// Sat truncates a float to an integer of type to and saturates; NaN becomes 0.
func Sat(from, to ir.Type, b uint64) uint64 {
	least, most := limits(to)
	x := widen(from, b)
	switch {
	case x != x:
		return 0
	case x <= float64(least):
		return truncate(to, uint64(least))
	case x >= float64(most): // float64(2^64−1) is 2^64, and no float lies between
		return most
	case x >= 1<<63:
		return uint64(x-1<<63) | 1<<63
	}
	return truncate(to, uint64(int64(x)))
}

// limits returns the minimum and maximum of an integer type.
func limits(t ir.Type) (least int64, most uint64) {
	switch t {
	case ir.I32:
		return math.MinInt32, math.MaxInt32
	case ir.U32:
		return 0, math.MaxUint32
	case ir.I64:
		return math.MinInt64, math.MaxInt64
	}
	return 0, math.MaxUint64
}

// Wrap implements the operation Wrap: conversion to an integer type modulo its range; NaN and infinities become 0.
func Wrap(from, to ir.Type, b uint64) uint64 {
	if !from.IsFloat() {
		return Convert(from, to, b)
	}
	x := widen(from, b)
	if x != x || math.IsInf(x, 0) {
		return 0
	}
	m, e := significand(x)
	switch {
	case e >= 64 || e <= -64:
		m = 0
	case e >= 0:
		m <<= e
	default:
		m >>= -e
	}
	if x < 0 {
		m = -m
	}
	return truncate(to, m)
}

// Load converts the bits of a memory element of type t to the bits of its register.
func Load(t ir.Type, b uint64) uint64 {
	switch t {
	case ir.Bool:
		return boolBits(b&0xff != 0)
	case ir.I8:
		return uint64(uint32(int8(b)))
	case ir.U8:
		return uint64(uint8(b))
	case ir.I16:
		return uint64(uint32(int16(b)))
	case ir.U16:
		return uint64(uint16(b))
	case ir.F16:
		return uint64(math.Float32bits(HalfToFloat(uint16(b))))
	case ir.BF16:
		return canonical(ir.F32, b&0xffff<<16)
	}
	return b
}

// Store converts the bits of a register to the bits of a memory element of type t.
func Store(t ir.Type, b uint64) uint64 {
	switch t {
	case ir.I8, ir.U8:
		return b & 0xff
	case ir.I16, ir.U16:
		return b & 0xffff
	case ir.F16:
		return uint64(FloatToHalf(f32(b)))
	case ir.BF16:
		return uint64(floatToBrain(uint32(b)))
	}
	return b
}

// HalfToFloat converts a binary16 to a float32. Every NaN becomes the canonical one.
func HalfToFloat(h uint16) float32 {
	sign, e, m := uint32(h>>15)<<31, int(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case e == 0x1f && m != 0:
		return math.Float32frombits(ir.NaN32)
	case e == 0x1f:
		return math.Float32frombits(sign | 0x7f800000)
	case e != 0:
		return math.Float32frombits(sign | uint32(e-15+127)<<23 | m<<13)
	}
	return math.Float32frombits(sign | math.Float32bits(float32(m)/(1<<24)))
}

// FloatToHalf rounds x to binary16, ties to even. Every NaN becomes the canonical one.
func FloatToHalf(x float32) uint16 {
	b := math.Float32bits(x)
	sign, b := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case b > 0x7f800000:
		return 0x7e00
	case b >= 0x477ff000: // at least halfway from the maximum binary16 to the next power of two
		return sign | 0x7c00
	case b >= 0x38800000: // normal
		return sign | uint16(roundOff(b-(127-15)<<23, 13))
	case b <= 0x33000000: // at most half of the minimum subnormal
		return sign
	}
	return sign | uint16(roundOff(b&0x7fffff|0x800000, 126-int(b>>23)))
}

// roundOff drops the n low bits and rounds to nearest, ties to even. A carry correctly increments the exponent.
func roundOff(b uint32, n int) uint32 {
	return (b + (1<<(n-1) - 1) + b>>n&1) >> n
}

func floatToBrain(b uint32) uint16 {
	if b&0x7fffffff > 0x7f800000 {
		return ir.NaN32 >> 16
	}
	return uint16((uint64(b) + 0x7fff + uint64(b>>16&1)) >> 16)
}
