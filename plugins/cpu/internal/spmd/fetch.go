package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// A launch that writes much waits for the lines that it stores to, which a processor fetches first, and loads behind stores
// that wait are held up, too, where they lie at the same place in a page. What gangs store right after a barrier is fetched
// before it, while they load: the rows of a tile, say, that are far apart, so that no processor foresees them.

// maxFetched bounds the lines that a gang fetches so.
const maxFetched = 32

// fetchStored fetches the lines of the rows that the present gang stores after a barrier. rest is what follows the barrier
// in the kernel's body.
func (l *lowerer) fetchStored(rest []*ir.Instr) {
	if l.options.stores == 0 || l.options.single {
		return
	}
	f := fetcher{l: l, mark: len(l.undo), left: maxFetched}
	for _, in := range rest {
		switch in.Op {
		case ir.Barrier, ir.Loop, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup:
			f.end()
			return
		case ir.Store:
			if in.Array.Space == ir.Global && !l.past(in.Array) {
				f.fetch(in)
			}
		}
	}
	f.end()
}

// fetcher computes addresses before what they are computed of.
type fetcher struct {
	l    *lowerer
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
		if !f.ready(v, 0) || !l.hasShadow(v, 0) {
			return
		}
	}
	site := l.site
	l.site = in.Site
	p := l.place(&ahead)
	l.site = site
	n := l.gang() * p.size
	if f.left -= (n + lineBytes - 1) / lineBytes; p.spread != inRow || f.left < 0 {
		return
	}
	if l.fetched == nil {
		l.fetched = map[*ir.Instr]bool{}
	}
	l.fetched[in] = true
	m := p.uni
	m.Size = 1
	for end := m.Disp + int32(n); m.Disp < end; m.Disp += lineBytes {
		l.Use(amd64.PREFETCHW, m.At())
	}
}

// ready makes what an index is computed of, as far as it is the same for all lanes: that of lane 0 is computed when it is
// needed. It reports whether it could.
func (f *fetcher) ready(v *ir.Value, depth int) bool {
	l, in := f.l, v.Def
	if in == nil || in.Op == ir.Const || l.vals[v.ID].g != 0 || l.vals[v.ID].shadow != 0 {
		return in != nil || l.vals[v.ID].g != 0 || l.vals[v.ID].shadow != 0
	}
	switch in.Op {
	case ir.Item, ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.Neg, ir.Wrap, ir.Bitcast:
	default:
		return false
	}
	if depth > maxShadow || !v.Type.IsInt() {
		return false
	}
	for _, a := range in.Args {
		if !f.ready(a, depth+1) {
			return false
		}
	}
	if l.uniform(v) {
		l.instr(in)
		f.made = append(f.made, v)
	}
	return true
}

// end forgets what has been computed ahead: later it costs less than to keep it.
func (f *fetcher) end() {
	for _, v := range f.made {
		f.l.vals[v.ID] = value{}
	}
	f.l.forget(f.mark)
}
