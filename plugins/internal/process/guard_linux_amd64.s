#include "go_asm.h"
#include "textflag.h"

// The entry of the table for this thread is looked for from a place given by the address of the thread's control
// block, the word at FS:0 by the ABI.
#define THREAD(reg) MOVQ 0(FS), reg

// In guarded.thread: a fault is to be taken by takeFault.
#define REPORTING 1

// In the frame of guard, below the saved registers.
#define SLOT 0
#define MXCSR 8

// guard runs (*call)(DI) by the C calling convention. It gives 0 in EAX, −1 if the table is full, or after a fault the
// number of the entry plus 1.
TEXT ·guard(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$72, SP	// with the return address a multiple of 16
	MOVQ	BX, 16(SP)
	MOVQ	BP, 24(SP)
	MOVQ	R12, 32(SP)
	MOVQ	R13, 40(SP)
	MOVQ	R14, 48(SP)
	MOVQ	R15, 56(SP)
	STMXCSR	MXCSR(SP)

	// Claim an entry.
	THREAD(R8)
	MOVQ	R8, CX
	SHRQ	$12, CX
	LEAQ	·calls(SB), R9
	MOVL	$const_maxCalls, R10
next:
	ANDL	$(const_maxCalls-1), CX
	MOVQ	CX, BX
	SHLQ	$6, BX
	ADDQ	R9, BX
	XORL	AX, AX
	LOCK
	CMPXCHGQ	R8, guarded_thread(BX)
	JEQ	claimed
	INCL	CX
	DECL	R10
	JNZ	next
	MOVL	$-1, AX
	JMP	out

claimed:
	MOVQ	SP, guarded_sp(BX)
	MOVQ	BX, SLOT(SP)
	MOVQ	call_entry(DI), AX
	MOVQ	call_arg(DI), DI
	CLD
	CALL	AX
	MOVQ	SLOT(SP), BX
	MOVQ	$0, guarded_thread(BX)
	XORL	AX, AX
out:
	MOVQ	16(SP), BX
	MOVQ	24(SP), BP
	MOVQ	32(SP), R12
	MOVQ	40(SP), R13
	MOVQ	48(SP), R14
	MOVQ	56(SP), R15
	ADDQ	$72, SP
	RET

// landing is where handler lets a faulting call go on: in guard, with the stack pointer of there.
TEXT ·landing(SB), NOSPLIT|NOFRAME, $0
	MOVQ	SLOT(SP), BX
	MOVQ	$REPORTING, guarded_thread(BX)
	// The state that a C function leaves as it was or clean.
	LDMXCSR	MXCSR(SP)
	BYTE	$0xDB; BYTE $0xE3	// FNINIT
	CMPB	·hasAVX(SB), $0
	JEQ	noAVX
	VZEROUPPER
noAVX:
	MOVQ	BX, AX
	LEAQ	·calls(SB), CX
	SUBQ	CX, AX
	SHRQ	$6, AX
	INCL	AX
	MOVQ	16(SP), BX
	XCHGQ	BP, 24(SP)	// restored; vet takes a MOVQ for a frame pointer lost
	MOVQ	32(SP), R12
	MOVQ	40(SP), R13
	MOVQ	48(SP), R14
	MOVQ	56(SP), R15
	LEAQ	72(SP), SP
	RET

// In siginfo_t and in ucontext_t of Linux.
#define SI_CODE 8
#define SI_ADDR 16
#define UC_RSP 160
#define UC_RIP 168
#define UC_EFLAGS 176

// handler is the signal handler: signal DI, siginfo SI, context DX. A fault of a guarded call goes on at landing, any
// other in Go's handler.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	MOVL	SI_CODE(SI), AX
	TESTL	AX, AX
	JLE	notOurs	// sent by a process, not a fault
	MOVQ	UC_RIP(DX), AX
	LEAQ	runtime·text(SB), CX
	CMPQ	AX, CX
	JCS	outside
	LEAQ	runtime·etext(SB), CX
	CMPQ	AX, CX
	JCS	notOurs	// in Go: a panic, perhaps of a callback
outside:
	// Of the calls of this thread, the innermost is the one deepest in the stack.
	THREAD(R8)
	LEAQ	·calls(SB), R9
	MOVL	$const_maxCalls, CX
	XORL	R10, R10
next:
	CMPQ	guarded_thread(R9), R8
	JNE	other
	TESTQ	R10, R10
	JEQ	take
	MOVQ	guarded_sp(R9), R11
	CMPQ	R11, guarded_sp(R10)
	JCC	other
take:
	MOVQ	R9, R10
other:
	ADDQ	$guarded__size, R9
	DECL	CX
	JNZ	next
	TESTQ	R10, R10
	JEQ	notOurs

	MOVL	DI, DI
	MOVQ	DI, guarded_signal(R10)
	MOVL	SI_CODE(SI), CX
	MOVQ	CX, guarded_code(R10)
	MOVQ	SI_ADDR(SI), CX
	MOVQ	CX, guarded_address(R10)
	MOVQ	AX, guarded_pc(R10)
	MOVQ	UC_RSP(DX), CX
	MOVQ	CX, guarded_faultSP(R10)
	MOVQ	guarded_sp(R10), CX
	MOVQ	CX, UC_RSP(DX)
	LEAQ	·landing(SB), CX
	MOVQ	CX, UC_RIP(DX)
	ANDQ	$~0x40500, UC_EFLAGS(DX)	// not direction, trap and alignment check
	RET	// to the restorer

notOurs:
	LEAQ	·goHandlers(SB), AX
	MOVL	DI, CX
	MOVQ	(AX)(CX*8), AX
	JMP	AX

// func addresses() (guard, handler uintptr)
TEXT ·addresses(SB), NOSPLIT, $0-16
	LEAQ	·guard(SB), AX
	MOVQ	AX, guard+0(FP)
	LEAQ	·handler(SB), AX
	MOVQ	AX, handler+8(FP)
	RET
