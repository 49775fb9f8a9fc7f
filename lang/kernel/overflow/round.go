package overflow

import (
	"fmt"
	"math"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// exact is the magnitude from which JavaScript's numbers have gaps.
const exact = 1 << 53

// roundings returns a warning for each product that may exceed 2⁵³ and whose low bits the source takes, since JavaScript rounds it
// before. A product that depends on a reported one has no warning. set holds the operations that may wrap.
func (f *flow) roundings(l *opt.Launches, set map[*ir.Instr]bool) diag.List {
	m := f.magnitudes(l)
	tainted := map[*ir.Value]bool{}
	var list diag.List
	f.c.Kernel.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Mul || !set[in] || !f.ring(in) || in.Type().Size() > 4 || tainted[in.Results[0]] || m.of(in.Results[0]) <= exact {
			return
		}
		reached := map[*ir.Value]bool{}
		f.taint(in.Results[0], reached)
		if !f.takesBits(reached) {
			return
		}
		for v := range reached {
			tainted[v] = true
		}
		at, _ := f.c.PlaceOf(in)
		imul := fmt.Sprintf("Math.imul(%s, %s)", at.Operands[0], at.Operands[1])
		if in.Type() == ir.U32 {
			imul += " >>> 0"
		}
		if at.Updates {
			imul = at.Operands[0] + " = " + imul
		}
		list = append(list, &diag.Diagnostic{ID: diag.IntegerWraps, Position: at.At, End: at.End, Excerpt: at.Text,
			Message: fmt.Sprintf("`%s` may be beyond 2⁵³, where JavaScript rounds it before it takes the low bits: its result may differ", at.Text),
			Rewrite: fmt.Sprintf("write `%s`, which has the same bits in both", imul)})
	})
	return list
}

// takesBits reports whether the kernel takes the low bits of one of the values, by a bit operation or a shift.
func (f *flow) takesBits(values map[*ir.Value]bool) bool {
	for v := range values {
		for _, in := range f.uses.Of(v) {
			switch in.Op {
			case ir.And, ir.Or, ir.Xor, ir.Not:
				return true
			case ir.Shl, ir.Shr:
				if in.Args[0] == v {
					return true
				}
			}
		}
	}
	return false
}

// magnitudes bounds the JavaScript numbers that correspond to the kernel's integers.
type magnitudes struct {
	params map[*ir.Value]float64
	size   [3]int64
	group  [3]int64
}

func (f *flow) magnitudes(l *opt.Launches) *magnitudes {
	m := &magnitudes{params: map[*ir.Value]float64{}, size: l.Size, group: l.GroupSize}
	i := 0
	for _, p := range f.c.Kernel.Params {
		if p.Array != nil {
			continue
		}
		if r, ok := l.Scalars[p.Name]; ok {
			m.params[f.c.Kernel.Body.Params[i]] = max(math.Abs(float64(r[0])), math.Abs(float64(r[1])))
		}
		i++
	}
	return m
}

// of returns a bound on the absolute value of v in JavaScript.
func (m *magnitudes) of(v *ir.Value) float64 { return m.bound(v, 8) }

// bound is of, following at most depth operations. Beyond these, values have the bound of their type.
func (m *magnitudes) bound(v *ir.Value, depth int) float64 {
	if r, ok := m.params[v]; ok {
		return r
	}
	whole := math.Exp2(float64(8*v.Type.Size()) - 1)
	if !v.Type.IsSigned() {
		whole *= 2
	}
	in := v.Def
	if in == nil || depth == 0 {
		return whole
	}
	arg := func(i int) float64 { return m.bound(in.Args[i], depth-1) }
	switch in.Op {
	case ir.Const:
		if v.Type.IsInt() && v.Type.IsSigned() {
			return math.Abs(float64(int64(in.Bits<<(64-8*v.Type.Size())) >> (64 - 8*v.Type.Size())))
		}
		if v.Type.IsInt() {
			return float64(in.Bits)
		}
	case ir.Mul:
		return arg(0) * arg(1)
	case ir.Add, ir.Sub:
		return arg(0) + arg(1)
	case ir.Neg, ir.Abs:
		return arg(0)
	case ir.Convert, ir.Sat, ir.Wrap:
		return min(arg(0), whole)
	case ir.Rem:
		return min(arg(0), arg(1), whole)
	case ir.Min, ir.Max, ir.Select:
		n := len(in.Args)
		return min(max(arg(n-2), arg(n-1)), whole)
	case ir.And:
		for _, a := range in.Args {
			if a.Def != nil && a.Def.Op == ir.Const && a.Def.Bits>>(8*a.Type.Size()-1) == 0 {
				return float64(a.Def.Bits)
			}
		}
	case ir.Shr:
		if n := in.Args[1].Def; n != nil && n.Op == ir.Const {
			return whole / math.Exp2(float64(n.Bits%uint64(8*v.Type.Size())))
		}
	case ir.Item:
		switch in.Item {
		case ir.LocalID, ir.GroupSize, ir.Lane, ir.SubgroupSize:
			return float64(max(m.group[in.Axis], 64))
		}
		return float64(m.size[in.Axis])
	case ir.Extent:
		return math.MaxInt32
	case ir.Load:
		return min(math.Exp2(float64(8*in.Accessed().Size())), whole)
	}
	return whole
}
