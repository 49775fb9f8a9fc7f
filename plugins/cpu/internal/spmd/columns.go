package spmd

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// A kernel whose lanes are rows apart in some buffer, while rows of work-items lie side by side there, uses a line of the
// caches for each lane and only one element of it: if gangs went along the rows of the launch, lines would be fetched
// again for each row. Such a kernel goes down the columns of a band of rows instead, as wide as a gang, so that the
// elements of a line follow each other soon.

// chooseWalk decides whether gangs go down columns, which only kernels without group operations may, and by tiles.
func (l *lowerer) chooseWalk() {
	var inGroup *opt.Affine // knows of rows, too
	rows, ordered := 0, false
	l.k.Body.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Print || in.Op == ir.Call:
			ordered = true
		case in.Array == nil || in.Array.Space != ir.Global || in.Op != ir.Load && in.Op != ir.Store:
		case far(stride(l.affine, in, 0)):
			if inGroup == nil {
				inGroup = opt.FindAffine(l.k, l.k.Uniformity(ir.Scope{}))
			}
			if y := stride(inGroup, in, 1); y != 0 && !far(y) {
				rows = max(rows, int(lineBytes/max(y, -y)))
			}
		}
	})
	if rows > 0 && !ordered && !l.observe {
		l.band = max(rows, l.t.lanes)
		l.tiles = l.findTiles(inGroup)
	}
}

// stride is how many bytes lie between what two work-items access that are neighbours on an axis: 0 if that is unknown, or
// the same for both, and rowApart if they are rows of a buffer apart.
func stride(a *opt.Affine, in *ir.Instr, axis int) int64 {
	r := in.Resolve()
	bytes := int64(0)
	for i := range r.Strides {
		s, ok := a.Strides(in.Args[i])
		switch {
		case !ok:
			return 0
		case r.Inner[i] == 0:
			bytes += int64(s[axis]) * int64(r.Strides[i])
		case s[axis] != 0:
			return rowApart
		}
	}
	return bytes
}

const rowApart = math.MaxInt64

// far reports whether a stride leads to another line of the caches.
func far(stride int64) bool { return stride <= -lineBytes || stride >= lineBytes }

// nextInColumn goes on with the gang below the present one, at the bottom of the band with the next column's first.
func (l *lowerer) nextInColumn(row, done amd64.Label) {
	right, down := l.label(), l.label()
	l.use(amd64.SUB, at(ctxMem(ctxLeft, 8)), imm(1))
	l.jump(amd64.JLE, done)
	end, y, x := l.gpr(), l.gpr(), l.gpr()
	l.bandEnd(end)
	l.def(amd64.MOV, g4(y), at(ctxMem(ctxY, 4)))
	l.mod(amd64.ADD, g4(y), imm(1))
	l.use(amd64.CMP, g4(y), g4(end))
	l.jump(amd64.JAE, right)
	l.use(amd64.MOV, at(ctxMem(ctxY, 4)), g4(y))
	l.jump(amd64.JMP, row)
	l.bind(right)
	l.def(amd64.MOV, g4(y), at(ctxMem(ctxBand, 4)))
	l.use(amd64.MOV, at(ctxMem(ctxY, 4)), g4(y))
	l.def(amd64.MOV, g4(x), at(ctxMem(ctxX, 4)))
	l.mod(amd64.ADD, g4(x), imm(int64(l.gang())))
	l.use(amd64.CMP, g4(x), at(ctxMem(ctxSize, 4)))
	l.jump(amd64.JAE, down) // it may be 2^31 and more, as the end of a band may
	l.use(amd64.MOV, at(ctxMem(ctxX, 4)), g4(x))
	l.jump(amd64.JMP, row)
	l.bind(down)
	deeper := l.label()
	l.use(amd64.MOV, at(ctxMem(ctxX, 4)), imm(0))
	l.use(amd64.CMP, g4(end), at(ctxMem(ctxSize+4, 4)))
	l.jump(amd64.JB, deeper)
	l.def(amd64.MOV, g4(end), imm(0))
	l.use(amd64.ADD, at(ctxMem(ctxZ, 4)), imm(1))
	l.bind(deeper)
	l.use(amd64.MOV, at(ctxMem(ctxBand, 4)), g4(end))
	l.use(amd64.MOV, at(ctxMem(ctxY, 4)), g4(end))
	l.jump(amd64.JMP, row)
}

// bandEnd gives the row after the present band.
func (l *lowerer) bandEnd(end vr) {
	l.def(amd64.MOV, g4(end), at(ctxMem(ctxBand, 4)))
	l.mod(amd64.ADD, g4(end), imm(int64(l.band)))
	l.use(amd64.CMP, g4(end), at(ctxMem(ctxSize+4, 4)))
	l.mod(amd64.CMOVA, g4(end), at(ctxMem(ctxSize+4, 4)))
}

// columnOf is where a unit begins that goes down columns of bands of so many rows, in a launch with so many gangs in a row
// and so many rows.
func columnOf(unit, band, perRow, rows int) (column, row, plane, first int) {
	plane, unit = unit/(perRow*rows), unit%(perRow*rows)
	first = unit / (perRow * band) * band
	unit -= first * perRow
	high := min(band, rows-first)
	return unit / high, first + unit%high, plane, first
}
