package vcode

import (
	"sync"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Workspace is memory that compilations use one after the other, as much as the collector lets them keep: most of what
// they need they need for a moment. The zero value is ready, and any number of goroutines can use one.
type Workspace struct{ pool sync.Pool }

// Buffers are empty, with room.
type Buffers struct {
	Insts, Spare []Inst
	Regs         []RegInfo
	Asm          amd64.Assembler
	Scratch      Scratch
}

// keptInsts bounds the instructions for which there is room from one compilation to the next.
const keptInsts = 2048

func (w *Workspace) Take(features amd64.Features) *Buffers {
	b, _ := w.pool.Get().(*Buffers)
	if b == nil {
		b = &Buffers{Insts: make([]Inst, 0, 256), Regs: make([]RegInfo, 0, 256)}
	}
	b.Asm.Reset(features)
	b.Scratch.Reset()
	return b
}

// Give takes the buffers back as a function leaves them.
func (w *Workspace) Give(b *Buffers, f *Func) {
	if cap(f.Insts) <= keptInsts && cap(f.Spare) <= keptInsts {
		b.Insts, b.Spare, b.Regs = f.Insts[:0], f.Spare[:0], f.Regs[:0]
		w.pool.Put(b)
	}
}
