package emit

import (
	"fmt"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Writer turns instructions on virtual registers into code.
type Writer struct {
	F       *vcode.Func
	Where   *regalloc.Allocation
	Asm     *amd64.Assembler
	Trap    amd64.Label // the code that leaves for a trap
	Shared  int32       // where registers that gangs share lie in the context
	Frame   int32       // where the others lie in the frame
	vec     int         // scratch registers used by the present instruction
	gpr     int
	masks   int
	Comment func(site int) string

	ops    [4]operand // of the present instruction
	Failed string
	coming []int // instructions put off: ranges of cold code
}

// Write emits all code: first what is run often.
func (w *Writer) Write() {
	depth, begin := 0, 0
	for i := range w.F.Insts {
		switch w.F.Insts[i].Kind {
		case vcode.KindColdBegin:
			if depth == 0 {
				begin = i
			}
			depth++
		case vcode.KindColdEnd:
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
func (w *Writer) slot(r vcode.Reg) amd64.Mem {
	v := &w.F.Regs[r]
	if v.Elem != 0 {
		return amd64.Mem{Label: v.Label}
	}
	if v.Shared {
		return amd64.Mem{Base: abi.Context, Disp: w.Shared + w.Where.Slot[r]}
	}
	return amd64.Mem{Base: abi.Frame, Disp: w.Frame + w.Where.Slot[r]}
}

// Machine returns the machine register of a register that has one.
func (w *Writer) Machine(r vcode.Reg, size uint8) amd64.Reg {
	phys := int(w.Where.Phys[r])
	switch w.F.Regs[r].Class {
	case vcode.ClassVec:
		return amd64.X(phys).As(int(size))
	case vcode.ClassMask:
		return amd64.K(phys)
	}
	return amd64.GPR(phys, int(size))
}

// scratch gives a scratch register of a class for one instruction.
func (w *Writer) scratch(c vcode.Class, size uint8) amd64.Reg {
	switch c {
	case vcode.ClassVec:
		w.vec++
		return amd64.X(w.F.Target.Vectors + vcode.ScratchVectors - w.vec).As(int(size))
	case vcode.ClassMask:
		w.masks++
		return amd64.K(regalloc.ScratchMask[w.masks-1])
	}
	w.gpr++
	return regalloc.ScratchGPR[w.gpr-1].As(int(size))
}

// Load brings a register from memory to a machine register.
func (w *Writer) Load(r vcode.Reg, to amd64.Reg) {
	v, m := &w.F.Regs[r], w.slot(r)
	switch {
	case v.Elem == 4:
		w.Asm.Emit(amd64.VPBROADCASTD, to, m)
	case v.Elem == 64:
		w.Asm.Emit(amd64.VMOVUPS, to.As(w.F.Target.Bytes()), m)
	case v.Elem == 8:
		if to.Bytes() == 16 {
			to = to.As(32)
		}
		w.Asm.Emit(amd64.VPBROADCASTQ, to, m)
	case v.Class == vcode.ClassVec:
		w.Asm.Emit(amd64.VMOVUPS, to.As(w.F.Target.Bytes()), m)
	case v.Class == vcode.ClassMask:
		w.Asm.Emit(amd64.KMOVW, to, m)
	default:
		w.Asm.Emit(amd64.MOV, to.As(8), m)
	}
}

func (w *Writer) store(r vcode.Reg, from amd64.Reg) {
	m := w.slot(r)
	switch w.F.Regs[r].Class {
	case vcode.ClassVec:
		w.Asm.Emit(amd64.VMOVUPS, m, from.As(w.F.Target.Bytes()))
	case vcode.ClassMask:
		w.Asm.Emit(amd64.KMOVW, m, from)
	default:
		w.Asm.Emit(amd64.MOV, m, from.As(8))
	}
}

// read gives a machine register that holds the register's value.
func (w *Writer) read(r vcode.Reg, size uint8) amd64.Reg {
	if w.Where.Phys[r] >= 0 {
		return w.Machine(r, size)
	}
	to := w.scratch(w.F.Regs[r].Class, size)
	w.Load(r, to)
	return to
}

func (w *Writer) address(m *vcode.Mem) amd64.Mem {
	out := amd64.Mem{Base: m.Fixed, Scale: m.Scale, Size: m.Size, Broadcast: m.Broadcast, Disp: m.Disp, Label: m.Label}
	if m.Base != 0 {
		out.Base = w.read(m.Base, 8)
	}
	if m.Index != 0 {
		out.Index = w.read(m.Index, m.IndexSize)
	}
	return out
}

func (w *Writer) inst(i int) {
	in := &w.F.Insts[i]
	switch in.Kind {
	case vcode.KindLabel:
		w.Asm.Bind(in.Label())
		return
	case vcode.KindTrap:
		w.Asm.Emit(amd64.MOV, amd64.EAX, amd64.Imm(in.Trap()))
		w.Asm.Emit(amd64.CALL, w.Trap)
		return
	case vcode.KindComment:
		if w.Comment != nil {
			if text := w.Comment(in.Site()); text != "" {
				w.Asm.Comment("%s", text)
			}
		}
		return
	case vcode.KindOp:
	default:
		return
	}
	if in.Op == amd64.JMP && in.Args[0].Kind == vcode.ArgLabel && w.next(i, in.Imm) {
		return
	}
	w.vec, w.gpr, w.masks = 0, 0, 0
	if in.Moves() {
		d, s := in.Args[0].Reg, in.Args[1].Reg
		to, from := w.Where.Phys[d], w.Where.Phys[s]
		switch {
		case to >= 0 && to == from:
			return
		case to >= 0 && from < 0:
			w.Load(s, w.Machine(d, in.Args[0].Size))
			return
		case to < 0 && from >= 0:
			w.store(d, w.Machine(s, in.Args[1].Size))
			return
		}
	}
	memory := false // one operand is in memory already
	for j := range in.Args[:in.N] {
		memory = memory || in.Args[j].Kind == vcode.ArgMem
	}
	for j := 1; j < int(in.N); j++ {
		w.ops[j] = w.operand(in, j, &memory)
	}
	// The destination last, so that it can be a scratch register that a source was read from.
	var mask amd64.Reg
	if in.Mask != 0 {
		mask = w.read(in.Mask, 0)
	}
	var back amd64.Reg
	w.ops[0], back = w.destination(in, mask)
	w.Asm.Begin(in.Op)
	for j := range w.ops[:in.N] {
		w.ops[j].give(w.Asm)
	}
	if in.Lock {
		w.Asm.Prefix(amd64.Lock)
	}
	w.Asm.End()
	if w.Asm.Err() != nil && w.Failed == "" {
		w.Failed = fmt.Sprintf("%v %+v", in.Op, in.Args[:in.N])
	}
	if back != 0 {
		w.store(in.Args[0].Reg, back)
	}
}

// next reports whether the label is bound right after instruction i.
func (w *Writer) next(i int, label int64) bool {
	for i++; i < len(w.F.Insts); i++ {
		switch in := &w.F.Insts[i]; in.Kind {
		case vcode.KindLabel:
			if int64(in.Label()) == label {
				return true
			}
		case vcode.KindLoopEnd, vcode.KindLoopBegin, vcode.KindComment, vcode.KindDeclare:
		default:
			return false
		}
	}
	return false
}

// operand is an operand on machine registers.
type operand struct {
	kind vcode.ArgKind // argReg or argPhys, argMem, argImm, argLabel
	reg  amd64.Reg
	imm  int64 // or a label
	mem  amd64.Mem
}

// give gives it to the instruction that was begun.
func (o *operand) give(to *amd64.Assembler) {
	switch o.kind {
	case vcode.ArgReg, vcode.ArgPhys:
		to.Reg(o.reg)
	case vcode.ArgMem:
		to.Mem(&o.mem)
	case vcode.ArgImm:
		to.Imm(amd64.Imm(o.imm))
	case vcode.ArgLabel:
		to.Label(amd64.Label(o.imm))
	}
}

// operand gives a source operand.
func (w *Writer) operand(in *vcode.Inst, j int, memory *bool) operand {
	a := &in.Args[j]
	switch a.Kind {
	case vcode.ArgReg:
		v := &w.F.Regs[a.Reg]
		if w.Where.Phys[a.Reg] < 0 && int(in.Fold) == j && !*memory {
			m := w.slot(a.Reg)
			if v.Elem == 0 || v.Elem == 64 {
				*memory = true
				m.Size = a.Size
				return operand{kind: vcode.ArgMem, mem: m}
			}
			if v.Elem == in.Elem {
				*memory = true
				m.Size, m.Broadcast = a.Size, true
				return operand{kind: vcode.ArgMem, mem: m}
			}
		}
		return operand{kind: vcode.ArgReg, reg: w.read(a.Reg, a.Size)}
	case vcode.ArgMem:
		return operand{kind: vcode.ArgMem, mem: w.address(&in.Mem)}
	case vcode.ArgPhys, vcode.ArgImm, vcode.ArgLabel:
		return operand{kind: a.Kind, reg: a.Phys, imm: in.Imm}
	}
	panic(fmt.Sprintf("spmd: operand %d of %v is missing", j, in.Op))
}

// destination gives the first operand, and the register to write back to memory after the instruction, if any.
func (w *Writer) destination(in *vcode.Inst, mask amd64.Reg) (first operand, back amd64.Reg) {
	if in.N == 0 {
		return first, 0
	}
	a := &in.Args[0]
	switch a.Kind {
	case vcode.ArgReg:
		v := &w.F.Regs[a.Reg]
		var r amd64.Reg
		switch {
		case w.Where.Phys[a.Reg] >= 0:
			r = w.Machine(a.Reg, a.Size)
		case in.Mode == vcode.ModeDef && !in.Early && w.used(v.Class) > 0:
			r = w.first(v.Class, a.Size)
			back = r
		default:
			r = w.scratch(v.Class, a.Size)
			if in.Mode != vcode.ModeDef {
				w.Load(a.Reg, r)
			}
			if in.Mode != vcode.ModeUse {
				back = r
			}
		}
		switch {
		case mask == 0:
		case in.Zero:
			r = r.Zero(mask)
		default:
			r = r.Merge(mask)
		}
		return operand{kind: vcode.ArgReg, reg: r}, back
	case vcode.ArgMem:
		m := w.address(&in.Mem)
		m.Mask = mask
		return operand{kind: vcode.ArgMem, mem: m}, 0
	case vcode.ArgPhys, vcode.ArgLabel, vcode.ArgImm:
		return operand{kind: a.Kind, reg: a.Phys, imm: in.Imm}, 0
	}
	panic(fmt.Sprintf("spmd: %v has no first operand", in.Op))
}

// used is how many scratch registers of the class hold sources of the present instruction.
func (w *Writer) used(c vcode.Class) int {
	switch c {
	case vcode.ClassVec:
		return w.vec
	case vcode.ClassMask:
		return w.masks
	}
	return w.gpr
}

// first is the first of them.
func (w *Writer) first(c vcode.Class, size uint8) amd64.Reg {
	switch c {
	case vcode.ClassVec:
		return amd64.X(w.F.Target.Vectors + vcode.ScratchVectors - 1).As(int(size))
	case vcode.ClassMask:
		return amd64.K(regalloc.ScratchMask[0])
	}
	return regalloc.ScratchGPR[0].As(int(size))
}
