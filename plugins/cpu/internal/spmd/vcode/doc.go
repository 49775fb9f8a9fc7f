// Package vcode is the machine IR of the compiler: x86-64 instructions on virtual registers.
//
// A [Func] is a list of instructions in the order of the code, with labels, jumps and marks for loops and cold code. It is
// not in SSA form: a register may be written any number of times. [Func.Operands] visits the registers of an instruction
// with their roles, and every analysis and pass is built on it. [Func.LiveRanges] and [Func.FindLiveness] compute where
// registers are live.
//
// Packages isel and grid build functions by [Func.Def], [Func.Mod] and [Func.Use]; avx2 and passes rewrite them; regalloc
// assigns machine registers; emit encodes the result.
//
// # Vectors
//
// Instructions are those of AVX-512 on vectors of any length. The operand [Reg.Z] is a whole vector of the [Target], and [Reg.Y] is
// half of one. Package avx2 replaces the instructions that AVX2 lacks, and shortens the operands.
//
// # Constants
//
// A vector constant is a register whose value is in the constant pool ([RegInfo.Elem] is not 0). It needs no spill slot:
// a spilled constant is loaded from the pool, or is a memory operand of the instruction that uses it.
//
// # Design
//
// Operands visits the operands of an instruction through a callback, and is the only place that knows them. A list for each
// instruction would allocate.
package vcode
