package plan

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// ScratchVectors is the number of vectors in a frame that package memory uses to access elements lane by lane.
const ScratchVectors = 7

// LayOut returns the layout of the context and of frames.
func (a *Analysis) LayOut() abi.Layout {
	y := &abi.Layout{}
	y.Args = abi.CtxArgs
	y.Buffers = y.Args + 8*len(a.Kernel.Params)
	at := y.Buffers + abi.BufSize*len(a.Kernel.Arrays)
	y.Private, y.Arrays, y.Places = map[int]int{}, map[int]int{}, map[int]int{}
	private := 0
	for _, array := range a.Kernel.Arrays {
		switch array.Space {
		case ir.Private:
			y.Private[array.ID] = private
			private += (array.Bytes() + 7) &^ 7
		case ir.Shared:
			y.Places[array.ID] = y.Shared
			y.Shared += (array.Bytes() + 63) &^ 63
			fallthrough
		case ir.Table:
			y.Arrays[array.ID] = at
			at += 8
		}
	}
	if a.Kernel.ReadsDirty() {
		y.Dirty = private
	}
	y.Columns = (at + 63) &^ 63
	y.Size = y.Columns + a.ColumnBytes()
	y.Scratch = abi.FrameHead + private*a.Lanes()
	y.Group = y.Scratch + a.Options.Target.Bytes()*ScratchVectors
	y.Lanes = a.Lanes()
	y.Tiles = y.Group + abi.GroupBytes(a.Lanes())
	y.Frame = y.Tiles + len(a.Tiles)*a.GangRegs*a.TileBytes()
	return *y
}
