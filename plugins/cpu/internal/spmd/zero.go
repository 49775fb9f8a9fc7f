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
	each := func(t ir.Type, offset int) {
		p := place{spread: inRow, scalar: t, size: t.Size(), mask: l.cur, uni: mem{fixed: regFrame,
			disp: int32(frameHead + from + offset*l.gang())}}
		l.storeLanes(&p, []vr{l.constant(0, max(t.Size(), 4))})
	}
	var walk func(e ir.Elem, dims []int, offset int)
	walk = func(e ir.Elem, dims []int, offset int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		for i := range n {
			at := offset + i*e.Size()
			if e.Record == nil {
				each(e.Scalar, at)
				continue
			}
			for j := range e.Record.Fields {
				f := &e.Record.Fields[j]
				walk(f.Elem, f.Dims, at+f.Offset)
			}
		}
	}
	if a.Bytes() > 4096 {
		l.refuse("clearing an array of %d bytes for some lanes", a.Bytes())
	}
	walk(a.Elem, a.Dims, 0)
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
