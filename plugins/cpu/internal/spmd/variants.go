package spmd

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
)

// variants are the variants of a program by their specs. Lookups of variants that exist take no lock.
type variants struct {
	mu   sync.Mutex
	made atomic.Pointer[map[Spec]makeOnce] // copied at each change
}

// makeOnce returns a variant, or the reason why it has no code. The first call makes it.
type makeOnce func() (*exec.Variant, error)

// find returns the entry of a spec, or nil.
func (v *variants) find(s Spec) makeOnce {
	if all := v.made.Load(); all != nil {
		return (*all)[s]
	}
	return nil
}

// add returns the entry of a spec. If there is none, it adds one that calls compile.
func (v *variants) add(s Spec, compile makeOnce) makeOnce {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m := v.find(s); m != nil {
		return m
	}
	all := map[Spec]makeOnce{}
	if old := v.made.Load(); old != nil {
		maps.Copy(all, *old)
	}
	all[s] = sync.OnceValues(compile)
	v.made.Store(&all)
	return all[s]
}

// specs returns the specs of the variants.
func (v *variants) specs() []Spec {
	var list []Spec
	if all := v.made.Load(); all != nil {
		for s := range *all {
			list = append(list, s)
		}
	}
	return list
}
