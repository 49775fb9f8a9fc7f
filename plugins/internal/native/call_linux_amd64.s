//go:build !nonative

#include "go_asm.h"
#include "textflag.h"

#define WORD(n) (block_words+8*(n))

// invoke calls the function in the block DI by the C calling convention, once per item.
TEXT ·invoke(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$40, SP	// aligns the stack to 16 bytes
	MOVQ	BX, 0(SP)
	MOVQ	R12, 8(SP)
	MOVQ	R13, 16(SP)
	MOVQ	DI, BX
	MOVQ	SP, R12
	MOVQ	block_count(BX), R13
item:
	MOVQ	block_stackWords(BX), CX
	TESTQ	CX, CX
	JEQ	registers
	MOVQ	CX, AX
	SHLQ	$3, AX
	SUBQ	AX, SP
	MOVQ	block_stack(BX), SI
	MOVQ	SP, DI
	CLD
	REP; MOVSQ
registers:
	MOVSD	WORD(6)(BX), X0
	MOVSD	WORD(7)(BX), X1
	MOVSD	WORD(8)(BX), X2
	MOVSD	WORD(9)(BX), X3
	MOVSD	WORD(10)(BX), X4
	MOVSD	WORD(11)(BX), X5
	MOVSD	WORD(12)(BX), X6
	MOVSD	WORD(13)(BX), X7
	MOVQ	WORD(0)(BX), DI
	MOVQ	WORD(1)(BX), SI
	MOVQ	WORD(2)(BX), DX
	MOVQ	WORD(3)(BX), CX
	MOVQ	WORD(4)(BX), R8
	MOVQ	WORD(5)(BX), R9
	MOVL	$8, AX	// number of vector registers, for variadic functions
	MOVQ	block_fn(BX), R11
	CALL	R11
	MOVQ	AX, block_result(BX)
	MOVQ	R12, SP
	DECQ	R13
	JEQ	done
	MOVQ	block_stop(BX), AX
	CMPB	(AX), $0
	JNE	done
	MOVQ	WORD(0)(BX), AX
	INCQ	AX
	MOVQ	AX, WORD(0)(BX)
	CMPQ	AX, block_size(BX)
	JNE	item
	MOVQ	$0, WORD(0)(BX)
	MOVQ	WORD(1)(BX), AX
	INCQ	AX
	MOVQ	AX, WORD(1)(BX)
	CMPQ	AX, (block_size+8)(BX)
	JNE	item
	MOVQ	$0, WORD(1)(BX)
	INCQ	WORD(2)(BX)
	JMP	item
done:
	MOVQ	0(SP), BX
	MOVQ	8(SP), R12
	MOVQ	16(SP), R13
	ADDQ	$40, SP
	RET

// func invokeAddress() uintptr
TEXT ·invokeAddress(SB), NOSPLIT, $0-8
	LEAQ	·invoke(SB), AX
	MOVQ	AX, ret+0(FP)
	RET
