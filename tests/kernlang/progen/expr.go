package progen

import (
	"fmt"
)

// leaf returns an expression without operators.
func (g *generator) leaf(c class) string {
	if g.IntN(3) > 0 {
		if v := g.variable(c); v != "" {
			return v
		}
	}
	if g.IntN(6) == 0 && len(g.places) > 0 {
		if f := g.field(false); f.class == c {
			return f.name
		}
	}
	switch c {
	case ints:
		if g.captured {
			return g.pick("0", "1", "2", "3", "7", "-1", "255", "2147483647", "4294967295")
		}
		return g.pick("0", "1", "2", "3", "7", "-1", "255", "K", "2147483647", "4294967295", "table[i & 7]", "g.size.x", "g.x", "a0.length", "b0.length", "b0.shape[1]")
	case i64:
		return g.pick("i64(1)", "i64(-3)", "i64(i)", "i64(9007199254740993)")
	case u64:
		return g.pick("u64(2)", "u64(i)", "u64(18446744073709551615n)")
	case floats:
		return g.pick("f32(0.5)", "f64(0.1)", "f32(-3)", "f32(i)", "f64(n)", "f32(1e30)")
	}
	return g.pick("true", "false", "i > 3", "n > 1")
}

// expr returns an expression of a class with operators nested at most depth deep.
func (g *generator) expr(c class, depth int) string {
	if depth <= 0 || g.IntN(7) == 0 {
		if g.IntN(2) == 0 {
			return g.load(c)
		}
		return g.leaf(c)
	}
	if g.IntN(8) == 0 { // converted from another class
		from := class(g.IntN(int(classes)))
		return g.convert(g.expr(from, depth-1), from, c)
	}
	if g.IntN(8) == 0 {
		return fmt.Sprintf("(%s ? %s : %s)", g.cond(depth-1), g.expr(c, depth-1), g.expr(c, depth-1))
	}
	if len(g.private) > 0 && g.IntN(10) == 0 {
		if a := g.private[g.IntN(len(g.private))]; a.class == c {
			return fmt.Sprintf("%s[%s & %d]", a.name, g.expr(ints, depth-1), a.mask)
		}
	}
	if len(g.helpers) > 0 && g.IntN(16) == 0 {
		if h := g.helpers[g.IntN(len(g.helpers))]; h.class == c {
			return fmt.Sprintf("%s(%s, %s)", h.name, g.expr(c, depth-1), g.expr(ints, depth-1))
		}
	}
	x, y := g.expr(c, depth-1), g.expr(c, depth-1)
	switch c {
	case bools:
		return "bool(" + g.cond(depth) + ")"
	case ints:
		return g.intExpr(x, y, depth)
	case floats:
		return g.floatExpr(x, y, depth)
	}
	return g.longExpr(c, x, y)
}

func (g *generator) intExpr(x, y string, depth int) string {
	switch g.IntN(20) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*"), y)
	case 3, 4:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&", "|", "^"), y)
	case 5:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("<<", ">>", ">>>"), y)
	case 6:
		return fmt.Sprintf("(%s %% (%s | 1))", x, y)
	case 7:
		return fmt.Sprintf("((%s / (%s | 1)) %s)", x, y, g.pick("| 0", ">> 0", ">>> 0"))
	case 8:
		return fmt.Sprintf("Math.%s(%s / (%s | 1))", g.pick("floor", "trunc"), "(0 | "+x+")", y)
	case 9:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick("min", "max", "imul", "mulhi"), "(0 | "+x+")", "("+y+" | 0)")
	case 10:
		return fmt.Sprintf("Math.%s(%s)", g.pick("clz32", "ctz", "popcount", "abs", "sign"), x)
	case 11:
		return fmt.Sprintf("(%s%s)", g.pick("~", "- ", "+ "), x)
	case 12:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&&", "||"), y)
	case 13:
		return fmt.Sprintf("(%s | 0)", g.expr(floats, depth-1))
	case 14:
		return fmt.Sprintf("bits(f32(%s))", g.expr(floats, depth-1))
	case 15:
		return fmt.Sprintf("Math.min(Math.max(%s, %s), %s)", x, y, g.leaf(ints))
	case 16:
		return fmt.Sprintf("(%s + %s * %s)", x, y, g.leaf(ints))
	}
	if v := g.assignable(ints); v != "" {
		return g.pick("("+v+" = "+x+")", v+"++", "--"+v, "("+v+" += "+x+")")
	}
	return fmt.Sprintf("(%s ^ %s)", x, y)
}

func (g *generator) floatExpr(x, y string, depth int) string {
	switch g.IntN(14) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*", "/", "%"), y)
	case 3, 4:
		return fmt.Sprintf("(%s * %s %s %s)", x, y, g.pick("+", "-"), g.leaf(floats))
	case 5:
		return fmt.Sprintf("(%s %s %s * %s)", g.leaf(floats), g.pick("+", "-"), x, y)
	case 6:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick("min", "max"), x, y)
	case 7:
		return fmt.Sprintf("Math.%s(%s)", g.pick("floor", "ceil", "trunc", "round", "abs", "sqrt", "sign", "fround"), x)
	case 8:
		return fmt.Sprintf("Math.%s(%s, %s, %s)", g.pick("fma", "mix", "clamp"), x, y, g.leaf(floats))
	case 9:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "*", "/"), g.expr(ints, depth-1))
	case 10:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&&", "||"), y)
	case 11:
		return fmt.Sprintf("%s(%s)", g.pick("f16", "bf16", "-", "+", "f32", "f64"), x)
	case 12:
		return fmt.Sprintf("fromBits(f32, %s | 0)", g.expr(ints, depth-1))
	}
	return fmt.Sprintf("((%s) ** 2)", x)
}

func (g *generator) longExpr(c class, x, y string) string {
	t := "i64"
	if c == u64 {
		t = "u64"
	}
	switch g.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*"), y)
	case 3:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("&", "|", "^"), y)
	case 4:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("<<", ">>"), g.leaf(ints))
	case 5:
		return fmt.Sprintf("(%s %s (%s | 1))", x, g.pick("/", "%"), y)
	case 6:
		return fmt.Sprintf("Math.%s(%s, %s)", g.pick("min", "max", "mulhi"), x, y)
	case 7:
		return fmt.Sprintf("(%s %s %s)", x, g.pick("+", "-", "*"), g.pick("3", "10n", "2"))
	}
	return fmt.Sprintf("%s(Math.%s(%s))", t, g.pick("ctz", "popcount"), x)
}

// cond returns a condition.
func (g *generator) cond(depth int) string {
	if depth <= 0 {
		return fmt.Sprintf("%s > %s", g.leaf(ints), g.leaf(ints))
	}
	c := class(g.IntN(int(bools)))
	op := g.pick("<", "<=", ">", ">=", "===", "!==")
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s %s %s)", g.cond(depth-1), g.pick("&&", "||"), g.cond(depth-1))
	case 1:
		return fmt.Sprintf("!%s", g.paren(g.expr(c, depth-1)))
	case 2:
		return g.paren(g.expr(c, depth-1))
	case 3: // operands of two classes, compared by mathematical values
		d := class(g.IntN(int(bools)))
		return fmt.Sprintf("(%s %s %s)", g.expr(c, depth-1), op, g.expr(d, depth-1))
	}
	return fmt.Sprintf("(%s %s %s)", g.expr(c, depth-1), op, g.expr(c, depth-1))
}

func (g *generator) paren(s string) string { return "(" + s + ")" }

// uniformCond returns a condition that is equal for all items of a group.
func (g *generator) uniformCond() string {
	return g.pick("n > 3", "n % 2 === 0", "n < K", "g.size.x > 40", "n !== 5", "g.group.x % 2 === 0", "K > 4 || n > 0")
}

// assignable returns a variable that can be assigned, or "".
func (g *generator) assignable(c class) string {
	for _, k := range g.Perm(len(g.vars)) {
		if v := g.vars[k]; v.class == c && !v.fixed {
			return v.name
		}
	}
	return ""
}
