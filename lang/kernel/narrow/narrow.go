// Package narrow converts numbers to f32 on their way to f16 or bf16, such that the result is that of a single rounding.
//
// The elements f16 and bf16 are stored from f32. An f64 or an integer is therefore rounded twice, which differs where the first
// rounding ends halfway between two elements. So the first one rounds to odd. Of the two neighbours of an inexact value it returns
// the one whose last bit is 1, which is never halfway.
package narrow

import "github.com/orepl/orepl/lang/kernel/ir"

// Exact reports whether values of type from, converted to f32 and then to elem, F16 or BF16, are always rounded as in one step.
func Exact(from, elem ir.Type) bool {
	switch from {
	case ir.F64:
		return false
	case ir.I32, ir.U32, ir.I64, ir.U64:
		return elem == ir.F16 // integers that f32 rounds are beyond the range of f16
	}
	return true
}

// Odd appends instructions that correct y, which is x rounded to the nearest f32, and returns x rounded to odd.
func Odd(b *ir.Builder, x, y *ir.Value) *ir.Value {
	var inexact, beyond *ir.Value // beyond: y is farther from zero than x
	if x.Type == ir.F64 {
		back := b.Op(ir.Convert, ir.F64, y)
		inexact = b.Op(ir.Ne, ir.Bool, back, x)
		beyond = b.Op(ir.Lt, ir.Bool, b.Op(ir.Abs, ir.F64, x), b.Op(ir.Abs, ir.F64, back))
	} else {
		x = wide(b, x)
		back := b.Op(ir.Sat, x.Type, y)
		inexact = b.Op(ir.Ne, ir.Bool, back, x)
		beyond = b.Op(ir.Lt, ir.Bool, x, back)
		if x.Type == ir.I64 {
			beyond = b.Op(ir.Xor, ir.Bool, beyond, b.Op(ir.Lt, ir.Bool, x, b.Int(ir.I64, 0)))
		}
	}
	bits := b.Op(ir.Sub, ir.U32, b.Op(ir.Bitcast, ir.U32, y), b.Op(ir.Convert, ir.U32, beyond))
	odd := b.Op(ir.Bitcast, ir.F32, b.Op(ir.Or, ir.U32, bits, b.Int(ir.U32, 1)))
	return b.Op(ir.Select, ir.F32, inexact, odd, y)
}

// wide returns an integer in 64 bits.
func wide(b *ir.Builder, x *ir.Value) *ir.Value {
	if x.Type.Size() == 8 {
		return x
	}
	return b.Op(ir.Convert, ir.I64, x)
}
