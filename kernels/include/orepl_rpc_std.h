/* orepl_rpc_std.h: printing, assertions, memory and files for native device code, by calls of the host (orepl_rpc.h).
 *
 * item is the number of the work-item, with x varying fastest. The lines of a thread arrive in order, and before the launch
 * is reached. Files obey the rules of the script; one that they refuse ends the launch.
 */
#ifndef OREPL_RPC_STD_H
#define OREPL_RPC_STD_H

#include "orepl_rpc.h"

#include <stdarg.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OREPL_RPC_OP_PRINT 0x6f000003u
#define OREPL_RPC_OP_TRAP 0x6f000004u
#define OREPL_RPC_OP_SEED 0x6f000005u
#define OREPL_RPC_OP_CLOCK 0x6f000006u

/* Operations of LLVM's libc for GPUs. */
#define OREPL_RPC_LIBC(n) (0x63000000u | (n))

/* A stream: an open file. */
typedef uint64_t orepl_rpc_file;

static inline int orepl_rpc_text(struct orepl_rpc_port *p, int64_t item, const char *text, uint64_t size) {
  union orepl_rpc_packet d = {{(uint64_t)item, size}};
  uint64_t at = size < 48 ? size : 48;
  memcpy(d.bytes + 16, text, at);
  int failed = orepl_rpc_send(p, &d);
  while (!failed && at < size) {
    uint64_t n = size - at < 64 ? size - at : 64;
    memcpy(d.bytes, text + at, n);
    failed = orepl_rpc_send(p, &d);
    at += n;
  }
  return failed;
}

/* orepl_rpc_print prints a line without waiting. */
static inline int orepl_rpc_print(int64_t item, const char *text) {
  struct orepl_rpc_port p;
  int failed = orepl_rpc_open(&p, OREPL_RPC_OP_PRINT, 1);
  if (failed) return failed;
  failed = orepl_rpc_text(&p, item, text, strlen(text));
  orepl_rpc_close(&p);
  return failed;
}

/* orepl_rpc_printf prints a line of up to 1023 bytes, formatted as by printf. */
__attribute__((format(printf, 2, 3))) static inline int orepl_rpc_printf(int64_t item, const char *format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  return n < 0 ? OREPL_RPC_FAILED : orepl_rpc_print(item, line);
}

/* orepl_rpc_trap ends the launch with a message. */
__attribute__((noreturn)) static inline void orepl_rpc_trap(int64_t item, const char *message) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d;
  if (!orepl_rpc_open(&p, OREPL_RPC_OP_TRAP, 0)) {
    if (!orepl_rpc_text(&p, item, message, strlen(message))) orepl_rpc_recv(&p, &d);
    orepl_rpc_close(&p);
  }
  __builtin_trap();
}

#define OREPL_RPC_QUOTE(x) #x
#define OREPL_RPC_TEXT(x) OREPL_RPC_QUOTE(x)

/* orepl_rpc_assert ends the launch if a condition does not hold. */
#define orepl_rpc_assert(item, condition) \
  ((condition) ? (void)0 : orepl_rpc_trap(item, #condition ", " __FILE__ ":" OREPL_RPC_TEXT(__LINE__)))

/* orepl_rpc_exit ends the launch: with success if the code is 0. Work-items that run on other threads come to their end. */
__attribute__((noreturn)) static inline void orepl_rpc_exit(int32_t code) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{0}};
  if (!orepl_rpc_open(&p, OREPL_RPC_LIBC(1), 0)) {
    if (!orepl_rpc_send(&p, &d) && !orepl_rpc_recv(&p, &d)) {
      d.words[0] = (uint32_t)code;
      if (!orepl_rpc_send(&p, &d)) orepl_rpc_recv(&p, &d); /* waits until the host has recorded the exit */
    }
    orepl_rpc_close(&p);
  }
  __builtin_trap();
}

/* orepl_rpc_number calls an operation of one packet and returns word of the reply, failed if there is none. */
static inline uint64_t orepl_rpc_number(uint32_t opcode, uint64_t a, uint64_t b, uint64_t c, int word, uint64_t failed) {
  union orepl_rpc_packet d = {{a, b, c}};
  return orepl_rpc_call(opcode, &d) ? failed : d.words[word];
}

/* orepl_rpc_seed returns a random number, and orepl_rpc_clock the nanoseconds since 1970. */
static inline uint64_t orepl_rpc_seed(void) { return orepl_rpc_number(OREPL_RPC_OP_SEED, 0, 0, 0, 1, 0); }
static inline uint64_t orepl_rpc_clock(void) { return orepl_rpc_number(OREPL_RPC_OP_CLOCK, 0, 0, 0, 1, 0); }

/* orepl_rpc_malloc allocates from the image's heap, which lives until the library is unregistered. It returns null if the heap
 * is full. */
static inline void *orepl_rpc_malloc(uint64_t size) {
  return (void *)(uintptr_t)orepl_rpc_number(OREPL_RPC_LIBC(10), size, 0, 0, 0, 0);
}

/* orepl_rpc_free frees memory of orepl_rpc_malloc. Another pointer ends the launch with an error. */
static inline void orepl_rpc_free(void *p) {
  union orepl_rpc_packet d = {{(uint64_t)(uintptr_t)p}};
  if (p) orepl_rpc_post(OREPL_RPC_LIBC(11), &d);
}

/* orepl_rpc_fopen opens a file as fopen does, and returns 0 if it cannot be opened. */
static inline orepl_rpc_file orepl_rpc_fopen(const char *name, const char *mode) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{0}};
  if (strlen(mode) >= sizeof d.bytes || orepl_rpc_open(&p, OREPL_RPC_LIBC(8), 0)) return 0;
  int failed = orepl_rpc_send_n(&p, name, strlen(name) + 1);
  memcpy(d.bytes, mode, strlen(mode));
  if (!failed) failed = orepl_rpc_send(&p, &d);
  if (!failed) failed = orepl_rpc_recv(&p, &d);
  orepl_rpc_close(&p);
  return failed || d.words[0] >> 32 == 0 ? 0 : d.words[0]; /* smaller values are statuses of failed calls */
}

static inline int orepl_rpc_fclose(orepl_rpc_file f) { return (int)orepl_rpc_number(OREPL_RPC_LIBC(9), f, 0, 0, 0, ~0ull); }

/* orepl_rpc_fwrite returns the number of bytes written. */
static inline uint64_t orepl_rpc_fwrite(const void *data, uint64_t size, orepl_rpc_file f) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{f}};
  if (orepl_rpc_open(&p, OREPL_RPC_LIBC(4), 0)) return 0;
  int failed = orepl_rpc_send(&p, &d);
  if (!failed) failed = orepl_rpc_send_n(&p, data, size);
  if (!failed) failed = orepl_rpc_recv(&p, &d);
  orepl_rpc_close(&p);
  return failed || d.words[0] > size ? 0 : d.words[0];
}

/* orepl_rpc_fread returns the number of bytes read. */
static inline uint64_t orepl_rpc_fread(void *data, uint64_t size, orepl_rpc_file f) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{size, f}};
  uint64_t got = 0;
  if (orepl_rpc_open(&p, OREPL_RPC_LIBC(6), 0)) return 0;
  int failed = orepl_rpc_send(&p, &d);
  if (!failed) failed = orepl_rpc_recv_n(&p, data, size, &got);
  if (!failed) failed = orepl_rpc_recv(&p, &d);
  orepl_rpc_close(&p);
  return failed || got > size ? 0 : got;
}

/* orepl_rpc_fgets reads a line with its newline, and returns null at the end of the file. */
static inline char *orepl_rpc_fgets(char *line, uint64_t size, orepl_rpc_file f) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{size, f}};
  uint64_t got = 0;
  if (orepl_rpc_open(&p, OREPL_RPC_LIBC(7), 0)) return 0;
  int failed = orepl_rpc_send(&p, &d);
  if (!failed) failed = orepl_rpc_recv_n(&p, line, size, &got);
  orepl_rpc_close(&p);
  return failed || got == 0 || got > size ? 0 : line;
}

static inline int orepl_rpc_fseek(orepl_rpc_file f, int64_t offset, int whence) {
  return (int)orepl_rpc_number(OREPL_RPC_LIBC(17), f, (uint64_t)offset, (uint64_t)whence, 0, ~0ull);
}
static inline int64_t orepl_rpc_ftell(orepl_rpc_file f) { return (int64_t)orepl_rpc_number(OREPL_RPC_LIBC(18), f, 0, 0, 0, ~0ull); }
static inline int orepl_rpc_feof(orepl_rpc_file f) { return (int)orepl_rpc_number(OREPL_RPC_LIBC(14), f, 0, 0, 0, 1); }

static inline int orepl_rpc_remove(const char *name) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d = {{~0ull}};
  if (orepl_rpc_open(&p, OREPL_RPC_LIBC(27), 0)) return -1;
  int failed = orepl_rpc_send_n(&p, name, strlen(name) + 1);
  if (!failed) failed = orepl_rpc_recv(&p, &d);
  orepl_rpc_close(&p);
  return failed ? -1 : (int)d.words[0];
}

#ifdef __cplusplus
}
#endif

#endif
