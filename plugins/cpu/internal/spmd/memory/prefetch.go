package memory

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Stores that miss stall on read-for-ownership and, by 4 KiB aliasing, stall later loads. Therefore gangs prefetch, before a
// barrier, the lines that they store to right after it. An example is the rows of a tile, which are too far apart for
// hardware prefetchers.

// maxFetched is the maximum number of lines that a gang prefetches for its stores.
const maxFetched = 32

// FetchStored emits prefetches of the lines that the current gang stores to after a barrier. rest has the instructions after the
// barrier. It stops at the next barrier, loop or group operation. It emits nothing in variants with plain stores, one-gang groups or
// 2-D gangs.
func (l *Memory) FetchStored(rest []*ir.Instr) {
	if l.Spec.Stores == plan.PlainStores || l.Spec.IsOneGang() || l.Spec.Is2D() {
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

// fetcher emits addresses of stores before the barrier.
type fetcher struct {
	l    *Memory
	mark int         // initial length of Undo
	made []*ir.Value // values computed in advance
	left int         // remaining number of lines
}

// fetch prefetches the lines of a store to adjacent elements, if its address can be computed at this point, and records the
// store in l.fetched. It prefetches nothing if more than maxFetched lines have been asked for.
func (f *fetcher) fetch(in *ir.Instr) {
	l := f.l
	ahead := *in
	ahead.Proved = 1<<in.NumIndices() - 1 // a prefetch never faults
	for _, v := range in.Args[:in.NumIndices()] {
		if !f.ready(v, 0) || !l.HasLane0(v, 0) {
			return
		}
	}
	p := l.memRefOf(&ahead)
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

// ready emits the uniform values from which the index v is computed, unless registers hold them. It returns false if it cannot.
// Lane-0 values are computed on demand. depth is the number of operations followed so far, 0 at first.
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
		if in.Op == ir.Item {
			l.Vals[v.ID] = l.Coordinate(in)
		} else {
			l.Compute(in, l.Cur)
		}
		f.made = append(f.made, v)
	}
	return true
}

// end discards the values computed for addresses. Recomputing them is cheaper than keeping them live.
func (f *fetcher) end() {
	for _, v := range f.made {
		f.l.Vals[v.ID] = values.Value{}
	}
	f.l.Forget(f.mark)
}

// fetchAfter prefetches the line after that of a store to m, whose index was loaded from shared memory. Such indices usually count up,
// as those of the digits of a sort, in more streams than hardware prefetchers follow.
func (l *Memory) fetchAfter(m vcode.Mem) {
	if m.Disp > math.MaxInt32-plan.LineBytes {
		return
	}
	m.Disp += plan.LineBytes
	m.Size = 1
	l.Use(amd64.PREFETCHW, m.At())
}
