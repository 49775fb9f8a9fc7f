package opt

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// SizeFacts returns the relations between the launch's size and extents of buffers that would prove further checks, such as
// those of x[g.x]. They are distinct, ordered by buffer, extent and axis. A back end may pass some to [Run] to compile a
// variant for launches in which they hold.
func SizeFacts(k *ir.Kernel) []SizeFact {
	p := newProver(k, nil)
	p.wanted = map[*ir.Instr][]SizeFact{}
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

// Doubt describes an access's indices that are not proved to be non-negative. Bit i of a field describes index i. A comparison
// with 0 would prove the indices of Negative to be in bounds. An index that may only be too large is in no field.
type Doubt struct {
	Negative uint32 // the index is below its extent, but may be negative
	Either   uint32 // neither bound of the index is proved
	Wrapped  uint32 // the indices of Negative that are negative only if an operation wraps
}

// Doubts returns the doubts of all loads, stores and atomic operations. facts may be nil.
func Doubts(k *ir.Kernel, facts *Facts) map[*ir.Instr]Doubt {
	p := newProver(k, facts)
	p.doubts = map[*ir.Instr]Doubt{}
	p.block(k.Body)
	return p.doubts
}

// maxOperands is the maximum number of operations that a search follows from a value through its operands.
const maxOperands = 8

// onlyWraps reports whether a value is known to be negative only if an operation wrapped. Examples are sums and products of
// non-negative values, and counters that start at such a value and only add such values. It follows up to depth operations.
func (p *prover) onlyWraps(v *ir.Value, depth int) bool {
	switch r := p.rangeOf(v); {
	case r.lo >= 0:
		return true
	case depth == 0:
		return false
	}
	if c := p.s.LoopOf[v]; c.Loop != nil {
		if !p.onlyWraps(c.Loop.Args[c.I], depth-1) {
			return false
		}
		for _, next := range p.s.Continues[c.Loop] {
			if by := addend(next.Args[c.I], v); by == nil || !p.onlyWraps(by, depth-1) {
				return false
			}
		}
		return true
	}
	in := v.Def
	if in == nil || v.Type != ir.I32 {
		return false
	}
	switch in.Op {
	case ir.Add, ir.Mul, ir.Max:
		return p.onlyWraps(in.Args[0], depth-1) && p.onlyWraps(in.Args[1], depth-1)
	case ir.Shl, ir.Rem, ir.Min:
		return p.onlyWraps(in.Args[0], depth-1) && (in.Op != ir.Min || p.onlyWraps(in.Args[1], depth-1))
	}
	return false
}

// addend returns a if sum = param + a, or nil.
func addend(sum, param *ir.Value) *ir.Value {
	if sum.Def != nil && sum.Def.Op == ir.Add {
		for i, a := range sum.Def.Args {
			if a == param {
				return sum.Def.Args[1-i]
			}
		}
	}
	return nil
}

// want records the size facts that would prove index v of access in to be in bounds. There is one for each axis whose launch
// size is known to be greater than v. There is none for a constant, an index that may be negative, and an array in the kernel.
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
