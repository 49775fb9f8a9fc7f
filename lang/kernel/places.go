package kernel

import (
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// Place is the source expression of an instruction.
type Place struct {
	At, End  diag.Position
	Text     string    // source text
	Operands [2]string // source text of the operands; the second operand of an assignment such as += is its right side
	Updates  bool      // the expression is ++, --, += or a similar assignment
}

// PlaceOf returns the source expression of an instruction, or false if none is recorded. There is one for integer arithmetic other
// than on bits, for minima, maxima and comparisons, and for conversions to float types. There is also one for a conversion to u32
// at a join, and for a rounded quotient of an i32 and a u32.
func (c *Compiled) PlaceOf(in *ir.Instr) (Place, bool) {
	p, ok := c.places[in]
	return p, ok
}

// note records the source expression of a value that an instruction computes.
func (c *compiler) note(v *ir.Value, at syntax.Span, operands ...syntax.Span) {
	if v.Def == nil {
		return
	}
	src := c.frame.fn.Source
	p := Place{At: src.At(at.Pos), End: src.At(at.End), Text: src.Excerpt(at)}
	for i, o := range operands {
		p.Operands[i] = src.Excerpt(o)
	}
	p.Updates = c.updating
	c.places[v.Def] = p
}

// explicit marks an integer that the source wraps explicitly: x | 0, x >>> 0 or u32(x). The mark is an Or with 0, which the
// optimizer removes. Other values, and results of operations that cannot wrap, are unchanged.
func (c *compiler) explicit(v value) value {
	if v.kind != kReg || !v.reg.Type.IsInt() {
		return v
	}
	if v.reg.Def == nil {
		for _, p := range c.k.Body.Params {
			if p == v.reg {
				return v
			}
		}
	} else {
		switch v.reg.Def.Op {
		case ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Neg, ir.Abs, ir.Wrap, ir.Select, ir.If, ir.Region, ir.Loop:
		default:
			return v
		}
	}
	v.reg = c.b.Op(ir.Or, v.reg.Type, v.reg, c.zero(v.reg.Type))
	return v
}
