package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
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
		d := l.gpr()
		if v.Type.IsSigned() {
			l.def(amd64.MOVSXD, g8(d), g4(r))
		} else {
			l.def(amd64.MOV, g4(d), g4(r))
		}
		r, size = d, 8
	}
	if extent >= 0 {
		l.use(amd64.CMP, g(r, size), imm(int64(extent)))
	} else {
		l.use(amd64.CMP, g(r, size), at(l.extentMem(in.Array, extent, size)))
	}
	if l.options.Unchecked {
		b := l.gpr()
		l.def(amd64.SETB, g(b, 1))
		l.def(amd64.MOVZX, g4(b), g(b, 1))
		if p.inside != 0 {
			l.mod(amd64.AND, g4(b), g4(p.inside))
		}
		p.inside = b
		return
	}
	bad := l.label()
	l.jump(amd64.JAE, bad)
	l.cold(func() {
		l.bind(bad)
		l.fault(in, axis, []vr{r}, l.cur)
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
func (l *lowerer) extentMem(a *ir.Array, extent, size int) mem {
	if extent == ir.Flat {
		if a.Rank == 1 {
			return ctxMem(l.buffer(a)+bufDims, size)
		}
		return ctxMem(l.buffer(a)+bufTotal, size)
	}
	return ctxMem(l.buffer(a)+bufDims+8*(-1-extent), size)
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
	some, done := l.label(), l.label()
	first, last := l.gpr(), l.gpr()
	l.def(amd64.MOV, g4(first), g4(l.shadow(v)))
	l.def(amd64.LEA, g8(last), at(mem{base: first, disp: span}))
	if extent >= 0 {
		l.use(amd64.CMP, g8(last), imm(int64(extent)))
	} else {
		l.use(amd64.CMP, g8(last), at(l.extentMem(in.Array, extent, 8)))
	}
	l.jump(amd64.JAE, some)
	l.bind(done)
	l.cold(func() {
		l.bind(some)
		mark := len(l.undo)
		idx, bad := l.outside(in, axis, extent, p)
		l.branchEmpty(bad, done)
		l.fault(in, axis, idx, bad)
		l.forget(mark)
	})
	return true
}

// outside gives the indices of an access, and the masks of the lanes whose are not below an extent.
func (l *lowerer) outside(in *ir.Instr, axis, extent int, p *place) (idx, bad []vr) {
	v := in.Args[axis]
	e := v.Type.Size()
	idx = l.vector(v)
	limit := l.limit(in.Array, extent, e)
	bad = l.masks(l.w)
	for i, d := range bad {
		var m vr
		if p.mask != nil {
			m = p.mask[i]
		}
		if e == 4 {
			l.def(amd64.VPCMPUD, k(d), z(part(idx, i)), limit, imm(5)).folds(2, 4).mask = m
			continue
		}
		lo, hi := l.mask(), l.mask()
		l.def(amd64.VPCMPUQ, k(lo), z(part(idx, 2*i)), limit, imm(5)).folds(2, 8)
		l.def(amd64.VPCMPUQ, k(hi), z(part(idx, 2*i+1)), limit, imm(5)).folds(2, 8)
		l.join(d, lo, hi)
		if m != 0 {
			l.def(amd64.KANDW, k(d), k(d), k(m))
		}
	}
	return idx, bad
}

// checkLanes compares the indices of all lanes with an extent.
func (l *lowerer) checkLanes(in *ir.Instr, axis, extent int, p *place) {
	idx, bad := l.outside(in, axis, extent, p)
	if l.options.Unchecked {
		out := l.masks(l.w)
		for i, d := range out {
			if p.mask == nil {
				l.def(amd64.KNOTW, k(d), k(bad[i]))
			} else {
				l.def(amd64.KANDNW, k(d), k(bad[i]), k(p.mask[i]))
			}
		}
		p.mask = out
		return
	}
	slow := l.label()
	l.branchSome(bad, slow)
	l.cold(func() {
		l.bind(slow)
		l.fault(in, axis, idx, bad)
	})
}

// limit gives an extent as the operand of comparisons: in a vector, or as an element in memory.
func (l *lowerer) limit(a *ir.Array, extent, size int) arg {
	if extent >= 0 {
		return z(l.constant(uint64(extent), size))
	}
	if extent == ir.Flat && a.Rank > 1 {
		l.small = true // the number of elements fits 32 bits
	}
	if l.t.masks {
		m := l.extentMem(a, extent, 64)
		m.broadcast = true
		return at(m)
	}
	d := l.vec()
	l.def(sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), z(d), at(l.extentMem(a, extent, size)))
	return z(d)
}

// fault emits the report of a fault and the end of the gang.
func (l *lowerer) fault(in *ir.Instr, axis int, index, bad []vr) {
	t := trap{in: in, kind: trapBounds, axis: axis, args: [][]vr{index}, mask: bad}
	l.trapOut(t)
}
