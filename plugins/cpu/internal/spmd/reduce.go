package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// reduceGroup emits one reduction: first between gangs, those of the upper half of a power of two with those of the lower
// one until one is left, where gangs that there are not have the identity; then between its vectors, then in the last
// one. The order is that of the language.
func (l *lowerer) reduceGroup(in *ir.Instr) {
	t, c := in.Type(), combinerOf(in)
	bytes, vectors, place := l.t.bytes(), l.vectorsOf(t), groupValue(&l.layout, 0)
	value := func(base vr, at int) mem { return mem{base: base, disp: int32(place + at)} }

	base, size, half, distance := l.gpr(), l.gpr(), l.gpr(), l.gpr()
	l.def(amd64.MOV, g8(base), at(ctxMem(ctxFrame, 8)))
	l.def(amd64.MOV, g8(size), at(ctxMem(ctxFrameSize, 8)))
	l.def(amd64.MOV, g8(half), at(ctxMem(ctxHalves, 8)))
	halves, within := l.label(), l.label()
	l.mark(kindLoopBegin)
	l.bind(halves)
	l.mod(amd64.SHR, g8(half), imm(1))
	l.jump(amd64.JE, within)
	lower, upper, end, top, alone := l.gpr(), l.gpr(), l.gpr(), l.label(), l.label()
	l.def(amd64.MOV, g8(distance), g8(half))
	l.mod(amd64.IMUL, g8(distance), g8(size))
	l.def(amd64.MOV, g8(lower), g8(base))
	l.def(amd64.LEA, g8(end), at(mem{base: base, index: distance, indexSize: 8, scale: 1}))
	l.def(amd64.MOV, g8(upper), g8(end))
	l.mark(kindLoopBegin)
	l.bind(top)
	l.use(amd64.CMP, g8(upper), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JAE, alone)
	for i := range vectors {
		a, b, d := l.vec(), l.vec(), l.vec()
		l.def(amd64.VMOVUPS, z(a), at(value(lower, bytes*i)))
		l.def(amd64.VMOVUPS, z(b), at(value(upper, bytes*i)))
		l.combineVectors(c.op, t, d, a, b)
		l.use(amd64.VMOVUPS, at(value(lower, bytes*i)), z(d))
	}
	l.mod(amd64.ADD, g8(lower), g8(size))
	l.mod(amd64.ADD, g8(upper), g8(size))
	l.use(amd64.CMP, g8(lower), g8(end))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	l.bind(alone)
	if c.neutral() != c.identity() {
		l.addIdentity(in, lower, end, size)
	}
	l.jump(amd64.JMP, halves)
	l.mark(kindLoopEnd)

	l.bind(within)
	regs := newRegs(l.fn, vectors)
	for i, r := range regs {
		l.def(amd64.VMOVUPS, z(r), at(value(base, bytes*i)))
	}
	last := l.reduceVectors(c, regs)

	// All gangs take the result from their own frames.
	result, to, all := l.gpr(), l.gpr(), l.label()
	l.def(sized(t.Size(), amd64.VMOVD, amd64.VMOVQ), g(result, t.Size()), x(last))
	l.def(amd64.MOV, g8(to), g8(base))
	m := value(to, 0)
	m.size = uint8(t.Size())
	l.mark(kindLoopBegin)
	l.bind(all)
	l.use(amd64.MOV, at(m), g(result, t.Size()))
	l.mod(amd64.ADD, g8(to), g8(size))
	l.use(amd64.CMP, g8(to), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JB, all)
	l.mark(kindLoopEnd)
}

// addIdentity emits what becomes of gangs that have none to be combined with: −0 becomes 0 in sums.
func (l *lowerer) addIdentity(in *ir.Instr, lower, end, size vr) {
	t, c := in.Type(), combinerOf(in)
	identity := l.constant(c.identity(), t.Size())
	top, past := l.label(), l.label()
	l.mark(kindLoopBegin)
	l.bind(top)
	l.use(amd64.CMP, g8(lower), g8(end))
	l.jump(amd64.JAE, past)
	for i := range l.vectorsOf(t) {
		a, d := l.vec(), l.vec()
		m := mem{base: lower, disp: int32(groupValue(&l.layout, 0) + l.t.bytes()*i)}
		l.def(amd64.VMOVUPS, z(a), at(m))
		l.combineVectors(c.op, t, d, a, identity)
		l.use(amd64.VMOVUPS, at(m), z(d))
	}
	l.mod(amd64.ADD, g8(lower), g8(size))
	l.jump(amd64.JMP, top)
	l.mark(kindLoopEnd)
	l.bind(past)
}

// reduceVectors emits the reduction of vectors, as many as a power of two, to one whose elements are all the result.
func (l *lowerer) reduceVectors(c combiner, regs []vr) vr {
	// Register 0 with that half of them behind it, and so on; each sum as soon as both are there, so that few live at once.
	var combined func(i, n int) vr
	combined = func(i, n int) vr {
		if n == len(regs) {
			return regs[i]
		}
		a, b, d := combined(i, 2*n), combined(i+n, 2*n), l.vec()
		l.combineVectors(c.op, c.t, d, a, b)
		return d
	}
	last := combined(0, 1)
	for s := l.t.bytes() / 2; s >= c.t.Size(); s /= 2 {
		d := l.vec()
		l.combineVectors(c.op, c.t, d, last, l.swapped(last, s))
		last = d
	}
	return last
}

// combineVectors emits an addition, a minimum or a maximum.
func (l *lowerer) combineVectors(op ir.Op, t ir.Type, d, a, b vr) {
	if op != ir.Add && t.IsFloat() {
		l.minMax(op, t.Size(), d, a, b)
		return
	}
	ops := vectorOps[op]
	l.op2(ops.of(t), d, a, b, t.Size())
}
