// Package emit encodes a function of package vcode as machine code, with the registers that regalloc assigned.
//
// A spilled register is reloaded to a scratch register before an instruction reads it, or is a memory operand of the
// instruction. Cold code follows all other code. A trap calls the code of emitTrap, which saves the registers in the context
// and returns to Go; Go resumes the code at [Code.Resume].
package emit
