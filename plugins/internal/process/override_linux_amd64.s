//go:build !nonative

#include "go_asm.h"
#include "textflag.h"

#define THREAD(reg) MOVQ 0(FS), reg

#define SYS_getpid 39
#define SYS_write 1
#define SYS_exit_group 231

// The status of scripts that fail, as in orepl help exit-codes.
#define SCRIPT_FAILED 107

// here returns in R10 the innermost guarded call of this thread, or 0: also in a child process. It preserves registers but
// R10 and R11.
TEXT ·here(SB), NOSPLIT|NOFRAME, $0
	SUBQ	$40, SP
	MOVQ	CX, 0(SP)
	MOVQ	R8, 8(SP)
	MOVQ	R9, 16(SP)
	MOVQ	DX, 24(SP)
	MOVQ	AX, 32(SP)
	XORL	R10, R10
	MOVL	$SYS_getpid, AX
	SYSCALL
	CMPL	AX, ·processID(SB)
	JNE	done
	THREAD(R8)
	MOVQ	·table(SB), R9
page:
	TESTQ	R9, R9
	JEQ	done
	MOVL	$const_pageEntries, CX
next:
	CMPQ	guarded_thread(R9), R8
	JNE	other
	MOVQ	guarded_sp(R9), R11
	SUBQ	SP, R11
	TESTQ	R10, R10
	JEQ	take
	CMPQ	R11, DX
	JCC	other
take:
	MOVQ	R9, R10
	MOVQ	R11, DX
other:
	ADDQ	$guarded__size, R9
	DECL	CX
	JNZ	next
	MOVQ	(R9), R9	// page.next
	JMP	page
done:
	MOVQ	0(SP), CX
	MOVQ	8(SP), R8
	MOVQ	16(SP), R9
	MOVQ	24(SP), DX
	MOVQ	32(SP), AX
	ADDQ	$40, SP
	RET

// ended ends the guarded call R10 with a fault: AX is the number of the override, and R11 the argument to report. The stack
// pointer is that at the override's entry.
TEXT ·ended(SB), NOSPLIT|NOFRAME, $0
	ADDQ	$const_Ended, AX
	MOVQ	AX, guarded_signal(R10)
	MOVQ	$0, guarded_code(R10)
	MOVQ	R11, guarded_address(R10)
	MOVQ	(SP), CX
	MOVQ	CX, guarded_pc(R10)
	MOVQ	SP, guarded_faultSP(R10)
	MOVQ	guarded_sp(R10), SP
	CLD
	JMP	·landing(SB)

DATA exitText<>+0(SB)/64, $"error: a thread that native code created ended the process by ex"
DATA exitText<>+64(SB)/36, $"it: call kernels in a worker instead"
GLOBL exitText<>(SB), RODATA|NOPTR, $100

#define ORIGINAL(number) \
	MOVQ	·originals+(8*number)(SB), R11; \
	JMP	R11

// ENDS is an override of a function that never returns.
#define ENDS(number) \
	CALL	·here(SB); \
	TESTQ	R10, R10; \
	JNE	3(PC); \
	ORIGINAL(number); \
	MOVQ	$(number), AX; \
	MOVQ	DI, R11; \
	JMP	·ended(SB)

// EXITS is ENDS for functions that end the process, on other threads with a message.
#define EXITS(number) \
	MOVQ	$(number), AX; \
	JMP	·exits(SB)

TEXT ·exits(SB), NOSPLIT|NOFRAME, $0
	CALL	·here(SB)
	MOVQ	DI, R11
	TESTQ	R10, R10
	JEQ	foreign
	JMP	·ended(SB)
foreign:
	MOVQ	AX, R8
	MOVL	$SYS_getpid, AX
	SYSCALL
	CMPL	AX, ·processID(SB)
	JNE	child
	MOVL	$2, DI
	LEAQ	exitText<>(SB), SI
	MOVL	$100, DX
	MOVL	$SYS_write, AX
	SYSCALL
	MOVL	$SCRIPT_FAILED, DI
	MOVL	$SYS_exit_group, AX
	SYSCALL
child:
	LEAQ	·originals(SB), R11
	MOVQ	(R11)(R8*8), R11
	JMP	R11

TEXT ·libExit(SB), NOSPLIT|NOFRAME, $0
	EXITS(const_oExit)
TEXT ·libExitNow(SB), NOSPLIT|NOFRAME, $0
	EXITS(const_oExitNow)
TEXT ·libExitNowC(SB), NOSPLIT|NOFRAME, $0
	EXITS(const_oExitNowC)
TEXT ·libQuickExit(SB), NOSPLIT|NOFRAME, $0
	EXITS(const_oQuickExit)
TEXT ·libPthreadExit(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oPthreadExit)
TEXT ·libThrdExit(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oThrdExit)
TEXT ·libExecve(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecve)
TEXT ·libExecv(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecv)
TEXT ·libExecvp(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecvp)
TEXT ·libExecvpe(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecvpe)
TEXT ·libExecl(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecl)
TEXT ·libExeclp(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExeclp)
TEXT ·libExecle(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecle)
TEXT ·libFexecve(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oFexecve)
TEXT ·libExecveat(SB), NOSPLIT|NOFRAME, $0
	ENDS(const_oExecveat)

// self compares DI with this thread's handle, as pthread_self returns it.
#define SELF \
	MOVQ	16(FS), R11; \
	CMPQ	DI, R11

TEXT ·libPthreadCancel(SB), NOSPLIT|NOFRAME, $0
	SELF
	JNE	pass
	ENDS(const_oPthreadCancel)
pass:
	ORIGINAL(const_oPthreadCancel)

// sends ends the guarded call if the signal R9 would end or stop the process. AX is the override's number. It preserves
// arguments.
TEXT ·sends(SB), NOSPLIT|NOFRAME, $0
	CMPQ	R9, $64
	JCC	pass
	MOVQ	·endingMask(SB), R11
	BTQ	R9, R11
	JCC	pass
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	MOVQ	R9, R11
	JMP	·ended(SB)
pass:
	LEAQ	·originals(SB), R11
	MOVQ	(R11)(AX*8), R11
	JMP	R11

TEXT ·libRaise(SB), NOSPLIT|NOFRAME, $0
	MOVL	DI, R9
	MOVL	$const_oRaise, AX
	JMP	·sends(SB)
TEXT ·libGsignal(SB), NOSPLIT|NOFRAME, $0
	MOVL	DI, R9
	MOVL	$const_oGsignal, AX
	JMP	·sends(SB)

// toProcess is sends if the process DI is this one or a group, which this one may be in.
TEXT ·toProcess(SB), NOSPLIT|NOFRAME, $0
	CMPL	DI, $0
	JLE	sends
	CMPL	DI, ·processID(SB)
	JEQ	sends
	LEAQ	·originals(SB), R11
	MOVQ	(R11)(AX*8), R11
	JMP	R11
sends:
	JMP	·sends(SB)

TEXT ·libKill(SB), NOSPLIT|NOFRAME, $0
	MOVL	SI, R9
	MOVL	$const_oKill, AX
	JMP	·toProcess(SB)
TEXT ·libKillpg(SB), NOSPLIT|NOFRAME, $0
	MOVL	SI, R9
	MOVL	$const_oKillpg, AX
	JMP	·sends(SB)
TEXT ·libSigqueue(SB), NOSPLIT|NOFRAME, $0
	MOVL	SI, R9
	MOVL	$const_oSigqueue, AX
	JMP	·toProcess(SB)
TEXT ·libTgkill(SB), NOSPLIT|NOFRAME, $0
	MOVL	DX, R9
	MOVL	$const_oTgkill, AX
	JMP	·toProcess(SB)
TEXT ·libPthreadKill(SB), NOSPLIT|NOFRAME, $0
	SELF
	JNE	pass
	MOVL	SI, R9
	MOVL	$const_oPthreadKill, AX
	JMP	·sends(SB)
pass:
	ORIGINAL(const_oPthreadKill)

// KEPT jumps to a label in this function unless the signal DI is one whose action libraries must not change.
#define KEPT(pass) \
	CMPL	DI, $64; \
	JCC	pass; \
	MOVQ	·keptMask(SB), R11; \
	BTQ	DI, R11; \
	JCC	pass

TEXT ·libSigaction(SB), NOSPLIT|NOFRAME, $0
	TESTQ	SI, SI
	JEQ	pass
	KEPT(pass)
	XORL	SI, SI	// only returns the action
pass:
	ORIGINAL(const_oSigaction)

// IGNORES is an override that does nothing for signals whose action libraries must not change.
#define IGNORES(number) \
	KEPT(pass); \
	XORL	AX, AX; \
	RET; \
pass: \
	ORIGINAL(number)

TEXT ·libSignal(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSignal)
TEXT ·libBsdSignal(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oBsdSignal)
TEXT ·libSysvSignal(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSysvSignal)
TEXT ·libSysvSignal2(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSysvSignal2)
TEXT ·libSsignal(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSsignal)
TEXT ·libSigset(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSigset)
TEXT ·libSigignore(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSigignore)
TEXT ·libSighold(SB), NOSPLIT|NOFRAME, $0
	IGNORES(const_oSighold)

// marks records that the guarded call, if any, changes the thread's state. It preserves registers but R10 and R11.
TEXT ·marks(SB), NOSPLIT|NOFRAME, $0
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	none
	ORQ	$const_changesMask, guarded_changed(R10)
none:
	RET

// UNKEEP removes signals that must not be blocked from the set in a register.
#define UNKEEP(set) \
	MOVQ	·keptMask(SB), R11; \
	SHRQ	$1, R11; \
	NOTQ	R11; \
	ANDQ	R11, set

TEXT ·libSigblock(SB), NOSPLIT|NOFRAME, $0
	CALL	·marks(SB)
	UNKEEP(DI)
	ORIGINAL(const_oSigblock)
TEXT ·libSigsetmask(SB), NOSPLIT|NOFRAME, $0
	CALL	·marks(SB)
	UNKEEP(DI)
	ORIGINAL(const_oSigsetmask)

#define SIG_UNBLOCK 1
#define SET_BYTES 128

// blocks calls the function AX, sigprocmask or its like, with a copy of the set that lacks signals that must not be blocked.
TEXT ·blocks(SB), NOSPLIT|NOFRAME, $0
	TESTQ	SI, SI
	JEQ	pass
	CMPL	DI, $SIG_UNBLOCK
	JEQ	pass
	CALL	·marks(SB)
	SUBQ	$(SET_BYTES+8), SP
	MOVQ	(SI), R10
	UNKEEP(R10)
	MOVQ	R10, 0(SP)
	MOVL	$8, R11
more:
	CMPQ	R11, CX
	JCC	copied
	MOVQ	(SI)(R11*1), R10
	MOVQ	R10, (SP)(R11*1)
	ADDQ	$8, R11
	JMP	more
copied:
	LEAQ	(SP), SI
	CALL	AX
	ADDQ	$(SET_BYTES+8), SP
	RET
pass:
	JMP	AX

// The registers CX have the size of the sets.
TEXT ·libSigprocmask(SB), NOSPLIT|NOFRAME, $0
	MOVQ	·originals+(8*const_oSigprocmask)(SB), AX
	MOVL	$SET_BYTES, CX
	JMP	·blocks(SB)
TEXT ·libPthreadSigmask(SB), NOSPLIT|NOFRAME, $0
	MOVQ	·originals+(8*const_oPthreadSigmask)(SB), AX
	MOVL	$SET_BYTES, CX
	JMP	·blocks(SB)

TEXT ·libSigaltstack(SB), NOSPLIT|NOFRAME, $0
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	XORL	DI, DI	// only returns the stack
pass:
	ORIGINAL(const_oSigaltstack)

TEXT ·libFork(SB), NOSPLIT|NOFRAME, $0
	CALL	·marks(SB)
	ORIGINAL(const_oFork)
TEXT ·libFork2(SB), NOSPLIT|NOFRAME, $0
	CALL	·marks(SB)
	ORIGINAL(const_oFork2)
TEXT ·libVfork(SB), NOSPLIT|NOFRAME, $0
	CALL	·marks(SB)
	ORIGINAL(const_oVfork)

// REFUSES returns -1 in guarded calls, and passes elsewhere.
#define REFUSES(number) \
	CALL	·here(SB); \
	TESTQ	R10, R10; \
	JEQ	pass; \
	MOVQ	$-1, AX; \
	RET; \
pass: \
	ORIGINAL(number)

#define PR_SET_DUMPABLE 4
#define PR_SET_SECCOMP 22

TEXT ·libPrctl(SB), NOSPLIT|NOFRAME, $0
	CMPL	DI, $PR_SET_DUMPABLE
	JEQ	change
	CMPL	DI, $PR_SET_SECCOMP
	JNE	pass
change:
	REFUSES(const_oPrctl)

TEXT ·libPtrace(SB), NOSPLIT|NOFRAME, $0
	TESTL	DI, DI	// PTRACE_TRACEME
	JNE	pass
	REFUSES(const_oPtrace)

// LIMITS are the limits that this process depends on, as bits: CPU, FSIZE, DATA, NPROC, NOFILE, AS.
#define LIMITS 0x2C7

TEXT ·libSetrlimit(SB), NOSPLIT|NOFRAME, $0
	MOVL	$LIMITS, R11
	CMPL	DI, $16
	JCC	pass
	BTL	DI, R11
	JCC	pass
	REFUSES(const_oSetrlimit)
TEXT ·libSetrlimit64(SB), NOSPLIT|NOFRAME, $0
	MOVL	$LIMITS, R11
	CMPL	DI, $16
	JCC	pass
	BTL	DI, R11
	JCC	pass
	REFUSES(const_oSetrlimit64)
TEXT ·libPrlimit(SB), NOSPLIT|NOFRAME, $0
	TESTQ	DX, DX
	JEQ	pass
	CMPL	SI, $16
	JCC	pass
	MOVL	$LIMITS, R11
	BTL	SI, R11
	JCC	pass
	REFUSES(const_oPrlimit)
TEXT ·libPrlimit64(SB), NOSPLIT|NOFRAME, $0
	TESTQ	DX, DX
	JEQ	pass
	CMPL	SI, $16
	JCC	pass
	MOVL	$LIMITS, R11
	BTL	SI, R11
	JCC	pass
	REFUSES(const_oPrlimit64)

#define USUAL_UMASK 18

TEXT ·libUmask(SB), NOSPLIT|NOFRAME, $0
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	MOVL	$USUAL_UMASK, AX
	RET
pass:
	ORIGINAL(const_oUmask)

// FILE jumps to pass in this function unless the file in a register is protected and the call guarded.
#define FILE(file, pass) \
	CMPL	file, $(64*const_protectedWords); \
	JCC	pass; \
	MOVL	file, R11; \
	SHRL	$6, R11; \
	LEAQ	·protectedFiles(SB), R10; \
	MOVQ	(R10)(R11*8), R11; \
	BTQ	file, R11; \
	JCC	pass; \
	CALL	·here(SB); \
	TESTQ	R10, R10; \
	JEQ	pass

TEXT ·libClose(SB), NOSPLIT|NOFRAME, $0
	FILE(DI, pass)
	XORL	AX, AX
	RET
pass:
	ORIGINAL(const_oClose)
TEXT ·libCloseRange(SB), NOSPLIT|NOFRAME, $0
	REFUSES(const_oCloseRange)
TEXT ·libClosefrom(SB), NOSPLIT|NOFRAME, $0
	REFUSES(const_oClosefrom)
TEXT ·libDup2(SB), NOSPLIT|NOFRAME, $0
	FILE(SI, pass)
	MOVQ	$-1, AX
	RET
pass:
	ORIGINAL(const_oDup2)
TEXT ·libDup3(SB), NOSPLIT|NOFRAME, $0
	FILE(SI, pass)
	MOVQ	$-1, AX
	RET
pass:
	ORIGINAL(const_oDup3)

// STACK jumps to pass in this function unless the range DI, SI overlaps the stack of a guarded call.
#define STACK(pass) \
	CALL	·here(SB); \
	TESTQ	R10, R10; \
	JEQ	pass; \
	MOVQ	guarded_sp(R10), R11; \
	ADDQ	$0x10000, R11; \
	CMPQ	DI, R11; \
	JCC	pass; \
	LEAQ	(DI)(SI*1), R11; \
	LEAQ	-0x100000(SP), R10; \
	CMPQ	R11, R10; \
	JLS	pass

TEXT ·libMunmap(SB), NOSPLIT|NOFRAME, $0
	STACK(pass)
	MOVQ	$-1, AX
	RET
pass:
	ORIGINAL(const_oMunmap)
TEXT ·libMprotect(SB), NOSPLIT|NOFRAME, $0
	STACK(pass)
	MOVQ	$-1, AX
	RET
pass:
	ORIGINAL(const_oMprotect)

// libSyscall treats system calls as the functions above.
TEXT ·libSyscall(SB), NOSPLIT|NOFRAME, $0
	CMPQ	DI, $60	// exit
	JEQ	ends
	CMPQ	DI, $231	// exit_group
	JEQ	ends
	CMPQ	DI, $59	// execve
	JEQ	ends
	CMPQ	DI, $322	// execveat
	JEQ	ends
	CMPQ	DI, $13	// rt_sigaction
	JEQ	action
	CMPQ	DI, $14	// rt_sigprocmask
	JEQ	mask
	CMPQ	DI, $131	// sigaltstack
	JEQ	stack
	CMPQ	DI, $57	// fork
	JEQ	forks
	CMPQ	DI, $58	// vfork
	JEQ	forks
	CMPQ	DI, $56	// clone
	JEQ	forks
	CMPQ	DI, $62	// kill
	JEQ	kills
	CMPQ	DI, $200	// tkill
	JEQ	kills
	CMPQ	DI, $129	// rt_sigqueueinfo
	JEQ	kills
	CMPQ	DI, $234	// tgkill
	JEQ	killsThread
	CMPQ	DI, $297	// rt_tgsigqueueinfo
	JEQ	killsThread
	CMPQ	DI, $317	// seccomp
	JEQ	refuses
	CMPQ	DI, $157	// prctl
	JNE	pass
	CMPL	SI, $PR_SET_SECCOMP
	JEQ	refuses
pass:
	ORIGINAL(const_oSyscall)
ends:
	ENDS(const_oSyscall)
action:
	TESTQ	DX, DX
	JEQ	pass
	CMPQ	SI, $64
	JCC	pass
	MOVQ	·keptMask(SB), R11
	BTQ	SI, R11
	JCC	pass
	XORL	DX, DX
	JMP	pass
mask:
	TESTQ	DX, DX
	JEQ	pass
	CMPL	SI, $SIG_UNBLOCK
	JEQ	pass
	MOVL	SI, DI
	MOVQ	DX, SI
	MOVQ	CX, DX
	MOVQ	·originals+(8*const_oPthreadSigmask)(SB), AX
	MOVL	$8, CX
	JMP	·blocks(SB)
stack:
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	XORL	SI, SI
	JMP	pass
forks:
	CALL	·marks(SB)
	JMP	pass
kills:
	MOVL	DX, R9
	MOVL	$const_oSyscall, AX
	CMPL	SI, ·processID(SB)
	JEQ	sends
	CMPL	SI, $0
	JGT	pass
sends:
	JMP	·sends(SB)
killsThread:
	CMPL	SI, ·processID(SB)
	JNE	pass
	CMPQ	CX, $64
	JCC	pass
	MOVQ	·endingMask(SB), R11
	BTQ	CX, R11
	JCC	pass
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	MOVQ	DI, R11
	MOVL	$const_oSyscall, AX
	JMP	·ended(SB)
refuses:
	CALL	·here(SB)
	TESTQ	R10, R10
	JEQ	pass
	MOVQ	$-1, AX
	RET

// func overrideAddresses(*[numOverrides]uintptr)
TEXT ·overrideAddresses(SB), NOSPLIT, $0-8
	MOVQ	arg+0(FP), DI
	LEAQ	·libExit(SB), AX
	MOVQ	AX, (8*const_oExit)(DI)
	LEAQ	·libExitNow(SB), AX
	MOVQ	AX, (8*const_oExitNow)(DI)
	LEAQ	·libExitNowC(SB), AX
	MOVQ	AX, (8*const_oExitNowC)(DI)
	LEAQ	·libQuickExit(SB), AX
	MOVQ	AX, (8*const_oQuickExit)(DI)
	LEAQ	·libPthreadExit(SB), AX
	MOVQ	AX, (8*const_oPthreadExit)(DI)
	LEAQ	·libThrdExit(SB), AX
	MOVQ	AX, (8*const_oThrdExit)(DI)
	LEAQ	·libExecve(SB), AX
	MOVQ	AX, (8*const_oExecve)(DI)
	LEAQ	·libExecv(SB), AX
	MOVQ	AX, (8*const_oExecv)(DI)
	LEAQ	·libExecvp(SB), AX
	MOVQ	AX, (8*const_oExecvp)(DI)
	LEAQ	·libExecvpe(SB), AX
	MOVQ	AX, (8*const_oExecvpe)(DI)
	LEAQ	·libExecl(SB), AX
	MOVQ	AX, (8*const_oExecl)(DI)
	LEAQ	·libExeclp(SB), AX
	MOVQ	AX, (8*const_oExeclp)(DI)
	LEAQ	·libExecle(SB), AX
	MOVQ	AX, (8*const_oExecle)(DI)
	LEAQ	·libFexecve(SB), AX
	MOVQ	AX, (8*const_oFexecve)(DI)
	LEAQ	·libExecveat(SB), AX
	MOVQ	AX, (8*const_oExecveat)(DI)
	LEAQ	·libPthreadCancel(SB), AX
	MOVQ	AX, (8*const_oPthreadCancel)(DI)
	LEAQ	·libRaise(SB), AX
	MOVQ	AX, (8*const_oRaise)(DI)
	LEAQ	·libGsignal(SB), AX
	MOVQ	AX, (8*const_oGsignal)(DI)
	LEAQ	·libKill(SB), AX
	MOVQ	AX, (8*const_oKill)(DI)
	LEAQ	·libKillpg(SB), AX
	MOVQ	AX, (8*const_oKillpg)(DI)
	LEAQ	·libSigqueue(SB), AX
	MOVQ	AX, (8*const_oSigqueue)(DI)
	LEAQ	·libPthreadKill(SB), AX
	MOVQ	AX, (8*const_oPthreadKill)(DI)
	LEAQ	·libTgkill(SB), AX
	MOVQ	AX, (8*const_oTgkill)(DI)
	LEAQ	·libSyscall(SB), AX
	MOVQ	AX, (8*const_oSyscall)(DI)
	LEAQ	·libSigaction(SB), AX
	MOVQ	AX, (8*const_oSigaction)(DI)
	LEAQ	·libSignal(SB), AX
	MOVQ	AX, (8*const_oSignal)(DI)
	LEAQ	·libBsdSignal(SB), AX
	MOVQ	AX, (8*const_oBsdSignal)(DI)
	LEAQ	·libSysvSignal(SB), AX
	MOVQ	AX, (8*const_oSysvSignal)(DI)
	LEAQ	·libSysvSignal2(SB), AX
	MOVQ	AX, (8*const_oSysvSignal2)(DI)
	LEAQ	·libSsignal(SB), AX
	MOVQ	AX, (8*const_oSsignal)(DI)
	LEAQ	·libSigset(SB), AX
	MOVQ	AX, (8*const_oSigset)(DI)
	LEAQ	·libSigignore(SB), AX
	MOVQ	AX, (8*const_oSigignore)(DI)
	LEAQ	·libSighold(SB), AX
	MOVQ	AX, (8*const_oSighold)(DI)
	LEAQ	·libSigblock(SB), AX
	MOVQ	AX, (8*const_oSigblock)(DI)
	LEAQ	·libSigsetmask(SB), AX
	MOVQ	AX, (8*const_oSigsetmask)(DI)
	LEAQ	·libSigprocmask(SB), AX
	MOVQ	AX, (8*const_oSigprocmask)(DI)
	LEAQ	·libPthreadSigmask(SB), AX
	MOVQ	AX, (8*const_oPthreadSigmask)(DI)
	LEAQ	·libSigaltstack(SB), AX
	MOVQ	AX, (8*const_oSigaltstack)(DI)
	LEAQ	·libFork(SB), AX
	MOVQ	AX, (8*const_oFork)(DI)
	LEAQ	·libFork2(SB), AX
	MOVQ	AX, (8*const_oFork2)(DI)
	LEAQ	·libVfork(SB), AX
	MOVQ	AX, (8*const_oVfork)(DI)
	LEAQ	·libPrctl(SB), AX
	MOVQ	AX, (8*const_oPrctl)(DI)
	LEAQ	·libPtrace(SB), AX
	MOVQ	AX, (8*const_oPtrace)(DI)
	LEAQ	·libSetrlimit(SB), AX
	MOVQ	AX, (8*const_oSetrlimit)(DI)
	LEAQ	·libSetrlimit64(SB), AX
	MOVQ	AX, (8*const_oSetrlimit64)(DI)
	LEAQ	·libPrlimit(SB), AX
	MOVQ	AX, (8*const_oPrlimit)(DI)
	LEAQ	·libPrlimit64(SB), AX
	MOVQ	AX, (8*const_oPrlimit64)(DI)
	LEAQ	·libUmask(SB), AX
	MOVQ	AX, (8*const_oUmask)(DI)
	LEAQ	·libClose(SB), AX
	MOVQ	AX, (8*const_oClose)(DI)
	LEAQ	·libCloseRange(SB), AX
	MOVQ	AX, (8*const_oCloseRange)(DI)
	LEAQ	·libClosefrom(SB), AX
	MOVQ	AX, (8*const_oClosefrom)(DI)
	LEAQ	·libDup2(SB), AX
	MOVQ	AX, (8*const_oDup2)(DI)
	LEAQ	·libDup3(SB), AX
	MOVQ	AX, (8*const_oDup3)(DI)
	LEAQ	·libMunmap(SB), AX
	MOVQ	AX, (8*const_oMunmap)(DI)
	LEAQ	·libMprotect(SB), AX
	MOVQ	AX, (8*const_oMprotect)(DI)
	RET

// func threadBlock() uintptr
TEXT ·threadBlock(SB), NOSPLIT, $0-8
	THREAD(AX)
	MOVQ	AX, ret+0(FP)
	RET

// func goText() (first, end uintptr)
TEXT ·goText(SB), NOSPLIT, $0-16
	LEAQ	runtime·text(SB), AX
	MOVQ	AX, first+0(FP)
	LEAQ	runtime·etext(SB), AX
	MOVQ	AX, end+8(FP)
	RET
