package spmd

import (
	"fmt"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// writer turns instructions on virtual registers into code.
type writer struct {
	f       *fn
	where   *allocation
	asm     *amd64.Assembler
	trap    amd64.Label // the code that leaves for a trap
	shared  int32       // where registers that gangs share lie in the context
	frame   int32       // where the others lie in the frame
	vec     int         // scratch registers used by the present instruction
	gpr     int
	masks   int
	comment func(site int) string

	ops    [4]operand // of the present instruction
	failed string
	coming []int // instructions put off: ranges of cold code
}

// write emits all code: first what is run often.
func (w *writer) write() {
	depth, begin := 0, 0
	for i := range w.f.insts {
		switch w.f.insts[i].kind {
		case kindColdBegin:
			if depth == 0 {
				begin = i
			}
			depth++
		case kindColdEnd:
			if depth--; depth == 0 {
				w.coming = append(w.coming, begin, i)
			}
		default:
			if depth == 0 {
				w.inst(i)
			}
		}
	}
	for n := 0; n < len(w.coming); n += 2 {
		for i := w.coming[n]; i < w.coming[n+1]; i++ {
			w.inst(i)
		}
	}
}

// slot is the place in memory of a register that has no machine register.
func (w *writer) slot(r vr) amd64.Mem {
	v := &w.f.regs[r]
	if v.elem != 0 {
		return amd64.Mem{Label: v.label}
	}
	if v.shared {
		return amd64.Mem{Base: regContext, Disp: w.shared + w.where.slot[r]}
	}
	return amd64.Mem{Base: regFrame, Disp: w.frame + w.where.slot[r]}
}

// machine returns the machine register of a register that has one.
func (w *writer) machine(r vr, size uint8) amd64.Reg {
	phys := int(w.where.phys[r])
	switch w.f.regs[r].class {
	case classVec:
		return amd64.X(phys).As(int(size))
	case classMask:
		return amd64.K(phys)
	}
	return amd64.GPR(phys, int(size))
}

// scratch gives a scratch register of a class for one instruction.
func (w *writer) scratch(c class, size uint8) amd64.Reg {
	switch c {
	case classVec:
		w.vec++
		return amd64.X(w.f.t.vectors + scratchVectorRegs - w.vec).As(int(size))
	case classMask:
		w.masks++
		return amd64.K(scratchMask[w.masks-1])
	}
	w.gpr++
	return scratchGPR[w.gpr-1].As(int(size))
}

// load brings a register from memory to a machine register.
func (w *writer) load(r vr, to amd64.Reg) {
	v, m := &w.f.regs[r], w.slot(r)
	switch {
	case v.elem == 4:
		w.asm.Emit(amd64.VPBROADCASTD, to, m)
	case v.elem == 64:
		w.asm.Emit(amd64.VMOVUPS, to.As(w.f.t.bytes()), m)
	case v.elem == 8:
		if to.Bytes() == 16 {
			to = to.As(32)
		}
		w.asm.Emit(amd64.VPBROADCASTQ, to, m)
	case v.class == classVec:
		w.asm.Emit(amd64.VMOVUPS, to.As(w.f.t.bytes()), m)
	case v.class == classMask:
		w.asm.Emit(amd64.KMOVW, to, m)
	default:
		w.asm.Emit(amd64.MOV, to.As(8), m)
	}
}

func (w *writer) store(r vr, from amd64.Reg) {
	m := w.slot(r)
	switch w.f.regs[r].class {
	case classVec:
		w.asm.Emit(amd64.VMOVUPS, m, from.As(w.f.t.bytes()))
	case classMask:
		w.asm.Emit(amd64.KMOVW, m, from)
	default:
		w.asm.Emit(amd64.MOV, m, from.As(8))
	}
}

// read gives a machine register that holds the register's value.
func (w *writer) read(r vr, size uint8) amd64.Reg {
	if w.where.phys[r] >= 0 {
		return w.machine(r, size)
	}
	to := w.scratch(w.f.regs[r].class, size)
	w.load(r, to)
	return to
}

func (w *writer) address(m *mem) amd64.Mem {
	out := amd64.Mem{Base: m.fixed, Scale: m.scale, Size: m.size, Broadcast: m.broadcast, Disp: m.disp, Label: m.label}
	if m.base != 0 {
		out.Base = w.read(m.base, 8)
	}
	if m.index != 0 {
		out.Index = w.read(m.index, m.indexSize)
	}
	return out
}

// moves reports whether the instruction only copies a register to another.
func (in *inst) moves() bool {
	return in.n == 2 && in.mask == 0 && in.mode == modeDef && in.a[0].kind == argReg && in.a[1].kind == argReg &&
		(in.op == amd64.VMOVDQA64 || in.op == amd64.VMOVDQA || in.op == amd64.KMOVW && in.a[1].size == 0 && in.a[0].size == 0 ||
			in.op == amd64.MOV && in.a[0].size == 8)
}

func (w *writer) inst(i int) {
	in := &w.f.insts[i]
	switch in.kind {
	case kindLabel:
		w.asm.Bind(amd64.Label(in.x))
		return
	case kindTrap:
		w.asm.Emit(amd64.MOV, amd64.EAX, amd64.Imm(in.x))
		w.asm.Emit(amd64.CALL, w.trap)
		return
	case kindComment:
		if w.comment != nil {
			if text := w.comment(int(in.x)); text != "" {
				w.asm.Comment("%s", text)
			}
		}
		return
	case kindOp:
	default:
		return
	}
	if in.op == amd64.JMP && in.a[0].kind == argLabel && w.next(i, in.imm) {
		return
	}
	w.vec, w.gpr, w.masks = 0, 0, 0
	if in.moves() {
		d, s := in.a[0].reg, in.a[1].reg
		to, from := w.where.phys[d], w.where.phys[s]
		switch {
		case to >= 0 && to == from:
			return
		case to >= 0 && from < 0:
			w.load(s, w.machine(d, in.a[0].size))
			return
		case to < 0 && from >= 0:
			w.store(d, w.machine(s, in.a[1].size))
			return
		}
	}
	memory := false // one operand is in memory already
	for j := range in.a[:in.n] {
		memory = memory || in.a[j].kind == argMem
	}
	for j := 1; j < int(in.n); j++ {
		w.ops[j] = w.operand(in, j, &memory)
	}
	// The destination last, so that it can be a scratch register that a source was read from.
	var mask amd64.Reg
	if in.mask != 0 {
		mask = w.read(in.mask, 0)
	}
	var back amd64.Reg
	w.ops[0], back = w.destination(in, mask)
	w.asm.Begin(in.op)
	for j := range w.ops[:in.n] {
		w.ops[j].give(w.asm)
	}
	if in.lock {
		w.asm.Prefix(amd64.Lock)
	}
	w.asm.End()
	if w.asm.Err() != nil && w.failed == "" {
		w.failed = fmt.Sprintf("%v %+v", in.op, in.a[:in.n])
	}
	if back != 0 {
		w.store(in.a[0].reg, back)
	}
}

// next reports whether the label is bound right after instruction i.
func (w *writer) next(i int, label int64) bool {
	for i++; i < len(w.f.insts); i++ {
		switch in := &w.f.insts[i]; in.kind {
		case kindLabel:
			if int64(in.x) == label {
				return true
			}
		case kindLoopEnd, kindLoopBegin, kindComment, kindDeclare:
		default:
			return false
		}
	}
	return false
}

// operand is an operand on machine registers.
type operand struct {
	kind argKind // argReg or argPhys, argMem, argImm, argLabel
	reg  amd64.Reg
	imm  int64 // or a label
	mem  amd64.Mem
}

// give gives it to the instruction that was begun.
func (o *operand) give(to *amd64.Assembler) {
	switch o.kind {
	case argReg, argPhys:
		to.Reg(o.reg)
	case argMem:
		to.Mem(&o.mem)
	case argImm:
		to.Imm(amd64.Imm(o.imm))
	case argLabel:
		to.Label(amd64.Label(o.imm))
	}
}

// operand gives a source operand.
func (w *writer) operand(in *inst, j int, memory *bool) operand {
	a := &in.a[j]
	switch a.kind {
	case argReg:
		v := &w.f.regs[a.reg]
		if w.where.phys[a.reg] < 0 && int(in.fold) == j && !*memory {
			m := w.slot(a.reg)
			if v.elem == 0 || v.elem == 64 {
				*memory = true
				m.Size = a.size
				return operand{kind: argMem, mem: m}
			}
			if v.elem == in.elem {
				*memory = true
				m.Size, m.Broadcast = a.size, true
				return operand{kind: argMem, mem: m}
			}
		}
		return operand{kind: argReg, reg: w.read(a.reg, a.size)}
	case argMem:
		return operand{kind: argMem, mem: w.address(&in.mem)}
	case argPhys, argImm, argLabel:
		return operand{kind: a.kind, reg: a.phys, imm: in.imm}
	}
	panic(fmt.Sprintf("spmd: operand %d of %v is missing", j, in.op))
}

// destination gives the first operand, and the register to write back to memory after the instruction, if any.
func (w *writer) destination(in *inst, mask amd64.Reg) (first operand, back amd64.Reg) {
	if in.n == 0 {
		return first, 0
	}
	a := &in.a[0]
	switch a.kind {
	case argReg:
		v := &w.f.regs[a.reg]
		var r amd64.Reg
		switch {
		case w.where.phys[a.reg] >= 0:
			r = w.machine(a.reg, a.size)
		case in.mode == modeDef && !in.early && w.used(v.class) > 0:
			r = w.first(v.class, a.size)
			back = r
		default:
			r = w.scratch(v.class, a.size)
			if in.mode != modeDef {
				w.load(a.reg, r)
			}
			if in.mode != modeUse {
				back = r
			}
		}
		switch {
		case mask == 0:
		case in.zero:
			r = r.Zero(mask)
		default:
			r = r.Merge(mask)
		}
		return operand{kind: argReg, reg: r}, back
	case argMem:
		m := w.address(&in.mem)
		m.Mask = mask
		return operand{kind: argMem, mem: m}, 0
	case argPhys, argLabel, argImm:
		return operand{kind: a.kind, reg: a.phys, imm: in.imm}, 0
	}
	panic(fmt.Sprintf("spmd: %v has no first operand", in.op))
}

// used is how many scratch registers of the class hold sources of the present instruction.
func (w *writer) used(c class) int {
	switch c {
	case classVec:
		return w.vec
	case classMask:
		return w.masks
	}
	return w.gpr
}

// first is the first of them.
func (w *writer) first(c class, size uint8) amd64.Reg {
	switch c {
	case classVec:
		return amd64.X(w.f.t.vectors + scratchVectorRegs - 1).As(int(size))
	case classMask:
		return amd64.K(scratchMask[0])
	}
	return scratchGPR[0].As(int(size))
}
