// Package scalar evaluates IR operations on single values, represented as bits. Constant folding uses it, and tests compare the
// interpreter's arithmetic with it.
//
// From Go's math package it uses only FMA, Sqrt, rounding and bits. It converts every product explicitly, so that Go never
// fuses one with a sum. NaN results are canonical.
//
// # Design
//
// The order of reductions and scans is stated here once, for the interpreter and for traps of vector code. Tests of named
// operands, package irpage and emitted JavaScript check it.
package scalar

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Eval computes the result of an instruction from the bits of its operands. It returns false for Math, and if the operation has
// further inputs or faults, as an integer division by zero does. It also returns false if the number of args is wrong.
func Eval(in *ir.Instr, args ...uint64) (uint64, bool) {
	t := in.Type()
	if in.Op == ir.Const {
		return in.Bits, true
	}
	if len(args) == 0 || len(args) != len(in.Args) {
		return 0, false
	}
	from := in.Args[0].Type
	switch in.Op {
	case ir.Select:
		if args[0] != 0 {
			return args[1], true
		}
		return args[2], true
	case ir.Convert:
		return Convert(from, t, args[0]), true
	case ir.Sat:
		return Sat(from, t, args[0]), true
	case ir.Wrap:
		return Wrap(from, t, args[0]), true
	case ir.Bitcast:
		return canonical(t, canonical(from, args[0])), true
	case ir.Quant:
		return canonical(from, Load(in.Elem, Store(in.Elem, args[0]))), true
	case ir.Eq, ir.Ne, ir.Lt, ir.Le:
		return boolBits(Compare(in.Op, from, args[0], args[1])), true
	}
	switch {
	case from == ir.Bool:
		return boolean(in.Op, args)
	case from.IsInt():
		return integer(in.Op, from, args)
	case from.IsFloat():
		return float(in.Op, from, args)
	}
	return 0, false
}

func boolBits(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// boolean is [Eval] for an operation on booleans, as integer and float are for those types.
func boolean(op ir.Op, a []uint64) (uint64, bool) {
	switch op {
	case ir.Not:
		return a[0] ^ 1, true
	case ir.And:
		return a[0] & a[1], true
	case ir.Or:
		return a[0] | a[1], true
	case ir.Xor:
		return a[0] ^ a[1], true
	}
	return 0, false
}

// Signed returns the value of the bits of a bool, or of an integer of 32 or 64 bits. A u64 of 2^63 or more becomes negative.
func Signed(t ir.Type, b uint64) int64 {
	if t == ir.I32 {
		return int64(int32(b))
	}
	return int64(b)
}

// truncate returns b modulo 2^32 if t has 32 bits, otherwise b.
func truncate(t ir.Type, b uint64) uint64 {
	if t.Size() == 4 {
		return uint64(uint32(b))
	}
	return b
}

func integer(op ir.Op, t ir.Type, a []uint64) (uint64, bool) {
	width := 8 * t.Size()
	x := a[0]
	switch op {
	case ir.Neg:
		return truncate(t, -x), true
	case ir.Not:
		return truncate(t, ^x), true
	case ir.Abs:
		if t.IsSigned() && Signed(t, x) < 0 {
			x = -x
		}
		return truncate(t, x), true
	case ir.Clz:
		return uint64(bits.LeadingZeros64(x) - (64 - width)), true
	case ir.Ctz:
		return uint64(min(bits.TrailingZeros64(x), width)), true
	case ir.Popcnt:
		return uint64(bits.OnesCount64(x)), true
	}
	if len(a) != 2 {
		return 0, false
	}
	y := a[1]
	switch op {
	case ir.Add:
		return truncate(t, x+y), true
	case ir.Sub:
		return truncate(t, x-y), true
	case ir.Mul:
		return truncate(t, x*y), true
	case ir.Div, ir.Rem:
		if y == 0 {
			return 0, false
		}
		return truncate(t, divide(op, t, x, y)), true
	case ir.Min, ir.Max:
		if less(t, y, x) == (op == ir.Min) {
			return y, true
		}
		return x, true
	case ir.MulHi:
		return mulHi(t, x, y), true
	case ir.And:
		return x & y, true
	case ir.Or:
		return x | y, true
	case ir.Xor:
		return x ^ y, true
	case ir.Shl:
		return truncate(t, x<<(y&uint64(width-1))), true
	case ir.Shr:
		n := y & uint64(width-1)
		if t.IsSigned() {
			return truncate(t, uint64(Signed(t, x)>>n)), true
		}
		return x >> n, true
	}
	return 0, false
}

// divide returns the quotient or remainder; y is not 0. Go's operators wrap for the minimum integer divided by −1.
func divide(op ir.Op, t ir.Type, x, y uint64) uint64 {
	if !t.IsSigned() {
		if op == ir.Div {
			return x / y
		}
		return x % y
	}
	if op == ir.Div {
		return uint64(Signed(t, x) / Signed(t, y))
	}
	return uint64(Signed(t, x) % Signed(t, y))
}

func mulHi(t ir.Type, x, y uint64) uint64 {
	if t.Size() == 4 {
		if t.IsSigned() {
			return truncate(t, uint64(Signed(t, x)*Signed(t, y)>>32))
		}
		return x * y >> 32
	}
	hi, _ := bits.Mul64(x, y)
	if t.IsSigned() {
		if int64(x) < 0 {
			hi -= y
		}
		if int64(y) < 0 {
			hi -= x
		}
	}
	return hi
}

func less(t ir.Type, x, y uint64) bool {
	switch {
	case t == ir.F32:
		return f32(x) < f32(y)
	case t == ir.F64:
		return f64(x) < f64(y)
	case t.IsSigned():
		return Signed(t, x) < Signed(t, y)
	}
	return x < y
}

// Compare returns the result of Eq, Ne, Lt or Le for two values of type t.
func Compare(op ir.Op, t ir.Type, x, y uint64) bool {
	equal := x == y
	if t.IsFloat() {
		equal = widen(t, x) == widen(t, y)
	}
	switch op {
	case ir.Eq:
		return equal
	case ir.Ne:
		return !equal
	case ir.Lt:
		return less(t, x, y)
	}
	return equal || less(t, x, y)
}
