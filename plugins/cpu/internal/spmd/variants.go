package spmd

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
)

// variants has the variants of a program by spec. Lookups of existing variants take no lock.
type variants struct {
	mu   sync.Mutex
	made atomic.Pointer[[]variantEntry] // copied at each change
}

// variantEntry is a variant with its spec. A program has few variants, so a list is searched faster than a map.
type variantEntry struct {
	spec Spec
	make makeOnce
}

// makeOnce returns a variant, or the reason why it has no code. The first call compiles it.
type makeOnce func() (*exec.Variant, error)

// all returns the entries that have been added, in a slice that callers must not change.
func (v *variants) all() []variantEntry {
	if list := v.made.Load(); list != nil {
		return *list
	}
	return nil
}

// find returns the function of a spec, or nil if no entry has the spec.
func (v *variants) find(s Spec) makeOnce {
	list := v.all()
	for i := range list {
		if list[i].spec == s {
			return list[i].make
		}
	}
	return nil
}

// add returns the function of a spec. If no entry has the spec, it adds one, whose function calls compile at its first call only.
func (v *variants) add(s Spec, compile makeOnce) makeOnce {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m := v.find(s); m != nil {
		return m
	}
	e := variantEntry{s, sync.OnceValues(compile)}
	list := append(slices.Clone(v.all()), e)
	v.made.Store(&list)
	return e.make
}

// specs returns the specs of the variants, in the order in which they were added.
func (v *variants) specs() []Spec {
	var list []Spec
	for _, e := range v.all() {
		list = append(list, e.spec)
	}
	return list
}
