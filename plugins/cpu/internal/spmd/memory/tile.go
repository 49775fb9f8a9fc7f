package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TileState returns the memory operand with the offset of the current gang's row in its tile, or −1 without a tile.
func TileState() vcode.Mem { return vcode.CtxMem(abi.CtxTile, 4) }

// storeTile emits a store by a transpose tile if the plan has one for the instruction, all lanes are active, and the access is
// scattered. It reports whether it did.
func (l *Memory) storeTile(in *ir.Instr, p *MemRef, src []vcode.Reg) bool {
	n, ok := l.Tiles[in]
	if !ok || p.mask != nil || p.access != scattered {
		return false
	}
	lanes, done := l.NewLabel(), l.NewLabel()
	row := l.NewGPR()
	l.Def(amd64.MOV, row.G4(), TileState().At())
	l.Use(amd64.TEST, row.G4(), row.G4())
	l.Jump(amd64.JS, lanes)
	for i := range l.GangRegs {
		m := l.tileRow(n, i, 0)
		m.Index, m.IndexSize, m.Scale = row, 8, 1
		l.Use(amd64.VMOVUPS, m.At(), vcode.Part(src, i).Z())
	}
	l.Use(amd64.CMP, row.G4(), vcode.Imm(int64(l.TileBytes()-l.Target.Bytes())))
	l.Jump(amd64.JNE, done)
	for i := range l.GangRegs {
		l.turn(p, n, i)
	}
	l.Bind(done)
	l.Cold(func() {
		l.Bind(lanes)
		l.storeLanes(p, src)
		l.Jump(amd64.JMP, done)
	})
	return true
}

// tileRow returns the memory operand of a row of tile n for register i of the store.
func (l *Memory) tileRow(n, i, row int) vcode.Mem {
	return vcode.Mem{Fixed: abi.Frame, Disp: int32(l.Layout.Tiles + (n*l.GangRegs+i)*l.TileBytes() + row*l.Target.Bytes())}
}

// turn emits the transposition of register i of tile n, and stores of its columns, each at its lane's address from the first row on.
// The current gang has the last row.
func (l *Memory) turn(p *MemRef, n, i int) {
	l.Use(amd64.VMOVUPS, l.scratchMem(scratchOffsets).At(), vcode.Part(p.Offs, i).Z())
	first := l.Flat(p.Uni)
	first.Disp -= int32(4 * (l.Target.Lanes - 1))
	store := func(lane int, s vcode.Reg) {
		o := l.NewGPR()
		from := l.scratchMem(scratchOffsets)
		from.Disp += int32(4 * lane)
		from.Size = 4
		l.Def(amd64.MOVSXD, o.G8(), from.At())
		m := first
		m.Index, m.IndexSize, m.Scale = o, 8, p.Scale
		l.Use(amd64.VMOVUPS, m.At(), s.Z())
	}
	// Part b of quad[g][j] is column 4b+j of rows 4g to 4g+3.
	groups := l.Target.Lanes / 4
	quad := make([][4]vcode.Reg, groups)
	for g := range quad {
		var rows [4]vcode.Reg
		for r := range rows {
			rows[r] = l.NewVec()
			l.Def(amd64.VMOVUPS, rows[r].Z(), l.tileRow(n, i, 4*g+r).At())
		}
		quad[g] = l.TurnQuads(rows)
	}
	for j := range 4 {
		if groups == 2 {
			store(j, l.Shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], vcode.Imm(0x20)))
			store(4+j, l.Shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], vcode.Imm(0x31)))
			continue
		}
		even, odd := vcode.Imm(0x88), vcode.Imm(0xdd) // parts 0 and 2, or 1 and 3, of both operands
		op := amd64.VSHUFF32X4
		a, b := l.Shuffle(op, quad[0][j], quad[1][j], even), l.Shuffle(op, quad[2][j], quad[3][j], even)
		c, d := l.Shuffle(op, quad[0][j], quad[1][j], odd), l.Shuffle(op, quad[2][j], quad[3][j], odd)
		store(j, l.Shuffle(op, a, b, even))
		store(4+j, l.Shuffle(op, c, d, even))
		store(8+j, l.Shuffle(op, a, b, odd))
		store(12+j, l.Shuffle(op, c, d, odd))
	}
}
