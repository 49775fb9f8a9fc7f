package vcode

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
)

// ArgKind is the kind of an operand.
type ArgKind uint8

// Kinds of operands. The zero ArgKind means no operand.
const (
	_        ArgKind = iota
	ArgReg           // a virtual register
	ArgPhys          // a machine register
	ArgMem           // an address
	ArgImm           // an immediate
	ArgLabel         // the label of a jump
)

// Arg is an operand in the form that the builders of instructions take.
type Arg struct {
	Kind ArgKind
	Size uint8 // bytes of a register; 0 for a mask
	phys amd64.Reg
	Reg  Reg
	imm  int64 // an immediate or a label
	mem  Mem
}

// Mem is an address in virtual registers.
type Mem struct {
	Base, Index Reg
	Fixed       amd64.Reg // a machine register as the base
	IndexSize   uint8     // bytes of the index register
	Scale       uint8     // factor of the index; 0 is 1
	Size        uint8     // bytes of the access; 0 if other operands determine it
	Broadcast   bool      // the operand in memory is one element, which all lanes read
	Disp        int32
	Label       amd64.Label
}

// Z returns the register as a whole vector.
func (r Reg) Z() Arg { return Arg{Kind: ArgReg, Reg: r, Size: 64} }

// Y returns the lower half of a vector. In functions that package avx2 has expanded, it is the whole vector.
func (r Reg) Y() Arg { return Arg{Kind: ArgReg, Reg: r, Size: 32} }

// X returns the lower 128 bits of a vector.
func (r Reg) X() Arg { return Arg{Kind: ArgReg, Reg: r, Size: 16} }

// K returns the register as a mask.
func (r Reg) K() Arg { return Arg{Kind: ArgReg, Reg: r} }

// G4 returns the lower 32 bits of a general purpose register.
func (r Reg) G4() Arg { return Arg{Kind: ArgReg, Reg: r, Size: 4} }

// G8 returns the register as a general purpose register of 64 bits.
func (r Reg) G8() Arg { return Arg{Kind: ArgReg, Reg: r, Size: 8} }

// G returns the lower size bytes of a general purpose register.
func (r Reg) G(size int) Arg { return Arg{Kind: ArgReg, Reg: r, Size: uint8(size)} }

// At returns the operand for the memory at an address.
func (m Mem) At() Arg { return Arg{Kind: ArgMem, mem: m} }

// Imm returns an immediate operand.
func Imm(n int64) Arg { return Arg{Kind: ArgImm, imm: n} }

// Cmp returns a predicate as an operand.
func Cmp(p amd64.Predicate) Arg { return Imm(int64(p)) }

// To returns a label as the operand of a jump.
func To(l amd64.Label) Arg { return Arg{Kind: ArgLabel, imm: int64(l)} }

// Phys returns a machine register as an operand.
func Phys(r amd64.Reg) Arg { return Arg{Kind: ArgPhys, phys: r} }

// CtxMem returns an address in the context; see package abi for the offsets.
func CtxMem(off, size int) Mem { return Mem{Fixed: abi.Context, Disp: int32(off), Size: uint8(size)} }

// FrameMem returns an address in the frame of the current gang; see package abi for the offsets.
func FrameMem(off, size int) Mem { return Mem{Fixed: abi.Frame, Disp: int32(off), Size: uint8(size)} }

// MaxPeel bounds the sum of the constants that move from an index into the displacement of an address. If extents are so close
// to 2^31 that the remaining index could wrap, the interpreter runs the launch.
const MaxPeel = 1 << 16
