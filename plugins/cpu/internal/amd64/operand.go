package amd64

// Operand is an operand of an instruction: a [Reg], a [Mem], an [Imm] or a [Label], and the modifiers [Rounding] and
// [Prefix]. No other type implements it.
type Operand interface{ operand() }

// Imm is an immediate value. A value fits an operand of n bits if it is in range as a signed or as an unsigned number of
// n bits; for 64-bit operations the encodings sign-extend 32 bits, so only mov takes more.
type Imm int64

// Label names a place in the code, or a constant of the pool. The zero Label names nothing; [Assembler.NewLabel] returns
// new ones.
type Label int32

// Mem is a memory operand: [Base + Index*Scale + Disp], or [Label + Disp] relative to the instruction pointer.
type Mem struct {
	// Base is a 64-bit general purpose register, or zero for none.
	Base Reg
	// Index is a 64-bit general purpose register other than rsp, a vector register for gathers and scatters, or zero.
	Index Reg
	// Mask is the write mask of a store or scatter (k1–k7), or zero for none.
	Mask Reg
	// Scale multiplies Index: 1, 2, 4 or 8; 0 means 1.
	Scale uint8
	// Size is the bytes accessed (with Broadcast: the bytes after broadcasting). It may stay 0 where the instruction
	// and the other operands tell; where they do not, Emit asks for it.
	Size uint8
	// Broadcast loads one element into all lanes.
	Broadcast bool
	// Disp is added to the address.
	Disp int32
	// Label, if not zero, is the address, and Base and Index must be zero.
	Label Label
}

// Rounding is the static rounding of one instruction ({rn-sae} …), or the suppression of exceptions alone ([SAE]). It
// can be given with register operands of 512 bits or scalars.
type Rounding uint8

// The static roundings.
const (
	RoundNearest Rounding = 1 + iota // to nearest, ties to even
	RoundDown                        // toward −∞
	RoundUp                          // toward +∞
	RoundZero                        // toward zero
	SAE                              // no exceptions; rounding is not static
)

// Prefix is an instruction prefix.
type Prefix uint8

// Lock makes a read-modify-write of memory atomic.
const Lock Prefix = 0xF0

func (Imm) operand()      {}
func (Label) operand()    {}
func (Mem) operand()      {}
func (Rounding) operand() {}
func (Prefix) operand()   {}
