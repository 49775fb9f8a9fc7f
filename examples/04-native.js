// Kernels written in C: a compiler makes a shared object, and the CPU device runs its functions on all cores.
import { device, register, f32, f64, struct } from 'offload'
import { writeTextSync, removeSync } from 'fs'

writeTextSync('native.c', `
#include <stdint.h>

typedef struct { double mean, scale; } Norm;

// Called for ranges of items, on several cores at a time.
void saxpy(int64_t first, int64_t last, float a, const float *x, float *y) {
  for (int64_t i = first; i < last; i++) y[i] = a * x[i] + y[i];
}

// Called for each item.
void normalise(int64_t i, Norm n, float *x) { x[i] = (x[i] - n.mean) * n.scale; }

int wrong(int64_t first, int64_t last, const int *p) { return p[first]; }
`)

// The first C compiler found.
let built
for (const compiler of ['clang-19', 'clang', 'gcc', 'cc']) {
  built = await process.run(compiler, ['-O3', '-shared', '-fPIC', '-o', 'native.so', 'native.c']).catch(() => undefined)
  if (built?.code === 0) break
}
if (built?.code !== 0) throw new Error('no C compiler was found: ' + built?.stderr)

const lib = await register('native.so')
console.log('functions:', lib.kernels)

const dev = device('cpu')
const n = 1 << 20
const x = dev.buffer(f32, n, i => i % 1000), y = dev.buffer(f32, n, i => 1)

// A shared object does not contain the signatures of its functions, so the script declares them.
const saxpy = lib.kernel('saxpy', { args: { a: f32, x: [f32], y: [f32] }, convention: 'range' })
await saxpy.launch({ size: n }, 2, x, y)
for (const [i, v] of (await y.read(0, 2000)).entries()) if (v !== 2 * (i % 1000) + 1) throw new Error(`y[${i}] is ${v}`)

// Passes a struct by value.
const Norm = struct({ mean: f64, scale: f64 })
await lib.kernel('normalise', { args: [Norm, [f32]], convention: 'item' }).launch({ size: n }, { mean: 500, scale: 0.5 }, x)
if ((await x.read(1000, 1))[0] !== -250) throw new Error('normalise')

// A wrong signature is an error, after which the session still works.
const wrong = lib.kernel('wrong', { args: ['i64'], convention: 'range' })
const error = await wrong.launch({ size: 1 }, 12).then(() => undefined, e => e)
console.log(error.message)
if (error.code !== 'backend-failure') throw error

await saxpy.launch({ size: n }, 2, x, y)
await lib.unregister() // runs the library's destructors and unmaps it
removeSync('native.c')
removeSync('native.so')
