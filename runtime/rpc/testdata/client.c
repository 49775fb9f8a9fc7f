#include "orepl_rpc.h"
#ifndef STRICT
#include <time.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { INCREMENT = 't' << 24, STREAM, COUNT, TWICE };

void test_attach(void *channel) { orepl_rpc_channel = (struct orepl_rpc_control *)channel; }

/* test_increment returns the number of wrong replies. */
int64_t test_increment(int64_t calls, int64_t first) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < calls; i++) {
    union orepl_rpc_packet p = {{(uint64_t)(first + i)}};
    if (orepl_rpc_call(INCREMENT, &p) || p.words[0] != (uint64_t)(first + i + 1)) wrong++;
  }
  return wrong;
}

int64_t test_post(int64_t calls) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < calls; i++) {
    union orepl_rpc_packet p = {{1}};
    wrong += orepl_rpc_post(COUNT, &p) != 0;
  }
  return wrong;
}

/* test_stream sends size bytes and compares the reply. */
int64_t test_stream(const uint8_t *data, uint8_t *back, int64_t size) {
  struct orepl_rpc_port p;
  uint64_t got = 0;
  if (orepl_rpc_open(&p, STREAM, 0)) return 1;
  int failed = orepl_rpc_send_n(&p, data, (uint64_t)size);
  if (!failed) failed = orepl_rpc_recv_n(&p, back, (uint64_t)size, &got);
  orepl_rpc_close(&p);
  return failed ? 2 : got != (uint64_t)size ? 3 : memcmp(data, back, (size_t)size) ? 4 : 0;
}

#ifdef STRICT /* C without the clocks of POSIX */
int64_t test_time(int64_t calls, int64_t idle, int64_t *times) { return calls + idle + (times != 0); }
#else
/* test_time returns the median nanoseconds of a call; idle is the sleep before each call in microseconds. */
int64_t test_time(int64_t calls, int64_t idle, int64_t *times) {
  for (int64_t i = 0; i < calls; i++) {
    struct timespec a, b;
    if (idle) {
      struct timespec s = {0, idle * 1000};
      nanosleep(&s, 0);
    }
    union orepl_rpc_packet p = {{1}};
    clock_gettime(CLOCK_MONOTONIC, &a);
    if (orepl_rpc_call(INCREMENT, &p)) return 1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    times[i] = (b.tv_sec - a.tv_sec) * 1000000000 + (b.tv_nsec - a.tv_nsec);
  }
  return 0;
}
#endif

#ifdef __cplusplus
}
#endif
