package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// checkIndex checks an index of an access that is not proved to be in bounds.
func (l *lowerer) checkIndex(in *ir.Instr, axis, extent int, p *place, allSame bool) {
	v := in.Args[axis]
	if !l.options.Unchecked && l.passed(checkKey{v.ID, in.Array.ID, extent}) {
		return
	}
	if !l.uniform(v) {
		if !l.checkRow(in, axis, extent, p) {
			l.checkLanes(in, axis, extent, p)
		}
		return
	}
	if l.options.Unchecked && (!allSame || in.Array.Space == ir.Private) {
		l.checkLanes(in, axis, extent, p)
		return
	}
	r := l.general(v)
	size := v.Type.Size()
	flat := extent == ir.Flat && in.Array.Rank > 1
	if flat && size == 4 {
		d := l.NewGPR()
		if v.Type.IsSigned() {
			l.Def(amd64.MOVSXD, d.G8(), r.G4())
		} else {
			l.Def(amd64.MOV, d.G4(), r.G4())
		}
		r, size = d, 8
	}
	if extent >= 0 {
		l.Use(amd64.CMP, r.G(size), vcode.Imm(int64(extent)))
	} else {
		l.Use(amd64.CMP, r.G(size), l.extentMem(in.Array, extent, size).At())
	}
	if l.options.Unchecked {
		b := l.NewGPR()
		l.Def(amd64.SETB, b.G(1))
		l.Def(amd64.MOVZX, b.G4(), b.G(1))
		if p.inside != 0 {
			l.Mod(amd64.AND, b.G4(), p.inside.G4())
		}
		p.inside = b
		return
	}
	bad := l.NewLabel()
	l.Jump(amd64.JAE, bad)
	l.Cold(func() {
		l.Bind(bad)
		l.fault(in, axis, []vcode.Reg{r}, l.cur)
	})
}

// checkKey is what a check compares: an index with an extent, where an array's own extents count.
type checkKey struct{ value, array, extent int }

// passed reports whether the same check has been made before in this block or one around it, and notes that it has. The
// gangs that failed it have ended, and no lanes have come since.
func (l *lowerer) passed(key checkKey) bool {
	if key.extent >= 0 {
		key.array = -1
	}
	if l.checked[key] {
		return true
	}
	l.checked[key] = true
	l.undo = append(l.undo, func() { delete(l.checked, key) })
	return false
}

// extentMem is where an extent of a buffer is.
func (l *lowerer) extentMem(a *ir.Array, extent, size int) vcode.Mem {
	if extent == ir.Flat {
		if a.Rank == 1 {
			return vcode.CtxMem(l.buffer(a)+abi.BufDims, size)
		}
		return vcode.CtxMem(l.buffer(a)+abi.BufTotal, size)
	}
	return vcode.CtxMem(l.buffer(a)+abi.BufDims+8*(-1-extent), size)
}

// checkRow compares the index of the last lane with an extent, where indices grow from lane to lane and that of the first
// is in a register: one that is not negative and below it in the last lane is so in all. Only if that fails, which may be
// for lanes that take no part, each is compared.
func (l *lowerer) checkRow(in *ir.Instr, axis, extent int, p *place) bool {
	v := in.Args[axis]
	s, affine := l.affine.Strides(v)
	span, grows := l.span(s)
	if l.options.Unchecked || !affine || !grows || v.Type.Size() != 4 || !l.hasShadow(v, 0) {
		return false
	}
	some, done := l.NewLabel(), l.NewLabel()
	first, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, first.G4(), l.shadow(v).G4())
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Disp: span}.At())
	if extent >= 0 {
		l.Use(amd64.CMP, last.G8(), vcode.Imm(int64(extent)))
	} else {
		l.Use(amd64.CMP, last.G8(), l.extentMem(in.Array, extent, 8).At())
	}
	l.Jump(amd64.JAE, some)
	l.Bind(done)
	l.Cold(func() {
		l.Bind(some)
		mark := len(l.undo)
		idx, bad := l.outside(in, axis, extent, p)
		l.branchEmpty(bad, done)
		l.fault(in, axis, idx, bad)
		l.forget(mark)
	})
	return true
}

// outside gives the indices of an access, and the masks of the lanes whose are not below an extent.
func (l *lowerer) outside(in *ir.Instr, axis, extent int, p *place) (idx, bad []vcode.Reg) {
	v := in.Args[axis]
	e := v.Type.Size()
	idx = l.vector(v)
	limit := l.limit(in.Array, extent, e)
	bad = l.NewMasks(l.w)
	for i, d := range bad {
		var m vcode.Reg
		if p.mask != nil {
			m = p.mask[i]
		}
		if e == 4 {
			l.Def(amd64.VPCMPUD, d.K(), vcode.Part(idx, i).Z(), limit, vcode.Imm(5)).Folds(2, 4).Mask = m
			continue
		}
		lo, hi := l.NewMask(), l.NewMask()
		l.Def(amd64.VPCMPUQ, lo.K(), vcode.Part(idx, 2*i).Z(), limit, vcode.Imm(5)).Folds(2, 8)
		l.Def(amd64.VPCMPUQ, hi.K(), vcode.Part(idx, 2*i+1).Z(), limit, vcode.Imm(5)).Folds(2, 8)
		l.join(d, lo, hi)
		if m != 0 {
			l.Def(amd64.KANDW, d.K(), d.K(), m.K())
		}
	}
	return idx, bad
}

// checkLanes compares the indices of all lanes with an extent.
func (l *lowerer) checkLanes(in *ir.Instr, axis, extent int, p *place) {
	idx, bad := l.outside(in, axis, extent, p)
	if l.options.Unchecked {
		out := l.NewMasks(l.w)
		for i, d := range out {
			if p.mask == nil {
				l.Def(amd64.KNOTW, d.K(), bad[i].K())
			} else {
				l.Def(amd64.KANDNW, d.K(), bad[i].K(), p.mask[i].K())
			}
		}
		p.mask = out
		return
	}
	slow := l.NewLabel()
	l.branchSome(bad, slow)
	l.Cold(func() {
		l.Bind(slow)
		l.fault(in, axis, idx, bad)
	})
}

// limit gives an extent as the operand of comparisons: in a vector, or as an element in memory.
func (l *lowerer) limit(a *ir.Array, extent, size int) vcode.Arg {
	if extent >= 0 {
		return l.Constant(uint64(extent), size).Z()
	}
	if extent == ir.Flat && a.Rank > 1 {
		l.small = true // the number of elements fits 32 bits
	}
	if l.Target.HasMasks {
		m := l.extentMem(a, extent, 64)
		m.Broadcast = true
		return m.At()
	}
	d := l.NewVec()
	l.Def(sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), d.Z(), l.extentMem(a, extent, size).At())
	return d.Z()
}

// fault emits the report of a fault and the end of the gang.
func (l *lowerer) fault(in *ir.Instr, axis int, index, bad []vcode.Reg) {
	t := vcode.Trap{In: in, Kind: vcode.TrapBounds, Axis: axis, Args: [][]vcode.Reg{index}, Mask: bad}
	l.trapOut(t)
}
