package vcode

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

func NewVecs(f *Func, n int) []Reg {
	out := make([]Reg, n)
	for i := range out {
		out[i] = f.NewVec()
	}
	return out
}

// Reg is a virtual register; 0 is none.
type Reg int32

type Class uint8

const (
	ClassVec Class = iota
	ClassMask
	ClassGPR
	NumClasses
)

// RegInfo is what is known of a virtual register.
type RegInfo struct {
	Class  Class
	Shared bool // is set before gangs begin: its place in memory is not in a gang's frame

	// A constant is a vector from the pool, which can be fetched again wherever it is needed.
	Elem  uint8 // bytes of an element; 64 if all of it is in the pool, as where elements differ; 0 if it is no constant
	Label amd64.Label
}

type ArgKind uint8

const (
	argNone ArgKind = iota
	ArgReg
	ArgPhys
	ArgMem
	ArgImm
	ArgLabel
)

// Arg is an operand of an instruction on virtual registers, as instructions are made of them.
type Arg struct {
	Kind ArgKind
	Size uint8 // bytes of a register
	phys amd64.Reg
	Reg  Reg
	imm  int64 // or a label
	mem  Mem
}

// Ref is an operand in an instruction, which has the number or the address of the operand that has one.
type Ref struct {
	Kind ArgKind
	Size uint8 // bytes of a register
	Phys amd64.Reg
	Reg  Reg
}

// Mem is an address in terms of virtual registers.
type Mem struct {
	Base, Index Reg
	Fixed       amd64.Reg // base, if it is a machine register
	IndexSize   uint8     // bytes of the index register
	Scale       uint8
	Size        uint8
	Broadcast   bool
	Disp        int32
	Label       amd64.Label
}

type Kind uint8

const (
	KindOp Kind = iota
	KindLabel
	KindLoopBegin
	KindLoopEnd
	KindColdBegin // what follows up to kindColdEnd stands after all other code
	KindColdEnd
	KindTrap
	KindBarrier // every register is lost
	KindComment
	KindDeclare // register x is in use from here on
	KindNone
)

// Mode says what becomes of the first operand.
type Mode uint8

const (
	ModeUse Mode = iota // read only
	ModeDef             // written
	ModeMod             // read and written
)

// Inst is an instruction on virtual registers.
type Inst struct {
	Op     amd64.Op
	Kind   Kind
	Mode   Mode
	N      uint8
	Zero   bool // the write mask zeroes
	Early  bool // the destination must differ from the sources
	Lock   bool
	Frames bool  // of the begin of a loop: it goes from frame to frame
	Steady bool  // extends an index that is in bounds whenever this is run
	Fold   int8  // the operand that may stand in memory instead, −1 for none
	Elem   uint8 // bytes of the elements of that operand if it may be broadcast
	Mask   Reg   // write mask
	X      int32 // label, number of a trap, site of a comment
	Args   [4]Ref
	Imm    int64 // of the operand that is a number or a label
	Mem    Mem   // of the operand that is an address; zero if none is
}

func (f *Func) NewReg(c Class) Reg {
	f.Regs = append(f.Regs, RegInfo{Class: c, Shared: f.Shared})
	return Reg(len(f.Regs) - 1)
}

func (f *Func) NewVec() Reg  { return f.NewReg(ClassVec) }
func (f *Func) NewMask() Reg { return f.NewReg(ClassMask) }
func (f *Func) NewGPR() Reg  { return f.NewReg(ClassGPR) }

func (f *Func) NewMasks(n int) []Reg {
	out := make([]Reg, n)
	for i := range out {
		out[i] = f.NewMask()
	}
	return out
}

// Func is a function that is being made.
type Func struct {
	Target     *Target
	Asm        *amd64.Assembler
	Scratch    *Scratch
	Regs       []RegInfo // regs[0] is none
	Insts      []Inst
	Spare      []Inst // room for the next version of them, see rewrite
	Consts     map[ConstKey]Reg
	ConstOrder []Reg // constants in the order of their making
	Shared     bool  // registers made now are shared
	FewRegs    bool  // few machine registers are given out
	Traps      []Trap
}

// NewFunc returns a function without instructions, for a target and an assembler.
func NewFunc(t *Target, asm *amd64.Assembler) *Func {
	return &Func{Target: t, Asm: asm, Scratch: new(Scratch), Regs: []RegInfo{{}}, Consts: map[ConstKey]Reg{}}
}

type ConstKey struct {
	Bits uint64
	Elem uint8
	data string // elem 64: all of it
}

// Pattern is a vector of different elements.
func (f *Func) Pattern(data []byte) Reg {
	key := ConstKey{Elem: 64, data: string(data)}
	if r, ok := f.Consts[key]; ok {
		return r
	}
	r := f.NewVec()
	v := &f.Regs[r]
	v.Elem, v.Shared, v.Label = 64, true, f.Asm.Const(data, len(data))
	f.Consts[key] = r
	f.ConstOrder = append(f.ConstOrder, r)
	return r
}

// Constant is a vector of equal elements of 4 or 8 bytes.
func (f *Func) Constant(bits uint64, elem int) Reg {
	key := ConstKey{Bits: bits, Elem: uint8(elem)}
	if elem == 4 {
		key.Bits &= 0xffffffff
	}
	if r, ok := f.Consts[key]; ok {
		return r
	}
	r := f.NewVec()
	v := &f.Regs[r]
	v.Elem, v.Shared = key.Elem, true
	switch {
	case f.Target.wholeConstants:
		v.Elem, v.Label = 64, f.Asm.Const(repeat(bits, elem, f.Target.Bytes()), f.Target.Bytes())
	case elem == 4:
		v.Label = f.Asm.Const32(uint32(bits)).Label
	default:
		v.Label = f.Asm.Const64(bits).Label
	}
	f.Consts[key] = r
	f.ConstOrder = append(f.ConstOrder, r)
	return r
}

// repeat fills n bytes with an element.
func repeat(bits uint64, elem, n int) []byte {
	var one [8]byte
	binary.LittleEndian.PutUint64(one[:], bits)
	return bytes.Repeat(one[:elem], n/elem)
}

// Operands: a whole vector, half of one, its first elements up to 128 bits, and so on. A whole vector has 512 bits where
// instructions are made; targets with shorter ones turn that into theirs.

func (r Reg) Z() Arg         { return Arg{Kind: ArgReg, Reg: r, Size: 64} }
func (r Reg) Y() Arg         { return Arg{Kind: ArgReg, Reg: r, Size: 32} }
func (r Reg) X() Arg         { return Arg{Kind: ArgReg, Reg: r, Size: 16} }
func (r Reg) K() Arg         { return Arg{Kind: ArgReg, Reg: r} }
func (r Reg) G4() Arg        { return Arg{Kind: ArgReg, Reg: r, Size: 4} }
func (r Reg) G8() Arg        { return Arg{Kind: ArgReg, Reg: r, Size: 8} }
func (r Reg) G(size int) Arg { return Arg{Kind: ArgReg, Reg: r, Size: uint8(size)} }
func Imm(n int64) Arg        { return Arg{Kind: ArgImm, imm: n} }
func (m Mem) At() Arg        { return Arg{Kind: ArgMem, mem: m} }
func To(l amd64.Label) Arg   { return Arg{Kind: ArgLabel, imm: int64(l)} }
func Phys(r amd64.Reg) Arg   { return Arg{Kind: ArgPhys, phys: r} }

func (f *Func) Add(in Inst) *Inst {
	f.Insts = append(f.Insts, in)
	return &f.Insts[len(f.Insts)-1]
}

// Rewrite gives the instructions, to add those that take their places. They stay valid until the next time.
func (f *Func) Rewrite() []Inst {
	old := f.Insts
	f.Insts, f.Spare = slices.Grow(f.Spare[:0], len(old)+len(old)/4), old
	return old
}

// Insert puts what is emitted before the instruction at a position. What [fn.rewrite] gave is no longer valid then.
func (f *Func) Insert(at int, emit func()) {
	n := len(f.Insts)
	emit()
	f.Spare = append(f.Spare[:0], f.Insts[n:]...)
	copy(f.Insts[at+len(f.Spare):], f.Insts[at:n])
	copy(f.Insts[at:], f.Spare)
}

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

// Arg gives an operand of the instruction.
func (in *Inst) Arg(i int) Arg {
	a := Arg{Kind: in.Args[i].Kind, Size: in.Args[i].Size, phys: in.Args[i].Phys, Reg: in.Args[i].Reg}
	switch a.Kind {
	case ArgImm, ArgLabel:
		a.imm = in.Imm
	case ArgMem:
		a.mem = in.Mem
	}
	return a
}

// Def emits an instruction that writes its first operand, mod one that also reads it, use one that only reads.
func (f *Func) Def(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeDef, op, args) }
func (f *Func) Mod(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeMod, op, args) }
func (f *Func) Use(op amd64.Op, args ...Arg) *Inst { return f.emit(ModeUse, op, args) }

// Under puts the instruction under a write mask that keeps the other lanes; it then reads its destination.
func (in *Inst) Under(m Reg) *Inst {
	if m != 0 {
		in.Mask = m
		if in.Mode == ModeDef && in.Args[0].Kind == ArgReg && in.Args[0].Size != 0 {
			in.Mode = ModeMod
		}
	}
	return in
}

// Zeroed puts the instruction under a write mask that makes the other lanes zero.
func (in *Inst) Zeroed(m Reg) *Inst {
	if m != 0 {
		in.Mask, in.Zero = m, true
	}
	return in
}

// Folds lets the operand stand in memory, also one element of so many bytes broadcast if elem is not 0.
func (in *Inst) Folds(operand, elem int) *Inst {
	in.Fold, in.Elem = int8(operand), uint8(elem)
	return in
}

func (f *Func) NewLabel() amd64.Label { return f.Asm.NewLabel() }

func (f *Func) Bind(l amd64.Label) { f.Add(Inst{Kind: KindLabel, X: int32(l), Fold: -1}) }

func (f *Func) Jump(op amd64.Op, l amd64.Label) { f.Use(op, To(l)) }

func (f *Func) Mark(kind Kind) { f.Add(Inst{Kind: kind, Fold: -1}) }

// Cold emits code that is rarely run.
func (f *Func) Cold(body func()) {
	f.Mark(KindColdBegin)
	body()
	f.Mark(KindColdEnd)
}
