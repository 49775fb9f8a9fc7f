//go:build !nonative

#include "go_asm.h"
#include "textflag.h"

// A thread is identified by the address of its control block, which the ABI stores at FS:0.
#define THREAD(reg) MOVQ 0(FS), reg

// Offsets in the frame of run.
#define SLOT 0
#define MXCSR 8
#define CHANGED 12
#define FRAME 16

// DEFAULT is the MXCSR at the start of guarded code: exceptions masked, round to nearest, denormals preserved. FLAGS are
// the low bits with the exceptions seen, which are ignored.
#define DEFAULT 0x1F80
#define FLAGS 0x3F

// run calls the code at AX with the argument DI, guarded by the entry BX. It returns 0 in EAX, or 1 after a fault, and
// preserves only BP and SP.
TEXT ·run(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$40, SP	// aligns the stack to 16 bytes for the called code
	MOVQ	BX, SLOT(SP)
	MOVQ	BP, FRAME(SP)
	STMXCSR	MXCSR(SP)
	MOVL	MXCSR(SP), CX
	ANDL	$~FLAGS, CX
	SUBL	$DEFAULT, CX
	MOVL	CX, CHANGED(SP)
	JNE	reset
ready:
	THREAD(R8)
	MOVQ	SP, guarded_sp(BX)
	MOVQ	R8, guarded_thread(BX)
	CALL	AX
	MOVQ	SLOT(SP), BX
	MOVQ	$0, guarded_thread(BX)
	XORL	AX, AX
	CMPL	CHANGED(SP), $0
	JNE	restore
leave:
	XCHGQ	BP, FRAME(SP)	// restores BP; vet would report a MOVQ as a lost frame pointer
	ADDQ	$40, SP
	RET
reset:
	MOVL	$DEFAULT, CHANGED(SP)
	LDMXCSR	CHANGED(SP)
	JMP	ready
restore:
	LDMXCSR	MXCSR(SP)
	JMP	leave

// landing is the address at which handler resumes a faulting call, with the stack pointer of run.
TEXT ·landing(SB), NOSPLIT|NOFRAME, $0
	MOVQ	SLOT(SP), BX
	MOVQ	$0, guarded_thread(BX)
	// Restores the state that C functions preserve or clear.
	LDMXCSR	MXCSR(SP)
	BYTE	$0xDB; BYTE $0xE3	// FNINIT
	CMPB	·hasAVX(SB), $0
	JEQ	noAVX
	VZEROUPPER
noAVX:
	MOVL	$1, AX
	XCHGQ	BP, FRAME(SP)
	LEAQ	40(SP), SP
	RET

// Offsets in the frame of guard.
#define SAVED 40
#define MODE 80
#define WORD87 84
#define GUARD_FRAME 88

#define DEFAULT87 0x37F

#define SYS_rt_sigprocmask 14
#define SYS_getpid 39
#define SYS_write 1
#define SYS_sigaltstack 131
#define SYS_tgkill 234
#define SYS_exit_group 231
#define SIG_SETMASK 2

// guard runs (*call)(DI) for cgocall, by the C calling convention on a system stack. It restores the state of the thread
// that native code changed.
TEXT ·guard(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$GUARD_FRAME, SP	// aligns the stack to 16 bytes
	MOVQ	BX, SAVED(SP)
	MOVQ	R12, (SAVED+8)(SP)
	MOVQ	R13, (SAVED+16)(SP)
	MOVQ	R14, (SAVED+24)(SP)
	MOVQ	R15, (SAVED+32)(SP)
	STMXCSR	MODE(SP)
	MOVQ	call_guard(DI), BX
	MOVQ	BX, 0(SP)
	THREAD(R8)
	MOVQ	·idOffset(SB), CX
	TESTQ	CX, CX
	JEQ	noID
	MOVL	(R8)(CX*1), CX
noID:
	MOVQ	CX, guarded_id(BX)
	MOVQ	call_changes(DI), CX
	MOVQ	CX, guarded_changed(BX)
	TESTQ	$const_changesStack, CX
	JNE	noteStack
enter:
	MOVQ	call_entry(DI), AX
	MOVQ	call_arg(DI), DI
	CALL	·run(SB)
	CLD
	MOVL	AX, R13
	MOVQ	0(SP), R12
	BYTE	$0xD9; BYTE $0x7C; BYTE $0x24; BYTE $WORD87	// FNSTCW WORD87(SP)
	CMPW	WORD87(SP), $DEFAULT87
	JNE	reset87
mode:
	STMXCSR	WORD87(SP)
	MOVL	WORD87(SP), CX
	XORL	MODE(SP), CX
	TESTL	$~FLAGS, CX
	JNE	resetMode
state:
	CMPQ	guarded_changed(R12), $0
	JNE	changed
done:
	MOVL	R13, AX
	MOVQ	SAVED(SP), BX
	MOVQ	(SAVED+8)(SP), R12
	MOVQ	(SAVED+16)(SP), R13
	MOVQ	(SAVED+24)(SP), R14
	MOVQ	(SAVED+32)(SP), R15
	ADDQ	$GUARD_FRAME, SP
	RET
reset87:
	BYTE	$0xDB; BYTE $0xE3	// FNINIT
	JMP	mode
resetMode:
	LDMXCSR	MODE(SP)
	JMP	state
noteStack:
	MOVQ	DI, R12
	XORL	DI, DI
	LEAQ	guarded_stack(BX), SI
	MOVL	$SYS_sigaltstack, AX
	SYSCALL
	MOVQ	R12, DI
	JMP	enter
changed:
	// A child that forked in native code must not return to Go, whose other threads it lacks.
	MOVL	$SYS_getpid, AX
	SYSCALL
	CMPL	AX, ·processID(SB)
	JEQ	parent
	MOVL	$1, DI
	MOVL	$SYS_exit_group, AX
	SYSCALL
parent:
	MOVL	$SIG_SETMASK, DI
	LEAQ	·goMask(SB), SI
	XORL	DX, DX
	MOVL	$8, R10
	MOVL	$SYS_rt_sigprocmask, AX
	SYSCALL
	TESTQ	$const_changesStack, guarded_changed(R12)
	JEQ	done
	LEAQ	guarded_stack(R12), DI
	XORL	SI, SI
	MOVL	$SYS_sigaltstack, AX
	SYSCALL
	JMP	done

// func runHere(place *guarded, entry uintptr, arg unsafe.Pointer) int32
TEXT ·runHere(SB), 0, $512-28
	MOVQ	place+0(FP), BX
	MOVQ	entry+8(FP), AX
	MOVQ	arg+16(FP), DI
	CALL	·run(SB)
	MOVL	AX, ret+24(FP)
	RET

// Offsets in Linux's siginfo_t and ucontext_t.
#define SI_CODE 8
#define SI_ADDR 16
#define SI_PID 16
#define SI_VALUE 24
#define UC_STACK_FLAGS 24
#define SS_DISABLE 2
#define UC_RSP 160
#define UC_RIP 168
#define UC_EFLAGS 176

// handler is the signal handler: signal DI, siginfo SI, context DX. After a fault of a guarded call, execution continues
// at landing. Other signals are passed to Go's handler.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	MOVL	SI_CODE(SI), AX
	TESTL	AX, AX
	JLE	sent
fault:
	MOVQ	UC_RIP(DX), AX
	LEAQ	runtime·text(SB), CX
	CMPQ	AX, CX
	JCS	outside
	LEAQ	runtime·etext(SB), CX
	CMPQ	AX, CX
	JCS	notOurs	// in Go: a panic, perhaps of a callback
outside:
	// The innermost call of this thread is the one with the next higher stack pointer. Other calls may be on other stacks,
	// far away in either direction.
	THREAD(R8)
	MOVQ	·table(SB), R9
	XORL	R10, R10
page:
	TESTQ	R9, R9
	JEQ	found
	MOVL	$const_pageEntries, CX
next:
	CMPQ	guarded_thread(R9), R8
	JNE	other
	MOVQ	guarded_sp(R9), R11
	SUBQ	UC_RSP(DX), R11
	TESTQ	R10, R10
	JEQ	take
	CMPQ	R11, AX
	JCC	other
take:
	MOVQ	R9, R10
	MOVQ	R11, AX
other:
	ADDQ	$guarded__size, R9
	DECL	CX
	JNZ	next
	MOVQ	(R9), R9	// page.next
	JMP	page
found:
	TESTQ	R10, R10
	JEQ	notOurs

	MOVL	DI, DI
	MOVQ	DI, guarded_signal(R10)
	MOVL	SI_CODE(SI), CX
	MOVQ	CX, guarded_code(R10)
	MOVQ	SI_ADDR(SI), CX
	MOVQ	CX, guarded_address(R10)
	MOVQ	UC_RIP(DX), CX
	MOVQ	CX, guarded_pc(R10)
	MOVQ	UC_RSP(DX), CX
	MOVQ	CX, guarded_faultSP(R10)
	MOVQ	guarded_sp(R10), CX
	MOVQ	CX, UC_RSP(DX)
	LEAQ	·landing(SB), CX
	MOVQ	CX, UC_RIP(DX)
	ANDQ	$~0x40500, UC_EFLAGS(DX)	// clears the direction, trap and alignment check flags
	RET	// to the restorer

// A process sent the signal. Sent by this one it is a fault of the call that runs on the thread, but for that of Interrupt.
// AX is si_code.
sent:
	MOVL	·processID(SB), CX
	CMPL	SI_PID(SI), CX
	JNE	toGo
	CMPL	AX, $const_siTkill
	JEQ	fault
	CMPL	AX, $const_siQueue
	JNE	fault
	CMPL	DI, $const_sigBUS
	JNE	fault
	LEAQ	·table(SB), CX
	CMPQ	SI_VALUE(SI), CX
	JNE	fault
	MOVQ	UC_RIP(DX), AX
	LEAQ	runtime·text(SB), CX
	CMPQ	AX, CX
	JCS	foreign
	LEAQ	runtime·etext(SB), CX
	CMPQ	AX, CX
	JCS	ignore	// between calls, or at the start or end of one
foreign:
	THREAD(R8)
	MOVQ	·table(SB), R9
stopPage:
	TESTQ	R9, R9
	JEQ	ignore
	MOVL	$const_pageEntries, CX
stopNext:
	CMPQ	guarded_thread(R9), R8
	JNE	stopOther
	MOVQ	guarded_stop(R9), R11
	TESTQ	R11, R11
	JEQ	stopOther
	MOVQ	R9, R10
	CMPQ	R11, $const_stopAnywhere
	JEQ	found
	CMPQ	AX, guarded_low(R9)
	JCS	ignore
	CMPQ	AX, guarded_high(R9)
	JCS	found
	RET
stopOther:
	ADDQ	$guarded__size, R9
	DECL	CX
	JNZ	stopNext
	MOVQ	(R9), R9	// page.next
	JMP	stopPage
ignore:
	RET

notOurs:
	MOVL	SI_CODE(SI), AX
	CMPL	AX, $const_siUser
	JEQ	redirect
	CMPL	AX, $const_siQueue
	JEQ	redirect
threads:
	// A thread without a signal stack is not Go's. If a call waits for such threads, a faulting one is stopped forever, and
	// its fault is recorded for the call.
	CMPL	·foreignCalls(SB), $0
	JEQ	crash
	MOVQ	UC_RIP(DX), AX
	LEAQ	runtime·text(SB), CX
	CMPQ	AX, CX
	JCS	notGo
	LEAQ	runtime·etext(SB), CX
	CMPQ	AX, CX
	JCS	toGo
notGo:
	MOVL	UC_STACK_FLAGS(DX), AX
	TESTL	$SS_DISABLE, AX
	JEQ	crash
	MOVL	$1, CX
	XCHGL	CX, ·foreignTaken(SB)
	TESTL	CX, CX
	JNE	park	// another thread has faulted before
	LEAQ	·foreignFault(SB), R10
	MOVL	DI, DI
	MOVQ	DI, guarded_signal(R10)
	MOVL	SI_CODE(SI), CX
	MOVQ	CX, guarded_code(R10)
	MOVQ	SI_ADDR(SI), CX
	MOVQ	CX, guarded_address(R10)
	MOVQ	UC_RIP(DX), CX
	MOVQ	CX, guarded_pc(R10)
	MOVQ	UC_RSP(DX), CX
	MOVQ	CX, guarded_faultSP(R10)
	MOVL	$1, ·foreignDone(SB)
park:
	LEAQ	·parked(SB), CX
	MOVQ	CX, UC_RIP(DX)
	RET	// to the restorer

// This process sent itself the signal, which another thread received: it is passed to a thread with a guarded call.
redirect:
	THREAD(R8)
	MOVQ	·table(SB), R9
redirectPage:
	TESTQ	R9, R9
	JEQ	threads
	MOVL	$const_pageEntries, CX
redirectNext:
	MOVQ	guarded_thread(R9), R11
	TESTQ	R11, R11
	JEQ	redirectOther
	CMPQ	R11, R8
	JEQ	redirectOther
	CMPQ	guarded_id(R9), $0
	JNE	redirectTo
redirectOther:
	ADDQ	$guarded__size, R9
	DECL	CX
	JNZ	redirectNext
	MOVQ	(R9), R9	// page.next
	JMP	redirectPage
redirectTo:
	MOVL	DI, DX
	MOVL	·processID(SB), DI
	MOVQ	guarded_id(R9), SI
	MOVL	$SYS_tgkill, AX
	SYSCALL
	RET	// to the restorer

// A fault of a library that no guard runs: recorded for the goroutine of reportCrashes. The thread stops.
crash:
	CMPL	·crashPipe(SB), $0
	JEQ	toGo
	MOVL	SI_CODE(SI), AX
	CMPL	AX, $const_siUser
	JEQ	toGo
	CMPL	AX, $const_siQueue
	JEQ	toGo
	MOVQ	UC_RIP(DX), AX
	TESTQ	AX, AX
	JNE	located
	MOVQ	UC_RSP(DX), CX
	MOVQ	(CX), AX	// the caller of address 0
located:
	LEAQ	runtime·text(SB), CX
	CMPQ	AX, CX
	JCS	crashes
	LEAQ	runtime·etext(SB), CX
	CMPQ	AX, CX
	JCS	toGo
crashes:
	MOVL	$1, CX
	XCHGL	CX, ·crashTaken(SB)
	TESTL	CX, CX
	JNE	park
	LEAQ	·crashed(SB), R10
	MOVL	DI, DI
	MOVQ	DI, guarded_signal(R10)
	MOVL	SI_CODE(SI), CX
	MOVQ	CX, guarded_code(R10)
	MOVQ	SI_ADDR(SI), CX
	MOVQ	CX, guarded_address(R10)
	MOVQ	AX, guarded_pc(R10)
	MOVQ	UC_RSP(DX), CX
	MOVQ	CX, guarded_faultSP(R10)
	LEAQ	·crashEnd(SB), CX
	MOVQ	CX, UC_RIP(DX)
	MOVL	·crashPipe(SB), DI
	LEAQ	·crashed(SB), SI
	MOVL	$8, DX
	MOVL	$SYS_write, AX
	SYSCALL
	RET	// to the restorer

toGo:
	LEAQ	·goHandlers(SB), AX
	MOVL	DI, CX
	MOVQ	(AX)(CX*8), AX
	JMP	AX

// parked stops a faulting thread that is not Go's.
TEXT ·parked(SB), NOSPLIT|NOFRAME, $0
again:
	MOVL	$34, AX	// pause
	SYSCALL
	JMP	again

// crashEnd waits until a goroutine ends the process, which must not take long.
TEXT ·crashEnd(SB), NOSPLIT|NOFRAME, $0
	MOVL	$const_crashWait, R12
wait:
	SUBQ	$16, SP
	MOVQ	$0, 0(SP)
	MOVQ	$10000000, AX	// nanoseconds
	MOVQ	AX, 8(SP)
	MOVQ	SP, DI
	XORL	SI, SI
	MOVL	$35, AX	// nanosleep
	SYSCALL
	ADDQ	$16, SP
	DECL	R12
	JNZ	wait
	MOVL	$2, DI
	LEAQ	crashText<>(SB), SI
	MOVL	$26, DX
	MOVL	$SYS_write, AX
	SYSCALL
	MOVL	$const_crashCode, DI
	MOVL	$SYS_exit_group, AX
	SYSCALL

DATA crashText<>+0(SB)/8, $"error: a"
DATA crashText<>+8(SB)/8, $" library"
DATA crashText<>+16(SB)/8, $" crashed"
DATA crashText<>+24(SB)/8, $".\n      "
GLOBL crashText<>(SB), RODATA, $32

// func addresses() (guard, handler uintptr)
TEXT ·addresses(SB), NOSPLIT, $0-16
	LEAQ	·guard(SB), AX
	MOVQ	AX, guard+0(FP)
	LEAQ	·handler(SB), AX
	MOVQ	AX, handler+8(FP)
	RET
