package vcode

import (
	"sync"
	"weak"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Workspace is memory that compilations reuse; the garbage collector may free it between them. The zero value is ready for
// concurrent use.
type Workspace struct {
	mu    sync.Mutex
	spare weak.Pointer[Buffers] // idle buffers, which are found on every processor, unlike those of the pool
	pool  sync.Pool             // other idle buffers
}

// Buffers is the memory of one compilation.
type Buffers struct {
	Insts, Spare []Inst
	Regs         []RegInfo
	Asm          amd64.Assembler
	Scratch      Scratch
}

// keptInsts is the maximum capacity of a kept buffer, in instructions.
const keptInsts = 2048

// Take returns empty buffers for a compilation. Their assembler accepts the instructions of these features.
func (w *Workspace) Take(features amd64.Features) *Buffers {
	w.mu.Lock()
	b := w.spare.Value()
	w.spare = weak.Pointer[Buffers]{}
	w.mu.Unlock()
	if b == nil {
		b, _ = w.pool.Get().(*Buffers)
	}
	if b == nil {
		b = &Buffers{Insts: make([]Inst, 0, 256), Regs: make([]RegInfo, 0, 256)}
	}
	b.Asm.Reset(features)
	b.Scratch.Reset()
	return b
}

// Put keeps the buffers of a finished compilation for later ones, with the lists of its function f. It drops the buffers if a list
// of instructions is too large.
func (w *Workspace) Put(b *Buffers, f *Func) {
	if cap(f.Insts) <= keptInsts && cap(f.Spare) <= keptInsts {
		b.Insts, b.Spare, b.Regs = f.Insts[:0], f.Spare[:0], f.Regs[:0]
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.spare.Value() == nil {
			w.spare = weak.Make(b)
		} else {
			w.pool.Put(b)
		}
	}
}
