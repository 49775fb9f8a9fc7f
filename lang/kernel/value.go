package kernel

import (
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// kind is the kind of a compile-time value.
type kind uint8

const (
	kBad     kind = iota // an error was reported; uses report no further errors
	kVoid                // no value
	kNum                 // an exact untyped Number: a literal, a captured one, or one computed from these
	kBig                 // an exact BigInt: likewise
	kBool                // a constant bool
	kStr                 // a string, for print and assert
	kReg                 // a value in a register
	kPlace               // an array, a row or a record in an array, or an element that is not loaded
	kTuple               // [a, b]: for destructuring and constant indices
	kObject              // {a, b}: for destructuring, fields and whole-record stores
	kFunc                // a function
	kBuiltin             // Math, g, g.local, bits, …: see builtinid.go
	kCapture             // a captured plain object
	kType                // an element type
)

// value is the compiled form of an expression.
type value struct {
	kind    kind
	builtin builtinID // kBuiltin
	num     float64
	big     *big.Int
	bool    bool
	str     string    // kStr; kBuiltin: name of a function of a family; kCapture: source expression
	reg     *ir.Value // kReg
	place   *place    // kPlace
	list    []value   // kTuple, kObject
	names   []string  // kObject
	fn      *closure  // kFunc
	obj     Object    // kCapture
	elem    ir.Elem   // kType

	// taint is a bit set of the parameters of inferred type on which the integer value depends.
	taint uint64

	// wraps reports whether the value is an integer sum, difference or product, which JavaScript would not wrap.
	wraps bool
}

// closure is a function with the frame of its creation.
type closure struct {
	fn    *syntax.Func
	frame *frame // nil for a helper of the script
}

var bad = value{}

func number(x float64) value     { return value{kind: kNum, num: x} }
func boolean(b bool) value       { return value{kind: kBool, bool: b} }
func register(v *ir.Value) value { return value{kind: kReg, reg: v} }

func (v value) withTaint(t uint64) value {
	v.taint = t
	return v
}

// ofInt sets the taint of an integer value; other values are unchanged.
func ofInt(v value, taint uint64) value {
	if v.kind == kReg && v.reg.Type.IsInt() {
		v.taint = taint
	}
	return v
}

// isConst reports whether the value is a constant number, BigInt or bool.
func (v value) isConst() bool { return v.kind == kNum || v.kind == kBig || v.kind == kBool }

// isScalar reports whether the value is a number, BigInt or bool.
func (v value) isScalar() bool { return v.kind == kReg || v.isConst() }

// isInt reports whether the value is certainly an integer: a register of integer type, or an integral constant.
func (v value) isInt() bool {
	switch v.kind {
	case kReg:
		return v.reg.Type.IsInt()
	case kNum:
		return isIntegral(v.num)
	}
	return v.kind == kBig
}

func (v value) isFloatReg() bool { return v.kind == kReg && v.reg.Type.IsFloat() }

// holds reports whether an integer type can represent a constant: a Number, or for a 64-bit type also a BigInt.
func (v value) holds(t ir.Type) bool {
	switch {
	case v.kind != kBig:
		return fits(constNumber(v), t)
	case t == ir.U64:
		return v.big.IsUint64()
	}
	return v.big.IsInt64()
}

func isIntegral(x float64) bool {
	return x == math.Trunc(x) && !math.IsInf(x, 0)
}

// fits reports whether x is an integer in the range of t. It returns false if t is not an integer type.
func fits(x float64, t ir.Type) bool {
	if !isIntegral(x) {
		return false
	}
	switch t {
	case ir.I32:
		return x >= math.MinInt32 && x <= math.MaxInt32
	case ir.U32:
		return x >= 0 && x <= math.MaxUint32
	case ir.I64:
		return x >= -(1<<63) && x < 1<<63
	case ir.U64:
		return x >= 0 && x < 1<<64
	}
	return false
}

// joined is the set of types assigned to a variable, as bits.
type joined uint16

const (
	jBool joined = 1 << iota
	jI32
	jU32
	jI64
	jU64
	jF32
	jF64
	jLit32  // integral literals in the range of i32
	jLitU32 // integral literals in the range of u32 but not i32
	jLit64  // integral literals above u32 in the range of i64
	jLitU64 // integral literals only in the range of u64
	jReal   // other literals
	jBig    // BigInt literals in the range of i64
	jBigU   // BigInt literals only in the range of u64
	jBelow  // negative literals, in addition to their types
)

// joinOf returns the contribution of a value to the set, or zero if it is not a scalar.
func joinOf(v value) joined {
	switch v.kind {
	case kBool:
		return jBool
	case kBig:
		switch {
		case v.big.Sign() < 0:
			return jBig | jBelow
		case v.big.IsInt64():
			return jBig
		}
		return jBigU
	case kNum:
		below := joined(0)
		if v.num < 0 {
			below = jBelow
		}
		switch {
		case fits(v.num, ir.I32):
			return jLit32 | below
		case fits(v.num, ir.U32):
			return jLitU32
		case fits(v.num, ir.I64):
			return jLit64 | below
		case fits(v.num, ir.U64):
			return jLitU64
		}
		return jReal
	case kReg:
		return joinOfType(v.reg.Type)
	}
	return 0
}

func joinOfType(t ir.Type) joined {
	switch t {
	case ir.Bool:
		return jBool
	case ir.I32:
		return jI32
	case ir.U32:
		return jU32
	case ir.I64:
		return jI64
	case ir.U64:
		return jU64
	case ir.F32:
		return jF32
	case ir.F64:
		return jF64
	}
	return 0
}

// typ returns the join of the set; ok is false if the types cannot be joined. The join of an empty set is i32. real is the
// kernel's real type, which fractions and literals beyond u32 have unless the set contains a 64-bit integer or a float.
func (j joined) typ(real ir.Type) (t ir.Type, ok bool) {
	const (
		wide     = jI64 | jU64 | jBig | jBigU
		literals = jLit32 | jLitU32 | jLit64 | jLitU64 | jBelow
		unsigned = jLitU64 | jBigU // only u64 holds these
	)
	if j&wide != 0 {
		ok := j&^(wide|literals) == 0
		// On failure the result is the 64-bit type, because the other types may be provisional.
		switch {
		case j&jI64 != 0:
			return ir.I64, ok && j&(jU64|unsigned) == 0
		case j&jU64 != 0:
			return ir.U64, ok
		case j&unsigned != 0:
			return ir.U64, ok && j&jBelow == 0
		}
		return ir.I64, ok
	}
	switch {
	case j&jF64 != 0:
		return ir.F64, true
	case j&(jReal|jLit64|jLitU64) != 0:
		if j&jF32 != 0 {
			return ir.F32, true // a literal adopts the other operand's type
		}
		return real, true
	case j&jF32 != 0:
		return ir.F32, true
	case j&jU32 != 0 || j&jLitU32 != 0:
		return ir.U32, true
	case j&(jI32|jLit32) != 0:
		return ir.I32, true
	case j&jBool != 0:
		return ir.Bool, true
	}
	return ir.I32, true // the set is empty
}
