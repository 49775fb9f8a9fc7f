/* orepl_rpc.h: calls of the host from native device code, for C and C++.
 *
 * A kernel of an image that a script registers calls the script's services by name:
 *
 *   static struct orepl_rpc_service enough = {"enough(f64, f64): bool", 0, 0};
 *   ...
 *   union orepl_rpc_value v[2] = {{.f64 = hits}, {.f64 = throws}}, stop;
 *   if (orepl_rpc_ask(&enough, item, v, &stop)) return;    // failed: the launch ends with the service's error
 *   if (stop.boolean) break;
 *
 * item is the number of the work-item, with x varying fastest. orepl_rpc_tell does not wait for the handler. The calls of a
 * thread are served in order, and before the launch is reached.
 *
 * Below the services is a channel of ports, which carry any operation. It is shared memory that the host's server
 * initializes (package runtime/rpc). The loader stores the channel's address in orepl_rpc_channel after the constructors;
 * calls fail with OREPL_RPC_CLOSED while it is null.
 *
 *   struct orepl_rpc_port port;
 *   if (orepl_rpc_open(&port, opcode, 0)) return;          // begins a call; 1: one-way
 *   union orepl_rpc_packet p = { .words = { x, y } };
 *   orepl_rpc_send(&port, &p);
 *   orepl_rpc_recv(&port, &p);                              // waits for the reply
 *   orepl_rpc_close(&port);
 *
 * Every function returns 0, or one of the errors below. A thread is one lane. A port belongs to the thread
 * that opened it. The memory orders are those of runtime/rpc/orders.go, each sufficient and none stronger than needed.
 */
#ifndef OREPL_RPC_H
#define OREPL_RPC_H

#include <stdint.h>
#include <string.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef __cplusplus
extern "C" {
#elif defined(__linux__) && !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
long syscall(long number, ...); /* unistd.h hides it from strict C */
#endif

#define OREPL_RPC_MAGIC 0x4350526fu
#define OREPL_RPC_VERSION 1u
#define OREPL_RPC_MAX_PORTS 4096
#define OREPL_RPC_CONTROL_BYTES 576

#define OREPL_RPC_CLOSED 1  /* the server has ended, or there is none */
#define OREPL_RPC_VERSION_DIFFERS 2
#define OREPL_RPC_FAILED 3  /* the service or its call failed; the launch ends with the error */

#define OREPL_RPC_OP_DECLARE 0x6f000001u
#define OREPL_RPC_OP_CALL 0x6f000002u

#define OREPL_RPC_ORDER_LOCK __ATOMIC_ACQUIRE
#define OREPL_RPC_ORDER_OPEN_INBOX __ATOMIC_ACQUIRE
#define OREPL_RPC_ORDER_OPEN_OUTBOX __ATOMIC_RELAXED
#define OREPL_RPC_ORDER_HAND_OVER __ATOMIC_RELEASE
#define OREPL_RPC_ORDER_AWAIT_INBOX __ATOMIC_ACQUIRE
#define OREPL_RPC_ORDER_UNLOCK __ATOMIC_RELEASE
#define OREPL_RPC_ORDER_CLIENT_BELL __ATOMIC_SEQ_CST

union orepl_rpc_packet {
  uint64_t words[8];
  uint8_t bytes[64];
};

struct orepl_rpc_header {
  uint64_t mask;
  uint32_t opcode;
  uint32_t flags;
};

/* The start of a channel; mailboxes, headers and packets follow. */
struct orepl_rpc_control {
  uint32_t magic, version;
  uint32_t ports, lanes;
  uint32_t bell, closed;
  uint32_t unused[10];
  uint32_t locks[OREPL_RPC_MAX_PORTS / 32];
};

/* The host stores the address of the channel here. Every object of an image shares one. */
__attribute__((weak, visibility("default"))) struct orepl_rpc_control *orepl_rpc_channel;

/* A service of the script, with its signature as rpc.services lists it. The rest is filled in by the first call. */
struct orepl_rpc_service {
  const char *signature;
  uint32_t number, args;
};

union orepl_rpc_value {
  uint64_t bits;
  uint8_t boolean;
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
  float f32;
  double f64;
};

/* orepl_rpc_thread has the launch of this thread, and 1 + the port of its last one-way call. */
__attribute__((weak, visibility("hidden"))) __thread struct {
  uint32_t launch, posted;
} orepl_rpc_thread;

/* orepl_rpc_enter sets the launch of the calling thread. The host calls it on each thread that runs a kernel. */
__attribute__((weak, visibility("default"))) void orepl_rpc_enter(uint64_t launch);
void orepl_rpc_enter(uint64_t launch) {
  orepl_rpc_thread.launch = (uint32_t)launch;
  orepl_rpc_thread.posted = 0;
}

struct orepl_rpc_port {
  struct orepl_rpc_control *channel;
  const uint32_t *inbox;
  uint32_t *outbox;
  struct orepl_rpc_header *header;
  union orepl_rpc_packet *packet; /* of lane 0 */
  uint32_t index;
  uint32_t out;
  int owned, received, one_way;
};

/* orepl_rpc_pause delays iteration n of a polling loop: it spins, then yields, then sleeps. */
static inline void orepl_rpc_pause(uint32_t n) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
#if defined(__linux__)
  if (n >= 8192) {
    struct { long seconds, nanoseconds; } t = {0, n < 16384 ? 20000 : 100000};
    syscall(SYS_nanosleep, &t, 0);
  } else if (n % 256 == 255) {
    sched_yield(); /* the server may need this core */
  }
#endif
}

/* orepl_rpc_ring wakes a sleeping server. The fence orders the write of the outbox before the read of the bell. */
static inline void orepl_rpc_ring(struct orepl_rpc_control *c) {
  __atomic_thread_fence(OREPL_RPC_ORDER_CLIENT_BELL);
  if (__atomic_load_n(&c->bell, __ATOMIC_RELAXED) == 0) return;
  if (__atomic_exchange_n(&c->bell, 0, __ATOMIC_RELAXED) == 0) return;
#if defined(__linux__)
  syscall(SYS_futex, &c->bell, FUTEX_WAKE, 1, 0, 0, 0);
#endif
}

/* orepl_rpc_follow waits until the server has read the thread's last one-way call, so that calls keep their order. If another
 * thread has the port, the server has read it. */
static inline int orepl_rpc_follow(struct orepl_rpc_control *c) {
  uint32_t i = orepl_rpc_thread.posted - 1;
  const uint32_t *inbox = (const uint32_t *)((uint8_t *)c + OREPL_RPC_CONTROL_BYTES) + i, *outbox = inbox + c->ports;
  for (uint32_t n = 0;; n++) {
    if (__atomic_load_n(&c->locks[i / 32], __ATOMIC_RELAXED) >> i % 32 & 1) break;
    if (((__atomic_load_n(inbox, OREPL_RPC_ORDER_AWAIT_INBOX) ^ __atomic_load_n(outbox, __ATOMIC_RELAXED)) & 1) == 0) break;
    if (n % 64 == 63 && __atomic_load_n(&c->closed, __ATOMIC_RELAXED)) return OREPL_RPC_CLOSED;
    orepl_rpc_pause(n);
  }
  orepl_rpc_thread.posted = 0;
  return 0;
}

/* orepl_rpc_open starts a call of an operation on a free port. */
static inline int orepl_rpc_open(struct orepl_rpc_port *p, uint32_t opcode, int one_way) {
  struct orepl_rpc_control *c = orepl_rpc_channel;
  if (!c) return OREPL_RPC_CLOSED;
  if (__atomic_load_n(&c->closed, __ATOMIC_RELAXED)) return OREPL_RPC_CLOSED;
  if (c->magic != OREPL_RPC_MAGIC || c->version != OREPL_RPC_VERSION) return OREPL_RPC_VERSION_DIFFERS;
  uint8_t *base = (uint8_t *)c + OREPL_RPC_CONTROL_BYTES;
  uint32_t ports = c->ports, lanes = c->lanes;
  uint64_t headers = (8ull * ports + 7) / 8 * 8;
  if (orepl_rpc_thread.posted && orepl_rpc_follow(c)) return OREPL_RPC_CLOSED;
  for (uint32_t n = 0;; n++) {
    uint32_t i = n % ports;
    uint32_t bit = 1u << i % 32, *lock = &c->locks[i / 32];
    if (i == 0 && n) {
      if (__atomic_load_n(&c->closed, __ATOMIC_RELAXED)) return OREPL_RPC_CLOSED;
      orepl_rpc_pause(n / ports * 64);
    }
    if (__atomic_load_n(lock, __ATOMIC_RELAXED) & bit) continue;
    if (__atomic_fetch_or(lock, bit, OREPL_RPC_ORDER_LOCK) & bit) continue;
    p->channel = c;
    p->index = i;
    p->inbox = (const uint32_t *)base + i;
    p->outbox = (uint32_t *)base + ports + i;
    uint32_t in = __atomic_load_n(p->inbox, OREPL_RPC_ORDER_OPEN_INBOX);
    p->out = __atomic_load_n(p->outbox, OREPL_RPC_ORDER_OPEN_OUTBOX);
    if ((in ^ p->out) & 1) { /* the server has not read the last packet */
      __atomic_fetch_and(lock, ~bit, OREPL_RPC_ORDER_UNLOCK);
      continue;
    }
    p->header = (struct orepl_rpc_header *)(base + headers) + i;
    p->packet = (union orepl_rpc_packet *)(base + headers + 16ull * ports) + (uint64_t)i * lanes;
    p->owned = 1;
    p->received = 0;
    p->one_way = one_way != 0;
    p->header->mask = 1;
    p->header->opcode = opcode;
    p->header->flags = 0x4f520000u | (orepl_rpc_thread.launch & 0x3fff) << 2 | (one_way != 0);
    return 0;
  }
}

static inline int orepl_rpc_acquire(struct orepl_rpc_port *p) {
  for (uint32_t n = 0; !p->owned; n++) {
    if (((__atomic_load_n(p->inbox, OREPL_RPC_ORDER_AWAIT_INBOX) ^ p->out) & 1) == 0) break;
    if (n % 64 == 63 && __atomic_load_n(&p->channel->closed, __ATOMIC_RELAXED)) return OREPL_RPC_CLOSED;
    orepl_rpc_pause(n);
  }
  p->owned = 1;
  return 0;
}

static inline void orepl_rpc_hand_over(struct orepl_rpc_port *p) {
  p->out ^= 1;
  p->owned = p->received = 0;
  __atomic_store_n(p->outbox, p->out, OREPL_RPC_ORDER_HAND_OVER);
  orepl_rpc_ring(p->channel);
}

/* orepl_rpc_send sends a packet to the server. */
static inline int orepl_rpc_send(struct orepl_rpc_port *p, const union orepl_rpc_packet *data) {
  int failed = orepl_rpc_acquire(p);
  if (failed) return failed;
  *p->packet = *data;
  orepl_rpc_hand_over(p);
  return 0;
}

/* orepl_rpc_recv waits for a packet from the server. */
static inline int orepl_rpc_recv(struct orepl_rpc_port *p, union orepl_rpc_packet *data) {
  if (p->received) orepl_rpc_hand_over(p);
  int failed = orepl_rpc_acquire(p);
  if (failed) return failed;
  p->received = 1;
  *data = *p->packet;
  return 0;
}

/* orepl_rpc_send_n sends bytes: the first packet has their number and 56 bytes, the others 64 bytes each. */
static inline int orepl_rpc_send_n(struct orepl_rpc_port *p, const void *data, uint64_t size) {
  const uint8_t *from = (const uint8_t *)data;
  union orepl_rpc_packet d = {{size}};
  uint64_t at = size < 56 ? size : 56;
  if (at) memcpy(d.bytes + 8, from, at);
  int failed = orepl_rpc_send(p, &d);
  while (!failed && at < size) {
    uint64_t n = size - at < 64 ? size - at : 64;
    memcpy(d.bytes, from + at, n);
    failed = orepl_rpc_send(p, &d);
    at += n;
  }
  return failed;
}

/* orepl_rpc_recv_n receives bytes into data, which holds capacity. size is how many the server sent; those that do not fit
 * are dropped. */
static inline int orepl_rpc_recv_n(struct orepl_rpc_port *p, void *data, uint64_t capacity, uint64_t *size) {
  uint8_t *to = (uint8_t *)data;
  union orepl_rpc_packet d;
  int failed = orepl_rpc_recv(p, &d);
  if (failed) return failed;
  uint64_t total = *size = d.words[0], skip = 8;
  for (uint64_t at = 0; at < total;) {
    uint64_t n = total - at < 64 - skip ? total - at : 64 - skip;
    if (at < capacity) memcpy(to + at, d.bytes + skip, n < capacity - at ? n : capacity - at);
    at += n;
    skip = 0;
    if (at < total && (failed = orepl_rpc_recv(p, &d))) return failed;
  }
  return 0;
}

/* orepl_rpc_close ends a call. The server still serves the last sent packet. */
static inline void orepl_rpc_close(struct orepl_rpc_port *p) {
  if (p->one_way) orepl_rpc_thread.posted = p->index + 1;
  __atomic_fetch_and(&p->channel->locks[p->index / 32], ~(1u << p->index % 32), OREPL_RPC_ORDER_UNLOCK);
}

/* orepl_rpc_call sends one packet and replaces it by the reply. */
static inline int orepl_rpc_call(uint32_t opcode, union orepl_rpc_packet *data) {
  struct orepl_rpc_port p;
  int failed = orepl_rpc_open(&p, opcode, 0);
  if (failed) return failed;
  if (!(failed = orepl_rpc_send(&p, data))) failed = orepl_rpc_recv(&p, data);
  orepl_rpc_close(&p);
  return failed;
}

/* orepl_rpc_post sends one packet without waiting for the server. */
static inline int orepl_rpc_post(uint32_t opcode, const union orepl_rpc_packet *data) {
  struct orepl_rpc_port p;
  int failed = orepl_rpc_open(&p, opcode, 1);
  if (failed) return failed;
  failed = orepl_rpc_send(&p, data);
  orepl_rpc_close(&p);
  return failed;
}

/* orepl_rpc_declare requests the number of a service. Concurrent requests return the same number. */
static inline int orepl_rpc_declare(struct orepl_rpc_service *s) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d;
  if (__atomic_load_n(&s->number, __ATOMIC_ACQUIRE)) return 0;
  int failed = orepl_rpc_open(&p, OREPL_RPC_OP_DECLARE, 0);
  if (failed) return failed;
  failed = orepl_rpc_send_n(&p, s->signature, strlen(s->signature));
  if (!failed) failed = orepl_rpc_recv(&p, &d);
  orepl_rpc_close(&p);
  if (failed) return failed;
  if (d.words[0]) return OREPL_RPC_FAILED;
  __atomic_store_n(&s->args, (uint32_t)d.words[2], __ATOMIC_RELAXED);
  __atomic_store_n(&s->number, (uint32_t)d.words[1], __ATOMIC_RELEASE);
  return 0;
}

static inline int orepl_rpc_use(struct orepl_rpc_service *s, int64_t item, const union orepl_rpc_value *values,
                                union orepl_rpc_value *result, int one_way) {
  struct orepl_rpc_port p;
  union orepl_rpc_packet d;
  int failed = orepl_rpc_declare(s);
  if (!failed) failed = orepl_rpc_open(&p, OREPL_RPC_OP_CALL, one_way);
  if (failed) return failed;
  uint32_t at = 2, args = __atomic_load_n(&s->args, __ATOMIC_RELAXED);
  d.words[0] = s->number;
  d.words[1] = (uint64_t)item;
  for (uint32_t i = 0; i < args && !failed; i++) {
    if (at == 8) {
      failed = orepl_rpc_send(&p, &d);
      at = 0;
    }
    d.words[at++] = values[i].bits;
  }
  if (!failed) failed = orepl_rpc_send(&p, &d);
  if (!failed && !one_way) {
    failed = orepl_rpc_recv(&p, &d);
    if (!failed && d.words[0]) failed = OREPL_RPC_FAILED;
    if (!failed && result) result->bits = d.words[1];
  }
  orepl_rpc_close(&p);
  return failed;
}

/* orepl_rpc_ask calls a service with the values of its signature and waits for the result. result may be null. */
static inline int orepl_rpc_ask(struct orepl_rpc_service *s, int64_t item, const union orepl_rpc_value *values,
                                union orepl_rpc_value *result) {
  return orepl_rpc_use(s, item, values, result, 0);
}

/* orepl_rpc_tell calls a service without waiting. */
static inline int orepl_rpc_tell(struct orepl_rpc_service *s, int64_t item, const union orepl_rpc_value *values) {
  return orepl_rpc_use(s, item, values, 0, 1);
}

#ifdef __cplusplus
}
#endif

#endif
