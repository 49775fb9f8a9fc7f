package plan

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Trim has bounds of positions along x. Items outside of them do nothing, so the loops over gangs skip them.
type Trim struct{ Lower, Upper []Bound }

// Bound is a comparison of a position with a value that is constant in a launch.
type Bound struct {
	Value *ir.Value // an i32
	Equal bool      // a position equal to Value is inside
}

// TrimRows returns a kernel without the tests of positions along x that enclose all its effects, and the bounds that the tests
// compare with. The result is k itself if there are no such tests, if gangs are not runs of a row, or if k observes its group.
//
// Rows then have neither masks nor tests, except at their ends. A lower bound makes the addresses of gangs unaligned. That prevents
// stores past the caches, and costs more than masks on targets with mask registers, except for narrow elements.
func TrimRows(k *ir.Kernel, options *Options, spec *Spec) (*ir.Kernel, Trim) {
	if spec.Shape != RowGangs || options.Observes || k.ObservesGroup() {
		return k, Trim{}
	}
	t := trimmer{lower: spec.Stores != NonTemporalStores && options.Target != &vcode.AVX512 || accessesNarrow(k)}
	if t.block(k.Body); len(t.tests) == 0 {
		return k, Trim{}
	}
	c := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone().Kernels[0]
	t = trimmer{lower: t.lower}
	t.block(c.Body)
	for _, in := range t.tests {
		*in.test = ir.Instr{Op: ir.Const, Bits: in.bits, Results: in.test.Results, Site: in.test.Site}
	}
	opt.Fold(c, nil)
	return c, t.Trim
}

// accessesNarrow reports whether a kernel stores elements of less than four bytes to buffers.
func accessesNarrow(k *ir.Kernel) (found bool) {
	k.Body.Walk(func(in *ir.Instr) {
		found = found || in.Op == ir.Store && in.Array.Space == ir.Global && in.Accessed().Size() < 4
	})
	return found
}

// trimmer finds the tests of a kernel that a Trim replaces, and the bounds in them.
type trimmer struct {
	Trim
	lower bool // also find lower bounds
	tests []knownTest
}

// knownTest is a comparison with the result that it has for all items inside the bounds.
type knownTest struct {
	test *ir.Instr
	bits uint64
}

// block finds the tests that decide whether an item does something. They are that of the first If with effects, if no effects
// follow it, and those of earlier Ifs that end the item.
func (t *trimmer) block(b *ir.Block) {
	for i, in := range b.Instrs {
		switch {
		case in.Then == nil && in.IsPure():
		case in.Op != ir.If || len(in.Results) > 0 || len(in.Else.Instrs) != 1 || in.Else.Terminator().Op != ir.Yield:
			return
		case len(in.Then.Instrs) == 1 && in.Then.Terminator().Op == ir.Return:
			t.terms(in.Args[0], false)
		default:
			for _, rest := range b.Instrs[i+1:] {
				if rest.Op != ir.Return && (rest.Then != nil || !rest.IsPure()) {
					return
				}
			}
			t.terms(in.Args[0], true)
			return
		}
	}
}

// terms adds the bounds among the comparisons in the condition v. Only items for which v equals want go on. An And that must be true,
// or an Or that must be false, determines both of its operands.
func (t *trimmer) terms(v *ir.Value, want bool) {
	in := v.Def
	switch {
	case in == nil:
	case in.Op == ir.Not:
		t.terms(in.Args[0], !want)
	case in.Op == ir.And && want, in.Op == ir.Or && !want:
		t.terms(in.Args[0], want)
		t.terms(in.Args[1], want)
	case (in.Op == ir.Lt || in.Op == ir.Le) && in.Args[0].Type == ir.I32:
		a, b := in.Args[0], in.Args[1]
		equal := in.Op == ir.Le == want
		switch {
		case !want && isPosition(b) && ofLaunchAlone(a, 0): // not a < x
			t.Upper = append(t.Upper, Bound{a, equal})
		case !want && isPosition(a) && ofLaunchAlone(b, 0) && t.lower: // not x < b
			t.Lower = append(t.Lower, Bound{b, equal})
		case want && isPosition(a) && ofLaunchAlone(b, 0):
			t.Upper = append(t.Upper, Bound{b, equal})
		case want && isPosition(b) && ofLaunchAlone(a, 0) && t.lower:
			t.Lower = append(t.Lower, Bound{a, equal})
		default:
			return
		}
		result := uint64(0)
		if want {
			result = 1
		}
		t.tests = append(t.tests, knownTest{in, result})
	}
}

// isPosition reports whether a value is an item's position along x.
func isPosition(v *ir.Value) bool {
	return v.Def != nil && v.Def.Op == ir.Item && v.Def.Item == ir.GlobalID && v.Def.Axis == 0
}

// ofLaunchAlone reports whether the loops over gangs know a value before the first row. Such values are constants, scalar
// parameters, extents, sizes, and pure arithmetic on them. depth is the number of operations followed so far, 0 at first.
func ofLaunchAlone(v *ir.Value, depth int) bool {
	in := v.Def
	switch {
	case in == nil, in.Op == ir.Const, in.Op == ir.Extent, in.Op == ir.Item && in.Item == ir.GlobalSize:
		return true
	case !in.Op.IsArith() || !in.IsPure() || in.Proved != 0 || len(in.Args) == 0 || depth > MaxDepth:
		return false
	}
	for _, a := range in.Args {
		if !ofLaunchAlone(a, depth+1) {
			return false
		}
	}
	return true
}
