package spmd

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// A kernel whose lanes are rows apart in some buffer, while rows of work-items lie side by side there, uses a line of the
// caches for each lane and only one element of it: if gangs went along the rows of the launch, lines would be fetched
// again for each row. Such a kernel goes down the columns of a band of rows instead, as wide as a gang, so that the
// elements of a line follow each other soon.

// chooseWalk decides whether gangs go down columns, which only kernels without group operations may, and by tiles.
func (l *analysis) chooseWalk() {
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
		l.band = max(rows, l.options.target.Lanes)
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
func (l *builder) nextInColumn(row, done amd64.Label) {
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
	l.Mod(amd64.ADD, x.G4(), vcode.Imm(int64(l.gang())))
	l.Use(amd64.CMP, x.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Jump(amd64.JAE, down) // it may be 2^31 and more, as the end of a band may
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

// bandEnd gives the row after the present band.
func (l *builder) bandEnd(end vcode.Reg) {
	l.Def(amd64.MOV, end.G4(), vcode.CtxMem(abi.CtxBand, 4).At())
	l.Mod(amd64.ADD, end.G4(), vcode.Imm(int64(l.band)))
	l.Use(amd64.CMP, end.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
	l.Mod(amd64.CMOVA, end.G4(), vcode.CtxMem(abi.CtxSize+4, 4).At())
}
