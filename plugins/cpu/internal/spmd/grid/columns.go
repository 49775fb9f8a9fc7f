package grid

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// nextInColumn emits the step to the gang below, a jump to row. After the bottom of the band follows the next column, then the next
// band, then the next plane. After the last gang of the run it jumps to done.
func (l *Builder) nextInColumn(row, done amd64.Label) {
	right, down := l.NewLabel(), l.NewLabel()
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JLE, done)
	end, y, x := l.NewGPR(), l.NewGPR(), l.NewGPR()
	l.bandEnd(end)
	l.Def(amd64.MOV, y.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	l.Mod(amd64.ADD, y.G4(), vcode.Imm(1))
	l.Use(amd64.CMP, y.G4(), end.G4())
	l.Jump(amd64.JAE, right)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), y.G4())
	l.Jump(amd64.JMP, row)
	l.Bind(right)
	l.Def(amd64.MOV, y.G4(), vcode.CtxMem(abi.CtxBand, 4).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), y.G4())
	l.Def(amd64.MOV, x.G4(), vcode.CtxMem(abi.CtxX, 4).At())
	l.Mod(amd64.ADD, x.G4(), vcode.Imm(int64(l.Lanes())))
	l.Use(amd64.CMP, x.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Jump(amd64.JAE, down) // unsigned, since the sum may be 2^31 or more
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxX, 4).At(), x.G4())
	l.Jump(amd64.JMP, row)
	l.Bind(down)
	deeper := l.NewLabel()
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxX, 4).At(), vcode.Imm(0))
	l.Use(amd64.CMP, end.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Jump(amd64.JB, deeper)
	l.Def(amd64.MOV, end.G4(), vcode.Imm(0))
	l.Use(amd64.ADD, vcode.CtxMem(abi.CtxZ, 4).At(), vcode.Imm(1))
	l.Bind(deeper)
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxBand, 4).At(), end.G4())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxY, 4).At(), end.G4())
	l.Jump(amd64.JMP, row)
}

// bandEnd emits the computation of the row after the current band, at most the height of the launch, in the register end.
func (l *Builder) bandEnd(end vcode.Reg) {
	l.Def(amd64.MOV, end.G4(), vcode.CtxMem(abi.CtxBand, 4).At())
	l.Mod(amd64.ADD, end.G4(), vcode.Imm(int64(l.Band)))
	l.Use(amd64.CMP, end.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Mod(amd64.CMOVA, end.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
}

// beginTile emits the start of a tile at the current gang, which has the position x, unless it is in a tile already. The gang must be
// complete, and all rows of the tile must be in the band and in the run.
func (l *Builder) beginTile(x vcode.Reg) {
	decided, none := l.NewLabel(), l.NewLabel()
	l.Use(amd64.CMP, memory.TileState().At(), vcode.Imm(0))
	l.Jump(amd64.JG, decided)
	l.Use(amd64.MOV, memory.TileState().At(), vcode.Imm(-1))
	l.Use(amd64.CMP, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(int64(l.Target.Lanes)))
	l.Jump(amd64.JL, none)
	right, bottom, end := l.NewGPR(), l.NewGPR(), l.NewGPR()
	l.Def(amd64.LEA, right.G8(), vcode.Mem{Base: x, Disp: int32(l.Lanes())}.At())
	l.Use(amd64.CMP, right.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Jump(amd64.JA, none)
	l.bandEnd(end)
	l.Def(amd64.MOV, bottom.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	l.Mod(amd64.ADD, bottom.G4(), vcode.Imm(int64(l.Target.Lanes)))
	l.Use(amd64.CMP, bottom.G4(), end.G4())
	l.Jump(amd64.JA, none)
	l.Use(amd64.MOV, memory.TileState().At(), vcode.Imm(0))
	l.Bind(none)
	l.Bind(decided)
}

// nextInTile emits the step to the next row of the tile, if the gang is in one. After the last row, the gang below is in no tile yet.
func (l *Builder) nextInTile() {
	none, more := l.NewLabel(), l.NewLabel()
	row := l.NewGPR()
	l.Def(amd64.MOV, row.G4(), memory.TileState().At())
	l.Use(amd64.TEST, row.G4(), row.G4())
	l.Jump(amd64.JS, none)
	l.Mod(amd64.ADD, row.G4(), vcode.Imm(int64(l.Target.Bytes())))
	l.Use(amd64.CMP, row.G4(), vcode.Imm(int64(l.TileBytes())))
	l.Jump(amd64.JNE, more)
	l.Def(amd64.MOV, row.G4(), vcode.Imm(0))
	l.Bind(more)
	l.Use(amd64.MOV, memory.TileState().At(), row.G4())
	l.Bind(none)
}
