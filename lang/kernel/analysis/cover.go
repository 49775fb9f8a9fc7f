package analysis

import "github.com/orepl/orepl/lang/kernel/ir"

// Covers reports whether each item stores to its own element of a, as [IsOwnElement] defines it, unless a fault ends the item.
// The kernel must have no other access to a. A launch with an item for each element then replaces what the array held.
func Covers(k *ir.Kernel, a *ir.Array) bool {
	covers, sure := false, a != nil && a.Space == ir.Global && a.Elem.Record == nil
	for _, in := range k.Body.Instrs {
		covers = covers || sure && in.Op == ir.Store && in.Array == a && IsOwnElement(in)
	}
	accesses := 0
	k.Body.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Return || in.Op == ir.Unreachable:
			sure = sure && in == k.Body.Terminator() // else an item may end before its store
		case in.Array == a && in.Op != ir.Extent:
			accesses++
		}
		for _, other := range in.Arrays {
			sure = sure && other != a
		}
	})
	return covers && sure && accesses == 1
}

// IsOwnElement reports whether an access to an array a is one of a[g.x], a[g.y][g.x] or a[g.z][g.y][g.x], or of a field there.
func IsOwnElement(in *ir.Instr) bool {
	rank := in.Array.Rank
	if len(in.Path) < rank || in.NumIndices() < rank {
		return false
	}
	for i, step := range in.Path[:rank] {
		index := in.Args[i].Def
		if step.Kind != ir.StepIndex || index == nil || index.Op != ir.Item || index.Item != ir.GlobalID || index.Axis != rank-1-i {
			return false
		}
	}
	return true
}
