package spmd

import (
	"fmt"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// avx2 has vectors of 256 bits without mask registers. Its instructions encode only sixteen registers, and write no
// lanes apart.
var avx2 = target{name: "avx2", features: amd64.ForAVX2, lanes: 8, vectors: 16 - scratchVectorRegs, spare: 4,
	wholeConstants: true}

// expander replaces the instructions of AVX-512 on whole vectors by those of AVX2.
type expander struct {
	*fn
	wasMask []bool // virtual registers that were of the class of masks
	err     error  // the first instruction without an expansion
}

// expandAVX2 replaces the instructions that AVX2 lacks, or returns an error that names one without a replacement.
// Other instructions stay, with shorter vectors; the assembler reports those that AVX2 lacks, too.
func expandAVX2(f *fn) error {
	e := &expander{fn: f, wasMask: make([]bool, len(f.regs))}
	for r := range f.regs {
		if f.regs[r].class == classMask {
			e.wasMask[r], f.regs[r].class = true, classVec
		}
	}
	old := f.rewrite()
	for i := range old {
		if in := &old[i]; in.kind == kindOp {
			e.shorten(in)
			e.instruction(in)
		} else {
			f.add(*in)
		}
	}
	return e.err
}

// shorten makes operands half as long.
func (e *expander) shorten(in *inst) {
	for j := range in.a[:in.n] {
		switch a := &in.a[j]; a.kind {
		case argReg:
			switch {
			case e.isMask(a.reg) && a.size == 0:
				a.size = 32
			case e.regs[a.reg].class == classVec && a.size > 16:
				a.size /= 2
			}
		case argMem:
			if in.mem.size >= 16 {
				in.mem.size /= 2
			}
			if in.mem.indexSize >= 16 {
				in.mem.indexSize /= 2
			}
		}
	}
	if in.elem != 0 {
		in.elem = 0 // elements are not broadcast on the way
	}
}

func (e *expander) isMask(r vr) bool { return int(r) < len(e.wasMask) && e.wasMask[r] }

// renamed are instructions that AVX2 has by another name, as it needs no size of elements for masks.
var renamed = map[amd64.Op]amd64.Op{
	amd64.VPANDD: amd64.VPAND, amd64.VPANDQ: amd64.VPAND, amd64.VPANDND: amd64.VPANDN, amd64.VPANDNQ: amd64.VPANDN,
	amd64.VPORD: amd64.VPOR, amd64.VPORQ: amd64.VPOR, amd64.VPXORD: amd64.VPXOR, amd64.VPXORQ: amd64.VPXOR,
	amd64.KANDW: amd64.VPAND, amd64.KORW: amd64.VPOR, amd64.KXORW: amd64.VPXOR, amd64.KANDNW: amd64.VPANDN,
	amd64.VMOVDQA32: amd64.VMOVDQA, amd64.VMOVDQA64: amd64.VMOVDQA,
	amd64.VRNDSCALEPS: amd64.VROUNDPS, amd64.VRNDSCALEPD: amd64.VROUNDPD,
	amd64.VEXTRACTI64X4: amd64.VEXTRACTI128, amd64.VINSERTI64X4: amd64.VINSERTI128,
}

// shifts by an immediate take no operand from memory.
var shifts = map[amd64.Op]bool{amd64.VPSLLD: true, amd64.VPSRLD: true, amd64.VPSRAD: true, amd64.VPSLLQ: true, amd64.VPSRLQ: true}

// instruction emits what does the same as an instruction.
func (e *expander) instruction(in *inst) {
	switch in.op {
	case amd64.VPBLENDMD, amd64.VPBLENDMQ:
		e.blend(in.a[0].reg, in.a[1].reg, in.a[2].reg, in.mask)
		return
	case amd64.VPGATHERDD, amd64.VPGATHERDQ:
		out := *in
		out.a[2], out.n, out.mask = ref{kind: argReg, reg: in.mask, size: 32}, 3, 0
		e.add(out)
		return
	case amd64.VPCMPD, amd64.VPCMPUD, amd64.VPCMPQ, amd64.VPCMPUQ, amd64.VCMPPS, amd64.VCMPPD, amd64.VPTESTMD, amd64.VPTESTMQ,
		amd64.VPTESTNMD, amd64.VPTESTNMQ:
		if e.isMask(in.a[0].reg) {
			e.compare(in)
			return
		}
	}
	switch {
	case in.mask == 0:
		e.plain(in)
	case in.a[0].kind == argMem:
		e.maskedStore(in)
	case in.a[1].kind == argMem:
		e.maskedLoad(in)
	case in.op == amd64.VMOVDQA32 || in.op == amd64.VMOVDQA64:
		e.choose(in, in.a[1].reg)
	case in.op == amd64.VPADDD && !in.zero && in.a[1].reg == in.a[0].reg:
		e.addSome(in.a[0].reg, in.a[2].reg, in.mask)
	default:
		t := e.vec()
		whole := *in
		whole.a[0].reg, whole.mask = t, 0
		if accumulates[in.op] {
			e.def(amd64.VMOVDQA, y(t), y(in.a[0].reg))
		} else {
			whole.mode = modeDef
		}
		e.plain(&whole)
		e.choose(in, t)
	}
}

// addSome adds to the lanes of a mask: nothing to the others.
func (e *expander) addSome(d, term, mask vr) {
	if term == e.constant(1, 4) {
		e.op(amd64.VPSUBD, d, d, mask) // which is −1 in its lanes
		return
	}
	e.op(amd64.VPADDD, d, d, e.temp(amd64.VPAND, mask, term))
}

// accumulates says of an instruction that it reads its destination also without a mask.
var accumulates = map[amd64.Op]bool{
	amd64.VFMADD213PS: true, amd64.VFMADD213PD: true, amd64.VFMADD231PS: true, amd64.VFMADD231PD: true,
	amd64.VFMSUB213PS: true, amd64.VFMSUB213PD: true, amd64.VFMSUB231PS: true, amd64.VFMSUB231PD: true,
	amd64.VFNMADD213PS: true, amd64.VFNMADD213PD: true, amd64.VFNMADD231PS: true, amd64.VFNMADD231PD: true,
	amd64.VFNMSUB213PS: true, amd64.VFNMSUB213PD: true, amd64.VFNMSUB231PS: true, amd64.VFNMSUB231PD: true,
	amd64.VPTERNLOGD: true, amd64.VPTERNLOGQ: true,
}

// choose puts a result into the lanes of the instruction's mask; the others keep their values or become zero.
func (e *expander) choose(in *inst, result vr) {
	if in.zero {
		e.op(amd64.VPAND, in.a[0].reg, in.mask, result)
	} else {
		e.blend(in.a[0].reg, in.a[0].reg, result, in.mask)
	}
}

// op emits a plain operation of two vectors.
func (e *expander) op(op amd64.Op, d, a, b vr) { e.def(op, y(d), y(a), y(b)).folds(2, 0) }

// temp is a new register that such an operation gives.
func (e *expander) temp(op amd64.Op, a, b vr) vr {
	t := e.vec()
	e.op(op, t, a, b)
	return t
}

// shifted is a new register with elements shifted by an immediate.
func (e *expander) shifted(op amd64.Op, a vr, count int64) vr {
	t := e.vec()
	e.def(op, y(t), y(a), imm(count))
	return t
}

// blend takes the lanes of a mask from one vector and the others from another.
func (e *expander) blend(d, without, with, mask vr) {
	e.def(amd64.VBLENDVPS, y(d), y(without), y(with), y(mask)).folds(2, 0)
}

func (e *expander) ones() vr { return e.constant(^uint64(0), 4) }

// refuseOp records an instruction that has no expansion.
func (e *expander) refuseOp(in *inst) {
	if e.err == nil {
		e.err = fmt.Errorf("no AVX2 expansion for %v", in.op)
	}
}

// maskedStore emits a store of some lanes.
func (e *expander) maskedStore(in *inst) {
	switch in.op {
	case amd64.VMOVUPS:
		e.use(amd64.VMASKMOVPS, in.arg(0), y(in.mask), in.arg(1))
	case amd64.VMOVUPD:
		e.use(amd64.VMASKMOVPD, in.arg(0), y(in.mask), in.arg(1))
	default:
		e.refuseOp(in)
	}
}

// maskedLoad emits a load of some lanes, the others zero.
func (e *expander) maskedLoad(in *inst) {
	op := amd64.VMASKMOVPS
	switch in.op {
	case amd64.VMOVUPS:
	case amd64.VMOVUPD:
		op = amd64.VMASKMOVPD
	default:
		e.refuseOp(in)
	}
	if in.zero {
		e.def(op, in.arg(0), y(in.mask), in.arg(1))
		return
	}
	t := e.vec()
	e.def(op, y(t), y(in.mask), in.arg(1))
	e.blend(in.a[0].reg, in.a[0].reg, t, in.mask)
}

// plain emits an instruction without a write mask.
func (e *expander) plain(in *inst) {
	if op, ok := renamed[in.op]; ok {
		out := *in
		out.op = op
		e.add(out)
		return
	}
	if e.mask1(in) || e.arithmetic(in) || e.conversion(in) {
		return
	}
	out := *in
	if shifts[in.op] && in.a[2].kind == argImm {
		out.fold = -1
	}
	e.add(out)
}

// mask1 emits what works on masks other than as a renamed instruction, and reports whether the instruction is of those.
func (e *expander) mask1(in *inst) bool {
	d, a, b := in.a[0].reg, in.a[1].reg, in.a[2].reg
	switch in.op {
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
		e.use(amd64.VPTEST, y(both), y(both))
	case amd64.KMOVW:
		e.moveMask(in)
	case amd64.VPBROADCASTD, amd64.VPBROADCASTQ:
		if in.a[1].kind != argReg || e.regs[a].class != classGPR {
			return false
		}
		t, move := e.vec(), amd64.VMOVD
		if in.op == amd64.VPBROADCASTQ {
			move = amd64.VMOVQ
		}
		e.def(move, x(t), in.arg(1))
		e.def(in.op, in.arg(0), x(t))
	default:
		return false
	}
	return true
}

// moveMask emits a move between masks, general registers with a bit for each lane, and memory.
func (e *expander) moveMask(in *inst) {
	to, from := &in.a[0], &in.a[1]
	switch {
	case to.kind == argMem:
		g := e.gpr()
		e.def(amd64.VMOVMSKPS, g4(g), y(from.reg))
		m := in.mem
		m.size = 2
		e.use(amd64.MOV, at(m), arg{kind: argReg, reg: g, size: 2})
	case from.kind == argMem:
		e.refuseOp(in)
	case e.regs[to.reg].class == classGPR:
		e.def(amd64.VMOVMSKPS, g4(to.reg), y(from.reg))
	case e.regs[from.reg].class == classGPR:
		t, all := e.vec(), e.vec()
		e.def(amd64.VMOVD, x(t), g4(from.reg))
		e.def(amd64.VPBROADCASTD, y(all), x(t))
		bits := e.bitOfLane()
		e.op(amd64.VPCMPEQD, to.reg, e.temp(amd64.VPAND, all, bits), bits)
	default:
		e.def(amd64.VMOVDQA, y(to.reg), y(from.reg)).folds(1, 0)
	}
}

// bitOfLane is the vector of the bits that stand for lanes.
func (e *expander) bitOfLane() vr {
	var data [32]byte
	for i := range 8 {
		data[4*i] = 1 << i
	}
	return e.pattern(data[:])
}

// compare emits a comparison into a mask.
func (e *expander) compare(in *inst) {
	r, not := e.comparison(in)
	d, m := in.a[0].reg, in.mask
	switch {
	case not && m != 0:
		e.op(amd64.VPANDN, d, r, m)
	case not:
		e.op(amd64.VPXOR, d, r, e.ones())
	case m != 0:
		e.op(amd64.VPAND, d, r, m)
	default:
		e.def(amd64.VMOVDQA, y(d), y(r))
	}
}

// comparison gives a register with the lanes in which a comparison holds, or, if not is set, does not.
func (e *expander) comparison(in *inst) (r vr, not bool) {
	a, b, pred := in.a[1].reg, in.a[2].reg, in.imm
	equal, greater := amd64.VPCMPEQD, amd64.VPCMPGTD
	switch in.op {
	case amd64.VCMPPS, amd64.VCMPPD:
		t := e.vec()
		out := *in
		out.a[0], out.mask, out.mode = ref{kind: argReg, reg: t, size: 32}, 0, modeDef
		e.add(out)
		return t, false
	case amd64.VPTESTMD, amd64.VPTESTMQ, amd64.VPTESTNMD, amd64.VPTESTNMQ:
		if in.op == amd64.VPTESTMQ || in.op == amd64.VPTESTNMQ {
			equal = amd64.VPCMPEQQ
		}
		if a != b {
			a = e.temp(amd64.VPAND, a, b)
		}
		return e.temp(equal, a, e.constant(0, 4)), in.op == amd64.VPTESTMD || in.op == amd64.VPTESTMQ
	case amd64.VPCMPUD:
		switch pred {
		case 1, 5: // a ≥ b if a is the greater
			return e.temp(amd64.VPCMPEQD, e.temp(amd64.VPMAXUD, a, b), a), pred == 1
		case 2, 6:
			return e.temp(amd64.VPCMPEQD, e.temp(amd64.VPMINUD, a, b), a), pred == 6
		}
	case amd64.VPCMPUQ:
		if pred != 0 && pred != 4 {
			sign := e.constant(1<<63, 8)
			a, b = e.temp(amd64.VPXOR, a, sign), e.temp(amd64.VPXOR, b, sign)
		}
		equal, greater = amd64.VPCMPEQQ, amd64.VPCMPGTQ
	case amd64.VPCMPQ:
		equal, greater = amd64.VPCMPEQQ, amd64.VPCMPGTQ
	}
	switch pred {
	case 0, 4:
		return e.temp(equal, a, b), pred == 4
	case 1, 5:
		return e.temp(greater, b, a), pred == 5
	case 2, 6:
		return e.temp(greater, a, b), pred == 2
	}
	e.refuseOp(in)
	return 0, false
}
