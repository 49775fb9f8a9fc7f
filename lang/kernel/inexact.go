package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// Held returns the number that an element of type t holds for x. ok is false if the difference is more than the usual rounding.
// Then an integer of at most 2⁵³ becomes another one, or a number becomes 0 or infinite. An integer type may also drop a fraction
// or high bits. Negative numbers of the width of an unsigned type, and ±[math.MaxFloat64] in a float type, are ok. For bool and
// 64-bit integers Held returns x and true, whatever x is.
func Held(x float64, t ir.Type) (now float64, ok bool) {
	switch {
	case t == ir.Bool:
		return x, true
	case t.IsInt():
		return heldInt(x, t)
	case t == ir.F64:
		return x, true
	case t == ir.F32:
		now = float64(float32(x))
	default:
		now = float64(math.Float32frombits(uint32(scalar.Load(t, scalar.Round(t, x)))))
	}
	switch {
	case now == x, x != x, math.IsInf(x, 0), math.Abs(x) == math.MaxFloat64:
		return now, true
	case math.IsInf(now, 0), now == 0:
		return now, false
	}
	return now, !isIntegral(x) || math.Abs(x) > 1<<53
}

// heldInt is Held for integer types of up to 32 bits; for wider ones it returns true. An unsigned type also holds negative
// numbers of its width, as bits.
func heldInt(x float64, t ir.Type) (now float64, ok bool) {
	bits := 8 * t.Size()
	if bits == 64 {
		return x, true // checked elsewhere
	}
	n := int64(toInt32(x))
	switch {
	case t == ir.U32:
		n = int64(uint32(n))
	case bits < 32 && t.IsSigned():
		n = n << (64 - bits) >> (64 - bits)
	case bits < 32:
		n &= 1<<bits - 1
	}
	end := math.Ldexp(1, bits)
	if t.IsSigned() {
		end /= 2
	}
	return float64(n), isIntegral(x) && x >= -math.Ldexp(1, bits-1) && x < end
}

// exactConstant warns of a constant that its place in the kernel changes by more than rounding. It warns of a hexadecimal
// literal only if the integer type has too few bits, or if the type is a float.
func (c *compiler) exactConstant(v value, t ir.Type, at syntax.Span) {
	if v.kind != kNum || !c.opts.Warnings || c.dead {
		return
	}
	now, ok := Held(v.num, t)
	if ok || t.IsInt() && strings.HasPrefix(c.text(at), "0x") && v.num < math.Ldexp(1, 8*t.Size()) {
		return // a number in hexadecimal usually stands for bits
	}
	c.warnf(at, diag.InexactNumber, wayOut(v.num, t), "%s becomes %s in %s", described(c.text(at), v.num), scalar.Text(now), t)
}

// exactTable warns of the first captured number that its table changes by more than rounding.
func (c *compiler) exactTable(p *place, at syntax.Span) {
	t := p.elem.Scalar
	for i, x := range p.known {
		if now, ok := Held(x, t); !ok {
			c.warnf(at, diag.InexactNumber, wayOut(x, t), "%s[%d], %s, becomes %s in %s, the type of the table", p.arr.Name, i, scalar.Text(x), scalar.Text(now), t)
			return
		}
	}
}

// described returns a description of a constant: a literal's source text, the value of a text with a call, and else both.
func described(text string, x float64) string {
	if strings.Trim(text, "0123456789._xabcdefABCDEFn+-") == "" {
		return "`" + text + "`"
	}
	if strings.Contains(text, "(") {
		return scalar.Text(x)
	}
	return fmt.Sprintf("`%s`, %s,", text, scalar.Text(x))
}

// wayOut returns a hint for a number that type t does not hold.
func wayOut(x float64, t ir.Type) string {
	switch {
	case t == ir.F32:
		return "compute in f64: kernel(fn, { real: f64 }), or pass and store it in buffers of f64; or in integers, as of i32 or i64"
	case t.IsFloat():
		return "use elements of f32 or f64"
	case !isIntegral(x):
		return "write an integer, or use elements of f32 or f64"
	}
	return fmt.Sprintf("write a number in the range of %s, or use elements of a wider type", t)
}

// Inexact returns a warning for a Number that a parameter of an inferred float type does not hold by [Held]. If the type is f32 and
// the kernel combines the parameter with integers, integers of magnitudes from 2²⁴ to 2⁵³ cause one, too. Otherwise Inexact returns
// nil.
func (p *Param) Inexact(x float64) *diag.Diagnostic {
	if p.signature == nil || !p.Type.IsFloat() {
		return nil
	}
	now, held := Held(x, p.Type)
	sums := p.Type == ir.F32 && p.asInt.found && isIntegral(x) && math.Abs(x) >= 1<<24 && math.Abs(x) <= 1<<53
	if held && !sums {
		return nil
	}
	d := &diag.Diagnostic{ID: diag.InexactNumber, Position: p.decl, End: p.decl, Excerpt: p.Name, Rewrite: "compute in f64: kernel(fn, { real: f64 })"}
	d.Message = fmt.Sprintf("argument %s: %s becomes %s, since %s is %s", p.Name, scalar.Text(x), scalar.Text(now), p.Name, p.Reason)
	if held {
		d.Message = fmt.Sprintf("argument %s: %s is beyond 2²⁴, where f32 does not have every integer, and %s is %s", p.Name, scalar.Text(x), p.Name, p.Reason)
	}
	d.End.Column += len([]rune(p.Name))
	if isIntegral(x) && inRange(x, ir.I32) {
		if text := p.signature(ir.I32); text != "" {
			d.Rewrite = "give the kernel a signature: " + text + "; or " + d.Rewrite
		}
	}
	if p.asReal.found && p.asReal.at.Line != p.decl.Line {
		d.Notes = append(d.Notes, diag.Note{Position: p.asReal.at, Message: fmt.Sprintf("this makes %s a real number", p.Name)})
	}
	if held && p.asInt.at.Line != p.decl.Line {
		d.Notes = append(d.Notes, diag.Note{Position: p.asInt.at, Message: fmt.Sprintf("here %s is combined with an integer", p.Name)})
	}
	return d
}
