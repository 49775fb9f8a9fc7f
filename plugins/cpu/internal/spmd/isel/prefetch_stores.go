package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// A launch that writes much waits for the lines that it stores to, which a processor fetches first, and loads behind stores
// that wait are held up, too, where they lie at the same place in a page. What gangs store right after a barrier is fetched
// before it, while they load: the rows of a tile, say, that are far apart, so that no processor foresees them.

// maxFetched bounds the lines that a gang fetches so.
const maxFetched = 32

// fetchStored fetches the lines of the rows that the present gang stores after a barrier. rest is what follows the barrier
// in the kernel's body.
func (l *Lowerer) fetchStored(rest []*ir.Instr) {
	if l.Spec.Stores == plan.PlainStores || l.Spec.IsOneGang() {
		return
	}
	f := fetcher{l: l, mark: len(l.Undo), left: maxFetched}
	for _, in := range rest {
		switch in.Op {
		case ir.Barrier, ir.Loop, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup:
			f.end()
			return
		case ir.Store:
			if in.Array.Space == ir.Global && !l.Streamed(in.Array) {
				f.fetch(in)
			}
		}
	}
	f.end()
}

// fetcher computes addresses before what they are computed of.
type fetcher struct {
	l    *Lowerer
	mark int         // what was known before
	made []*ir.Value // what has been computed ahead
	left int         // lines that may still be fetched
}

// fetch fetches the lines of a store, if its address can be computed here.
func (f *fetcher) fetch(in *ir.Instr) {
	l := f.l
	ahead := *in
	ahead.Proved = 1<<in.NumIndices() - 1 // no address can make a fetch fail
	for _, v := range in.Args[:in.NumIndices()] {
		if !f.ready(v, 0) || !l.HasLane0(v, 0) {
			return
		}
	}
	site := l.Site
	l.Site = in.Site
	p := l.memRefOf(&ahead)
	l.Site = site
	n := l.Lanes() * p.Size
	if f.left -= (n + plan.LineBytes - 1) / plan.LineBytes; p.access != contiguous || f.left < 0 {
		return
	}
	if l.fetched == nil {
		l.fetched = map[*ir.Instr]bool{}
	}
	l.fetched[in] = true
	m := p.Uni
	m.Size = 1
	for end := m.Disp + int32(n); m.Disp < end; m.Disp += plan.LineBytes {
		l.Use(amd64.PREFETCHW, m.At())
	}
}

// ready makes what an index is computed of, as far as it is the same for all lanes: that of lane 0 is computed when it is
// needed. It reports whether it could.
func (f *fetcher) ready(v *ir.Value, depth int) bool {
	l, in := f.l, v.Def
	if in == nil || in.Op == ir.Const || l.Vals[v.ID].G != 0 || l.Vals[v.ID].Lane0 != 0 {
		return in != nil || l.Vals[v.ID].G != 0 || l.Vals[v.ID].Lane0 != 0
	}
	switch in.Op {
	case ir.Item, ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.Neg, ir.Wrap, ir.Bitcast:
	default:
		return false
	}
	if depth > plan.MaxDepth || !v.Type.IsInt() {
		return false
	}
	for _, a := range in.Args {
		if !f.ready(a, depth+1) {
			return false
		}
	}
	if l.IsUniform(v) {
		l.Instr(in)
		f.made = append(f.made, v)
	}
	return true
}

// end forgets what has been computed ahead: later it costs less than to keep it.
func (f *fetcher) end() {
	for _, v := range f.made {
		f.l.Vals[v.ID] = Value{}
	}
	f.l.Forget(f.mark)
}
