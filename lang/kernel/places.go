package kernel

import (
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// Place is the expression that an instruction computes.
type Place struct {
	At, End  diag.Position
	Text     string    // as written
	Operands [2]string // the operands as written; the second of an assignment such as += is its right side
	Updates  bool      // it is ++, --, += or another assignment of that kind
}

// PlaceOf returns the expression of an integer operation or of a comparison, or where an integer becomes a float. Other
// instructions have none.
func (c *Compiled) PlaceOf(in *ir.Instr) (Place, bool) {
	p, ok := c.places[in]
	return p, ok
}

// note records the expression that a value was computed by, if an instruction computes it.
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

// explicit marks an integer that the text wraps: x | 0, x >>> 0 or u32(x). The mark is an Or of the operation with 0,
// which the optimizer removes.
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
