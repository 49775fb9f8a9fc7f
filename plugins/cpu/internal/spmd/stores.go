package spmd

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// defaultCache is the assumed size in bytes of the last-level cache if it is unknown.
const defaultCache = 32 << 20

// stores returns the kind of stores for a launch, by the bytes that it accesses. An output counts as at most one element for
// each item, unless items may store to several places of it in a loop. Outputs that may be streamed are stored non-temporally
// if these outputs, and all buffers together, are large against the last-level cache; see [uarch.Model]. Otherwise outputs of
// at least an eighth of the cache are stored by half lines, on processors where that is faster.
func (p *Program) stores(g *interp.Launch) plan.Stores {
	items := g.Size[0] * g.Size[1] * g.Size[2]
	used, written, streamed := 0, 0, 0
	for i := range p.kernel.Params {
		a := p.kernel.Params[i].Array
		if a == nil {
			continue
		}
		n := g.Args[i].Bytes / max(a.Elem.Size(), 1)
		if p.outputs.Written[a.ID] && !p.outputs.Several[a.ID] {
			n = min(n, items)
		}
		n *= a.Elem.Size()
		used += n
		if p.outputs.Written[a.ID] {
			written += n
		}
		if p.outputs.Streamed[a.ID] {
			streamed += n
		}
	}
	cache := p.options.CacheBytes
	if cache <= 0 {
		cache = defaultCache
	}
	m := p.options.Model
	past := m.PastCache
	if p.options.Cores == 1 && m.PastCacheAlone > 0 {
		past = m.PastCacheAlone
	}
	switch {
	case past > 0 && streamed >= max(cache/plan.LeastStreamed, 1) && float64(used) >= past*float64(cache):
		return plan.NonTemporalStores
	case written > 0 && written >= cache/8:
		return plan.HalfLineStores
	}
	return plan.PlainStores
}
