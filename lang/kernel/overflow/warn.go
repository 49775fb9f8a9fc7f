package overflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// Most is the assumed maximum of sizes, extents and integer arguments before the first launch, and of unknown trip counts. It
// is also the assumed distance of loaded integers from the limits of their type.
const Most = 1 << 24

// Assumed returns what is assumed of a kernel's launches before the first one.
func Assumed(c *kernel.Compiled) *opt.Launches {
	l := &opt.Launches{Size: [3]int64{Most, Most, Most}, GroupSize: [3]int64{1024, 1024, 1024}, Extents: map[string][]int64{}, Scalars: map[string][2]int64{}}
	for _, p := range c.Kernel.Params {
		if p.Array != nil {
			for range p.Array.Rank {
				l.Extents[p.Name] = append(l.Extents[p.Name], Most)
			}
		} else {
			l.Scalars[p.Name] = [2]int64{-Most, Most}
			if p.Type == ir.U32 {
				l.Scalars[p.Name] = [2]int64{0, Most}
			}
		}
	}
	return l
}

// Warnings returns a warning for each 32-bit integer operation that may wrap and whose full result matters. It matters to conversions
// to floats and wider integers, comparisons, divisions, Math.min, Math.max and Math.abs. Divisions and Math.abs have no warning
// themselves. Nor does an operation on a value that may itself have wrapped. Warnings also returns one for each product that
// JavaScript may round where only its low bits matter. Elements of buffers are assumed not to be near the limits of their type.
// Most replaces the Trips and Margin of launches, which must not be nil. Warnings returns nil if the kernel is too large to
// analyse.
func Warnings(c *kernel.Compiled, launches *opt.Launches) diag.List {
	l := *launches
	l.Trips, l.Margin = Most, Most
	set, ok := opt.Wraps(c.Kernel, &l)
	if !ok {
		return nil
	}
	f := newFlow(c)
	tainted := map[*ir.Value]bool{} // values derived from an operation that may wrap
	var roots []*ir.Instr
	c.Kernel.Body.Walk(func(in *ir.Instr) {
		if !set[in] || !f.mayWrap(in) || in.Type().Size() > 4 || in.Op == ir.Div || in.Op == ir.Abs {
			return
		}
		if !slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return tainted[a] }) {
			roots = append(roots, in)
			f.taint(in.Results[0], tainted)
		}
	})
	f.number()
	var list diag.List
	for _, in := range roots {
		if end := f.end(in.Results[0]); end != nil {
			list = append(list, f.warning(in, end))
		}
	}
	return append(list, f.roundings(&l, set)...).Sort()
}

// taint marks a value and all values derived from it.
func (f *flow) taint(v *ir.Value, tainted map[*ir.Value]bool) {
	if tainted[v] {
		return
	}
	tainted[v] = true
	f.next(v, func(to *ir.Value) { f.taint(to, tainted) })
}

// end returns the first instruction in source order that has a warning: it depends on the full value of v, or of a value derived
// from v. Such instructions convert, compare or divide, or are Math.min, Math.max or Math.abs. end returns nil if there is none.
func (f *flow) end(v *ir.Value) *ir.Instr {
	reached := map[*ir.Value]bool{}
	f.taint(v, reached)
	var end *ir.Instr
	for r := range reached {
		for _, in := range f.uses.Of(r) {
			switch in.Op {
			case ir.Convert, ir.Lt, ir.Le, ir.Eq, ir.Ne, ir.Min, ir.Max, ir.Abs, ir.Div, ir.Rem:
				if sensitive(in, r) && (end == nil || f.order[in] < f.order[end]) {
					end = in
				}
			}
		}
	}
	return end
}

// warning reports an operation that may wrap, and the use of its result.
func (f *flow) warning(in, end *ir.Instr) *diag.Diagnostic {
	at, _ := f.c.PlaceOf(in)
	t := in.Type()
	beyond := "beyond 2³¹ − 1"
	if t == ir.U32 {
		beyond = "beyond 2³² − 1 or below 0"
	}
	d := &diag.Diagnostic{ID: diag.IntegerWraps, Position: at.At, End: at.End, Excerpt: at.Text}
	use := "is compared"
	switch end.Op {
	case ir.Convert:
		use = "becomes " + end.Type().String()
	case ir.Div, ir.Rem:
		use = "is divided"
	}
	if p, ok := f.c.PlaceOf(end); ok && p.At.Line != at.At.Line {
		d.Notes = append(d.Notes, diag.Note{Position: p.At, Message: "here it " + use})
	}
	if in.Op == ir.Wrap {
		d.Message = fmt.Sprintf("`%s` becomes u32, where a number below 0 wraps, before it %s: JavaScript's result may differ", at.Text, use)
		d.Rewrite = "convert what is u32: `i32(…)` or `f64(…)`; or write `>>> 0` behind what is to wrap"
		return d
	}
	d.Message = fmt.Sprintf("`%s` may wrap in %s, %s, before it %s: JavaScript's result may differ", at.Text, t, beyond, use)
	d.Rewrite = f.rewrite(in, end, at)
	return d
}

// rewrite returns a hint: how to compute like JavaScript, and how to make the wrap explicit.
func (f *flow) rewrite(in, end *ir.Instr, at kernel.Place) string {
	t := ir.F64
	if end.Op == ir.Convert && end.Type().IsFloat() {
		t = end.Type()
	}
	wrapped := fmt.Sprintf("(%s) | 0", at.Text)
	switch {
	case in.Op == ir.Mul: // JavaScript rounds a product above 2⁵³ before wrapping it
		wrapped = fmt.Sprintf("Math.imul(%s, %s)", at.Operands[0], at.Operands[1])
		if in.Type() == ir.U32 {
			wrapped += " >>> 0"
		}
	case in.Type() == ir.U32:
		wrapped = fmt.Sprintf("(%s) >>> 0", at.Text)
	}
	symbol := map[ir.Op]string{ir.Add: "+", ir.Sub: "-", ir.Mul: "*"}[in.Op]
	switch {
	case at.Updates:
		return fmt.Sprintf("begin `%s` with a float, as in `let %[1]s = %s(0)`; or wrap each time, as in `%[1]s = (%[1]s %[3]s …) | 0`, if that is meant",
			at.Operands[0], t, symbol)
	case in.Op == ir.Neg:
		return fmt.Sprintf("write `-%s(%s)`, or `%s` if it is to wrap", t, at.Operands[0], wrapped)
	}
	i, other := 0, 1
	if d := opt.Signed(in.Args[0]).Def; d != nil && d.Op == ir.Const {
		i, other = 1, 0
	}
	operands := [2]string{}
	operands[i] = fmt.Sprintf("%s(%s)", t, at.Operands[i])
	operands[other] = operand(at.Operands[other], in.Op, other == 1)
	return fmt.Sprintf("write `%s %s %s`, or `%s` if it is to wrap", operands[0], symbol, operands[1], wrapped)
}

// operand returns the text of an operand of +, - or *, parenthesized if necessary.
func operand(text string, op ir.Op, right bool) string {
	lower := "?&|^=<>,"
	switch {
	case op == ir.Mul && right:
		lower += "+-*/%"
	case op == ir.Mul || right:
		lower += "+-"
	}
	depth := 0
	for i, c := range text {
		switch {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case depth == 0 && i > 0 && strings.ContainsRune(lower, c):
			return "(" + text + ")"
		}
	}
	return text
}
