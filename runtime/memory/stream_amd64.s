#include "textflag.h"

// func streamBlocks(dst, src *byte, blocks int)
//
// SSE2 suffices: non-temporal stores are limited by memory bandwidth rather than by their width.
TEXT ·streamBlocks(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	TESTQ CX, CX
	JLE  done

loop:
	PREFETCHNTA 1024(SI)
	MOVOU (SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVNTO X0, (DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JNZ  loop

	SFENCE

done:
	RET

// func copyString(dst, src *byte, n int)
TEXT ·copyString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	CLD
	REP
	MOVSB
	RET

// func vendorIsAMD() bool
TEXT ·vendorIsAMD(SB), NOSPLIT, $0-1
	XORL AX, AX
	CPUID
	CMPL BX, $0x68747541 // "Auth"
	SETEQ ret+0(FP)
	RET
