package opt

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// compute records the interval and the upper bounds of v, the result of in, that follow from those of the operands.
func (p *prover) compute(in *ir.Instr, v *ir.Value) {
	r, bounds := p.result(in, v.Type)
	if r != full(v.Type) {
		p.narrow(termOf(v), r)
	}
	for _, b := range bounds {
		p.relate(termOf(v), b)
	}
}

// under returns the bound "at most v + c", or none for a constant, whose interval is exact.
func under(v *ir.Value, c int64) []bound {
	if isConst(v) {
		return nil
	}
	return []bound{{termOf(v), c}}
}

// result returns the interval and the upper bounds of the result of in, which is of type t.
func (p *prover) result(in *ir.Instr, t ir.Type) (interval, []bound) {
	all := full(t)
	switch in.Op {
	case ir.Item:
		if in.Item == ir.GlobalID {
			size := term{size: true, axis: in.Axis}
			return interval{0, p.of(size).hi - 1}, []bound{{size, -1}}
		}
		return interval{0, all.hi}, nil
	case ir.Extent:
		return interval{0, math.MaxInt32}, nil
	case ir.Clz, ir.Ctz, ir.Popcnt:
		return interval{0, int64(8 * in.Args[0].Type.Size())}, nil
	case ir.Load:
		if r, ok := storageRange(in.Accessed()); ok {
			return r, nil
		}
		return all, nil
	case ir.Select:
		return p.choice(in), nil
	case ir.Convert:
		if p.wrap != nil && in.Args[0].Type == ir.Bool {
			return interval{0, 1}, nil
		}
	}
	if len(in.Args) == 0 || !tracked(in.Args[0].Type) {
		return all, nil
	}
	a := in.Args[0]
	x := p.rangeOf(a)
	switch in.Op {
	case ir.Convert, ir.Wrap, ir.Bitcast:
		if x.within(all) { // the value is unchanged
			return x, under(a, 0)
		}
	case ir.Uniform: // with checks off it is another item's value, for which only the interval holds
		return x, nil
	case ir.Neg:
		r, _ := subRange(t, exactly(0), x)
		return r, nil
	case ir.Abs:
		if x.lo >= 0 {
			return x, under(a, 0)
		}
		if x.lo > all.lo {
			return interval{0, max(-x.lo, x.hi)}, nil
		}
	}
	if len(in.Args) != 2 || !tracked(in.Args[1].Type) {
		return all, nil
	}
	return p.binary(in.Op, t, a, in.Args[1])
}

func (p *prover) binary(op ir.Op, t ir.Type, a, b *ir.Value) (interval, []bound) {
	x, y := p.rangeOf(a), p.rangeOf(b)
	all := full(t)
	c, known := analysis.ConstInt(b)
	switch op {
	case ir.Add:
		r, ok := addRange(t, x, y)
		if ok && known {
			return r, under(a, c)
		}
		return r, nil
	case ir.Sub:
		r, ok := subRange(t, x, y)
		if ok && y.lo >= 0 { // at most a minus the minimum of b
			return r, under(a, -y.lo)
		}
		return r, nil
	case ir.Mul:
		r, _ := mulRange(t, x, y)
		return r, nil
	case ir.Div:
		r := divRange(t, x, y)
		if x.lo >= 0 && y.lo >= 1 {
			return r, under(a, 0)
		}
		return r, nil
	case ir.Rem:
		r := remRange(t, x, y)
		var bounds []bound
		if y.lo >= 1 {
			bounds = under(b, -1)
			if x.lo >= 0 {
				bounds = append(bounds, under(a, 0)...)
			}
		}
		return r, bounds
	case ir.Min:
		return interval{min(x.lo, y.lo), min(x.hi, y.hi)}, append(under(a, 0), under(b, 0)...)
	case ir.Max:
		return interval{max(x.lo, y.lo), max(x.hi, y.hi)}, p.both(a, b)
	case ir.And:
		r := all
		var bounds []bound
		if x.lo >= 0 {
			r, bounds = r.meet(interval{0, x.hi}), under(a, 0)
		}
		if y.lo >= 0 {
			r, bounds = r.meet(interval{0, y.hi}), append(bounds, under(b, 0)...)
		}
		return r, bounds
	case ir.Or, ir.Xor:
		if x.lo >= 0 && y.lo >= 0 { // no bit above the highest bit of either operand
			most := int64(1)
			for most <= max(x.hi, y.hi) && most > 0 {
				most <<= 1
			}
			if most > 0 {
				return interval{0, most - 1}.meet(all), nil
			}
		}
	case ir.Shl:
		width := int64(8 * t.Size())
		if n := c & (width - 1); known && n < 62 {
			r, _ := mulRange(t, x, exactly(1<<n))
			return r, nil
		}
	case ir.Shr:
		width := int64(8 * t.Size())
		r := interval{min(x.lo, 0), max(x.hi, -1)}
		if known {
			r = shiftRight(x, c&(width-1))
		} else if x.lo >= 0 {
			r.lo = 0
		}
		if x.lo >= 0 {
			return r, under(a, 0)
		}
		return r, nil
	}
	return all, nil
}

// both returns upper bounds that two values have in common, each an extent plus a constant. It returns nil if both values are
// constant.
func (p *prover) both(a, b *ir.Value) []bound {
	if isConst(b) {
		a, b = b, a
	}
	if isConst(b) {
		return nil
	}
	var out []bound
	for _, u := range p.extentsOver(termOf(b), 0, 2) {
		if isConst(a) {
			limit, ok := addOK(p.of(u.of).lo, u.plus)
			if ok && p.rangeOf(a).hi <= limit {
				out = append(out, u)
			}
		} else if c, ok := addOK(-u.plus, -1); ok && p.below(termOf(a), c, u.of, maxChain) {
			out = append(out, u)
		}
	}
	return out
}

// extentsOver returns upper bounds of t + c, each an extent plus a constant. A bound may follow from relations through up to
// depth other terms.
func (p *prover) extentsOver(t term, c int64, depth int) []bound {
	var out []bound
	for _, u := range p.of(t).upper {
		sum, ok := addOK(c, u.plus)
		switch {
		case !ok:
		case u.of.array != nil:
			out = append(out, bound{u.of, sum})
		case depth > 0:
			out = append(out, p.extentsOver(u.of, sum, depth-1)...)
		}
	}
	return out
}

// choice returns the interval of a Select: the union of the operands' intervals, each refined by the condition.
func (p *prover) choice(in *ir.Instr) interval {
	mark := len(p.trail)
	p.assume(in.Args[0], true, 0)
	yes := p.rangeOf(in.Args[1])
	p.undo(mark)
	p.assume(in.Args[0], false, 0)
	no := p.rangeOf(in.Args[2])
	p.undo(mark)
	return yes.join(no)
}
