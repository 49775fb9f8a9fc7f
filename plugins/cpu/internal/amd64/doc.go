// Package amd64 assembles x86-64 machine code: integer and control instructions, BMI, AVX, AVX2, FMA and AVX-512, as a
// compiler for vector code needs them.
//
// An [Assembler] takes one instruction at a time:
//
//	a := amd64.New(amd64.Host())
//	a.Emit(amd64.VFMADD231PS, amd64.Z(0).Merge(amd64.K1), amd64.Z(1), amd64.Mem{Base: amd64.RDI, Disp: 64})
//	code, err := a.Finish()
//
// Operands are in Intel order. The destination carries the write mask ([Reg.Merge], [Reg.Zero], [Mem.Mask]); broadcasts
// are set by [Mem.Broadcast], static rounding by a [Rounding] among the operands, a lock prefix by [Lock]. Of the
// encodings of an instruction, the one GNU as would take is taken: VEX before EVEX where both do, the short immediate
// where it fits, disp8 in the unit of the operand, branches short where they reach.
//
// An instruction that does not exist, does not take its operands, or belongs to an extension that the assembler lacks, is an
// error. It names the wrong operand and the right ones. [Assembler.Finish] returns the first error.
//
// The code is independent of its position: it is to be placed at a multiple of 64 bytes, and data that it addresses by
// [Mem.Label] (constants, its own places) lies within. Emitting does not allocate but for growing the buffers that
// [Assembler.Reset] keeps.
//
// # Tables
//
// The instructions are rows of tables (table_*.go). A row has the operands and the encoding of an instruction, for all operand
// lengths at once:
//
//	{VADDPS, args{vL, vL, vLb}, rvm, both | o0F, 0x58, xyz | kz | er, AVX},
//
// reads: destination and first source are vectors of the instruction's length L, the second source is a vector, memory
// of this length or one element broadcast; they go to ModRM.reg, vvvv and ModRM.rm; opcode 0F 58 without a prefix in VEX
// and EVEX, W0; 128, 256 and 512 bits; write masks that merge or zero; static rounding; the VEX form needs AVX.
// form.go declares and explains the words.
package amd64
