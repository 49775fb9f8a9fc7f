package lower

import "github.com/orepl/orepl/lang/kernel/ir"

// firstStores holds the shared arrays that need no clearing, because the group writes all elements before it reads one. Each
// has one store, which the items execute together. Every later access follows a barrier, and the indices are local IDs that
// cover the array. Inactive items store 0, except to elements that they stored before their fault.
type firstStores struct {
	stores map[*ir.Instr]*variable // by store: variable that is true if the item has stored its element
}

// has reports whether f has a store to the array.
func (f *firstStores) has(a *ir.Array) bool {
	for in := range f.stores {
		if in.Array == a {
			return true
		}
	}
	return false
}

func (f *firstStores) begin(l *lowering) {
	for _, wrote := range f.stores {
		l.set(*wrote, l.konst(ir.Bool, 0))
	}
}

// store emits a store that replaces the clearing of an array, and reports whether in is such a store.
func (f *firstStores) store(l *lowering, in *ir.Instr, a *ir.Array, t ir.Type, at, x *ir.Value) bool {
	wrote := f.stores[in]
	if wrote == nil {
		return false
	}
	alive := l.isAlive()
	l.when(l.or(alive, l.not(l.get(*wrote))), func() { l.storeElem(t, a, at, l.sel(alive, x, l.zero(x.Type))) })
	l.set(*wrote, l.or(alive, l.get(*wrote)))
	return true
}

// findFirstStores returns the stores of shared arrays that are proved to write all elements before any load. It finds none if the
// group size is unknown or the kernel has no group operations.
func (l *lowering) findFirstStores() *firstStores {
	f := &firstStores{stores: map[*ir.Instr]*variable{}}
	if l.options.GroupSize[0] == 0 || !l.meets {
		return f
	}
	accesses := map[*ir.Array][]*ir.Instr{}
	l.from.Body.Walk(func(in *ir.Instr) {
		if in.Array != nil && in.Array.Space == ir.Shared {
			accesses[in.Array] = append(accesses[in.Array], in)
		}
	})
	for _, a := range l.from.Arrays {
		list := accesses[a]
		if len(list) == 0 || list[0].Op != ir.Store || !l.covers(list[0]) {
			continue
		}
		stores := 0
		for _, in := range list {
			if in.Op != ir.Load {
				stores++
			}
		}
		if stores == 1 && readsAfterBarrier(l.from.Body, list[0], len(list)-1) {
			v := l.newVariable(".wrote "+a.Name, ir.Bool)
			f.stores[list[0]] = &v
		}
	}
	return f
}

// covers reports whether the items of a group store all elements of an array by in. This holds if the indices of in are the local
// IDs, innermost on axis x, and the extents of the array are the group size.
func (l *lowering) covers(in *ir.Instr) bool {
	a := in.Array
	if a.Elem.Record != nil || len(in.Path) != a.Rank {
		return false
	}
	for axis := range 3 {
		k := a.Rank - 1 - axis
		size := l.options.GroupSize[axis]
		if k < 0 {
			if size != 1 {
				return false
			}
			continue
		}
		index := in.Args[k].Def
		if in.Path[k].Kind != ir.StepIndex || a.Dims[k] != size || index == nil || index.Op != ir.Item || index.Item != ir.LocalID || index.Axis != axis {
			return false
		}
	}
	return true
}

// readsAfterBarrier reports whether exactly n loads of a store's array follow it in its own block, after a barrier there. A
// barrier in the block implies that the group executes the block together.
func readsAfterBarrier(b *ir.Block, store *ir.Instr, n int) bool {
	if b == nil {
		return false
	}
	for i, in := range b.Instrs {
		if in != store {
			if readsAfterBarrier(in.Then, store, n) || readsAfterBarrier(in.Else, store, n) {
				return true
			}
			continue
		}
		met := false
		for _, next := range b.Instrs[i+1:] {
			met = met || next.Op == ir.Barrier
			count := func(in *ir.Instr) {
				if met && in.Array == store.Array {
					n--
				}
			}
			count(next)
			next.Then.Walk(count)
			next.Else.Walk(count)
		}
		return met && n == 0
	}
	return false
}
