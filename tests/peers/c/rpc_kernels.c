/* Native kernels that call services of the host: their round trips, one-way calls and printed lines are measured. */
#include "orepl_rpc_std.h"

#include <time.h>

static struct orepl_rpc_service go = {"next(i32): i32", 0, 0}, script = {"script(i32): i32", 0, 0}, count = {"count(i32)", 0, 0};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(int64_t ns) {
  struct timespec t = {ns / 1000000000, ns % 1000000000};
  if (ns > 0) nanosleep(&t, 0);
}

/* ask stores the nanoseconds of each of n calls. It sleeps before each call if idle is set. */
void ask(int64_t item, int64_t *times, int32_t n, int64_t idle, int32_t scripted) {
  struct orepl_rpc_service *s = scripted ? &script : &go;
  for (int32_t k = 0; k < n; k++) {
    union orepl_rpc_value v = {0}, r;
    v.i32 = k;
    rest(idle);
    int64_t start = now();
    if (orepl_rpc_ask(s, item, &v, &r)) return;
    times[k] = now() - start;
    orepl_rpc_assert(item, r.i32 == k + 1);
  }
}

void tell(int64_t item, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    union orepl_rpc_value v = {0};
    v.i32 = 1;
    if (orepl_rpc_tell(&count, item, &v)) return;
  }
}

/* post sends the packets of tell by an operation that the host answers without a service: it frees null. */
void post(int64_t item, int32_t n) {
  (void)item;
  for (int32_t k = 0; k < n; k++) {
    union orepl_rpc_packet d = {{0}};
    if (orepl_rpc_post(OREPL_RPC_LIBC(11), &d)) return;
  }
}

void lines(int64_t item, int32_t n) {
  for (int32_t k = 0; k < n; k++)
    if (orepl_rpc_printf(item, "%d %d", (int)item, (int)k)) return;
}

void sleeper(int64_t item, int64_t ns) {
  (void)item;
  rest(ns);
}
