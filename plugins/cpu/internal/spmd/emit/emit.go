package emit

import (
	"fmt"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Options are the parameters of [Func].
type Options struct {
	Layout  *abi.Layout
	Done    []amd64.Label         // labels to bind at the end of the function
	Fence   bool                  // emit a store fence at the end, after non-temporal stores
	Comment func(site int) string // the text of a site in the listing; nil for none
}

// Code is machine code with the tables that trap services need.
type Code struct {
	Bytes   []byte
	Listing string
	Resume  int   // the offset of the code that resumes after a trap; 0 if there are no traps
	Ends    []int // by trap: the offset at which its gang ends, −1 if nowhere
}

// Func encodes a function. An error of the assembler names the instruction that it cannot encode.
func Func(f *vcode.Func, where *regalloc.Allocation, o Options) (*Code, error) {
	w := &writer{f: f, where: where, asm: f.Asm, trap: f.Asm.NewLabel(), shared: int32(o.Layout.Size), frame: int32(o.Layout.Frame), comment: o.Comment}
	w.entry()
	w.write()
	w.exit(o.Done, o.Fence)
	var resume amd64.Label
	if len(f.Traps) > 0 {
		resume = emitTrap(f.Asm, f.Target, w.trap)
	}
	c := &Code{}
	var err error
	if c.Bytes, err = f.Asm.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, w.failed)
	}
	c.Listing = f.Asm.Listing()
	c.Resume, _ = f.Asm.Offset(resume)
	for i := range f.Traps {
		at := -1
		if end := f.Traps[i].End; end != 0 {
			at, _ = f.Asm.Offset(end)
		}
		c.Ends = append(c.Ends, at)
	}
	return c, nil
}

// writer emits the instructions of a function.
type writer struct {
	f       *vcode.Func
	where   *regalloc.Allocation
	asm     *amd64.Assembler
	trap    amd64.Label // the code of emitTrap
	shared  int32       // the offset of the spill slots in the context
	frame   int32       // the offset of the spill slots in a frame
	comment func(site int) string

	// Of the current instruction:
	vec, gpr, masks int // scratch registers in use
	ops             [4]operand

	cold   []int  // the ranges of cold code: begin, end, …
	failed string // the first instruction that the assembler rejected
}

// entry emits the start of the function, which Go calls with the context in rdi. It emits loads of the constants that have machine
// registers.
func (w *writer) entry() {
	w.asm.Emit(amd64.MOV, abi.Context, amd64.RDI)
	w.asm.Emit(amd64.MOV, abi.Frame, amd64.Mem{Base: abi.Context, Disp: abi.CtxFrame})
	for _, r := range w.f.ConstOrder {
		if w.where.Phys[r] >= 0 {
			w.load(r, w.machine(r, uint8(w.f.Target.Bytes())))
		}
	}
}

// exit emits the return to Go, at the labels done.
func (w *writer) exit(done []amd64.Label, fence bool) {
	for _, l := range done {
		w.asm.Bind(l)
	}
	if fence {
		w.asm.Emit(amd64.SFENCE)
	}
	w.asm.Emit(amd64.MOV, amd64.Mem{Base: abi.Context, Disp: abi.CtxStatus, Size: 4}, amd64.Imm(0))
	w.asm.Emit(amd64.VZEROUPPER)
	w.asm.Emit(amd64.RET)
}

// write encodes the instructions, with cold code last.
func (w *writer) write() {
	depth, begin := 0, 0
	for i := range w.f.Insts {
		switch w.f.Insts[i].Kind {
		case vcode.KindColdBegin:
			if depth == 0 {
				begin = i
			}
			depth++
		case vcode.KindColdEnd:
			if depth--; depth == 0 {
				w.cold = append(w.cold, begin, i)
			}
		default:
			if depth == 0 {
				w.inst(i)
			}
		}
	}
	for n := 0; n < len(w.cold); n += 2 {
		for i := w.cold[n]; i < w.cold[n+1]; i++ {
			w.inst(i)
		}
	}
}

// slot returns the spill slot of a register, or the pool entry of a constant.
func (w *writer) slot(r vcode.Reg) amd64.Mem {
	v := &w.f.Regs[r]
	if v.Elem != 0 {
		return amd64.Mem{Label: v.Label}
	}
	if v.Shared {
		return amd64.Mem{Base: abi.Context, Disp: w.shared + w.where.Slot[r]}
	}
	return amd64.Mem{Base: abi.Frame, Disp: w.frame + w.where.Slot[r]}
}

// machine returns the machine register of a register that is not spilled.
func (w *writer) machine(r vcode.Reg, size uint8) amd64.Reg {
	phys := int(w.where.Phys[r])
	switch w.f.Regs[r].Class {
	case vcode.ClassVec:
		return amd64.X(phys).As(int(size))
	case vcode.ClassMask:
		return amd64.K(phys)
	}
	return amd64.GPR(phys, int(size))
}

// scratch returns a scratch register for the current instruction.
func (w *writer) scratch(c vcode.Class, size uint8) amd64.Reg {
	switch c {
	case vcode.ClassVec:
		w.vec++
		return amd64.X(w.f.Target.Vectors + vcode.ScratchVectors - w.vec).As(int(size))
	case vcode.ClassMask:
		w.masks++
		return amd64.K(regalloc.ScratchMask[w.masks-1])
	}
	w.gpr++
	return regalloc.ScratchGPR[w.gpr-1].As(int(size))
}

// load emits a load to a machine register: of a spilled register from its slot, or of a constant from the pool.
func (w *writer) load(r vcode.Reg, to amd64.Reg) {
	v, m := &w.f.Regs[r], w.slot(r)
	switch {
	case v.Elem == 4:
		w.asm.Emit(amd64.VPBROADCASTD, to, m)
	case v.Elem == 64:
		w.asm.Emit(amd64.VMOVUPS, to.As(w.f.Target.Bytes()), m)
	case v.Elem == 8:
		if to.Bytes() == 16 {
			to = to.As(32)
		}
		w.asm.Emit(amd64.VPBROADCASTQ, to, m)
	case v.Class == vcode.ClassVec:
		w.asm.Emit(amd64.VMOVUPS, to.As(w.f.Target.Bytes()), m)
	case v.Class == vcode.ClassMask:
		w.asm.Emit(amd64.KMOVW, to, m)
	default:
		w.asm.Emit(amd64.MOV, to.As(8), m)
	}
}

// store emits a spill of a machine register to the slot of r.
func (w *writer) store(r vcode.Reg, from amd64.Reg) {
	m := w.slot(r)
	switch w.f.Regs[r].Class {
	case vcode.ClassVec:
		w.asm.Emit(amd64.VMOVUPS, m, from.As(w.f.Target.Bytes()))
	case vcode.ClassMask:
		w.asm.Emit(amd64.KMOVW, m, from)
	default:
		w.asm.Emit(amd64.MOV, m, from.As(8))
	}
}

// read returns a machine register with the value of r: the assigned one, or a scratch register after a reload.
func (w *writer) read(r vcode.Reg, size uint8) amd64.Reg {
	if w.where.Phys[r] >= 0 {
		return w.machine(r, size)
	}
	to := w.scratch(w.f.Regs[r].Class, size)
	w.load(r, to)
	return to
}

// address returns an address with machine registers.
func (w *writer) address(m *vcode.Mem) amd64.Mem {
	out := amd64.Mem{Base: m.Fixed, Scale: m.Scale, Size: m.Size, Broadcast: m.Broadcast, Disp: m.Disp, Label: m.Label}
	if m.Base != 0 {
		out.Base = w.read(m.Base, 8)
	}
	if m.Index != 0 {
		out.Index = w.read(m.Index, m.IndexSize)
	}
	return out
}

// inst emits instruction i of the function. It emits nothing for a jump to a label that follows, and for a copy between equal
// machine registers. Nor does it for kinds without code, such as loop marks.
func (w *writer) inst(i int) {
	in := &w.f.Insts[i]
	switch in.Kind {
	case vcode.KindLabel:
		w.asm.Bind(in.Label())
		return
	case vcode.KindTrap:
		w.asm.Emit(amd64.MOV, amd64.EAX, amd64.Imm(in.Trap()))
		w.asm.Emit(amd64.CALL, w.trap)
		return
	case vcode.KindComment:
		if w.comment != nil {
			if text := w.comment(in.Site()); text != "" {
				w.asm.Comment("%s", text)
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
		to, from := w.where.Phys[d], w.where.Phys[s]
		switch {
		case to >= 0 && to == from:
			return
		case to >= 0 && from < 0:
			w.load(s, w.machine(d, in.Args[0].Size))
			return
		case to < 0 && from >= 0:
			w.store(d, w.machine(s, in.Args[1].Size))
			return
		}
	}
	memory := false // whether an operand is in memory
	for j := range in.Args[:in.N] {
		memory = memory || in.Args[j].Kind == vcode.ArgMem
	}
	for j := 1; j < int(in.N); j++ {
		w.ops[j] = w.operand(in, j, &memory)
	}
	// The destination comes last, since it may share a scratch register with a source.
	var mask amd64.Reg
	if in.Mask != 0 {
		mask = w.read(in.Mask, 0)
	}
	var back amd64.Reg
	w.ops[0], back = w.destination(in, mask)
	w.asm.Begin(in.Op)
	for j := range w.ops[:in.N] {
		w.ops[j].encode(w.asm)
	}
	if in.Lock {
		w.asm.Prefix(amd64.Lock)
	}
	w.asm.End()
	if w.asm.Err() != nil && w.failed == "" {
		w.failed = fmt.Sprintf("%v %+v", in.Op, in.Args[:in.N])
	}
	if back != 0 {
		w.store(in.Args[0].Reg, back)
	}
}

// next reports whether a label is bound after instruction i, with no code between them.
func (w *writer) next(i int, label int64) bool {
	for i++; i < len(w.f.Insts); i++ {
		switch in := &w.f.Insts[i]; in.Kind {
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

// operand is an operand of an instruction, with machine registers in place of virtual ones.
type operand struct {
	kind vcode.ArgKind // ArgReg or ArgPhys, ArgMem, ArgImm, ArgLabel
	reg  amd64.Reg
	imm  int64 // or a label
	mem  amd64.Mem
}

// encode passes the operand to the assembler for its current instruction.
func (o *operand) encode(to *amd64.Assembler) {
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

// operand returns source operand j. A spilled register becomes a memory operand if the instruction supports one, and has no other yet.
// *memory reports whether it has one; operand updates it.
func (w *writer) operand(in *vcode.Inst, j int, memory *bool) operand {
	a := &in.Args[j]
	switch a.Kind {
	case vcode.ArgReg:
		v := &w.f.Regs[a.Reg]
		if w.where.Phys[a.Reg] < 0 && int(in.Fold) == j && !*memory {
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
	panic(fmt.Sprintf("emit: operand %d of %v is missing", j, in.Op))
}

// destination returns the first operand. back is the register to spill after the instruction, or 0.
func (w *writer) destination(in *vcode.Inst, mask amd64.Reg) (first operand, back amd64.Reg) {
	if in.N == 0 {
		return first, 0
	}
	a := &in.Args[0]
	switch a.Kind {
	case vcode.ArgReg:
		v := &w.f.Regs[a.Reg]
		var r amd64.Reg
		switch {
		case w.where.Phys[a.Reg] >= 0:
			r = w.machine(a.Reg, a.Size)
		case in.Mode == vcode.ModeDef && !in.Early && w.used(v.Class) > 0:
			r = w.first(v.Class, a.Size)
			back = r
		default:
			r = w.scratch(v.Class, a.Size)
			if in.Mode != vcode.ModeDef {
				w.load(a.Reg, r)
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
	panic(fmt.Sprintf("emit: %v has no first operand", in.Op))
}

// used returns the number of scratch registers of a class that hold sources of the current instruction.
func (w *writer) used(c vcode.Class) int {
	switch c {
	case vcode.ClassVec:
		return w.vec
	case vcode.ClassMask:
		return w.masks
	}
	return w.gpr
}

// first returns the first scratch register of a class.
func (w *writer) first(c vcode.Class, size uint8) amd64.Reg {
	switch c {
	case vcode.ClassVec:
		return amd64.X(w.f.Target.Vectors + vcode.ScratchVectors - 1).As(int(size))
	case vcode.ClassMask:
		return amd64.K(regalloc.ScratchMask[0])
	}
	return regalloc.ScratchGPR[0].As(int(size))
}
