package queue

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// fillPiece is how many bytes are filled between two looks at forgotten memory; a multiple of every pattern's length.
const fillPiece = 64 << 20

// forgotten is memory whose fills are skipped.
type forgotten struct {
	any  atomic.Bool // list is not empty
	mu   sync.Mutex
	list []forgottenMemory
}

type forgottenMemory struct {
	bytes []byte
	last  uint64 // the newest command that may fill it; later ones fill other memory at the same address
}

// Forget makes the queue skip the fills of m issued so far: it implements [offload.Forgetter].
func (q *Queue) Forget(m offload.Memory) {
	bytes, err := q.dev.Bytes(m)
	if err != nil || len(bytes) == 0 {
		return
	}
	f := &q.forgotten
	f.mu.Lock()
	defer f.mu.Unlock()
	head := q.head.Load()
	f.list = slices.DeleteFunc(f.list, func(m forgottenMemory) bool { return m.last <= head })
	if last := q.tail.Load(); last > head {
		f.list = append(f.list, forgottenMemory{bytes, last})
	}
	f.any.Store(len(f.list) > 0)
}

// holds reports whether command n fills forgotten memory.
func (f *forgotten) holds(dst []byte, n uint64) bool {
	if !f.any.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	for i := range f.list {
		m := &f.list[i]
		from := uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes)))
		if n <= m.last && from <= at && at-from < uintptr(len(m.bytes)) {
			return true
		}
	}
	return false
}

// fill runs the fill of command n, and ends early when its memory is forgotten or the command is to stop.
func (q *Queue) fill(c *command, n uint64) {
	for dst := c.dst; len(dst) > 0 && !q.forgotten.holds(c.dst, n); {
		piece := min(fillPiece, len(dst))
		q.dev.Fill(dst[:piece], c.pattern[:c.width], &q.stop)
		if q.stop.Requested() {
			return
		}
		dst = dst[piece:]
	}
}
