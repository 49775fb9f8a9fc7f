package queue

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// fillPiece is the number of bytes filled between two checks for forgotten memory, a multiple of every pattern's length.
const fillPiece = 64 << 20

// forgotten is memory whose fills are skipped.
type forgotten struct {
	any  atomic.Bool // reports that list is not empty
	mu   sync.Mutex
	list []forgottenMemory
}

type forgottenMemory struct {
	memory offload.Memory
	last   uint64 // the newest command that may fill it
}

// Forget makes the queue skip the fills of m issued so far: it implements [offload.Forgetter].
func (q *Queue) Forget(m offload.Memory) {
	f := &q.forgotten
	f.mu.Lock()
	defer f.mu.Unlock()
	head := q.head.Load()
	f.list = slices.DeleteFunc(f.list, func(m forgottenMemory) bool { return m.last <= head })
	if last := q.tail.Load(); last > head {
		f.list = append(f.list, forgottenMemory{m, last})
	}
	f.any.Store(len(f.list) > 0)
}

// holds reports whether m is forgotten memory for command n, which fills it.
func (f *forgotten) holds(m offload.Memory, n uint64) bool {
	if !f.any.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(o forgottenMemory) bool { return n <= o.last && o.memory == m })
}

// fill runs the fill of command n. It ends early when its memory is forgotten or a stop is requested.
func (q *Queue) fill(c *command, n uint64) {
	for dst := c.dst; len(dst) > 0 && !q.forgotten.holds(c.memory, n); {
		piece := min(fillPiece, len(dst))
		q.dev.Fill(dst[:piece], c.pattern[:c.width], &q.stop)
		if q.stop.Requested() {
			return
		}
		dst = dst[piece:]
	}
}
