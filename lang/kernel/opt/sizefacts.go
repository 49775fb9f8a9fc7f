package opt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// SizeFacts returns the relations between the launch's size and the extents of buffers that would prove checks of the
// kernel which are not proved without, as those of x[g.x]. A backend may give some to [Run] to make a second version of
// the kernel, and run that one where they hold.
func SizeFacts(k *ir.Kernel) []SizeFact {
	p := newProver(k, nil)
	p.block(k.Body)
	facts := map[SizeFact]bool{}
	for _, list := range p.wanted {
		for _, f := range list {
			facts[f] = true
		}
	}
	return slices.SortedFunc(maps.Keys(facts), func(a, b SizeFact) int {
		return cmp.Or(cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.Extent, b.Extent), cmp.Compare(a.Axis, b.Axis))
	})
}

// Negative returns the indices of accesses, as bits, that are below their extents for certain but may be negative: a
// comparison with 0 would prove their checks.
func Negative(k *ir.Kernel, facts *Facts) map[*ir.Instr]uint32 {
	p := newProver(k, facts)
	p.block(k.Body)
	return p.negative
}

// want notes that an index of an access which is below the size on an axis would be in bounds if the size were at most the
// extent.
func (p *prover) want(in *ir.Instr, v *ir.Value, extent int) {
	a := in.Array
	if extent == ir.Flat && a.Rank == 1 {
		extent = -1
	}
	if extent >= 0 || extent == ir.Flat || isConst(v) || !tracked(v.Type) || p.rangeOf(v).lo < 0 {
		return
	}
	for axis := range 3 {
		if p.below(termOf(v), 0, term{size: true, axis: axis}, maxChain) {
			p.wanted[in] = append(p.wanted[in], SizeFact{Axis: axis, Buffer: a.Name, Extent: -1 - extent})
		}
	}
}
