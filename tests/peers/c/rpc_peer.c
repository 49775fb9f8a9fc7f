/* The protocol of LLVM's RPC between a client and a server thread, reimplemented from its description: mailboxes of one word per
 * port, headers with mask and opcode, packets of 64 bytes per lane, locks as bits. The server polls, and after 25 us without
 * work it sleeps for 250 us at a time.
 *
 *   rpc_peer ask N IDLE     prints the median nanoseconds of N round trips, each after IDLE ns of sleep
 *   rpc_peer tell N         prints one-way packets a second
 *   rpc_peer lines N FILE   prints lines a second that go to a file
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PORTS = 16, INCREMENT = 1, COUNT = 2, LINE = 3 };

typedef union { uint64_t words[8]; char bytes[64]; } packet;
typedef struct { uint64_t mask; uint32_t opcode, unused; } header;

static _Atomic uint32_t from_server[PORTS], from_client[PORTS], locks[PORTS / 32 + 1];
static header headers[PORTS];
static packet packets[PORTS];
static atomic_int ended;
static uint64_t counted;
static FILE *out;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(int64_t ns) {
  struct timespec t = {0, ns};
  if (ns > 0) nanosleep(&t, 0);
}

/* pause_loop waits for the other thread, which may need this core: a real-time scheduler does not preempt this thread. */
static void pause_loop(uint32_t n) {
  __builtin_ia32_pause();
  if (n % 256 == 255) sched_yield();
}

static int open_port(uint32_t opcode) {
  for (uint32_t n = 0;; n++) {
    uint32_t i = n % PORTS, bit = 1u << i % 32;
    if (i == 0 && n) pause_loop(n / PORTS); /* n itself is a multiple of PORTS here, and would never yield */
    if (atomic_fetch_or_explicit(&locks[i / 32], bit, memory_order_acquire) & bit) continue;
    uint32_t in = atomic_load_explicit(&from_server[i], memory_order_acquire);
    if (in == atomic_load_explicit(&from_client[i], memory_order_relaxed)) {
      headers[i].mask = 1;
      headers[i].opcode = opcode;
      return (int)i;
    }
    atomic_fetch_and_explicit(&locks[i / 32], ~bit, memory_order_release);
  }
}

static void hand_over(int i) {
  uint32_t v = !atomic_load_explicit(&from_client[i], memory_order_relaxed);
  atomic_store_explicit(&from_client[i], v, memory_order_release);
}

static void await_server(int i) {
  uint32_t v = atomic_load_explicit(&from_client[i], memory_order_relaxed);
  for (uint32_t n = 0; atomic_load_explicit(&from_server[i], memory_order_acquire) != v; n++) pause_loop(n);
}

static void close_port(int i) { atomic_fetch_and_explicit(&locks[i / 32], ~(1u << i % 32), memory_order_release); }

static void serve(int i) {
  packet *p = &packets[i];
  switch (headers[i].opcode) {
  case INCREMENT: p->words[0]++; break;
  case COUNT: counted += p->words[0]; break;
  case LINE:
    fwrite(p->bytes + 8, 1, p->words[0], out);
    fputc('\n', out);
    counted++;
    break;
  }
}

static void *server(void *unused) {
  (void)unused;
  int64_t idle = 0;
  for (;;) {
    int found = 0, last = atomic_load(&ended);
    for (int i = 0; i < PORTS; i++) {
      uint32_t v = atomic_load_explicit(&from_client[i], memory_order_acquire);
      if (v == atomic_load_explicit(&from_server[i], memory_order_relaxed)) continue;
      serve(i);
      atomic_store_explicit(&from_server[i], v, memory_order_release);
      found = 1;
    }
    if (found) {
      idle = 0;
      continue;
    }
    if (last) return 0;
    if (!idle) idle = now();
    if (now() - idle > 25000) rest(250000);
  }
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int64_t n = atoll(argv[2]);
  pthread_t thread;
  if (!strcmp(argv[1], "lines") && (argc < 4 || !(out = fopen(argv[3], "w")))) return 2;
  if (pthread_create(&thread, 0, server, 0)) return 1;
  int64_t start = now();
  if (!strcmp(argv[1], "ask")) {
    int64_t idle = argc > 3 ? atoll(argv[3]) : 0, *times = calloc((size_t)n, sizeof *times);
    for (int64_t k = 0; k < n; k++) {
      rest(idle);
      int64_t begin = now();
      int i = open_port(INCREMENT);
      packets[i].words[0] = (uint64_t)k;
      hand_over(i);
      await_server(i);
      if (packets[i].words[0] != (uint64_t)k + 1) return 1;
      close_port(i);
      times[k] = now() - begin;
    }
    qsort(times, (size_t)n, sizeof *times, ascending);
    printf("%lld\n", (long long)times[n / 2]);
  } else {
    int line = !strcmp(argv[1], "lines");
    for (int64_t k = 0; k < n; k++) {
      int i = open_port(line ? LINE : COUNT);
      packets[i].words[0] = line ? (uint64_t)snprintf(packets[i].bytes + 8, 56, "%d %d", 0, (int)k) : 1;
      hand_over(i);
      close_port(i);
    }
  }
  atomic_store(&ended, 1);
  pthread_join(thread, 0);
  if (strcmp(argv[1], "ask")) {
    if (counted != (uint64_t)n || (out && fclose(out))) return 1;
    printf("%.0f\n", (double)n * 1e9 / (double)(now() - start));
  }
  return 0;
}
