package kernels_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// cText returns a library function as C code, for tests with too many arguments for the interpreter. Compiled without
// contraction it computes the same bits, which the tests check on samples.
func cText(k *ir.Kernel, name string) string {
	c := &cWriter{}
	for _, a := range k.Arrays {
		if a.Space != ir.Table {
			continue
		}
		fmt.Fprintf(c, "static const %s %s_%s[] = {", cTypes[a.Elem.Scalar], name, a.Name)
		size := a.Elem.Size()
		for i := 0; i < len(a.Data); i += size {
			if size == 4 {
				fmt.Fprintf(c, "%du,", binary.LittleEndian.Uint32(a.Data[i:]))
			} else {
				fmt.Fprintf(c, "%dull,", binary.LittleEndian.Uint64(a.Data[i:]))
			}
		}
		c.WriteString("};\n")
	}
	c.name = name
	result := k.Body.Params[0].Type
	fmt.Fprintf(c, "static inline %s %s(", cTypes[result], name)
	for i, p := range k.Body.Params {
		if i > 0 {
			c.WriteString(", ")
		}
		fmt.Fprintf(c, "%s v%d", cTypes[p.Type], p.ID)
	}
	c.WriteString(") {\n")
	c.block(k.Body, nil)
	c.WriteString("}\n")
	return c.String()
}

var cTypes = map[ir.Type]string{ir.F32: "float", ir.F64: "double", ir.I32: "int32_t", ir.U32: "uint32_t", ir.I64: "int64_t", ir.U64: "uint64_t", ir.Bool: "int"}

// cPrelude declares the helpers of the generated C code.
const cPrelude = `#include <stdint.h>
#include <string.h>
#include <math.h>
static inline float bf(uint32_t b) { float x; memcpy(&x, &b, 4); return x; }
static inline double bd(uint64_t b) { double x; memcpy(&x, &b, 8); return x; }
static inline uint32_t fb(float x) { uint32_t b; memcpy(&b, &x, 4); return b; }
static inline uint64_t db(double x) { uint64_t b; memcpy(&b, &x, 8); return b; }
static inline int32_t sat_f32_i32(float x) { return x != x ? 0 : x <= -2147483648.0f ? INT32_MIN : x >= 2147483648.0f ? INT32_MAX : (int32_t)x; }
static inline int32_t sat_f64_i32(double x) { return x != x ? 0 : x <= -2147483648.0 ? INT32_MIN : x >= 2147483647.0 ? INT32_MAX : (int32_t)x; }
static inline uint32_t mulhi_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b >> 32; }
static inline uint64_t mulhi_u64(uint64_t a, uint64_t b) { return (unsigned __int128)a * b >> 64; }
static inline double mn(double a, double b) { return a != a || b != b ? NAN : a < b || (a == b && signbit(a)) ? a : b; }
static inline double mx(double a, double b) { return a != a || b != b ? NAN : a > b || (a == b && !signbit(a)) ? a : b; }
`

type cWriter struct {
	strings.Builder
	name string
}

func (c *cWriter) block(b *ir.Block, outer *ir.Instr) {
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Store:
			fmt.Fprintf(c, "return v%d;\n", in.Args[len(in.Args)-1].ID)
		case ir.Return:
		case ir.Yield:
			for i, a := range in.Args {
				fmt.Fprintf(c, "v%d = v%d;\n", outer.Results[i].ID, a.ID)
			}
		case ir.If:
			for _, r := range in.Results {
				fmt.Fprintf(c, "%s v%d;\n", cTypes[r.Type], r.ID)
			}
			fmt.Fprintf(c, "if (v%d) {\n", in.Args[0].ID)
			c.block(in.Then, in)
			c.WriteString("} else {\n")
			c.block(in.Else, in)
			c.WriteString("}\n")
		default:
			r := in.Result()
			fmt.Fprintf(c, "%s v%d = %s;\n", cTypes[r.Type], r.ID, c.expr(in))
		}
	}
}

var cInfix = map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*", ir.Div: "/", ir.And: "&", ir.Or: "|", ir.Xor: "^",
	ir.Eq: "==", ir.Ne: "!=", ir.Lt: "<", ir.Le: "<="}

func (c *cWriter) expr(in *ir.Instr) string {
	t := in.Type()
	arg := func(i int) string { return fmt.Sprintf("v%d", in.Args[i].ID) }
	suffix := "" // suffix of C functions for the type
	if t == ir.F32 {
		suffix = "f"
	}
	if op, ok := cInfix[in.Op]; ok {
		return fmt.Sprintf("%s %s %s", arg(0), op, arg(1))
	}
	switch in.Op {
	case ir.Const:
		switch t {
		case ir.F32:
			return fmt.Sprintf("bf(%#xu)", in.Bits)
		case ir.F64:
			return fmt.Sprintf("bd(%#xull)", in.Bits)
		}
		return fmt.Sprintf("(%s)%dull", cTypes[t], in.Bits)
	case ir.Neg:
		return "-" + arg(0)
	case ir.Not:
		if t == ir.Bool {
			return "!" + arg(0)
		}
		return "~" + arg(0)
	case ir.Abs:
		return fmt.Sprintf("fabs%s(%s)", suffix, arg(0))
	case ir.Sqrt:
		return fmt.Sprintf("sqrt%s(%s)", suffix, arg(0))
	case ir.Trunc:
		return fmt.Sprintf("trunc%s(%s)", suffix, arg(0))
	case ir.FMA:
		return fmt.Sprintf("fma%s(%s, %s, %s)", suffix, arg(0), arg(1), arg(2))
	case ir.Min:
		return fmt.Sprintf("mn(%s, %s)", arg(0), arg(1))
	case ir.Max:
		return fmt.Sprintf("mx(%s, %s)", arg(0), arg(1))
	case ir.Select:
		return fmt.Sprintf("%s ? %s : %s", arg(0), arg(1), arg(2))
	case ir.Shl:
		return fmt.Sprintf("(%s)((uint64_t)%s << (%s & %d))", cTypes[t], arg(0), arg(1), 8*t.Size()-1)
	case ir.Shr:
		return fmt.Sprintf("%s >> (%s & %d)", arg(0), arg(1), 8*t.Size()-1)
	case ir.MulHi:
		return fmt.Sprintf("mulhi_%s(%s, %s)", t, arg(0), arg(1))
	case ir.Sat:
		return fmt.Sprintf("sat_%s_%s(%s)", in.Args[0].Type, t, arg(0))
	case ir.Convert, ir.Wrap:
		return fmt.Sprintf("(%s)%s", cTypes[t], arg(0))
	case ir.Bitcast:
		switch {
		case t == ir.F32:
			return fmt.Sprintf("bf(%s)", arg(0))
		case t == ir.F64:
			return fmt.Sprintf("bd(%s)", arg(0))
		case in.Args[0].Type == ir.F32:
			return fmt.Sprintf("(%s)fb(%s)", cTypes[t], arg(0))
		case in.Args[0].Type == ir.F64:
			return fmt.Sprintf("(%s)db(%s)", cTypes[t], arg(0))
		}
		return fmt.Sprintf("(%s)%s", cTypes[t], arg(0))
	case ir.Load:
		return fmt.Sprintf("%s_%s[%s]", c.name, in.Array.Name, arg(0))
	}
	return fmt.Sprintf("#error %s", in)
}
