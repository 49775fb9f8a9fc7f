package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Where gangs go down columns and lanes store rows apart, a tile of as many gangs as a vector has lanes makes whole rows
// of vectors: gangs leave what they store in their frame, and the last one of a tile turns it round and stores vectors
// instead of elements. A tile begins where all its gangs have all lanes and are of the same run and band; other gangs
// store lane by lane.

// findTiles gives the stores that are made by tiles, with numbers: the last accesses to buffers, to ones that nothing
// else uses, once by each item, of elements that lie side by side for the items of a column. What comes behind may access
// the same buffer under another name, and an item has to find there what it stored.
func (l *analysis) findTiles(inGroup *opt.Affine) map[*ir.Instr]int {
	uses := make([]int, len(l.k.Arrays))
	early := false // some gang of a tile may end before it stores
	l.k.Body.Walk(func(in *ir.Instr) {
		early = early || (in.Op == ir.Return || in.Op == ir.Unreachable) && in != l.k.Body.Terminator()
		if in.Array != nil && in.Op != ir.Extent {
			uses[in.Array.ID]++
		}
	})
	if early {
		return nil
	}
	var last []*ir.Instr // from the last one back
	for _, in := range slices.Backward(l.k.Body.Instrs) {
		if l.fitsTile(in, inGroup) && uses[in.Array.ID] == 1 {
			last = append(last, in)
		} else if usesGlobal(in) {
			break
		}
	}
	tiles := map[*ir.Instr]int{}
	for _, in := range slices.Backward(last) {
		tiles[in] = len(tiles)
	}
	return tiles
}

func (l *analysis) fitsTile(in *ir.Instr, inGroup *opt.Affine) bool {
	if in.Op != ir.Store || in.Array.Space != ir.Global || l.options.Unchecked && in.Proved != 1<<in.NumIndices()-1 {
		return false
	}
	return in.Accessed().Size() == 4 && far(stride(l.affine, in, 0)) && stride(inGroup, in, 1) == 4
}

// usesGlobal reports whether an instruction, or one in it, accesses the elements of a buffer.
func usesGlobal(in *ir.Instr) bool {
	found := false
	(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(in *ir.Instr) {
		found = found || in.Array != nil && in.Array.Space == ir.Global && in.Op != ir.Extent
	})
	return found
}

// tileBytes is the size of a tile of one register.
func (l *analysis) tileBytes() int { return l.options.target.Lanes * l.options.target.Bytes() }

// tileState is where in the tile the present gang stores: the offset of its row; -1 if there is no tile.
func tileState() vcode.Mem { return vcode.CtxMem(abi.CtxTile, 4) }

// beginTile begins a tile with the present gang, if it is not in one and the next ones are fit for it.
func (l *builder) beginTile(x vcode.Reg) {
	decided, none := l.NewLabel(), l.NewLabel()
	l.Use(amd64.CMP, tileState().At(), vcode.Imm(0))
	l.Jump(amd64.JG, decided)
	l.Use(amd64.MOV, tileState().At(), vcode.Imm(-1))
	l.Use(amd64.CMP, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(int64(l.Target.Lanes)))
	l.Jump(amd64.JL, none)
	right, bottom, end := l.NewGPR(), l.NewGPR(), l.NewGPR()
	l.Def(amd64.LEA, right.G8(), vcode.Mem{Base: x, Disp: int32(l.gang())}.At())
	l.Use(amd64.CMP, right.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Jump(amd64.JA, none)
	l.bandEnd(end)
	l.Def(amd64.MOV, bottom.G4(), vcode.CtxMem(abi.CtxY, 4).At())
	l.Mod(amd64.ADD, bottom.G4(), vcode.Imm(int64(l.Target.Lanes)))
	l.Use(amd64.CMP, bottom.G4(), end.G4())
	l.Jump(amd64.JA, none)
	l.Use(amd64.MOV, tileState().At(), vcode.Imm(0))
	l.Bind(none)
	l.Bind(decided)
}

// nextInTile goes on to the next row of the tile.
func (l *builder) nextInTile() {
	none, more := l.NewLabel(), l.NewLabel()
	row := l.NewGPR()
	l.Def(amd64.MOV, row.G4(), tileState().At())
	l.Use(amd64.TEST, row.G4(), row.G4())
	l.Jump(amd64.JS, none)
	l.Mod(amd64.ADD, row.G4(), vcode.Imm(int64(l.Target.Bytes())))
	l.Use(amd64.CMP, row.G4(), vcode.Imm(int64(l.tileBytes())))
	l.Jump(amd64.JNE, more)
	l.Def(amd64.MOV, row.G4(), vcode.Imm(0))
	l.Bind(more)
	l.Use(amd64.MOV, tileState().At(), row.G4())
	l.Bind(none)
}

// storeTile stores by the tile, if there is one.
func (l *lowerer) storeTile(in *ir.Instr, p *place, src []vcode.Reg) bool {
	n, ok := l.tiles[in]
	if !ok || p.mask != nil || p.spread != apart {
		return false
	}
	lanes, done := l.NewLabel(), l.NewLabel()
	row := l.NewGPR()
	l.Def(amd64.MOV, row.G4(), tileState().At())
	l.Use(amd64.TEST, row.G4(), row.G4())
	l.Jump(amd64.JS, lanes)
	for i := range l.w {
		m := l.tileRow(n, i, 0)
		m.Index, m.IndexSize, m.Scale = row, 8, 1
		l.Use(amd64.VMOVUPS, m.At(), vcode.Part(src, i).Z())
	}
	l.Use(amd64.CMP, row.G4(), vcode.Imm(int64(l.tileBytes()-l.Target.Bytes())))
	l.Jump(amd64.JNE, done)
	for i := range l.w {
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

// tileRow is the memory of a row in the tile for register i of a store.
func (l *lowerer) tileRow(n, i, row int) vcode.Mem {
	return vcode.Mem{Fixed: abi.Frame, Disp: int32(l.layout.Tiles + (n*l.w+i)*l.tileBytes() + row*l.Target.Bytes())}
}

// turn stores the columns of a tile: the one of each lane where it stores, from the first row on. The present gang is
// that of the last row.
func (l *lowerer) turn(p *place, n, i int) {
	l.Use(amd64.VMOVUPS, l.scratchMem(scratchOffsets).At(), vcode.Part(p.offs, i).Z())
	first := l.flat(p.uni)
	first.Disp -= int32(4 * (l.Target.Lanes - 1))
	store := func(lane int, s vcode.Reg) {
		o := l.NewGPR()
		from := l.scratchMem(scratchOffsets)
		from.Disp += int32(4 * lane)
		from.Size = 4
		l.Def(amd64.MOVSXD, o.G8(), from.At())
		m := first
		m.Index, m.IndexSize, m.Scale = o, 8, p.scale
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
		quad[g] = l.turnQuads(rows)
	}
	for j := range 4 {
		if groups == 2 {
			store(j, l.shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], vcode.Imm(0x20)))
			store(4+j, l.shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], vcode.Imm(0x31)))
			continue
		}
		even, odd := vcode.Imm(0x88), vcode.Imm(0xdd) // parts 0 and 2, or 1 and 3, of both
		op := amd64.VSHUFF32X4
		a, b := l.shuffle(op, quad[0][j], quad[1][j], even), l.shuffle(op, quad[2][j], quad[3][j], even)
		c, d := l.shuffle(op, quad[0][j], quad[1][j], odd), l.shuffle(op, quad[2][j], quad[3][j], odd)
		store(j, l.shuffle(op, a, b, even))
		store(4+j, l.shuffle(op, c, d, even))
		store(8+j, l.shuffle(op, a, b, odd))
		store(12+j, l.shuffle(op, c, d, odd))
	}
}

// turnQuads turns the blocks of 4 × 4 elements in parts of 128 bits: part b of result j has element j of part b of each row.
func (l *lowerer) turnQuads(rows [4]vcode.Reg) [4]vcode.Reg {
	low, high := l.shuffle(amd64.VUNPCKLPS, rows[0], rows[1]), l.shuffle(amd64.VUNPCKHPS, rows[0], rows[1])
	low2, high2 := l.shuffle(amd64.VUNPCKLPS, rows[2], rows[3]), l.shuffle(amd64.VUNPCKHPS, rows[2], rows[3])
	return [4]vcode.Reg{l.shuffle(amd64.VUNPCKLPD, low, low2), l.shuffle(amd64.VUNPCKHPD, low, low2),
		l.shuffle(amd64.VUNPCKLPD, high, high2), l.shuffle(amd64.VUNPCKHPD, high, high2)}
}

// shuffle gives a new register with elements of two.
func (l *lowerer) shuffle(op amd64.Op, a, b vcode.Reg, how ...vcode.Arg) vcode.Reg {
	d := l.NewVec()
	l.Def(op, append([]vcode.Arg{d.Z(), a.Z(), b.Z()}, how...)...)
	return d
}
