package kernlang

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// operation is an operation of the language as text, with its definition.
type operation struct {
	text string // A, B and C are placeholders of the operands
	arg  int    // number of operands
	// typ returns the result's type for operand types, and "" or the ID of the diagnostic that rejects them.
	typ func(real ir.Type, a []ir.Type) (ir.Type, diag.ID)
	// value returns the result in the type of typ. It is nil if only the implementations are compared with each other.
	value func(real ir.Type, x []num) num
}

func (o *operation) String() string { return o.text }

// of returns the operation's text with these operands.
func (o *operation) of(operands ...string) string {
	s := o.text
	for i, x := range operands {
		s = strings.ReplaceAll(s, string(rune('A'+i)), x)
	}
	return s
}

func arithType(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
	t, ok := arithmeticType(a[0], a[1])
	if !ok {
		return t, diag.Mixed64
	}
	return t, ""
}

// inType returns the value function of an operator that works in the common type of its operands.
func inType(f func(x, y num) num) func(ir.Type, []num) num {
	return func(_ ir.Type, x []num) num {
		t, _ := arithmeticType(x[0].t, x[1].t)
		return f(x[0].to(t), x[1].to(t))
	}
}

// divisionType returns the type of a/b, which is real for 32-bit integers.
func divisionType(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
	t, id := arithType(real, a)
	if id == "" && t.Size() == 4 && t.IsInt() {
		t = real
	}
	return t, id
}

func division(real ir.Type, x []num) num {
	t, _ := divisionType(real, []ir.Type{x[0].t, x[1].t})
	r, _ := arithmetic("/", x[0].to(t), x[1].to(t))
	return r
}

// isQuotient reports whether forms such as (a/b)|0 are integer divisions.
func isQuotient(a, b ir.Type) bool {
	t, ok := arithmeticType(a, b)
	return ok && a.IsInt() && b.IsInt() && t.IsInt()
}

// quotient returns the integer quotient with this rounding, in the operands' type, or the dividend's if the signs are mixed.
func quotient(x, y num, round string) num {
	t, _ := arithmeticType(x.t, y.t)
	if mixedSigns(x.t, y.t) {
		t = x.t
	} else {
		x, y = x.to(t), y.to(t)
	}
	if y.i.Sign() == 0 {
		return intNum(t, new(big.Int))
	}
	q, r := new(big.Int).QuoRem(x.i, y.i, new(big.Int))
	if round == "floor" && r.Sign() != 0 && r.Sign() != y.i.Sign() {
		q.Sub(q, big.NewInt(1))
	}
	if round == "ceil" && r.Sign() != 0 && r.Sign() == y.i.Sign() {
		q.Add(q, big.NewInt(1))
	}
	return intNum(t, wrap(t, q))
}

// convertedQuotient returns an operation that converts a/b. A quotient of integers wraps, by its mathematical value if the
// signs are mixed.
func convertedQuotient(to ir.Type) operation {
	o := integerQuotient(to.String()+"(A / B)", "trunc", func(x num) num { return x.converted(to) }, func(_ ir.Type, q num) num { return q.converted(to) })
	other := o.value
	o.value = func(real ir.Type, x []num) num {
		if isQuotient(x[0].t, x[1].t) && mixedSigns(x[0].t, x[1].t) && x[1].i.Sign() != 0 {
			return num{t: ir.I64, i: new(big.Int).Quo(x[0].i, x[1].i)}.converted(to)
		}
		return other(real, x)
	}
	return o
}

// integerQuotient returns an operation on a/b that is an integer division for integers, and otherwise converts the quotient.
func integerQuotient(text, round string, of32 func(num) num, whole func(real ir.Type, q num) num) operation {
	return operation{text, 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		_, id := arithType(real, a)
		if id != "" {
			return ir.Void, id
		}
		one := func(t ir.Type) num {
			if t.IsFloat() {
				return floatNum(t, 1)
			}
			return intNum(t, big.NewInt(1))
		}
		return integerQuotientValue(real, one(a[0]), one(a[1]), round, of32, whole).t, ""
	}, func(real ir.Type, x []num) num {
		return integerQuotientValue(real, x[0], x[1], round, of32, whole)
	}}
}

func integerQuotientValue(real ir.Type, x, y num, round string, of32 func(num) num, whole func(ir.Type, num) num) num {
	if isQuotient(x.t, y.t) {
		return whole(real, quotient(x, y, round))
	}
	return of32(division(real, []num{x, y}))
}

func compareOperation(op string) operation {
	return operation{"A " + op + " B", 2,
		func(ir.Type, []ir.Type) (ir.Type, diag.ID) { return ir.Bool, "" },
		func(_ ir.Type, x []num) num {
			c, ordered := order(x[0], x[1])
			switch op {
			case "<":
				return boolNum(ordered && c < 0)
			case "<=":
				return boolNum(ordered && c <= 0)
			case ">":
				return boolNum(ordered && c > 0)
			case ">=":
				return boolNum(ordered && c >= 0)
			case "===", "==":
				return boolNum(ordered && c == 0)
			}
			return boolNum(!ordered || c != 0)
		}}
}

// to32 returns JavaScript's ToInt32 or ToUint32.
func to32(t ir.Type) func(num) num { return func(x num) num { return x.to(t) } }

func bitOperation(op string) operation {
	return operation{"A " + op + " B", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		if wide(a[0]) || wide(a[1]) {
			return arithType(real, a)
		}
		return ir.I32, ""
	}, func(_ ir.Type, x []num) num {
		t := ir.I32
		if wide(x[0].t) {
			t = x[0].t
		}
		a, b, r := x[0].to(t).i, x[1].to(t).i, new(big.Int)
		switch op {
		case "&":
			r.And(a, b)
		case "|":
			r.Or(a, b)
		case "^":
			r.Xor(a, b)
		}
		return intNum(t, wrap(t, r))
	}}
}

func shiftOperation(op string) operation {
	return operation{"A " + op + " B", 2, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		switch {
		case wide(a[0]) && op == ">>>":
			return ir.Void, diag.BadOperand
		case wide(a[0]):
			return a[0], ""
		case op == ">>>":
			return ir.U32, ""
		}
		return ir.I32, ""
	}, func(_ ir.Type, x []num) num {
		t := x[0].t
		if !wide(t) {
			t = ir.I32
			if op == ">>>" {
				t = ir.U32
			}
		}
		n := uint(x[1].to(ir.U32).i.Uint64()) % uint(8*t.Size())
		a := x[0].to(t).i
		if op == "<<" {
			return intNum(t, wrap(t, new(big.Int).Lsh(a, n)))
		}
		return intNum(t, new(big.Int).Rsh(a, n)) // rounds down: an arithmetic shift
	}}
}

// joinedOperation returns an operation whose result is one of its last two operands.
func joinedOperation(text string, args int, pick func(x []num) num) operation {
	return operation{text, args, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		t, ok := joinType(a[len(a)-2], a[len(a)-1])
		if !ok {
			return t, diag.JoinFailed
		}
		return t, ""
	}, func(_ ir.Type, x []num) num {
		t, _ := joinType(x[len(x)-2].t, x[len(x)-1].t)
		return pick(x).to(t)
	}}
}

func minMax(name string) operation {
	return operation{"Math." + name + "(A, B)", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		if mixedSigns(a[0], a[1]) {
			if name == "min" {
				return ir.I32, ""
			}
			return ir.U32, ""
		}
		return arithType(real, a)
	}, func(_ ir.Type, x []num) num {
		if mixedSigns(x[0].t, x[1].t) {
			c := x[0].i.Cmp(x[1].i)
			r, t := x[0].i, ir.I32
			if name == "max" {
				t = ir.U32
			}
			if (c > 0) == (name == "min") {
				r = x[1].i
			}
			return intNum(t, r)
		}
		t, _ := arithmeticType(x[0].t, x[1].t)
		a, b := x[0].to(t), x[1].to(t)
		if a.i != nil {
			if (a.i.Cmp(b.i) > 0) == (name == "min") {
				return b
			}
			return a
		}
		if name == "min" {
			return floatNum(t, min(a.f, b.f))
		}
		return floatNum(t, max(a.f, b.f))
	}}
}

// binaryOperations returns the operations with two operands.
func binaryOperations() []operation {
	ops := []operation{}
	for _, op := range []string{"+", "-", "*"} {
		ops = append(ops, operation{"A " + op + " B", 2, arithType, inType(func(x, y num) num { r, _ := arithmetic(op, x, y); return r })})
	}
	ops = append(ops,
		operation{"A / B", 2, divisionType, division},
		operation{"A % B", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if mixedSigns(a[0], a[1]) {
				return arithmeticOf(a[0]), ""
			}
			return arithType(real, a)
		}, func(_ ir.Type, x []num) num {
			if mixedSigns(x[0].t, x[1].t) {
				t := arithmeticOf(x[0].t)
				if x[1].i.Sign() == 0 {
					return intNum(t, new(big.Int))
				}
				return intNum(t, wrap(t, new(big.Int).Rem(x[0].i, x[1].i)))
			}
			t, _ := arithmeticType(x[0].t, x[1].t)
			r, _ := arithmetic("%", x[0].to(t), x[1].to(t))
			return r
		}},
		operation{"A ** B", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			t, id := divisionType(real, a)
			if id == "" && wide(t) {
				id = diag.BadOperand
			}
			return t, id
		}, nil},
	)
	for _, op := range []string{"&", "|", "^"} {
		ops = append(ops, bitOperation(op))
	}
	for _, op := range []string{"<<", ">>", ">>>"} {
		ops = append(ops, shiftOperation(op))
	}
	for _, op := range []string{"<", "<=", ">", ">=", "===", "!==", "==", "!="} {
		ops = append(ops, compareOperation(op))
	}
	same := func(_ ir.Type, q num) num { return q }
	in32 := func(t ir.Type) func(ir.Type, num) num {
		return func(_ ir.Type, q num) num {
			if wide(q.t) {
				return q
			}
			return q.to(t)
		}
	}
	rounded := func(f func(float64) float64) func(num) num {
		return func(x num) num {
			if x.i != nil {
				return x
			}
			return floatNum(x.t, f(x.f))
		}
	}
	ops = append(ops,
		integerQuotient("(A / B) | 0", "trunc", to32(ir.I32), in32(ir.I32)),
		integerQuotient("(A / B) >> 0", "trunc", to32(ir.I32), in32(ir.I32)),
		integerQuotient("(A / B) >>> 0", "trunc", to32(ir.U32), in32(ir.U32)),
		integerQuotient("~~(A / B)", "trunc", to32(ir.I32), in32(ir.I32)),
		convertedQuotient(ir.I32), convertedQuotient(ir.U32), convertedQuotient(ir.I64), convertedQuotient(ir.U64),
		integerQuotient("Math.trunc(A / B)", "trunc", rounded(math.Trunc), same),
		integerQuotient("Math.floor(A / B)", "floor", rounded(math.Floor), same),
		integerQuotient("Math.ceil(A / B)", "ceil", rounded(math.Ceil), same),
		minMax("min"), minMax("max"),
		joinedOperation("A && B", 2, func(x []num) num {
			if x[0].truth() {
				return x[1]
			}
			return x[0]
		}),
		joinedOperation("A || B", 2, func(x []num) num {
			if x[0].truth() {
				return x[0]
			}
			return x[1]
		}),
		operation{"Math.imul(A, B)", 2, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if wide(a[0]) || wide(a[1]) {
				return ir.Void, diag.Mixed64
			}
			return ir.I32, ""
		}, func(_ ir.Type, x []num) num {
			return intNum(ir.I32, wrap(ir.I32, new(big.Int).Mul(x[0].to(ir.I32).i, x[1].to(ir.I32).i)))
		}},
		operation{"Math.mulhi(A, B)", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			t, id := arithType(real, a)
			if id == "" && t.IsFloat() {
				id = diag.BadOperand
			}
			return t, id
		}, inType(func(x, y num) num {
			p := new(big.Int).Mul(x.i, y.i)
			return intNum(x.t, wrap(x.t, p.Rsh(p, uint(8*x.t.Size()))))
		})},
	)
	for _, fn := range []string{"atan2", "hypot", "pow"} {
		ops = append(ops, operation{"Math." + fn + "(A, B)", 2, func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if fn == "pow" && a[0] == a[1] && wide(a[0]) {
				return ir.Void, diag.BadOperand
			}
			if wide(a[0]) || wide(a[1]) {
				return ir.Void, diag.Mixed64
			}
			return divisionType(real, a)
		}, nil})
	}
	return ops
}

func arithmeticOf(t ir.Type) ir.Type {
	if t == ir.Bool {
		return ir.I32
	}
	return t
}

// unaryOperations returns the operations with one operand.
func unaryOperations() []operation {
	number := func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) { return arithmeticOf(a[0]), "" }
	fixed := func(t ir.Type) func(ir.Type, []ir.Type) (ir.Type, diag.ID) {
		return func(ir.Type, []ir.Type) (ir.Type, diag.ID) { return t, "" }
	}
	narrow := func(t ir.Type) func(ir.Type, []ir.Type) (ir.Type, diag.ID) {
		return func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if wide(a[0]) {
				return ir.Void, diag.Mixed64
			}
			return t, ""
		}
	}
	float := func(real ir.Type, a []ir.Type) (ir.Type, diag.ID) {
		switch {
		case wide(a[0]):
			return ir.Void, diag.Mixed64
		case a[0].IsFloat():
			return a[0], ""
		}
		return real, ""
	}
	each := func(whole func(*big.Int) *big.Int, real func(float64) float64) func(ir.Type, []num) num {
		return func(_ ir.Type, x []num) num {
			t := arithmeticOf(x[0].t)
			if x[0].i != nil {
				return intNum(t, wrap(t, whole(x[0].i)))
			}
			return floatNum(t, real(x[0].f))
		}
	}
	self := func(i *big.Int) *big.Int { return i }
	neg := func(i *big.Int) *big.Int { return new(big.Int).Neg(i) }
	ops := []operation{
		{"-A", 1, number, each(neg, func(f float64) float64 { return -f })},
		{"+A", 1, number, each(self, func(f float64) float64 { return f })},
		{"!A", 1, fixed(ir.Bool), func(_ ir.Type, x []num) num { return boolNum(!x[0].truth()) }},
		{"~A", 1, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if wide(a[0]) {
				return a[0], ""
			}
			return ir.I32, ""
		}, func(_ ir.Type, x []num) num {
			t := ir.I32
			if wide(x[0].t) {
				t = x[0].t
			}
			return intNum(t, wrap(t, new(big.Int).Not(x[0].to(t).i)))
		}},
		{"A | 0", 1, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if wide(a[0]) {
				return a[0], "" // the literal 0 takes the other operand's type
			}
			return ir.I32, ""
		}, func(_ ir.Type, x []num) num {
			if wide(x[0].t) {
				return x[0]
			}
			return x[0].to(ir.I32)
		}},
		{"A >>> 0", 1, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if wide(a[0]) {
				return ir.Void, diag.BadOperand
			}
			return ir.U32, ""
		}, func(_ ir.Type, x []num) num { return x[0].to(ir.U32) }},
		{"bits(A)", 1, func(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) {
			if a[0].Size() == 8 {
				return ir.U64, ""
			}
			return ir.U32, ""
		}, func(_ ir.Type, x []num) num {
			t, b := arithmeticOf(x[0].t), new(big.Int)
			switch {
			case x[0].f != x[0].f && t == ir.F32:
				b.SetUint64(ir.NaN32)
			case x[0].f != x[0].f:
				b.SetUint64(ir.NaN64)
			default:
				b.SetUint64(x[0].bits(t))
			}
			if t.Size() == 8 {
				return intNum(ir.U64, wrap(ir.U64, b))
			}
			return intNum(ir.U32, wrap(ir.U32, b))
		}},
		{"Math.abs(A)", 1, number, each(func(i *big.Int) *big.Int { return new(big.Int).Abs(i) }, math.Abs)},
		{"Math.floor(A)", 1, roundingType, each(self, math.Floor)},
		{"Math.ceil(A)", 1, roundingType, each(self, math.Ceil)},
		{"Math.trunc(A)", 1, roundingType, each(self, math.Trunc)},
		{"Math.round(A)", 1, roundingType, each(self, func(f float64) float64 {
			if math.Abs(f) >= 1<<52 || f != f {
				return f
			}
			r := math.Floor(f)
			if f-r >= 0.5 {
				r++
			}
			return math.Copysign(r, f)
		})},
		{"Math.sign(A)", 1, number, each(func(i *big.Int) *big.Int { return big.NewInt(int64(i.Sign())) }, func(f float64) float64 {
			switch {
			case f > 0:
				return 1
			case f < 0:
				return -1
			}
			return f
		})},
		{"Math.sqrt(A)", 1, float, func(real ir.Type, x []num) num {
			t, _ := float(real, []ir.Type{x[0].t})
			return floatNum(t, math.Sqrt(x[0].float(t)))
		}},
		{"Math.fround(A)", 1, fixed(ir.F32), func(_ ir.Type, x []num) num { return floatNum(ir.F32, x[0].float(ir.F32)) }},
		{"A ** 2", 1, number, func(_ ir.Type, x []num) num {
			y := x[0].to(arithmeticOf(x[0].t))
			r, _ := arithmetic("*", y, y)
			return r
		}},
		{"f32(A)", 1, fixed(ir.F32), func(_ ir.Type, x []num) num { return floatNum(ir.F32, x[0].float(ir.F32)) }},
		{"f64(A)", 1, fixed(ir.F64), func(_ ir.Type, x []num) num { return floatNum(ir.F64, x[0].float(ir.F64)) }},
		{"f16(A)", 1, fixed(ir.F32), func(_ ir.Type, x []num) num {
			return num{t: ir.F32, f: x[0].float(ir.F16)}
		}},
		{"bf16(A)", 1, fixed(ir.F32), func(_ ir.Type, x []num) num {
			return num{t: ir.F32, f: x[0].float(ir.BF16)}
		}},
		{"bool(A)", 1, fixed(ir.Bool), func(_ ir.Type, x []num) num { return boolNum(x[0].truth()) }},
	}
	for _, t := range []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64} {
		ops = append(ops, operation{t.String() + "(A)", 1, fixed(t), func(_ ir.Type, x []num) num { return x[0].converted(t) }})
	}
	count := func(f func(bits uint64, size int) int, clz bool) func(ir.Type, []num) num {
		return func(_ ir.Type, x []num) num {
			t := ir.U32
			if wide(x[0].t) && !clz {
				t = ir.U64
			}
			return intNum(ir.I32, big.NewInt(int64(f(wrapBits(x[0].to(t).i), 8*t.Size()))))
		}
	}
	ops = append(ops,
		operation{"Math.clz32(A)", 1, narrow(ir.I32), count(func(b uint64, size int) int {
			n := 0
			for ; n < size && b>>(size-1-n)&1 == 0; n++ {
			}
			return n
		}, true)},
		operation{"Math.ctz(A)", 1, fixed(ir.I32), count(func(b uint64, size int) int {
			n := 0
			for ; n < size && b>>n&1 == 0; n++ {
			}
			return n
		}, false)},
		operation{"Math.popcount(A)", 1, fixed(ir.I32), count(func(b uint64, size int) int {
			n := 0
			for i := range size {
				n += int(b >> i & 1)
			}
			return n
		}, false)},
	)
	for _, fn := range []string{"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
		"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "rsqrt", "erf", "fast.exp", "fast.sin"} {
		ops = append(ops, operation{fmt.Sprintf("Math.%s(A)", fn), 1, float, nil})
	}
	return ops
}

// roundingType returns the type of floor, ceil, trunc and round, which keep integers unchanged.
func roundingType(_ ir.Type, a []ir.Type) (ir.Type, diag.ID) { return arithmeticOf(a[0]), "" }
