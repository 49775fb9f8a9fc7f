package interp

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// fences is a word that fences write, because a locked write orders all memory accesses of a processor.
var fences atomic.Uint32

// start is the origin of clocks.
var start = time.Now()

// Clock returns the nanoseconds since the program began, for the operation Clock. It never goes back.
func Clock() uint64 { return uint64(time.Since(start)) }

// order compiles a Fence, Clock or Pause.
func (c *compiler) order(in *ir.Instr) step {
	switch in.Op {
	case ir.Fence:
		return func(*frame, []uint8) { fences.Add(1) }
	case ir.Pause:
		return func(*frame, []uint8) { runtime.Gosched() }
	}
	d := c.reg(in.Result())
	return func(f *frame, lanes []uint8) {
		now := Clock()
		x := at[uint64](f, d)
		for _, i := range lanes {
			x[i] = now
		}
	}
}
