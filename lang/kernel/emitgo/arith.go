package emitgo

import (
	"fmt"
	"math"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// literal formats a constant; floats as the shortest decimal that Go converts to the same value.
func literal(t ir.Type, bits uint64) string {
	var s string
	switch t {
	case ir.Bool:
		return strconv.FormatBool(bits != 0)
	case ir.I32:
		s = strconv.Itoa(int(int32(bits)))
	case ir.I64:
		s = strconv.FormatInt(int64(bits), 10)
	case ir.U32, ir.U64:
		s = strconv.FormatUint(bits, 10)
	case ir.F32:
		return float(float64(math.Float32frombits(uint32(bits))), 32)
	default:
		return float(math.Float64frombits(bits), 64)
	}
	if s[0] == '-' {
		return "(" + s + ")"
	}
	return s
}

// float returns a Go expression for a float of 32 or 64 bits, an untyped constant if x is finite and not −0.
func float(x float64, width int) string {
	var s string
	switch {
	case x != x:
		s = "math.NaN()"
	case math.IsInf(x, 1):
		s = "math.Inf(1)"
	case math.IsInf(x, -1):
		s = "math.Inf(-1)"
	case x == 0 && math.Signbit(x):
		s = "math.Copysign(0, -1)"
	default:
		s = strconv.FormatFloat(x, 'g', -1, width)
		if s[0] == '-' {
			s = "(" + s + ")"
		}
		return s
	}
	if width == 32 {
		s = "float32(" + s + ")"
	}
	return s
}

// element formats an element of a table.
func element(t ir.Type, bits uint64) string {
	switch t {
	case ir.I8:
		return strconv.Itoa(int(int8(bits)))
	case ir.I16:
		return strconv.Itoa(int(int16(bits)))
	case ir.U8, ir.U16:
		return strconv.FormatUint(bits, 10)
	}
	return literal(t, bits)
}

// operand returns the expression of argument i. If all arguments are constants, it is a call that hides the value from Go, which
// would evaluate the operation exactly. A bool needs no such call.
func (e *emitter) operand(in *ir.Instr, i int) string {
	for _, v := range in.Args {
		if v.Def == nil || v.Def.Op != ir.Const {
			return e.x(in.Args[i])
		}
	}
	v := in.Args[i]
	if v.Type == ir.Bool {
		return e.x(v)
	}
	return fmt.Sprintf("%s(%s)", e.file.help("opaque"), fmt.Sprintf("%s(%s)", types.Get()[v.Type], e.x(v)))
}

// through returns a call of a function from float64 to float64, with conversions if t is f32.
func through(t ir.Type, name, x string) string {
	if t == ir.F32 {
		return fmt.Sprintf("float32(%s(float64(%s)))", name, x)
	}
	return fmt.Sprintf("%s(%s)", name, x)
}

// arithmetic returns the expression of an operation on values, or "" if none exists.
func (e *emitter) arithmetic(in *ir.Instr) string {
	if len(in.Args) == 0 || types.Get()[in.Type()] == "" {
		return ""
	}
	x, from, to := e.operand(in, 0), in.Args[0].Type, in.Type()
	switch in.Op {
	case ir.Convert:
		return e.convert(from, to, x)
	case ir.Sat:
		return e.saturate(to, x)
	case ir.Wrap:
		if from.IsFloat() {
			return fmt.Sprintf("%s(%s(float64(%s)))", types.Get()[to], e.file.help("wrapFloat"), x)
		}
		return fmt.Sprintf("%s(%s)", types.Get()[to], x)
	case ir.Bitcast:
		return e.bitcast(from, to, x)
	case ir.FMA:
		y, z := e.operand(in, 1), e.operand(in, 2)
		if to == ir.F32 {
			return fmt.Sprintf("%s(%s, %s, %s)", e.file.help("fma32"), x, y, z)
		}
		return fmt.Sprintf("math.FMA(%s, %s, %s)", x, y, z)
	}
	switch len(in.Args) {
	case 1:
		return e.unary(in.Op, from, x)
	case 2:
		return e.binary(in, from, x, e.operand(in, 1))
	}
	return ""
}

func (e *emitter) unary(op ir.Op, t ir.Type, x string) string {
	unsigned := map[ir.Type]string{ir.I32: "32(uint32(" + x + "))", ir.U32: "32(" + x + ")", ir.I64: "64(uint64(" + x + "))", ir.U64: "64(" + x + ")"}[t]
	switch op {
	case ir.Neg:
		return "-" + x
	case ir.Not:
		if t == ir.Bool {
			return "!" + x
		}
		return "^" + x
	case ir.Abs:
		switch {
		case t.IsFloat():
			return through(t, "math.Abs", x)
		case t.IsSigned():
			return fmt.Sprintf("max(%s, -%s)", x, x)
		}
		return x
	case ir.Sqrt:
		return through(t, "math.Sqrt", x)
	case ir.Floor:
		return through(t, "math.Floor", x)
	case ir.Ceil:
		return through(t, "math.Ceil", x)
	case ir.Trunc:
		return through(t, "math.Trunc", x)
	case ir.Rint:
		return through(t, "math.RoundToEven", x)
	case ir.Round:
		return through(t, e.file.help("round"), x)
	case ir.Clz:
		return "int32(bits.LeadingZeros" + unsigned + ")"
	case ir.Ctz:
		return "int32(bits.TrailingZeros" + unsigned + ")"
	case ir.Popcnt:
		return "int32(bits.OnesCount" + unsigned + ")"
	}
	return ""
}

var infix = later.Value[map[ir.Op]string]{Make: func() map[ir.Op]string {
	return map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.Div: "/", ir.And: "&", ir.Or: "|", ir.Xor: "^",
		ir.Eq: "==", ir.Ne: "!=", ir.Lt: "<", ir.Le: "<="}
}}

func (e *emitter) binary(in *ir.Instr, t ir.Type, x, y string) string {
	expr := fmt.Sprintf("%s %s %s", x, infix.Get()[in.Op], y)
	switch in.Op {
	case ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Add, ir.Sub:
		return expr
	case ir.Mul:
		if t.IsFloat() { // the conversion prevents Go from fusing the product with a sum
			return fmt.Sprintf("%s(%s)", types.Get()[t], expr)
		}
		return expr
	case ir.And, ir.Or, ir.Xor:
		if t == ir.Bool {
			return fmt.Sprintf("%s %s %s", x, map[ir.Op]string{ir.And: "&&", ir.Or: "||", ir.Xor: "!="}[in.Op], y)
		}
		return expr
	case ir.Div:
		if t.IsFloat() {
			return expr
		}
		if in.Proved&ir.ProvedDivisor != 0 {
			return expr
		}
	case ir.Rem:
		if t.IsFloat() {
			if t == ir.F32 {
				return fmt.Sprintf("float32(math.Mod(float64(%s), float64(%s)))", x, y)
			}
			return fmt.Sprintf("math.Mod(%s, %s)", x, y)
		}
		if in.Proved&ir.ProvedDivisor != 0 {
			return fmt.Sprintf("%s %% %s", x, y)
		}
	case ir.Min, ir.Max: // JavaScript's semantics for floats
		return fmt.Sprintf("%v(%s, %s)", in.Op, x, y)
	case ir.MulHi:
		switch t {
		case ir.I32:
			return fmt.Sprintf("int32(int64(%s) * int64(%s) >> 32)", x, y)
		case ir.U32:
			return fmt.Sprintf("uint32(uint64(%s) * uint64(%s) >> 32)", x, y)
		case ir.I64:
			return fmt.Sprintf("%s(%s, %s)", e.file.help("mulHighSigned"), x, y)
		}
		return fmt.Sprintf("%s(%s, %s)", e.file.help("mulHigh"), x, y)
	case ir.Shl, ir.Shr:
		sign := map[ir.Op]string{ir.Shl: "<<", ir.Shr: ">>"}[in.Op]
		most := uint64(8*t.Size() - 1)
		if def := in.Args[0].Def; def != nil && def.Op == ir.Const { // an untyped constant would be an int
			x = fmt.Sprintf("%s(%s)", types.Get()[t], x)
		}
		if def := in.Args[1].Def; def != nil && def.Op == ir.Const {
			return fmt.Sprintf("%s %s %d", x, sign, def.Bits&most)
		}
		return fmt.Sprintf("%s %s (uint32(%s) & %d)", x, sign, y, most)
	}
	return ""
}

func (e *emitter) convert(from, to ir.Type, x string) string {
	switch {
	case from == to:
		return x
	case from == ir.Bool:
		return fmt.Sprintf("%s(%s(%s))", types.Get()[to], e.file.help("truth"), x)
	}
	return fmt.Sprintf("%s(%s)", types.Get()[to], x)
}

// saturate returns a saturating conversion, via float64.
func (e *emitter) saturate(to ir.Type, x string) string {
	name := map[ir.Type]string{ir.I32: "saturateI32", ir.U32: "saturateU32", ir.I64: "saturateI64", ir.U64: "saturateU64"}[to]
	return fmt.Sprintf("%s(float64(%s))", e.file.help(name), x)
}

// bitcast returns a bitcast expression. An integer receives the canonical bits of a NaN.
func (e *emitter) bitcast(from, to ir.Type, x string) string {
	switch {
	case from == to:
		return x
	case from == ir.F64:
		x = fmt.Sprintf("%s(%s)", e.file.help("bits64"), x)
		if to == ir.U64 {
			return x
		}
	case from == ir.F32:
		x = fmt.Sprintf("%s(%s)", e.file.help("bits32"), x)
		if to == ir.U32 {
			return x
		}
	case to == ir.F64:
		return fmt.Sprintf("math.Float64frombits(uint64(%s))", x)
	case to == ir.F32:
		return fmt.Sprintf("math.Float32frombits(uint32(%s))", x)
	}
	return fmt.Sprintf("%s(%s)", types.Get()[to], x)
}
