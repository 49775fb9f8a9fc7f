// Package amd64 assembles x86-64 machine code for a compiler of vector code: integer and control instructions, BMI, AVX,
// AVX2, FMA and AVX-512.
//
// An [Assembler] takes one instruction at a time:
//
//	a := amd64.New(amd64.Host())
//	a.Emit(amd64.VFMADD231PS, amd64.Z(0).Merge(amd64.K1), amd64.Z(1), amd64.Mem{Base: amd64.RDI, Disp: 64})
//	code, err := a.Finish()
//
// Operands are in Intel order. The destination carries the write mask ([Reg.Merge], [Reg.Zero], [Mem.Mask]). Broadcasts are set by
// [Mem.Broadcast], static rounding by a [Rounding] among the operands, a lock prefix by [Lock]. The assembler chooses the same
// encoding as GNU as. It prefers VEX to EVEX, the shortest immediate, disp8 scaled by the operand size, and short branches in
// range.
//
// An instruction is an error if it does not exist, does not take its operands, or needs an extension that is not enabled.
// The error names the wrong operand and the accepted ones. [Assembler.Finish] returns the first error.
//
// The code is position-independent. It must be loaded at a multiple of 64 bytes, and it contains the data that [Mem.Label]
// addresses. Emitting allocates only to grow buffers, which [Assembler.Reset] keeps.
//
// # Tables
//
// The instructions are rows of tables (table_*.go). A row has the operands and the encoding of an instruction, for all
// operand lengths at once:
//
//	{VADDPS, args{vL, vL, vLb}, rvm, both | o0F, 0x58, xyz | kz | er, AVX},
//
// means: destination and first source are vectors of the instruction's length L, the second source is a vector, memory of
// this length or one broadcast element; they are encoded in ModRM.reg, vvvv and ModRM.rm; opcode 0F 58 without a prefix in
// VEX and EVEX, W0; 128, 256 and 512 bits; write masks that merge or zero; static rounding; the VEX form needs AVX. form.go
// declares and explains these names.
package amd64
