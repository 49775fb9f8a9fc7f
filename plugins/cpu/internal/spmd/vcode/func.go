package vcode

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Func is a function under construction.
type Func struct {
	Target     *Target
	Asm        *amd64.Assembler // creates labels and the constant pool
	Scratch    *Scratch
	Regs       []RegInfo // by register; Regs[0] is none
	Insts      []Inst
	Spare      []Inst // the buffer for the next list of instructions; see [Func.Rewrite]
	Consts     map[ConstKey]Reg
	ConstOrder []Reg // the constants in the order of their first use
	shared     bool  // new registers are shared; see WithShared
	FewRegs    bool  // regalloc uses one machine register of each class, for tests of spilling
	Traps      []Trap
}

// NewFunc returns a function without instructions.
func NewFunc(t *Target, asm *amd64.Assembler) *Func {
	return &Func{Target: t, Asm: asm, Scratch: new(Scratch), Regs: []RegInfo{{}}, Consts: map[ConstKey]Reg{}}
}

// Def emits an instruction that writes its first operand without reading it.
func (f *Func) Def(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeDef, op, args) }

// Mod emits an instruction that reads and writes its first operand.
func (f *Func) Mod(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeMod, op, args) }

// Use emits an instruction that only reads its operands, or writes memory.
func (f *Func) Use(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeUse, op, args) }

func (f *Func) emit(m Mode, op amd64.Op, args []Arg) *Inst {
	in := f.Add(Inst{Op: op, Mode: m, N: uint8(len(args)), Fold: -1})
	for i := range args {
		a := &args[i]
		in.Args[i] = Ref{Kind: a.Kind, Size: a.Size, Phys: a.phys, Reg: a.Reg}
		switch a.Kind {
		case ArgImm, ArgLabel:
			in.Imm = a.imm
		case ArgMem:
			in.Mem = a.mem
		}
	}
	return in
}

// Add appends an instruction. The result is valid until the next one is added.
func (f *Func) Add(in Inst) *Inst {
	f.Insts = append(f.Insts, in)
	return &f.Insts[len(f.Insts)-1]
}

// NewLabel returns a new label, which [Func.Bind] binds.
func (f *Func) NewLabel() amd64.Label { return f.Asm.NewLabel() }

// Bind binds a label here.
func (f *Func) Bind(l amd64.Label) { f.Add(Inst{Kind: KindLabel, payload: int32(l), Fold: -1}) }

// Jump emits a jump to a label, conditional or not.
func (f *Func) Jump(op amd64.Op, l amd64.Label) { f.Use(op, To(l)) }

// Mark emits an instruction of a kind without operands.
func (f *Func) Mark(kind Kind) { f.Add(Inst{Kind: kind, Fold: -1}) }

// BeginFrames marks the start of a loop over the gangs of a group, each with its own frame.
func (f *Func) BeginFrames() { f.Add(Inst{Kind: KindLoopBegin, Frames: true, Fold: -1}) }

// Declare makes a register live from here on, with an undefined value.
func (f *Func) Declare(r Reg) { f.Add(Inst{Kind: KindDeclare, payload: int32(r), Fold: -1}) }

// Comment marks a site of the source for listings.
func (f *Func) Comment(site int) { f.Add(Inst{Kind: KindComment, payload: int32(site), Fold: -1}) }

// Trap emits a return to Go with the operands of t.
func (f *Func) Trap(t Trap) {
	f.Traps = append(f.Traps, t)
	f.Add(Inst{Kind: KindTrap, payload: int32(len(f.Traps) - 1), Fold: -1})
}

// Cold emits the code of body as cold code.
func (f *Func) Cold(body func()) {
	f.Mark(KindColdBegin)
	body()
	f.Mark(KindColdEnd)
}

// Rewrite empties the function and returns its old instructions, for a pass that adds new ones. The result is valid until
// the next call.
func (f *Func) Rewrite() []Inst {
	old := f.Insts
	f.Insts, f.Spare = slices.Grow(f.Spare[:0], len(old)+len(old)/4), old
	return old
}

// Insert calls emit, and moves the instructions that it emits before position at. It invalidates the result of [Func.Rewrite].
func (f *Func) Insert(at int, emit func()) {
	n := len(f.Insts)
	emit()
	f.Spare = append(f.Spare[:0], f.Insts[n:]...)
	copy(f.Insts[at+len(f.Spare):], f.Insts[at:n])
	copy(f.Insts[at:], f.Spare)
}

// RemoveDropped removes the instructions of KindNone.
func (f *Func) RemoveDropped() {
	f.Insts = slices.DeleteFunc(f.Insts, func(in Inst) bool { return in.Kind == KindNone })
}
