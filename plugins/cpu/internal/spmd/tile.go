package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Where gangs go down columns and lanes store rows apart, a tile of as many gangs as a vector has lanes makes whole rows
// of vectors: gangs leave what they store in their frame, and the last one of a tile turns it round and stores vectors
// instead of elements. A tile begins where all its gangs have all lanes and are of the same run and band; other gangs
// store lane by lane.

// findTiles gives the stores that are made by tiles, with numbers: the last accesses to buffers, to ones that nothing
// else uses, once by each item, of elements that lie side by side for the items of a column. What comes behind may access
// the same buffer under another name, and an item has to find there what it stored.
func (l *lowerer) findTiles(inGroup *opt.Affine) map[*ir.Instr]int {
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

func (l *lowerer) fitsTile(in *ir.Instr, inGroup *opt.Affine) bool {
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
func (l *lowerer) tileBytes() int { return l.t.lanes * l.t.bytes() }

// tileState is where in the tile the present gang stores: the offset of its row; -1 if there is no tile.
func tileState() mem { return ctxMem(ctxTile, 4) }

// beginTile begins a tile with the present gang, if it is not in one and the next ones are fit for it.
func (l *lowerer) beginTile(x vr) {
	decided, none := l.label(), l.label()
	l.use(amd64.CMP, at(tileState()), imm(0))
	l.jump(amd64.JG, decided)
	l.use(amd64.MOV, at(tileState()), imm(-1))
	l.use(amd64.CMP, at(ctxMem(ctxLeft, 8)), imm(int64(l.t.lanes)))
	l.jump(amd64.JL, none)
	right, bottom, end := l.gpr(), l.gpr(), l.gpr()
	l.def(amd64.LEA, g8(right), at(mem{base: x, disp: int32(l.gang())}))
	l.use(amd64.CMP, g4(right), at(ctxMem(ctxSize, 4)))
	l.jump(amd64.JA, none)
	l.bandEnd(end)
	l.def(amd64.MOV, g4(bottom), at(ctxMem(ctxY, 4)))
	l.mod(amd64.ADD, g4(bottom), imm(int64(l.t.lanes)))
	l.use(amd64.CMP, g4(bottom), g4(end))
	l.jump(amd64.JA, none)
	l.use(amd64.MOV, at(tileState()), imm(0))
	l.bind(none)
	l.bind(decided)
}

// nextInTile goes on to the next row of the tile.
func (l *lowerer) nextInTile() {
	none, more := l.label(), l.label()
	row := l.gpr()
	l.def(amd64.MOV, g4(row), at(tileState()))
	l.use(amd64.TEST, g4(row), g4(row))
	l.jump(amd64.JS, none)
	l.mod(amd64.ADD, g4(row), imm(int64(l.t.bytes())))
	l.use(amd64.CMP, g4(row), imm(int64(l.tileBytes())))
	l.jump(amd64.JNE, more)
	l.def(amd64.MOV, g4(row), imm(0))
	l.bind(more)
	l.use(amd64.MOV, at(tileState()), g4(row))
	l.bind(none)
}

// storeTile stores by the tile, if there is one.
func (l *lowerer) storeTile(in *ir.Instr, p *place, src []vr) bool {
	n, ok := l.tiles[in]
	if !ok || p.mask != nil || p.spread != apart {
		return false
	}
	lanes, done := l.label(), l.label()
	row := l.gpr()
	l.def(amd64.MOV, g4(row), at(tileState()))
	l.use(amd64.TEST, g4(row), g4(row))
	l.jump(amd64.JS, lanes)
	for i := range l.w {
		m := l.tileRow(n, i, 0)
		m.index, m.indexSize, m.scale = row, 8, 1
		l.use(amd64.VMOVUPS, at(m), z(part(src, i)))
	}
	l.use(amd64.CMP, g4(row), imm(int64(l.tileBytes()-l.t.bytes())))
	l.jump(amd64.JNE, done)
	for i := range l.w {
		l.turn(p, n, i)
	}
	l.bind(done)
	l.cold(func() {
		l.bind(lanes)
		l.storeLanes(p, src)
		l.jump(amd64.JMP, done)
	})
	return true
}

// tileRow is the memory of a row in the tile for register i of a store.
func (l *lowerer) tileRow(n, i, row int) mem {
	return mem{fixed: regFrame, disp: int32(l.layout.tiles + (n*l.w+i)*l.tileBytes() + row*l.t.bytes())}
}

// turn stores the columns of a tile: the one of each lane where it stores, from the first row on. The present gang is
// that of the last row.
func (l *lowerer) turn(p *place, n, i int) {
	l.use(amd64.VMOVUPS, at(l.scratchMem(scratchOffsets)), z(part(p.offs, i)))
	first := l.flat(p.uni)
	first.disp -= int32(4 * (l.t.lanes - 1))
	store := func(lane int, s vr) {
		o := l.gpr()
		from := l.scratchMem(scratchOffsets)
		from.disp += int32(4 * lane)
		from.size = 4
		l.def(amd64.MOVSXD, g8(o), at(from))
		m := first
		m.index, m.indexSize, m.scale = o, 8, p.scale
		l.use(amd64.VMOVUPS, at(m), z(s))
	}
	// Part b of quad[g][j] is column 4b+j of rows 4g to 4g+3.
	groups := l.t.lanes / 4
	quad := make([][4]vr, groups)
	for g := range quad {
		var rows [4]vr
		for r := range rows {
			rows[r] = l.vec()
			l.def(amd64.VMOVUPS, z(rows[r]), at(l.tileRow(n, i, 4*g+r)))
		}
		quad[g] = l.turnQuads(rows)
	}
	for j := range 4 {
		if groups == 2 {
			store(j, l.shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], imm(0x20)))
			store(4+j, l.shuffle(amd64.VPERM2F128, quad[0][j], quad[1][j], imm(0x31)))
			continue
		}
		even, odd := imm(0x88), imm(0xdd) // parts 0 and 2, or 1 and 3, of both
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
func (l *lowerer) turnQuads(rows [4]vr) [4]vr {
	low, high := l.shuffle(amd64.VUNPCKLPS, rows[0], rows[1]), l.shuffle(amd64.VUNPCKHPS, rows[0], rows[1])
	low2, high2 := l.shuffle(amd64.VUNPCKLPS, rows[2], rows[3]), l.shuffle(amd64.VUNPCKHPS, rows[2], rows[3])
	return [4]vr{l.shuffle(amd64.VUNPCKLPD, low, low2), l.shuffle(amd64.VUNPCKHPD, low, low2),
		l.shuffle(amd64.VUNPCKLPD, high, high2), l.shuffle(amd64.VUNPCKHPD, high, high2)}
}

// shuffle gives a new register with elements of two.
func (l *lowerer) shuffle(op amd64.Op, a, b vr, how ...arg) vr {
	d := l.vec()
	l.def(op, append([]arg{z(d), z(a), z(b)}, how...)...)
	return d
}
