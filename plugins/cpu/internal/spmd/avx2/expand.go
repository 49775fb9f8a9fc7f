package avx2

import (
	"fmt"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// expander replaces AVX-512 instructions on whole vectors by AVX2 instructions.
type expander struct {
	*vcode.Func
	wasMask []bool // by register: it was a mask register
	err     error  // the first instruction without an expansion
}

// Expand puts masks in vector registers, replaces the instructions that AVX2 lacks, and halves the vectors of the others. It
// returns an error that names the first instruction without a replacement, if there is one.
func Expand(f *vcode.Func) error {
	e := &expander{Func: f, wasMask: make([]bool, len(f.Regs))}
	for r := range f.Regs {
		if f.Regs[r].Class == vcode.ClassMask {
			e.wasMask[r], f.Regs[r].Class = true, vcode.ClassVec
		}
	}
	old := f.Rewrite()
	for i := range old {
		if in := &old[i]; in.Kind == vcode.KindOp {
			e.shorten(in)
			e.instruction(in)
		} else {
			f.Add(*in)
		}
	}
	return e.err
}

// shorten halves the size of vectors in memory and in registers, except registers of 128 bits. It makes masks whole vectors,
// and forbids broadcasts of spilled constants.
func (e *expander) shorten(in *vcode.Inst) {
	for j := range in.Args[:in.N] {
		switch a := &in.Args[j]; a.Kind {
		case vcode.ArgReg:
			switch {
			case e.isMask(a.Reg) && a.Size == 0:
				a.Size = 32
			case e.Regs[a.Reg].Class == vcode.ClassVec && a.Size > 16:
				a.Size /= 2
			}
		case vcode.ArgMem:
			if in.Mem.Size >= 16 {
				in.Mem.Size /= 2
			}
			if in.Mem.IndexSize >= 16 {
				in.Mem.IndexSize /= 2
			}
		}
	}
	if in.Elem != 0 {
		in.Elem = 0 // AVX2 instructions cannot broadcast a memory operand
	}
}

// isMask reports whether a register was a mask register.
func (e *expander) isMask(r vcode.Reg) bool { return int(r) < len(e.wasMask) && e.wasMask[r] }

// renamed maps AVX-512 instructions to AVX2 instructions with the same operands and results.
var renamed = later.Value[map[amd64.Op]amd64.Op]{Make: func() map[amd64.Op]amd64.Op {
	return map[amd64.Op]amd64.Op{
		amd64.VPANDD: amd64.VPAND, amd64.VPANDQ: amd64.VPAND, amd64.VPANDND: amd64.VPANDN, amd64.VPANDNQ: amd64.VPANDN,
		amd64.VPORD: amd64.VPOR, amd64.VPORQ: amd64.VPOR, amd64.VPXORD: amd64.VPXOR, amd64.VPXORQ: amd64.VPXOR,
		amd64.KANDW: amd64.VPAND, amd64.KORW: amd64.VPOR, amd64.KXORW: amd64.VPXOR, amd64.KANDNW: amd64.VPANDN,
		amd64.VMOVDQA32: amd64.VMOVDQA, amd64.VMOVDQA64: amd64.VMOVDQA,
		amd64.VRNDSCALEPS: amd64.VROUNDPS, amd64.VRNDSCALEPD: amd64.VROUNDPD,
		amd64.VEXTRACTI64X4: amd64.VEXTRACTI128, amd64.VINSERTI64X4: amd64.VINSERTI128,
	}
}}

// shifts are the shifts whose immediate forms do not accept a memory operand.
var shifts = later.Value[map[amd64.Op]bool]{Make: func() map[amd64.Op]bool {
	return map[amd64.Op]bool{amd64.VPSLLD: true, amd64.VPSRLD: true, amd64.VPSRAD: true, amd64.VPSLLQ: true, amd64.VPSRLQ: true}
}}

// instruction emits the expansion of an instruction.
func (e *expander) instruction(in *vcode.Inst) {
	switch in.Op {
	case amd64.VPBLENDMD, amd64.VPBLENDMQ:
		e.blend(in.Args[0].Reg, in.Args[1].Reg, in.Args[2].Reg, in.Mask)
		return
	case amd64.VPGATHERDD, amd64.VPGATHERDQ:
		out := *in
		out.Args[2], out.N, out.Mask = vcode.Ref{Kind: vcode.ArgReg, Reg: in.Mask, Size: 32}, 3, 0
		e.Add(out)
		return
	case amd64.VPCMPD, amd64.VPCMPUD, amd64.VPCMPQ, amd64.VPCMPUQ, amd64.VCMPPS, amd64.VCMPPD, amd64.VPTESTMD, amd64.VPTESTMQ,
		amd64.VPTESTNMD, amd64.VPTESTNMQ:
		if e.isMask(in.Args[0].Reg) {
			e.compare(in)
			return
		}
	}
	switch {
	case in.Mask == 0:
		e.plain(in)
	case in.Args[0].Kind == vcode.ArgMem:
		e.maskedStore(in)
	case in.Args[1].Kind == vcode.ArgMem:
		e.maskedLoad(in)
	case in.Op == amd64.VMOVDQA32 || in.Op == amd64.VMOVDQA64:
		e.choose(in, in.Args[1].Reg)
	case in.Op == amd64.VPADDD && !in.Zero && in.Args[1].Reg == in.Args[0].Reg:
		e.addSome(in.Args[0].Reg, in.Args[2].Reg, in.Mask)
	default:
		t := e.NewVec()
		whole := *in
		whole.Args[0].Reg, whole.Mask = t, 0
		if accumulates.Get()[in.Op] {
			e.Def(amd64.VMOVDQA, t.Y(), in.Args[0].Reg.Y())
		} else {
			whole.Mode = vcode.ModeDef
		}
		e.plain(&whole)
		e.choose(in, t)
	}
}

// addSome emits the addition of a term to d in the lanes of a mask.
func (e *expander) addSome(d, term, mask vcode.Reg) {
	if term == e.Constant(1, 4) {
		e.op(amd64.VPSUBD, d, d, mask) // active lanes of the mask are −1
		return
	}
	e.op(amd64.VPADDD, d, d, e.temp(amd64.VPAND, mask, term))
}

// accumulates are the instructions that read their destination even without a mask.
var accumulates = later.Value[map[amd64.Op]bool]{Make: func() map[amd64.Op]bool {
	return map[amd64.Op]bool{
		amd64.VFMADD213PS: true, amd64.VFMADD213PD: true, amd64.VFMADD231PS: true, amd64.VFMADD231PD: true,
		amd64.VFMSUB213PS: true, amd64.VFMSUB213PD: true, amd64.VFMSUB231PS: true, amd64.VFMSUB231PD: true,
		amd64.VFNMADD213PS: true, amd64.VFNMADD213PD: true, amd64.VFNMADD231PS: true, amd64.VFNMADD231PD: true,
		amd64.VFNMSUB213PS: true, amd64.VFNMSUB213PD: true, amd64.VFNMSUB231PS: true, amd64.VFNMSUB231PD: true,
		amd64.VPTERNLOGD: true, amd64.VPTERNLOGQ: true,
	}
}}

// choose merges a result by the instruction's mask; other lanes keep their values or become zero.
func (e *expander) choose(in *vcode.Inst, result vcode.Reg) {
	if in.Zero {
		e.op(amd64.VPAND, in.Args[0].Reg, in.Mask, result)
	} else {
		e.blend(in.Args[0].Reg, in.Args[0].Reg, result, in.Mask)
	}
}

// op emits an operation of two vectors.
func (e *expander) op(op amd64.Op, d, a, b vcode.Reg) { e.Def(op, d.Y(), a.Y(), b.Y()).Folds(2, 0) }

// temp returns a new register with the result of an operation of two vectors.
func (e *expander) temp(op amd64.Op, a, b vcode.Reg) vcode.Reg {
	t := e.NewVec()
	e.op(op, t, a, b)
	return t
}

// shifted returns a new register with elements shifted by an immediate.
func (e *expander) shifted(op amd64.Op, a vcode.Reg, count int64) vcode.Reg {
	t := e.NewVec()
	e.Def(op, t.Y(), a.Y(), vcode.Imm(count))
	return t
}

// blend emits a selection: with in the lanes of mask, and without in the others.
func (e *expander) blend(d, without, with, mask vcode.Reg) {
	e.Def(amd64.VBLENDVPS, d.Y(), without.Y(), with.Y(), mask.Y()).Folds(2, 0)
}

// ones returns the constant of all ones.
func (e *expander) ones() vcode.Reg { return e.Constant(^uint64(0), 4) }

// refuseOp records the error for an instruction that has no expansion, unless there was one before.
func (e *expander) refuseOp(in *vcode.Inst) {
	if e.err == nil {
		e.err = fmt.Errorf("no AVX2 expansion for %v", in.Op)
	}
}

// maskedStore expands a store under a mask.
func (e *expander) maskedStore(in *vcode.Inst) {
	switch in.Op {
	case amd64.VMOVUPS:
		e.Use(amd64.VMASKMOVPS, in.Arg(0), in.Mask.Y(), in.Arg(1))
	case amd64.VMOVUPD:
		e.Use(amd64.VMASKMOVPD, in.Arg(0), in.Mask.Y(), in.Arg(1))
	default:
		e.refuseOp(in)
	}
}

// maskedLoad expands a load under a mask.
func (e *expander) maskedLoad(in *vcode.Inst) {
	op := amd64.VMASKMOVPS
	switch in.Op {
	case amd64.VMOVUPS:
	case amd64.VMOVUPD:
		op = amd64.VMASKMOVPD
	default:
		e.refuseOp(in)
	}
	if in.Zero {
		e.Def(op, in.Arg(0), in.Mask.Y(), in.Arg(1))
		return
	}
	t := e.NewVec()
	e.Def(op, t.Y(), in.Mask.Y(), in.Arg(1))
	e.blend(in.Args[0].Reg, in.Args[0].Reg, t, in.Mask)
}

// plain expands an instruction without a write mask.
func (e *expander) plain(in *vcode.Inst) {
	if op, ok := renamed.Get()[in.Op]; ok {
		out := *in
		out.Op = op
		e.Add(out)
		return
	}
	if e.mask1(in) || e.arithmetic(in) || e.conversion(in) {
		return
	}
	out := *in
	if shifts.Get()[in.Op] && in.Args[2].Kind == vcode.ArgImm {
		out.Fold = -1
	}
	e.Add(out)
}

// mask1 expands operations on masks, except those in renamed, and broadcasts of general purpose registers. It returns false for other
// instructions.
func (e *expander) mask1(in *vcode.Inst) bool {
	d, a, b := in.Args[0].Reg, in.Args[1].Reg, in.Args[2].Reg
	switch in.Op {
	case amd64.KNOTW:
		e.op(amd64.VPXOR, d, a, e.ones())
	case amd64.KXNORW:
		if a == b {
			e.op(amd64.VPCMPEQD, d, a, b)
		} else {
			e.op(amd64.VPXOR, d, e.temp(amd64.VPXOR, a, b), e.ones())
		}
	case amd64.KORTESTW:
		both := d
		if a != d {
			both = e.temp(amd64.VPOR, d, a)
		}
		e.Use(amd64.VPTEST, both.Y(), both.Y())
	case amd64.KMOVW:
		e.moveMask(in)
	case amd64.VPBROADCASTD, amd64.VPBROADCASTQ:
		if in.Args[1].Kind != vcode.ArgReg || e.Regs[a].Class != vcode.ClassGPR {
			return false
		}
		t, move := e.NewVec(), amd64.VMOVD
		if in.Op == amd64.VPBROADCASTQ {
			move = amd64.VMOVQ
		}
		e.Def(move, t.X(), in.Arg(1))
		e.Def(in.Op, in.Arg(0), t.X())
	default:
		return false
	}
	return true
}

// moveMask expands a move between masks, or of a mask to or from a general purpose register with a bit for each lane. It also expands a
// move to memory, but has no expansion for one from memory.
func (e *expander) moveMask(in *vcode.Inst) {
	to, from := &in.Args[0], &in.Args[1]
	switch {
	case to.Kind == vcode.ArgMem:
		g := e.NewGPR()
		e.Def(amd64.VMOVMSKPS, g.G4(), from.Reg.Y())
		m := in.Mem
		m.Size = 2
		e.Use(amd64.MOV, m.At(), vcode.Arg{Kind: vcode.ArgReg, Reg: g, Size: 2})
	case from.Kind == vcode.ArgMem:
		e.refuseOp(in)
	case e.Regs[to.Reg].Class == vcode.ClassGPR:
		e.Def(amd64.VMOVMSKPS, to.Reg.G4(), from.Reg.Y())
	case e.Regs[from.Reg].Class == vcode.ClassGPR:
		t, all := e.NewVec(), e.NewVec()
		e.Def(amd64.VMOVD, t.X(), from.Reg.G4())
		e.Def(amd64.VPBROADCASTD, all.Y(), t.X())
		bits := e.bitOfLane()
		e.op(amd64.VPCMPEQD, to.Reg, e.temp(amd64.VPAND, all, bits), bits)
	default:
		e.Def(amd64.VMOVDQA, to.Reg.Y(), from.Reg.Y()).Folds(1, 0)
	}
}

// bitOfLane returns the constant with bit i in lane i.
func (e *expander) bitOfLane() vcode.Reg {
	var data [32]byte
	for i := range 8 {
		data[4*i] = 1 << i
	}
	return e.Pattern(data[:])
}

// compare expands a comparison into a mask.
func (e *expander) compare(in *vcode.Inst) {
	r, not := e.comparison(in)
	d, m := in.Args[0].Reg, in.Mask
	switch {
	case not && m != 0:
		e.op(amd64.VPANDN, d, r, m)
	case not:
		e.op(amd64.VPXOR, d, r, e.ones())
	case m != 0:
		e.op(amd64.VPAND, d, r, m)
	default:
		e.Def(amd64.VMOVDQA, d.Y(), r.Y())
	}
}

// comparison returns the lanes in which a comparison holds, or, if not is true, does not hold.
func (e *expander) comparison(in *vcode.Inst) (r vcode.Reg, not bool) {
	a, b, pred := in.Args[1].Reg, in.Args[2].Reg, amd64.Predicate(in.Imm)
	equal, greater := amd64.VPCMPEQD, amd64.VPCMPGTD
	switch in.Op {
	case amd64.VCMPPS, amd64.VCMPPD:
		t := e.NewVec()
		out := *in
		out.Args[0], out.Mask, out.Mode = vcode.Ref{Kind: vcode.ArgReg, Reg: t, Size: 32}, 0, vcode.ModeDef
		e.Add(out)
		return t, false
	case amd64.VPTESTMD, amd64.VPTESTMQ, amd64.VPTESTNMD, amd64.VPTESTNMQ:
		if in.Op == amd64.VPTESTMQ || in.Op == amd64.VPTESTNMQ {
			equal = amd64.VPCMPEQQ
		}
		if a != b {
			a = e.temp(amd64.VPAND, a, b)
		}
		return e.temp(equal, a, e.Constant(0, 4)), in.Op == amd64.VPTESTMD || in.Op == amd64.VPTESTMQ
	case amd64.VPCMPUD:
		switch pred {
		case amd64.CmpLT, amd64.CmpGE: // a ≥ b if a is the maximum
			return e.temp(amd64.VPCMPEQD, e.temp(amd64.VPMAXUD, a, b), a), pred == amd64.CmpLT
		case amd64.CmpLE, amd64.CmpGT:
			return e.temp(amd64.VPCMPEQD, e.temp(amd64.VPMINUD, a, b), a), pred == amd64.CmpGT
		}
	case amd64.VPCMPUQ:
		if pred != amd64.CmpEQ && pred != amd64.CmpNE {
			sign := e.Constant(1<<63, 8)
			a, b = e.temp(amd64.VPXOR, a, sign), e.temp(amd64.VPXOR, b, sign)
		}
		equal, greater = amd64.VPCMPEQQ, amd64.VPCMPGTQ
	case amd64.VPCMPQ:
		equal, greater = amd64.VPCMPEQQ, amd64.VPCMPGTQ
	}
	switch pred {
	case amd64.CmpEQ, amd64.CmpNE:
		return e.temp(equal, a, b), pred == amd64.CmpNE
	case amd64.CmpLT, amd64.CmpGE:
		return e.temp(greater, b, a), pred == amd64.CmpGE
	case amd64.CmpLE, amd64.CmpGT:
		return e.temp(greater, a, b), pred == amd64.CmpLE
	}
	e.refuseOp(in)
	return 0, false
}
