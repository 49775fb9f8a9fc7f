package emitjs

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// rounded returns an expression that converts expr, which is exact or rounded to float64, to type t.
func rounded(t ir.Type, expr string) string {
	switch t {
	case ir.I32:
		return expr + " | 0"
	case ir.U32:
		return "(" + expr + ") >>> 0"
	case ir.I64:
		return "i64(" + expr + ")"
	case ir.U64:
		return "u64(" + expr + ")"
	case ir.F32:
		return "Math.fround(" + expr + ")"
	}
	return expr
}

func wide(t ir.Type) bool { return t == ir.I64 || t == ir.U64 }

// width returns the suffix, 32 or 64, of the runtime functions for integers of type t that do not depend on the sign.
func width(t ir.Type) string {
	if wide(t) {
		return "64"
	}
	return "32"
}

// arithmetic returns the expression of an operation on values, or "" if none exists.
func (e *emitter) arithmetic(in *ir.Instr) string {
	if len(in.Args) == 0 {
		return ""
	}
	x, from, to := e.x(in.Args[0]), in.Args[0].Type, in.Type()
	switch in.Op {
	case ir.Convert:
		return convert(from, to, x)
	case ir.Sat, ir.Wrap:
		switch {
		case from == to:
			return x
		case in.Op == ir.Wrap && !wide(from) && to == ir.I32:
			return x + " | 0"
		case in.Op == ir.Wrap && !wide(from) && to == ir.U32:
			return x + " >>> 0"
		case in.Op == ir.Wrap && from.IsInt() && !wide(from):
			return fmt.Sprintf("%v(BigInt(%s))", to, x)
		}
		return fmt.Sprintf("%v(%s, '%v')", in.Op, x, to)
	case ir.Bitcast:
		if from == to {
			return x
		}
		return fmt.Sprintf("bitcast(%s, '%v', '%v')", x, from, to)
	case ir.Quant:
		return fmt.Sprintf("quant_%v(%s)", in.Elem, x)
	case ir.FMA:
		return fmt.Sprintf("fma_%v(%s, %s, %s)", to, x, e.x(in.Args[1]), e.x(in.Args[2]))
	case ir.Select:
		return fmt.Sprintf("%s ? %s : %s", x, e.x(in.Args[1]), e.x(in.Args[2]))
	}
	if len(in.Args) == 2 {
		return binary(in.Op, from, x, e.x(in.Args[1]))
	}
	return unary(in.Op, from, x)
}

func unary(op ir.Op, t ir.Type, x string) string {
	switch op {
	case ir.Neg:
		if t.IsFloat() {
			return "-" + x
		}
		return rounded(t, "-"+x)
	case ir.Not:
		if t == ir.Bool {
			return "!" + x
		}
		return rounded(t, "~"+x)
	case ir.Abs:
		switch {
		case t == ir.I64:
			return fmt.Sprintf("i64(%s < 0n ? -%s : %s)", x, x, x)
		case t == ir.I32:
			return fmt.Sprintf("Math.abs(%s) | 0", x)
		case t.IsInt():
			return x
		}
		return "Math.abs(" + x + ")"
	case ir.Sqrt:
		return rounded(t, "Math.sqrt("+x+")")
	case ir.Floor, ir.Ceil, ir.Trunc, ir.Round: // exact in float32 for float32 operands
		return fmt.Sprintf("Math.%v(%s)", op, x)
	case ir.Rint:
		return "rint(" + x + ")"
	case ir.Clz:
		if wide(t) {
			return "clz_64(" + x + ")"
		}
		return "Math.clz32(" + x + ")"
	case ir.Ctz, ir.Popcnt:
		return fmt.Sprintf("%v_%s(%s)", op, width(t), x)
	}
	return ""
}

func binary(op ir.Op, t ir.Type, x, y string) string {
	infix := map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.And: "&", ir.Or: "|", ir.Xor: "^", ir.Eq: "===",
		ir.Ne: "!==", ir.Lt: "<", ir.Le: "<="}[op]
	expr := fmt.Sprintf("%s %s %s", x, infix, y)
	call := func(name string) string { return fmt.Sprintf("%s(%s, %s)", name, x, y) }
	switch op {
	case ir.Eq, ir.Ne, ir.Lt, ir.Le:
		return expr
	case ir.Add, ir.Sub:
		return rounded(t, expr)
	case ir.Mul:
		if t == ir.I32 || t == ir.U32 {
			expr = call("Math.imul")
			if t == ir.I32 {
				return expr
			}
		}
		return rounded(t, expr)
	case ir.And, ir.Or, ir.Xor:
		switch t {
		case ir.Bool:
			return fmt.Sprintf("%s %s %s", x, map[ir.Op]string{ir.And: "&&", ir.Or: "||", ir.Xor: "!=="}[op], y)
		case ir.U32:
			return rounded(t, expr)
		}
		return expr
	case ir.Div:
		if t.IsFloat() {
			return rounded(t, x+" / "+y)
		}
		return call(fmt.Sprintf("div_%v", t))
	case ir.Rem:
		switch {
		case t.IsFloat(): // exact, without rounding
			return x + " % " + y
		case wide(t):
			return call("rem_64")
		}
		return call(fmt.Sprintf("rem_%v", t))
	case ir.Min, ir.Max:
		if wide(t) {
			return call(fmt.Sprintf("%v_64", op))
		}
		return call(fmt.Sprintf("Math.%v", op))
	case ir.MulHi:
		if wide(t) {
			return call("mulhi_64")
		}
		return call(fmt.Sprintf("mulhi_%v", t))
	case ir.Shl:
		if wide(t) {
			return rounded(t, fmt.Sprintf("%s << BigInt(%s & 63)", x, y))
		}
		if t == ir.I32 {
			return x + " << " + y
		}
		return rounded(t, x+" << "+y)
	case ir.Shr:
		switch t {
		case ir.I32:
			return x + " >> " + y
		case ir.U32:
			return x + " >>> " + y
		}
		return fmt.Sprintf("%s >> BigInt(%s & 63)", x, y)
	}
	return ""
}

func convert(from, to ir.Type, x string) string {
	switch {
	case from == to:
		return x
	case from == ir.Bool && wide(to):
		return x + " ? 1n : 0n"
	case from == ir.Bool:
		return x + " ? 1 : 0"
	case wide(from) && wide(to):
		return fmt.Sprintf("%v(%s)", to, x)
	case wide(from) && to == ir.F32:
		return "f32FromBig(" + x + ")"
	case wide(from):
		return "Number(" + x + ")"
	case wide(to):
		return fmt.Sprintf("%v(BigInt(%s))", to, x)
	}
	return rounded(to, x) // int to float, or float to float
}
