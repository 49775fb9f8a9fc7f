package vcode

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// Moves reports whether the instruction only copies a register to another.
func (in *Inst) Moves() bool {
	return in.N == 2 && in.Mask == 0 && in.Mode == ModeDef && in.Args[0].Kind == ArgReg && in.Args[1].Kind == ArgReg &&
		(in.Op == amd64.VMOVDQA64 || in.Op == amd64.VMOVDQA || in.Op == amd64.KMOVW && in.Args[1].Size == 0 && in.Args[0].Size == 0 ||
			in.Op == amd64.MOV && in.Args[0].Size == 8)
}

// LoadsWhole reports whether the instruction loads a whole vector and does nothing else.
func (in *Inst) LoadsWhole() bool {
	return (in.Op == amd64.VMOVUPS || in.Op == amd64.VMOVUPD) && in.Mode == ModeDef && in.Mask == 0 && in.N == 2 &&
		in.Args[0].Kind == ArgReg && in.Args[1].Kind == ArgMem
}

// Mentioned returns how many operands of the instruction are a register.
func (in *Inst) Mentioned(r Reg) int {
	n := 0
	for i := range in.Args[:in.N] {
		if in.Args[i].Kind == ArgReg && in.Args[i].Reg == r {
			n++
		}
	}
	return n
}

// Reads reports whether an operand of the instruction is an address.
func (in *Inst) Reads() bool {
	for i := range in.Args[:in.N] {
		if in.Args[i].Kind == ArgMem {
			return true
		}
	}
	return false
}

// ChangesFrame reports whether an instruction goes from a gang's frame to another's.
func (in *Inst) ChangesFrame() bool {
	return in.Mode != ModeUse && in.N > 0 && in.Args[0].Kind == ArgPhys && in.Args[0].Phys == abi.Frame
}

// CopyReg copies a register.
func (f *Func) CopyReg(to, from Reg) {
	switch {
	case f.Regs[from].Class == ClassGPR:
		f.Def(amd64.MOV, to.G8(), from.G8())
	case f.Regs[from].Class == ClassMask:
		f.Def(amd64.KMOVW, to.K(), from.K())
	case f.Target.HasMasks:
		f.Def(amd64.VMOVDQA64, to.Z(), from.Z()).Folds(1, 0)
	default:
		f.Def(amd64.VMOVDQA, to.Y(), from.Y()).Folds(1, 0)
	}
}

// Copies reports whether an instruction copies a whole general register.
func (in *Inst) Copies() bool { return in.Kind == KindOp && in.Moves() && in.Op == amd64.MOV }
