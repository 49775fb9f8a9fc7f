package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Reductions over a group are computed by the code itself where all gangs take part, have all their lanes in the group
// one after the other, and are a power of two. Elsewhere, and for other group operations, Go does it.

// reduces reports whether a group operation has code.
func (l *lowerer) reduces(in *ir.Instr) bool {
	t := in.Type()
	return in.Op == ir.Reduce && t != ir.Bool && l.uniform(in.Result())
}

// combinerOf is the combining operation of a reduction or scan.
func combinerOf(in *ir.Instr) combiner {
	op := map[ir.Combine]ir.Op{ir.CombineMin: ir.Min, ir.CombineMax: ir.Max}[in.Combine]
	if op == 0 {
		op = ir.Add
	}
	return combiner{t: in.Args[0].Type, op: op}
}

// operandOf gives the vectors of a reduction's operand with the identity in lanes that take no part.
func (l *lowerer) operandOf(in *ir.Instr, regs []vr) []vr {
	if l.cur == nil {
		return regs
	}
	t := in.Type()
	identity := l.constant(combinerOf(in).identity(), t.Size())
	out := newRegs(l.fn, l.vectorsOf(t))
	for i, d := range out {
		m := l.partMask(l.cur, i, t.Size())
		l.def(sized(t.Size(), amd64.VPBLENDMD, amd64.VPBLENDMQ), z(d), z(identity), z(part(regs, i))).mask = m
	}
	return out
}

// reduceGroups emits the code for the reductions of the kernel, after which control goes to dispatch. It is run between
// gangs: what it keeps in memory must not lie in the frame of one.
func (l *lowerer) reduceGroups(dispatch amd64.Label) {
	var list []int
	for i, in := range l.groups {
		if l.reduces(in) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return
	}
	l.fn.shared = true
	slow := l.label()
	n := l.gpr()
	l.use(amd64.CMP, at(ctxMem(ctxRegular, 4)), imm(0))
	l.jump(amd64.JE, slow)
	l.def(amd64.MOV, g8(n), at(ctxMem(ctxAlive, 8)))
	l.use(amd64.CMP, g8(n), at(ctxMem(ctxGangs, 8)))
	l.jump(amd64.JNE, slow)
	for _, i := range list {
		other := l.label()
		l.use(amd64.CMP, at(ctxMem(ctxPending, 4)), imm(int64(i+1)))
		l.jump(amd64.JNE, other)
		l.reduceGroup(l.groups[i])
		l.use(amd64.MOV, at(ctxMem(ctxPending, 4)), imm(0))
		l.jump(amd64.JMP, dispatch)
		l.bind(other)
	}
	l.bind(slow)
	l.fn.shared = false
}

// reduceGroup emits one reduction: first between gangs, those of the upper half with those of the lower one until one is
// left, then between its vectors, then in the last one. The order is that of the language.
func (l *lowerer) reduceGroup(in *ir.Instr) {
	t := in.Type()
	bytes, vectors, place := l.t.bytes(), l.vectorsOf(t), groupValue(&l.layout, 0)
	value := func(base vr, at int) mem { return mem{base: base, disp: int32(place + at)} }
	combine := func(d, a, b vr) { l.combineVectors(combinerOf(in).op, t, d, a, b) }

	base, size, half, distance := l.gpr(), l.gpr(), l.gpr(), l.gpr()
	l.def(amd64.MOV, g8(base), at(ctxMem(ctxFrame, 8)))
	l.def(amd64.MOV, g8(size), at(ctxMem(ctxFrameSize, 8)))
	l.def(amd64.MOV, g8(half), at(ctxMem(ctxGangs, 8)))
	halves, within := l.label(), l.label()
	l.mark(kindLoopBegin)
	l.bind(halves)
	l.mod(amd64.SHR, g8(half), imm(1))
	l.jump(amd64.JE, within)
	lower, upper, end, top := l.gpr(), l.gpr(), l.gpr(), l.label()
	l.def(amd64.MOV, g8(distance), g8(half))
	l.mod(amd64.IMUL, g8(distance), g8(size))
	l.def(amd64.MOV, g8(lower), g8(base))
	l.def(amd64.LEA, g8(end), at(mem{base: base, index: distance, indexSize: 8, scale: 1}))
	l.def(amd64.MOV, g8(upper), g8(end))
	l.mark(kindLoopBegin)
	l.bind(top)
	for i := range vectors {
		a, b, d := l.vec(), l.vec(), l.vec()
		l.def(amd64.VMOVUPS, z(a), at(value(lower, bytes*i)))
		l.def(amd64.VMOVUPS, z(b), at(value(upper, bytes*i)))
		combine(d, a, b)
		l.use(amd64.VMOVUPS, at(value(lower, bytes*i)), z(d))
	}
	l.mod(amd64.ADD, g8(lower), g8(size))
	l.mod(amd64.ADD, g8(upper), g8(size))
	l.use(amd64.CMP, g8(lower), g8(end))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	l.jump(amd64.JMP, halves)
	l.mark(kindLoopEnd)

	l.bind(within)
	regs := newRegs(l.fn, vectors)
	for i, r := range regs {
		l.def(amd64.VMOVUPS, z(r), at(value(base, bytes*i)))
	}
	for n := vectors / 2; n > 0; n /= 2 {
		for i := range n {
			d := l.vec()
			combine(d, regs[i], regs[i+n])
			regs[i] = d
		}
	}
	last := regs[0]
	for s := bytes / 2; s >= t.Size(); s /= 2 {
		l.use(amd64.VMOVUPS, at(value(base, 0)), z(last))
		b, d := l.vec(), l.vec()
		l.def(amd64.VMOVUPS, z(b), at(value(base, s)))
		combine(d, last, b)
		last = d
	}
	l.use(amd64.VMOVUPS, at(value(base, 0)), z(last))

	// All gangs take the result from their own frames.
	result, to, all := l.gpr(), l.gpr(), l.label()
	m := value(base, 0)
	m.size = uint8(t.Size())
	l.def(amd64.MOV, g(result, t.Size()), at(m))
	l.def(amd64.MOV, g8(to), g8(base))
	m.base = to
	l.mark(kindLoopBegin)
	l.bind(all)
	l.use(amd64.MOV, at(m), g(result, t.Size()))
	l.mod(amd64.ADD, g8(to), g8(size))
	l.use(amd64.CMP, g8(to), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JB, all)
	l.mark(kindLoopEnd)
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
