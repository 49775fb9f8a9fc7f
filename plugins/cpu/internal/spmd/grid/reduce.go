package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// reduceGroup emits a reduction as a tree, in the order of the language. It goes over gangs, padded to a power of two with the
// identity, then over the vectors of the remaining gang, then over its lanes.
func (l *Builder) reduceGroup(in *ir.Instr) {
	t, c := in.Type(), scalar.CombinerOf(in)
	bytes, vectors, place := l.Target.Bytes(), l.GroupVectors(t), abi.GroupValue(&l.Layout, 0)
	value := func(base vcode.Reg, at int) vcode.Mem { return vcode.Mem{Base: base, Disp: int32(place + at)} }

	base, size, half, distance := l.NewGPR(), l.NewGPR(), l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, base.G8(), vcode.CtxMem(abi.CtxFrame, 8).At())
	l.Def(amd64.MOV, size.G8(), vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Def(amd64.MOV, half.G8(), vcode.CtxMem(abi.CtxHalves, 8).At())
	halves, within := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(halves)
	l.Mod(amd64.SHR, half.G8(), vcode.Imm(1))
	l.Jump(amd64.JE, within)
	lower, upper, end, top, alone := l.NewGPR(), l.NewGPR(), l.NewGPR(), l.NewLabel(), l.NewLabel()
	l.Def(amd64.MOV, distance.G8(), half.G8())
	l.Mod(amd64.IMUL, distance.G8(), size.G8())
	l.Def(amd64.MOV, lower.G8(), base.G8())
	l.Def(amd64.LEA, end.G8(), vcode.Mem{Base: base, Index: distance, IndexSize: 8, Scale: 1}.At())
	l.Def(amd64.MOV, upper.G8(), end.G8())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Use(amd64.CMP, upper.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JAE, alone)
	for i := range vectors {
		a, b, d := l.NewVec(), l.NewVec(), l.NewVec()
		l.Def(amd64.VMOVUPS, a.Z(), value(lower, bytes*i).At())
		l.Def(amd64.VMOVUPS, b.Z(), value(upper, bytes*i).At())
		l.Binary(c.Op, t, d, a, b)
		l.Use(amd64.VMOVUPS, value(lower, bytes*i).At(), d.Z())
	}
	l.Mod(amd64.ADD, lower.G8(), size.G8())
	l.Mod(amd64.ADD, upper.G8(), size.G8())
	l.Use(amd64.CMP, lower.G8(), end.G8())
	l.Jump(amd64.JB, top)
	l.Mark(vcode.KindLoopEnd)
	l.Bind(alone)
	if c.Neutral() != c.Identity() {
		l.addIdentity(in, lower, end, size)
	}
	l.Jump(amd64.JMP, halves)
	l.Mark(vcode.KindLoopEnd)

	l.Bind(within)
	regs := vcode.NewVecs(l.Func, vectors)
	for i, r := range regs {
		l.Def(amd64.VMOVUPS, r.Z(), value(base, bytes*i).At())
	}
	last := l.reduceVectors(c, regs)

	// All gangs receive the result in their frames.
	result, to, all := l.NewGPR(), l.NewGPR(), l.NewLabel()
	l.Def(lanes.Sized(t.Size(), amd64.VMOVD, amd64.VMOVQ), result.G(t.Size()), last.X())
	l.Def(amd64.MOV, to.G8(), base.G8())
	m := value(to, 0)
	m.Size = uint8(t.Size())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(all)
	l.Use(amd64.MOV, m.At(), result.G(t.Size()))
	l.Mod(amd64.ADD, to.G8(), size.G8())
	l.Use(amd64.CMP, to.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, all)
	l.Mark(vcode.KindLoopEnd)
}

// addIdentity emits the combination with the identity of the operands of gangs without a partner. In sums it turns −0 into 0. The
// frames of these gangs are from lower to end; size is the size of a frame.
func (l *Builder) addIdentity(in *ir.Instr, lower, end, size vcode.Reg) {
	t, c := in.Type(), scalar.CombinerOf(in)
	identity := l.Constant(c.Identity(), t.Size())
	top, past := l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Use(amd64.CMP, lower.G8(), end.G8())
	l.Jump(amd64.JAE, past)
	for i := range l.GroupVectors(t) {
		a, d := l.NewVec(), l.NewVec()
		m := vcode.Mem{Base: lower, Disp: int32(abi.GroupValue(&l.Layout, 0) + l.Target.Bytes()*i)}
		l.Def(amd64.VMOVUPS, a.Z(), m.At())
		l.Binary(c.Op, t, d, a, identity)
		l.Use(amd64.VMOVUPS, m.At(), d.Z())
	}
	l.Mod(amd64.ADD, lower.G8(), size.G8())
	l.Jump(amd64.JMP, top)
	l.Mark(vcode.KindLoopEnd)
	l.Bind(past)
}

// reduceVectors emits the reduction of vectors, whose number is a power of two, to one whose elements all equal the result.
func (l *Builder) reduceVectors(c scalar.Combiner, regs []vcode.Reg) vcode.Reg {
	// Each combination is emitted as soon as both operands exist, which keeps live ranges short.
	var combined func(i, n int) vcode.Reg
	combined = func(i, n int) vcode.Reg {
		if n == len(regs) {
			return regs[i]
		}
		a, b, d := combined(i, 2*n), combined(i+n, 2*n), l.NewVec()
		l.Binary(c.Op, c.Type, d, a, b)
		return d
	}
	last := combined(0, 1)
	for s := l.Target.Bytes() / 2; s >= c.Type.Size(); s /= 2 {
		d := l.NewVec()
		l.Binary(c.Op, c.Type, d, last, l.Swapped(last, s))
		last = d
	}
	return last
}
