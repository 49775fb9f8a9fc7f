package ir

import "math"

// Builder appends instructions to a block of a kernel. It performs no checks; [Module.Verify] does.
type Builder struct {
	Kernel *Kernel
	Block  *Block // block that receives the instructions
	Site   int    // site of new instructions
}

// Emit appends an instruction with one result of type t, or none if t is Void. It returns the result, or nil.
func (b *Builder) Emit(in *Instr, t Type) *Value {
	in.Site = b.Site
	b.Block.Instrs = append(b.Block.Instrs, in)
	if t == Void {
		return nil
	}
	v := b.Kernel.NewValue(t, in)
	in.Results = []*Value{v}
	return v
}

// Op appends an operation on values, and returns its result of type t, or nil if t is Void.
func (b *Builder) Op(op Op, t Type, args ...*Value) *Value {
	return b.Emit(&Instr{Op: op, Args: args}, t)
}

// Const appends a constant with these bits, and returns it.
func (b *Builder) Const(t Type, bits uint64) *Value {
	return b.Emit(&Instr{Op: Const, Bits: bits}, t)
}

// Int appends an integer constant, wrapped to t, and returns it.
func (b *Builder) Int(t Type, n int64) *Value { return b.Const(t, IntBits(t, n)) }

// Float appends a floating-point constant, rounded to t, and returns it.
func (b *Builder) Float(t Type, x float64) *Value { return b.Const(t, FloatBits(t, x)) }

// Nested appends a structured instruction (Region, If or Loop) with results of these types, and returns it. Its blocks are
// empty, and a Loop's body has a parameter per argument.
func (b *Builder) Nested(op Op, results []Type, args ...*Value) *Instr {
	in := &Instr{Op: op, Args: args, Then: &Block{}, Site: b.Site}
	switch op {
	case If:
		in.Else = &Block{}
	case Loop:
		for _, a := range args {
			in.Then.Params = append(in.Then.Params, b.Kernel.NewValue(a.Type, nil))
		}
	}
	for _, t := range results {
		in.Results = append(in.Results, b.Kernel.NewValue(t, in))
	}
	b.Block.Instrs = append(b.Block.Instrs, in)
	return in
}

// IntBits returns the bits of n, wrapped to t, which is an integer type of 32 or 64 bits.
func IntBits(t Type, n int64) uint64 {
	if t.Size() == 4 {
		return uint64(uint32(n))
	}
	return uint64(n)
}

// FloatBits returns the bits of x rounded to t, which is F32 or F64. They are the canonical ones for NaN.
func FloatBits(t Type, x float64) uint64 {
	switch {
	case x != x && t == F32:
		return NaN32
	case x != x:
		return NaN64
	case t == F32:
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}
