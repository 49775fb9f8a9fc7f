package amd64

// Operand is a [Reg], [Mem], [Imm] or [Label], or a modifier: [Rounding] or [Prefix]. No other type implements it.
type Operand interface{ operand() }

// Imm is an immediate: a signed or an unsigned number of the operand's size. 64-bit operations other than mov sign-extend 32
// bits.
type Imm int64

// Label is a position in the code or a constant of the pool. The zero Label is none; [Assembler.NewLabel] returns new ones.
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
	// Size is the size of the operand in bytes, after broadcasting. It may be 0 only if the instruction and the other operands
	// determine it.
	Size uint8
	// Broadcast repeats one element in all lanes.
	Broadcast bool
	// Disp is added to the address.
	Disp int32
	// Label, if not zero, replaces Base and Index, which must be zero.
	Label Label
}

// Rounding is the static rounding mode of one instruction ({rn-sae} …), or [SAE] to suppress exceptions only. It requires
// operands that are 512-bit registers or scalar registers.
type Rounding uint8

// The static rounding modes.
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
