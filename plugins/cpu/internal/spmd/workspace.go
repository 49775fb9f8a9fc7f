package spmd

import (
	"sync"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Workspace is memory that compilations use one after the other, as much as the collector lets them keep: most of what
// they need they need for a moment. The zero value is ready, and any number of goroutines can use one.
type Workspace struct{ pool sync.Pool }

// buffers are empty, with room.
type buffers struct {
	insts, spare []vcode.Inst
	regs         []vcode.RegInfo
	asm          amd64.Assembler
	scratch      vcode.Scratch
}

// keptInsts bounds the instructions for which there is room from one compilation to the next.
const keptInsts = 2048

func (w *Workspace) take(features amd64.Features) *buffers {
	b, _ := w.pool.Get().(*buffers)
	if b == nil {
		b = &buffers{insts: make([]vcode.Inst, 0, 256), regs: make([]vcode.RegInfo, 0, 256)}
	}
	b.asm.Reset(features)
	b.scratch.Reset()
	return b
}

// give takes the buffers back as a function leaves them.
func (w *Workspace) give(b *buffers, f *vcode.Func) {
	if cap(f.Insts) <= keptInsts && cap(f.Spare) <= keptInsts {
		b.insts, b.spare, b.regs = f.Insts[:0], f.Spare[:0], f.Regs[:0]
		w.pool.Put(b)
	}
}
