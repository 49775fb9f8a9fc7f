package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// zero emits a Zero.
func (l *lowerer) zero(in *ir.Instr) {
	a := in.Array
	zero := l.constant(0, 4)
	from := l.layout.private[a.ID] * l.gang()
	if l.cur == nil || len(l.scopes) == 0 {
		// All lanes, or lanes that the others do not look at.
		n := a.Bytes() * l.gang()
		l.clear(mem{fixed: regFrame, disp: int32(frameHead + from)}, n, zero)
		return
	}
	l.zeroLanes(a.Elem, a.Dims, mem{fixed: regFrame, disp: int32(frameHead + from)})
}

// maxZeroed is how many stores clear an array for some lanes without a loop.
const maxZeroed = 32

// zeroLanes clears an array, which may be a field of a record, for the lanes that take part.
func (l *lowerer) zeroLanes(e ir.Elem, dims []int, from mem) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	size := int32(e.Size() * l.gang())
	if n == 1 || n*numScalars(e) <= maxZeroed {
		for range n {
			l.zeroElem(e, from)
			from.disp += size
		}
		return
	}
	next, end, top := l.gpr(), l.gpr(), l.label()
	l.def(amd64.LEA, g8(next), at(from))
	from.disp += int32(n) * size
	l.def(amd64.LEA, g8(end), at(from))
	l.mark(kindLoopBegin)
	l.bind(top)
	l.zeroElem(e, mem{base: next})
	l.mod(amd64.ADD, g8(next), imm(int64(size)))
	l.use(amd64.CMP, g8(next), g8(end))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
}

// zeroElem clears one element for the lanes that take part.
func (l *lowerer) zeroElem(e ir.Elem, to mem) {
	if e.Record == nil {
		p := place{spread: inRow, scalar: e.Scalar, size: e.Scalar.Size(), mask: l.cur, uni: to}
		l.storeLanes(&p, []vr{l.constant(0, max(p.size, 4))})
		return
	}
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		at := to
		at.disp += int32(f.Offset * l.gang())
		l.zeroLanes(f.Elem, f.Dims, at)
	}
}

// numScalars is how many scalars an element consists of.
func numScalars(e ir.Elem) int {
	if e.Record == nil {
		return 1
	}
	sum := 0
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		n := numScalars(f.Elem)
		for _, d := range f.Dims {
			n *= d
		}
		sum += n
	}
	return sum
}

// clear sets memory to zero: n bytes, a multiple of the lanes.
func (l *lowerer) clear(m mem, n int, zero vr) {
	whole := l.t.bytes()
	if n <= 16*whole {
		for n > 0 {
			switch {
			case n >= whole:
				l.use(amd64.VMOVUPS, at(m), z(zero))
				m.disp, n = m.disp+int32(whole), n-whole
			case n >= whole/2:
				l.use(amd64.VMOVUPS, at(m), y(zero))
				m.disp, n = m.disp+int32(whole/2), n-whole/2
			case n >= 16:
				l.use(amd64.VMOVUPS, at(m), x(zero))
				m.disp, n = m.disp+16, n-16
			default:
				l.use(amd64.VMOVSD, at(m), x(zero))
				m.disp, n = m.disp+8, n-8
			}
		}
		return
	}
	i := l.gpr()
	top := l.label()
	bulk := n / whole * whole
	l.def(amd64.MOV, g4(i), imm(0))
	l.mark(kindLoopBegin)
	l.bind(top)
	a := m
	a.index, a.indexSize, a.scale = i, 8, 1
	l.use(amd64.VMOVUPS, at(a), z(zero))
	l.mod(amd64.ADD, g8(i), imm(int64(whole)))
	l.use(amd64.CMP, g8(i), imm(int64(bulk)))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	m.disp += int32(bulk)
	if n > bulk {
		l.clear(m, n-bulk, zero)
	}
}
