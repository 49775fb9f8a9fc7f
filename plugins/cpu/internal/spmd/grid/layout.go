package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
)

// layOut lays the context and the frames out.
func (l *Builder) layOut() {
	y := &l.Layout
	y.Args = abi.CtxArgs
	y.Buffers = y.Args + 8*len(l.Kernel.Params)
	at := y.Buffers + abi.BufSize*len(l.Kernel.Arrays)
	y.Private, y.Arrays, y.Places = map[int]int{}, map[int]int{}, map[int]int{}
	private := 0
	for _, a := range l.Kernel.Arrays {
		switch a.Space {
		case ir.Private:
			y.Private[a.ID] = private
			private += (a.Bytes() + 7) &^ 7
		case ir.Shared:
			y.Places[a.ID] = y.Shared
			y.Shared += (a.Bytes() + 63) &^ 63
			fallthrough
		case ir.Table:
			y.Arrays[a.ID] = at
			at += 8
		}
	}
	if l.Kernel.ReadsDirty() {
		y.Dirty = private
	}
	y.Columns = (at + 63) &^ 63
	y.Size = y.Columns + l.ColumnBytes()
	y.Scratch = abi.FrameHead + private*l.Lanes()
	y.Group = y.Scratch + l.Target.Bytes()*isel.ScratchVectors
	y.Lanes = l.Lanes()
	y.Tiles = y.Group + abi.GroupBytes(l.Lanes())
	y.Frame = y.Tiles + len(l.Tiles)*l.GangRegs*l.TileBytes()
	if y.Frame > 16<<20 {
		l.Refuse("%d bytes of private arrays", private)
	}
}
