package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// checkIndex emits the bounds check of the index on an axis. The index is not proved to be in bounds. checkIndex emits nothing for a
// check that [Addresses.Passed] knows. In unchecked code it narrows p to the lanes in bounds instead. allSame reports whether all
// indices of the access are uniform.
func (l *Addresses) checkIndex(in *ir.Instr, axis, extent int, p *MemRef, allSame bool) {
	v := in.Args[axis]
	if !l.Options.Unchecked && l.Passed(CheckKey{v.ID, in.Array.ID, extent}) {
		return
	}
	if !l.IsUniform(v) {
		if !l.checkRow(in, axis, extent, p) {
			l.checkLanes(in, axis, extent, p)
		}
		return
	}
	if l.Options.Unchecked && (!allSame || in.Array.Space == ir.Private) {
		l.checkLanes(in, axis, extent, p)
		return
	}
	r := l.General(v)
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
		l.Use(amd64.CMP, r.G(size), l.ExtentMem(in.Array, extent, size).At())
	}
	if l.Options.Unchecked {
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
		l.fault(in, axis, []vcode.Reg{r}, l.Cur)
	})
}

// CheckKey identifies a check by index and extent. Checks against constant extents share a key across arrays.
type CheckKey struct{ Value, Array, Extent int }

// Passed reports whether this block or an enclosing one has emitted the same check, and records it. Gangs that failed it
// have ended, and the active lanes are a subset of those at the earlier check.
func (l *Addresses) Passed(key CheckKey) bool {
	if key.Extent >= 0 {
		key.Array = -1
	}
	if l.checked[key] {
		return true
	}
	l.checked[key] = true
	l.Undo = append(l.Undo, func() { delete(l.checked, key) })
	return false
}

// ExtentMem returns the memory operand of an extent of a buffer with an access of size bytes. extent is −1 minus the axis, or [ir.Flat]
// for the number of elements.
func (l *Addresses) ExtentMem(a *ir.Array, extent, size int) vcode.Mem {
	if extent == ir.Flat {
		if a.Rank == 1 {
			return vcode.CtxMem(l.Buffer(a)+abi.BufDims, size)
		}
		return vcode.CtxMem(l.Buffer(a)+abi.BufTotal, size)
	}
	return vcode.CtxMem(l.Buffer(a)+abi.BufDims+8*(-1-extent), size)
}

// checkRow emits one check for all lanes of a 32-bit index that grows from lane to lane and has a lane-0 value. If lane 0 is not
// negative and the last lane is below the extent, all lanes are in bounds. Otherwise the code compares each lane, since only inactive
// lanes may be out of bounds. checkRow reports whether the index has this form, and emits nothing for others or in unchecked code.
func (l *Addresses) checkRow(in *ir.Instr, axis, extent int, p *MemRef) bool {
	v := in.Args[axis]
	s, affine := l.Affine.Strides(v)
	span, grows := l.span(s)
	if l.Options.Unchecked || !affine || !grows || v.Type.Size() != 4 || !l.HasLane0(v, 0) {
		return false
	}
	some, done := l.NewLabel(), l.NewLabel()
	first, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, first.G4(), l.Lane0(v).G4())
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Disp: span}.At())
	if extent >= 0 {
		l.Use(amd64.CMP, last.G8(), vcode.Imm(int64(extent)))
	} else {
		l.Use(amd64.CMP, last.G8(), l.ExtentMem(in.Array, extent, 8).At())
	}
	l.Jump(amd64.JAE, some)
	l.Bind(done)
	l.Cold(func() {
		l.Bind(some)
		mark := len(l.Undo)
		idx, bad := l.outside(in, axis, extent, p)
		l.BranchEmpty(bad, done)
		l.fault(in, axis, idx, bad)
		l.Forget(mark)
	})
	return true
}

// outside returns the indices of an access on an axis, and the masks of the active lanes whose index is not below the extent.
func (l *Addresses) outside(in *ir.Instr, axis, extent int, p *MemRef) (idx, bad []vcode.Reg) {
	v := in.Args[axis]
	e := v.Type.Size()
	idx = l.Vector(v)
	limit := l.limit(in.Array, extent, e)
	bad = l.NewMasks(l.GangRegs)
	for i, d := range bad {
		var m vcode.Reg
		if p.mask != nil {
			m = p.mask[i]
		}
		if e == 4 {
			l.Def(amd64.VPCMPUD, d.K(), vcode.Part(idx, i).Z(), limit, vcode.Cmp(amd64.CmpGE)).Folds(2, 4).Mask = m
			continue
		}
		lo, hi := l.NewMask(), l.NewMask()
		l.Def(amd64.VPCMPUQ, lo.K(), vcode.Part(idx, 2*i).Z(), limit, vcode.Cmp(amd64.CmpGE)).Folds(2, 8)
		l.Def(amd64.VPCMPUQ, hi.K(), vcode.Part(idx, 2*i+1).Z(), limit, vcode.Cmp(amd64.CmpGE)).Folds(2, 8)
		l.Join(d, lo, hi)
		if m != 0 {
			l.Def(amd64.KANDW, d.K(), d.K(), m.K())
		}
	}
	return idx, bad
}

// checkLanes emits comparisons of the indices of all lanes with an extent, and a fault of the active lanes out of bounds. In unchecked
// code it removes these lanes from p.mask instead.
func (l *Addresses) checkLanes(in *ir.Instr, axis, extent int, p *MemRef) {
	idx, bad := l.outside(in, axis, extent, p)
	if l.Options.Unchecked {
		out := l.NewMasks(l.GangRegs)
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
	l.BranchSome(bad, slow)
	l.Cold(func() {
		l.Bind(slow)
		l.fault(in, axis, idx, bad)
	})
}

// limit returns an extent as an operand of vector comparisons: a register, or a broadcast from memory.
func (l *Addresses) limit(a *ir.Array, extent, size int) vcode.Arg {
	if extent >= 0 {
		return l.Constant(uint64(extent), size).Z()
	}
	if extent == ir.Flat && a.Rank > 1 {
		l.Small = true // the number of elements fits 32 bits
	}
	if l.Target.HasMasks {
		m := l.ExtentMem(a, extent, 64)
		m.Broadcast = true
		return m.At()
	}
	d := l.NewVec()
	l.Def(lanes.Sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), d.Z(), l.ExtentMem(a, extent, size).At())
	return d.Z()
}

// fault emits the report of an index out of bounds in the lanes bad, and the end of the gang.
func (l *Addresses) fault(in *ir.Instr, axis int, index, bad []vcode.Reg) {
	t := vcode.Trap{In: in, Kind: vcode.TrapBounds, Axis: axis, Args: [][]vcode.Reg{index}, Mask: bad}
	l.trapOut(t)
}
