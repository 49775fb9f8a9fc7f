// Functions of kernels, each of which does one thing that a library should not do.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <xmmintrin.h>

#define HOSTILE(name) void name(int64_t x, int32_t *o)

static volatile int sink, zero;
static void spin(void) { for (;;) sink++; }
static void handler(int s) { (void)s; }
static void set_action(int s, void (*h)(int)) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = h;
  sigaction(s, &a, NULL);
}
static void block_all(void) { sigset_t s; sigfillset(&s); pthread_sigmask(SIG_BLOCK, &s, NULL); }
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// Harmless functions, for what comes afterwards.
HOSTILE(fine) { o[0] = 7; }
HOSTILE(null_write) { *(volatile int *)16 = 1; }
HOSTILE(endless) { spin(); }
HOSTILE(rounding) { volatile float a = 1, b = 3; volatile double c = 1, d = 3; o[0] = (int)(a / b * 16777216 * 4); o[1] = c / d > 0.33333333333333331; }

// The end of the thread or of the process.
HOSTILE(exit_thread) { pthread_exit(NULL); }
HOSTILE(exit_thrd) { thrd_exit(0); }
HOSTILE(exit_raw_thread) { syscall(SYS_exit, 0); }
HOSTILE(exit_process) { exit(3); }
HOSTILE(exit_at_once) { _exit(4); }
HOSTILE(exit_quick) { quick_exit(5); }
HOSTILE(exit_raw) { syscall(SYS_exit_group, 6); }
HOSTILE(exit_zero) { exit(0); }
static void spin_at_exit(void) { spin(); }
HOSTILE(hang_at_exit) { atexit(spin_at_exit); o[0] = 1; }
static void fault_at_exit(void) { *(volatile int *)16 = 1; }
HOSTILE(fault_at_exit_) { atexit(fault_at_exit); o[0] = 1; }
HOSTILE(aborts) { abort(); }
HOSTILE(replaces_process) { execl("/bin/true", "true", (char *)NULL); }
HOSTILE(forks) { pid_t p = fork(); if (p == 0) _exit(0); waitpid(p, NULL, 0); o[0] = p > 0; }
HOSTILE(forks_child_returns) { fork(); o[0] = 1; }
HOSTILE(vforks) { pid_t p = vfork(); if (p == 0) _exit(0); waitpid(p, NULL, 0); o[0] = p > 0; }

// Signals that it sends.
HOSTILE(raises_segv) { raise(SIGSEGV); }
HOSTILE(raises_bus) { raise(SIGBUS); }
HOSTILE(raises_fpe) { raise(SIGFPE); }
HOSTILE(raises_ill) { raise(SIGILL); }
HOSTILE(raises_trap) { raise(SIGTRAP); }
HOSTILE(breakpoint) { __asm__ volatile("int3"); }
HOSTILE(raises_sys) { raise(SIGSYS); }
HOSTILE(raises_urg) { raise(SIGURG); o[0] = 1; }
HOSTILE(raises_pipe) { raise(SIGPIPE); o[0] = 1; }
HOSTILE(raises_term) { raise(SIGTERM); o[0] = 1; }
HOSTILE(raises_hup) { raise(SIGHUP); o[0] = 1; }
HOSTILE(raises_quit) { raise(SIGQUIT); o[0] = 1; }
HOSTILE(raises_usr1) { raise(SIGUSR1); o[0] = 1; }
HOSTILE(raises_realtime) { raise(SIGRTMIN + 3); o[0] = 1; }
HOSTILE(raises_stop) { raise(SIGTSTP); o[0] = 1; }
HOSTILE(kills_segv) { kill(getpid(), SIGSEGV); spin(); }
HOSTILE(kills_abrt) { kill(getpid(), SIGABRT); spin(); }
HOSTILE(kills_fpe) { kill(getpid(), SIGFPE); spin(); }
HOSTILE(kills_term) { kill(getpid(), SIGTERM); spin(); }
HOSTILE(kills_kill) { kill(getpid(), SIGKILL); spin(); }
HOSTILE(queues_segv) { union sigval v = {0}; sigqueue(getpid(), SIGSEGV, v); spin(); }

// Actions of signals.
HOSTILE(default_segv) { signal(SIGSEGV, SIG_DFL); o[0] = 1; }
HOSTILE(default_all) { for (int s = 1; s < 65; s++) set_action(s, SIG_DFL); o[0] = 1; }
HOSTILE(own_all) { for (int s = 1; s < 65; s++) set_action(s, handler); o[0] = 1; }
HOSTILE(ignore_all) { for (int s = 1; s < 65; s++) set_action(s, SIG_IGN); o[0] = 1; }
HOSTILE(default_then_fault) { for (int i = 0; i < 5; i++) signal(faults[i], SIG_DFL); *(volatile int *)16 = 1; }
HOSTILE(own_then_fault) { for (int i = 0; i < 5; i++) set_action(faults[i], handler); *(volatile int *)16 = 1; }
HOSTILE(ignore_then_divide) { set_action(SIGFPE, SIG_IGN); sink = 100 / zero; }
HOSTILE(default_then_spin) { for (int s = 1; s < 65; s++) set_action(s, SIG_DFL); spin(); }
HOSTILE(ignore_then_spin) { for (int s = 1; s < 65; s++) set_action(s, SIG_IGN); spin(); }
HOSTILE(raw_action) {
  struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } a = {0};
  for (int i = 0; i < 5; i++) syscall(SYS_rt_sigaction, faults[i], &a, NULL, 8);
  o[0] = 1;
}
HOSTILE(blocks) { block_all(); o[0] = 1; }
HOSTILE(blocks_spins) { block_all(); spin(); }
HOSTILE(blocks_sleeps) { block_all(); for (;;) pause(); }
HOSTILE(blocks_faults) { block_all(); *(volatile int *)16 = 1; }
HOSTILE(raw_block_spins) { unsigned long m = ~0ul; syscall(SYS_rt_sigprocmask, SIG_BLOCK, &m, NULL, 8); spin(); }
static void *blocked_thread(void *p) { block_all(); spin(); return p; }
HOSTILE(blocked_thread_spins) { pthread_t t; pthread_create(&t, NULL, blocked_thread, NULL); pthread_join(t, NULL); }
HOSTILE(leaves_thread) { pthread_t t; pthread_create(&t, NULL, blocked_thread, NULL); pthread_detach(t); o[0] = 1; }
HOSTILE(moves_signal_stack) { static char s[1 << 16]; stack_t st = {.ss_sp = s, .ss_size = sizeof s}; sigaltstack(&st, NULL); o[0] = 1; }
HOSTILE(no_signal_stack) { stack_t st = {.ss_flags = SS_DISABLE}; sigaltstack(&st, NULL); o[0] = 1; }
static int deep(int n) { volatile char b[4096]; b[0] = (char)n; return deep(n + 1) + b[0]; }
HOSTILE(no_signal_stack_recurses) { stack_t st = {.ss_flags = SS_DISABLE}; sigaltstack(&st, NULL); sink = deep(0); }
HOSTILE(timer) { struct itimerval v = {{0, 10000}, {0, 10000}}; setitimer(ITIMER_REAL, &v, NULL); o[0] = 1; }
HOSTILE(prof_timer) { struct itimerval v = {{0, 10000}, {0, 10000}}; setitimer(ITIMER_PROF, &v, NULL); setitimer(ITIMER_VIRTUAL, &v, NULL); o[0] = 1; }
HOSTILE(alarm_soon) { alarm(1); spin(); }

// The state of thread and process.
HOSTILE(rounds_up) { fesetround(FE_UPWARD); o[0] = 1; }
HOSTILE(flushes) { _mm_setcsr(_mm_getcsr() | 0x8040); o[0] = 1; }
HOSTILE(traps_floats) { feenableexcept(FE_DIVBYZERO | FE_INVALID); volatile double z = 0; sink = (int)(1 / z); }
HOSTILE(traps_later) { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_INEXACT); o[0] = 1; }
HOSTILE(x87_single) { unsigned short w = 0x0c3f; __asm__ volatile("fldcw %0" ::"m"(w)); o[0] = 1; }
HOSTILE(direction_flag) { __asm__ volatile("std"); o[0] = 1; }
HOSTILE(changes_folder) { sink = chdir("/"); o[0] = 1; }
HOSTILE(changes_umask) { umask(0777); o[0] = 1; }
HOSTILE(changes_limits) { struct rlimit l = {0, 0}; setrlimit(RLIMIT_NOFILE, &l); setrlimit(RLIMIT_FSIZE, &l); o[0] = 1; }
HOSTILE(limits_memory) { struct rlimit l = {1 << 20, 1 << 20}; setrlimit(RLIMIT_AS, &l); setrlimit(RLIMIT_DATA, &l); o[0] = 1; }
HOSTILE(limits_cpu) { struct rlimit l = {1, 2}; setrlimit(RLIMIT_CPU, &l); spin(); }
HOSTILE(closes_files) { for (int i = 3; i < 256; i++) close(i); o[0] = 1; }
HOSTILE(closes_all_files) { for (int i = 0; i < 256; i++) close(i); o[0] = 1; }
HOSTILE(changes_environment) { clearenv(); setenv("PATH", "", 1); o[0] = 1; }
HOSTILE(lowest_priority) { setpriority(PRIO_PROCESS, 0, 19); o[0] = 1; }
HOSTILE(one_cpu) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(0, &s); sched_setaffinity(0, sizeof s, &s); o[0] = 1; }
HOSTILE(traced) { sink = (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL); o[0] = 1; }
HOSTILE(no_new_calls) { prctl(PR_SET_SECCOMP, 1, 0, 0, 0); o[0] = 1; }
HOSTILE(not_dumpable) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); o[0] = 1; }
HOSTILE(dies_with_parent) { prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); o[0] = 1; }

// Memory and the stack.
static jmp_buf saved;
HOSTILE(jumps) { if (setjmp(saved) == 0) longjmp(saved, 1); o[0] = 1; }
HOSTILE(jumps_nowhere) { jmp_buf b; memset(&b, 0, sizeof b); longjmp(b, 1); }
static __attribute__((noinline)) void save(void) { sink = setjmp(saved); }
HOSTILE(jumps_into_ended) { save(); if (sink == 0) longjmp(saved, 1); o[0] = 1; }
HOSTILE(recurses) { sink = deep(0); }
HOSTILE(writes_code) { *(volatile char *)(uintptr_t)&fine = 0; }
HOSTILE(unmaps_itself) { uintptr_t p = (uintptr_t)&unmaps_itself & ~4095ul; munmap((void *)p, 4096); o[0] = 1; }
HOSTILE(protects_itself) { uintptr_t p = (uintptr_t)&protects_itself & ~4095ul; mprotect((void *)p, 4096, PROT_NONE); o[0] = 1; }
HOSTILE(unmaps_stack) { uintptr_t p = (uintptr_t)__builtin_frame_address(0) & ~4095ul; munmap((void *)(p - 8192), 8192 + 4096); o[0] = 1; }
HOSTILE(illegal) { __builtin_trap(); }
HOSTILE(divides) { o[0] = 100 / zero; }
HOSTILE(null_call) { ((void (*)(void))(uintptr_t)zero)(); }
HOSTILE(wild_stack) { __asm__ volatile("xorl %%esp, %%esp\n\tpush %%rax" ::: "memory"); }
HOSTILE(wild_stack_spins) { __asm__ volatile("xorl %%esp, %%esp\n1: jmp 1b" ::: "memory"); }
HOSTILE(frees_twice) { void *p = malloc(10); void *volatile q = p; free(p); free(q); }
HOSTILE(smashes_heap) { char *p = malloc(24); memset(p, 'x', 64); void *q = malloc(4000); free(p); free(q); o[0] = 1; }

// Hangs outside of its own code.
HOSTILE(sleeps) { for (;;) sleep(100); }
HOSTILE(reads_pipe) { int p[2]; char c; if (pipe(p) == 0) sink = (int)read(p[0], &c, 1); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
HOSTILE(deadlocks) { pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); }
static void *faulting_thread(void *p) { *(volatile int *)16 = 1; return p; }
HOSTILE(thread_faults) { pthread_t t; pthread_create(&t, NULL, faulting_thread, NULL); pthread_join(t, NULL); }
static void *exiting_thread(void *p) { exit(8); return p; }
HOSTILE(thread_exits) { pthread_t t; pthread_create(&t, NULL, exiting_thread, NULL); pthread_join(t, NULL); }
HOSTILE(cancels_itself) { pthread_cancel(pthread_self()); pthread_testcancel(); }
HOSTILE(stops_process) { kill(getpid(), SIGSTOP); o[0] = 1; }
HOSTILE(kills_other_threads) {
  DIR *d = opendir("/proc/self/task");
  for (struct dirent *e; d && (e = readdir(d));) if (atoi(e->d_name) && atoi(e->d_name) != gettid()) syscall(SYS_tgkill, getpid(), atoi(e->d_name), SIGSEGV);
  spin();
}

// System calls of its own, which pass by the C library.
static long direct(long n, long a, long b, long c, long d) {
  long r;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return r;
}
HOSTILE(direct_exit_thread) { direct(SYS_exit, 0, 0, 0, 0); }
HOSTILE(direct_block_spins) { unsigned long m = ~0ul; direct(SYS_rt_sigprocmask, SIG_BLOCK, (long)&m, 0, 8); spin(); }
HOSTILE(direct_blocks) { unsigned long m = ~0ul; direct(SYS_rt_sigprocmask, SIG_BLOCK, (long)&m, 0, 8); o[0] = 1; }
HOSTILE(direct_actions) {
  struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } a = {0};
  for (int s = 1; s < 32; s++) direct(SYS_rt_sigaction, s, (long)&a, 0, 8);
  o[0] = 1;
}
HOSTILE(direct_no_stack) { stack_t st = {.ss_flags = SS_DISABLE}; direct(SYS_sigaltstack, (long)&st, 0, 0, 0); o[0] = 1; }
HOSTILE(direct_fork_returns) { direct(SYS_fork, 0, 0, 0, 0); o[0] = 1; }
HOSTILE(direct_kill) { direct(SYS_kill, getpid(), SIGSEGV, 0, 0); spin(); }
HOSTILE(direct_raise) { direct(SYS_tgkill, getpid(), gettid(), SIGFPE, 0); spin(); }
