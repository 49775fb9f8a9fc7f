//go:build !nonative

package native

import (
	"math"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// bound sets the teams and the thread limit of the next region, on the region thread. restore sets the previous teams again; its
// error means that the thread cannot run further regions. A limit stays until the next one, since the run time cannot remove it.
func (c *Caller) bound(l League, stop *atomic.Bool) (restore func() error, err error) {
	o := &openmp
	restore = func() error { return nil }
	if l.Teams == 0 && l.Limit == 0 {
		return restore, nil
	}
	for _, at := range []uintptr{o.teams, o.mostTeams, o.limit, o.thread, o.cores} {
		if at == 0 {
			return nil, offload.Errorf(offload.Unsupported, "launch", "this version of LLVM's OpenMP run time cannot bound the teams of a region").
				WithHint("install a newer one (Debian: libomp5-19), or leave teams and threadLimit out")
		}
	}
	call := func(fn uintptr, words ...uint64) (n int) {
		if err == nil {
			err = c.Plain(fn, [3]uint64(append(words, 0, 0, 0)), stop)
			n = int(int32(c.block.result))
		}
		return n
	}
	if l.Limit > 0 {
		call(o.limit, 0, uint64(call(o.thread)), uint64(min(l.Limit, math.MaxInt32)))
	}
	if l.Teams > 0 && err == nil {
		old := max(call(o.mostTeams), 1) // the run time makes 1 if it has no default
		most := max(call(o.cores), 1)    // the run time prints a warning if it is told more
		call(o.teams, uint64(min(l.Teams, most)))
		restore = func() error {
			stop = new(atomic.Bool)
			call(o.teams, uint64(old))
			return err
		}
	}
	return restore, err
}
