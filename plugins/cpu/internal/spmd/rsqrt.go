package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Functions are those of the device library, by name and type, whose calls the compiler takes itself.
func Functions() []string { return []string{fastRsqrt + ".f32"} }

const fastRsqrt = "fast.rsqrt"

// call emits a call of one of [Functions].
func (l *lowerer) call(in *ir.Instr) []vr {
	if in.Fn != fastRsqrt || in.Type() != ir.F32 {
		l.refuse("the function %s of %v", in.Fn, in.Type())
	}
	return l.rsqrtFast(in)
}

// rsqrtFast emits 1/√x right to 4 units in the last place: the instruction's estimate y, of 14 bits or 12, and a step by the
// rest e = 1 − xy², y + ye/2. The step always ends below the root, by 3y/8·e²: from 12 bits by up to 3.4 units. There the
// rest is taken from 1 + 2⁻²³, which adds up to one unit to all results. Where x is 0, infinite or NaN the rest is NaN; the
// lesser of it and a positive number, more than any rest, is that number, and the step leaves y as it is: infinite, 0 or NaN.
// That of −0 loses its sign. Where AVX2's estimate is infinite for a subnormal number, the rest and the step are made
// with a finite one.
func (l *lowerer) rsqrtFast(in *ir.Instr) []vr {
	x := l.vector(in.Args[0])
	n := l.count(in.Result())
	y, e, s, bounded := newRegs(l.fn, n), newRegs(l.fn, n), newRegs(l.fn, n), newRegs(l.fn, n)
	number := func(x float64) vr { return l.constant(ir.FloatBits(ir.F32, x), 4) }
	estimate, one, bound := amd64.VRSQRT14PS, 1.0, func(i int) { bounded[i] = y[i] }
	if !l.t.masks {
		estimate, one = amd64.VRSQRTPS, 1+0x1p-23
		bound = func(i int) { l.op2(amd64.VMINPS, bounded[i], y[i], number(0x1p64), 4) }
	}
	steps := []func(i int){
		func(i int) { l.def(estimate, z(y[i]), z(part(x, i))).folds(1, 0) },
		func(i int) { l.op2(amd64.VPANDD, y[i], y[i], l.constant(0x7fffffff, 4), 4) },
		bound,
		func(i int) { l.op2(amd64.VMULPS, e[i], bounded[i], part(x, i), 4) },
		func(i int) { l.mod(amd64.VFNMADD213PS, z(e[i]), z(bounded[i]), z(number(one))).folds(2, 4) },
		func(i int) { l.op2(amd64.VMINPS, e[i], e[i], number(0x1p-9), 4) },
		func(i int) { l.op2(amd64.VMULPS, s[i], bounded[i], number(0.5), 4) },
		func(i int) { l.mod(amd64.VFMADD231PS, z(y[i]), z(e[i]), z(s[i])) },
	}
	if !l.t.masks { // few registers: one after the other
		for i := range n {
			for _, step := range steps {
				step(i)
			}
		}
		return y
	}
	for _, step := range steps { // so that none waits for its own last step
		for i := range n {
			step(i)
		}
	}
	return y
}
