// Kernels in C that call the host: a training loop that reports its loss, an estimate that ends when its error is small enough,
// and a linked list in the device heap.
import { device, register, rpc, bool, f32, f64, i32, i64 } from 'offload'
import { writeTextSync, removeSync } from 'fs'

writeTextSync('services.c', `
#include "orepl_rpc_std.h"

static struct orepl_rpc_service loss = {"loss(i32, f32)", 0, 0}, enough = {"enough(f64, f64): bool", 0, 0};

void train(int64_t item, const float *xs, const float *ys, float *line, int32_t n, int32_t steps) {
  float a = 0, b = 0;
  for (int32_t step = 0; step < steps; step++) {
    float da = 0, db = 0, sum = 0;
    for (int32_t i = 0; i < n; i++) {
      float e = a * xs[i] + b - ys[i];
      da += e * xs[i], db += e, sum += e * e;
    }
    a -= 0.5f * da / n, b -= 0.5f * db / n;
    if (step % 200 == 0) {
      union orepl_rpc_value v[2] = {{.i32 = step}, {.f32 = sum / n}};
      if (orepl_rpc_tell(&loss, item, v)) return;
    }
  }
  line[0] = a, line[1] = b;
}

void darts(int64_t item, double *pi) {
  uint64_t state = orepl_rpc_seed() | 1;
  double hits = 0, throws = 0;
  for (;;) {
    for (int i = 0; i < 10000; i++, throws++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double x = (double)(state >> 40) / (1 << 24), y = (double)(state >> 16 & 0xffffff) / (1 << 24);
      hits += x * x + y * y < 1;
    }
    union orepl_rpc_value v[2] = {{.f64 = hits}, {.f64 = throws}}, stop;
    if (orepl_rpc_ask(&enough, item, v, &stop)) return;
    if (stop.boolean) break;
  }
  pi[item] = 4 * hits / throws;
}

struct node { struct node *next; int64_t value; };
static struct node *head;

void push(int64_t item) {
  struct node *n = orepl_rpc_malloc(sizeof *n);
  orepl_rpc_assert(item, n);
  n->value = item;
  n->next = __atomic_load_n(&head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&head, &n->next, n, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
}

void sum(int64_t item, int64_t *total) {
  total[item] = 0;
  for (struct node *n = head, *next; n; n = next) {
    next = n->next;
    total[item] += n->value;
    orepl_rpc_free(n);
  }
  orepl_rpc_printf(item, "the list has the sum %lld", (long long)total[item]);
}
`)

const include = new URL('../kernels/include', import.meta.url).pathname
let built
for (const compiler of ['clang-19', 'clang', 'gcc', 'cc']) {
  built = await process.run(compiler, ['-O2', '-shared', '-fPIC', '-I', include, '-o', 'services.so', 'services.c']).catch(() => undefined)
  if (built?.code === 0) break
}
if (built?.code !== 0) throw new Error('no C compiler was found: ' + built?.stderr)
const lib = await register('services.so')
const dev = device('cpu')

const n = 64
const xs = dev.buffer(f32, n, i => i / n), ys = dev.buffer(f32, n, i => 3 * i / n + 1), line = dev.buffer(f32, 2)
/** @type {number[]} */
const losses = []
rpc.on('loss', { args: [i32, f32], oneWay: true }, (step, loss) => {
  losses.push(loss)
  console.log(`step ${step}: loss ${loss.toExponential(2)}`)
})
const train = lib.kernel('train', { args: { xs: [f32], ys: [f32], line: [f32], n: i32, steps: i32 }, convention: 'item' })
await train.launch({ size: 1 }, xs, ys, line, n, 1001)
const [a, b] = await line.read()
console.log(`y = ${a.toFixed(3)} x + ${b.toFixed(3)}`)
if (Math.abs(a - 3) > 0.02 || losses.length != 6 || losses[5] >= losses[0]) throw new Error('the line does not fit')

let rounds = 0
rpc.on('enough', { args: [f64, f64], result: bool }, (hits, throws) => {
  rounds++
  const p = hits / throws
  return 4 * Math.sqrt(p * (1 - p) / throws) < 0.005
})
const pi = dev.buffer(f64, 1)
await lib.kernel('darts', { args: [[f64]], convention: 'item' }).launch({ size: 1 }, pi)
const [estimate] = await pi.read()
console.log(`pi is about ${estimate.toFixed(3)}, after ${rounds} rounds`)
if (Math.abs(estimate - Math.PI) > 0.05 || rounds > 100) throw new Error('the estimate is wrong')

const total = dev.buffer(i64, 1)
await lib.kernel('push', { args: [], convention: 'item' }).launch({ size: 10000 })
await lib.kernel('sum', { args: [[i64]], convention: 'item' }).launch({ size: 1 }, total)
if ((await total.read())[0] !== 49995000n) throw new Error('the list is wrong')

await lib.unregister()
removeSync('services.c')
removeSync('services.so')
