package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Comparison returns the vector instruction and the predicate for the comparison op, one of Eq, Ne, Lt and Le, of elements of type t.
func Comparison(op ir.Op, t ir.Type) (amd64.Op, amd64.Predicate) {
	pred := map[ir.Op]amd64.Predicate{ir.Eq: amd64.CmpEQ, ir.Lt: amd64.CmpLT, ir.Le: amd64.CmpLE, ir.Ne: amd64.CmpNE}[op]
	ops := byType{amd64.VPCMPD, amd64.VPCMPUD, amd64.VPCMPQ, amd64.VPCMPUQ, amd64.VCMPPS, amd64.VCMPPD}
	return ops.of(t), pred
}

// Compare emits a comparison of values of a type, and returns the lanes of under (nil: all) in which its result equals holds.
// The masks are new registers, or those of into.
func (g *Gang) Compare(op ir.Op, t ir.Type, a, b []vcode.Reg, holds bool, under, into []vcode.Reg) []vcode.Reg {
	by, pred := Comparison(op, t)
	if !holds {
		pred = pred.Not()
	}
	out := g.or(into)
	for i, d := range out {
		var m vcode.Reg
		if under != nil {
			m = under[i]
		}
		if t.Size() == 4 {
			g.CompareReg(by, pred, d, vcode.Part(a, i), vcode.Part(b, i), 4, m)
			continue
		}
		lo, hi, both := g.NewMask(), g.NewMask(), d
		if m != 0 {
			both = g.NewMask()
		}
		g.CompareReg(by, pred, lo, vcode.Part(a, 2*i), vcode.Part(b, 2*i), 8, 0)
		g.CompareReg(by, pred, hi, vcode.Part(a, 2*i+1), vcode.Part(b, 2*i+1), 8, 0)
		g.Join(both, lo, hi)
		if m != 0 {
			g.Def(amd64.KANDW, d.K(), both.K(), m.K())
		}
	}
	return out
}

// CompareReg emits the comparison of two vectors for the lanes of a mask (0: all), and leaves the outcome in d.
func (g *Gang) CompareReg(op amd64.Op, pred amd64.Predicate, d, a, b vcode.Reg, elem int, under vcode.Reg) {
	if g.Regs[a].Elem != 0 && g.Regs[b].Elem == 0 { // only the second operand can be a constant in memory
		a, b, pred = b, a, pred.Swap(op)
	}
	g.Def(op, d.K(), a.Z(), b.Z(), vcode.Cmp(pred)).Folds(2, elem).Mask = under
}
