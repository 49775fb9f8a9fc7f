package vcode

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// Kind is the kind of an instruction.
type Kind uint8

// Kinds of instructions. Only KindOp and KindTrap emit code.
const (
	KindOp        Kind = iota // a machine instruction
	KindLabel                 // binds a label
	KindLoopBegin             // a loop, up to the matching KindLoopEnd
	KindLoopEnd
	KindColdBegin // cold code, up to the matching KindColdEnd; emit places it after all other code
	KindColdEnd
	KindTrap    // a return to Go
	KindBarrier // a switch of gangs, which preserves no machine register
	KindComment // a site of the source, for listings
	KindDeclare // a register is live from here on, with an undefined value
	KindNone    // a removed instruction
)

// Mode is the access of an instruction to its first operand.
type Mode uint8

// Modes of access to the first operand.
const (
	ModeUse Mode = iota // does not change it, unless it is in memory
	ModeDef             // writes it without reading it
	ModeMod             // reads and writes it
)

// Inst is an instruction. Its operands other than registers are stored once: at most one is an address, and at most one
// is an immediate or a label.
type Inst struct {
	Op   amd64.Op
	Kind Kind
	Mode Mode
	N    uint8 // number of operands

	Zero  bool // the write mask zeroes the other lanes, instead of merging
	Early bool // the destination is written before all sources are read (early clobber)
	Lock  bool // the lock prefix

	Frames bool // KindLoopBegin: iterations are gangs of a group, each with its own frame
	Steady bool // extends an index that is in bounds in every iteration of the loops around it; see passes.LSR

	Fold int8  // the operand that can be a memory operand if its register is spilled, −1 for none
	Elem uint8 // bytes of an element if that memory operand may be a broadcast

	Mask    Reg   // the write mask, 0 for none
	payload int32 // the label, trap, site or register of a Kind that has one
	Args    [4]Ref
	Imm     int64 // the immediate, or the label of a jump
	Mem     Mem   // the address; zero if no operand is one
}

// Ref is a compact operand of an instruction. Immediates, labels and addresses are in the [Inst].
type Ref struct {
	Kind ArgKind
	Size uint8 // bytes of a register; 0 for a mask
	Phys amd64.Reg
	Reg  Reg
}

// Label returns the label that a KindLabel binds.
func (in *Inst) Label() amd64.Label { return amd64.Label(in.payload) }

// Trap returns the index in [Func.Traps] of a KindTrap.
func (in *Inst) Trap() int { return int(in.payload) }

// Site returns the site of a KindComment.
func (in *Inst) Site() int { return int(in.payload) }

// Declared returns the register of a KindDeclare.
func (in *Inst) Declared() Reg { return Reg(in.payload) }

// Arg returns an operand in the form that the builders take.
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

// Drop turns the instruction into a KindNone, which keeps its position.
func (in *Inst) Drop() { in.Kind, in.N, in.Mask = KindNone, 0, 0 }

// Under sets a merging write mask. An instruction that writes a vector then also reads it. Mask 0 is none.
func (in *Inst) Under(m Reg) *Inst {
	if m != 0 {
		in.Mask = m
		if in.Mode == ModeDef && in.Args[0].Kind == ArgReg && in.Args[0].Size != 0 {
			in.Mode = ModeMod
		}
	}
	return in
}

// Zeroed sets a zeroing write mask. Mask 0 is none.
func (in *Inst) Zeroed(m Reg) *Inst {
	if m != 0 {
		in.Mask, in.Zero = m, true
	}
	return in
}

// Folds marks an operand that can be a memory operand if its register is spilled. If elem is not 0, a constant with elements
// of that size may be broadcast from memory.
func (in *Inst) Folds(operand, elem int) *Inst {
	in.Fold, in.Elem = int8(operand), uint8(elem)
	return in
}

// Moves reports whether the instruction only copies a whole vector, mask or general purpose register to another.
func (in *Inst) Moves() bool {
	return in.N == 2 && in.Mask == 0 && in.Mode == ModeDef && in.Args[0].Kind == ArgReg && in.Args[1].Kind == ArgReg &&
		(in.Op == amd64.VMOVDQA64 || in.Op == amd64.VMOVDQA || in.Op == amd64.KMOVW && in.Args[1].Size == 0 && in.Args[0].Size == 0 ||
			in.Op == amd64.MOV && in.Args[0].Size == 8)
}

// Copies reports whether the instruction only copies a whole general purpose register to another.
func (in *Inst) Copies() bool { return in.Kind == KindOp && in.Moves() && in.Op == amd64.MOV }

// Jumps reports whether the instruction jumps to a label, and whether it is unconditional.
func (in *Inst) Jumps() (jump, always bool) {
	if in.Kind != KindOp || in.N == 0 || in.Args[0].Kind != ArgLabel {
		return false, false
	}
	return in.Op.IsJump(), in.Op == amd64.JMP
}

// LoadsWhole reports whether the instruction only loads a vector from memory, with all of its elements.
func (in *Inst) LoadsWhole() bool {
	return (in.Op == amd64.VMOVUPS || in.Op == amd64.VMOVUPD) && in.Mode == ModeDef && in.Mask == 0 && in.N == 2 &&
		in.Args[0].Kind == ArgReg && in.Args[1].Kind == ArgMem
}

// Mentioned returns the number of register operands equal to r. The registers of addresses and the mask do not count.
func (in *Inst) Mentioned(r Reg) int {
	n := 0
	for i := range in.Args[:in.N] {
		if in.Args[i].Kind == ArgReg && in.Args[i].Reg == r {
			n++
		}
	}
	return n
}

// HasMem reports whether an operand of the instruction is an address.
func (in *Inst) HasMem() bool {
	for i := range in.Args[:in.N] {
		if in.Args[i].Kind == ArgMem {
			return true
		}
	}
	return false
}

// ChangesFrame reports whether the instruction changes the register of the current frame.
func (in *Inst) ChangesFrame() bool {
	return in.Mode != ModeUse && in.N > 0 && in.Args[0].Kind == ArgPhys && in.Args[0].Phys == abi.Frame
}
