package kernel

import (
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// mustBeInt records that only an integer is valid for the parameters on which a value depends. Their types follow by rules 7.3 and 7.4
// of the language.
func (c *compiler) mustBeInt(v value, at syntax.Span, why string) {
	c.evidence(v.taint, at, why, func(p *param) *evidence { return &p.mustInt })
}

// asBits records the use of a value as a shift or bit operand.
func (c *compiler) asBits(v value, at syntax.Span, why string) { c.mustBeInt(v, at, why) }

// becomesInt records that an integer value is stored in integer elements or converted to an integer type.
func (c *compiler) becomesInt(v value, at syntax.Span, why string) {
	if v.kind == kReg && v.reg.Type.IsInt() {
		c.evidence(v.taint, at, why, func(p *param) *evidence { return &p.withInt })
	}
}

// asFloat records a use of a value that converts integers to floats.
func (c *compiler) asFloat(v value, at syntax.Span, why string) {
	c.evidence(v.taint, at, why, func(p *param) *evidence { return &p.withFloat })
}

// combine records that x and y are the operands of + - * %, a comparison, a minimum, a maximum or an integer quotient. A float or a
// fraction is evidence of a real, and an integer is evidence of an integer. Integral literals, and parameters that are not yet
// proved to be integers, are no evidence.
func (c *compiler) combine(x, y value, at syntax.Span) {
	if x.taint|y.taint == 0 {
		return
	}
	c.combineOne(x, y, at)
	c.combineOne(y, x, at)
}

func (c *compiler) combineOne(x, y value, at syntax.Span) {
	switch {
	case x.taint == 0:
	case y.isFloatReg() || y.kind == kNum && !isIntegral(y.num):
		c.evidence(x.taint, at, "", func(p *param) *evidence { return &p.withFloat })
	case y.kind == kReg && y.taint&^c.sure == 0 && y.reg.Type.IsInt():
		c.evidence(x.taint, at, "combined with integers only, as in `"+c.text(at)+"`", func(p *param) *evidence { return &p.withInt })
	}
}

// evidence records a use for each parameter in taint for which of finds none yet. An empty why means the source text.
func (c *compiler) evidence(taint uint64, at syntax.Span, why string, of func(*param) *evidence) {
	if taint == 0 {
		return
	}
	for _, p := range c.params {
		if p.bit&taint == 0 {
			continue
		}
		if e := of(p); !e.found {
			if why == "" {
				why = "`" + c.text(at) + "`"
			}
			*e = evidence{true, why, c.frame.fn.Source.At(at.Pos)}
		}
	}
}
