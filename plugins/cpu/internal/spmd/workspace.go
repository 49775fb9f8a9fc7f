package spmd

import (
	"sync"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Workspace is memory that compilations use one after the other, as much as the collector lets them keep: most of what
// they need they need for a moment. The zero value is ready, and any number of goroutines can use one.
type Workspace struct{ pool sync.Pool }

// buffers are empty, with room.
type buffers struct {
	insts, spare []inst
	regs         []vreg
	asm          amd64.Assembler
	scratch      scratch
}

// scratch is room for lists that are needed for a moment within one compilation.
type scratch struct {
	ints   room[int32]
	regs   room[vr]
	lists  room[[]int32]
	words  room[uint64]
	flags  room[bool]
	ranges room[liveRange]
	blocks []flowBlock
}

func (s *scratch) reset() {
	s.ints.used, s.regs.used, s.lists.used, s.words.used, s.flags.used, s.ranges.used = 0, 0, 0, 0, 0, 0
}

// room is a block of memory that lists are cut from. When it is full the next block is larger.
type room[T any] struct {
	block []T
	used  int
}

// make gives a list of zeros.
func (r *room[T]) make(n int) []T {
	if n > len(r.block)-r.used {
		r.block, r.used = make([]T, max(2*len(r.block), n, 1024)), 0
	}
	list := r.block[r.used : r.used+n : r.used+n]
	r.used += n
	clear(list)
	return list
}

// keptInsts bounds the instructions for which there is room from one compilation to the next.
const keptInsts = 2048

func (w *Workspace) take(features amd64.Features) *buffers {
	b, _ := w.pool.Get().(*buffers)
	if b == nil {
		b = &buffers{insts: make([]inst, 0, 256), regs: make([]vreg, 0, 256)}
	}
	b.asm.Reset(features)
	b.scratch.reset()
	return b
}

// give takes the buffers back as a function leaves them.
func (w *Workspace) give(b *buffers, f *fn) {
	if cap(f.insts) <= keptInsts && cap(f.spare) <= keptInsts {
		b.insts, b.spare, b.regs = f.insts[:0], f.spare[:0], f.regs[:0]
		w.pool.Put(b)
	}
}
