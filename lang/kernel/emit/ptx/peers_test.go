package ptx_test

import (
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// peer is a kernel in the kernel language and the same algorithm in CUDA C.
type peer struct {
	name      string
	script    string
	args      []kernel.Arg
	c         string
	axes      int
	group     [3]int  // group size of the launch; zero if the device chooses it
	loop      bool    // counts the innermost loop instead of the whole kernel
	registers float64 // registers as a multiple of clang's, if above 1.1
	most      float64 // maximum number of instructions, as a multiple of clang's
}

func floats(rank int) kernel.Arg {
	return kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: rank}
}

func scalarOf(t ir.Type) kernel.Arg { return kernel.Arg{Kind: kernel.Scalar, Type: t} }

var peers = []peer{
	{name: "saxpy", script: "(g, a, x, y) => { y[g.x] = a * x[g.x] + y[g.x] }", args: []kernel.Arg{scalarOf(ir.F32), floats(1), floats(1)}, axes: 1, most: 1,
		c: "GLOBAL void k(float a, const float *x, float *y, int n) { int i = ID(x); if (i < n) y[i] = a * x[i] + y[i]; }"},
	{name: "triad", script: "(g, s, a, b, c) => { a[g.x] = b[g.x] + s * c[g.x] }", args: []kernel.Arg{scalarOf(ir.F32), floats(1), floats(1), floats(1)}, axes: 1, most: 1,
		c: "GLOBAL void k(float s, float *a, const float *b, const float *c, int n) { int i = ID(x); if (i < n) a[i] = b[i] + s * c[i]; }"},
	{name: "mandelbrot", script: `(g, w, out) => {
	const cx = g.x / w * 3 - 2, cy = g.y / w * 3 - 1.5
	let x = 0, y = 0, n = 0
	while (n < 256 && x * x + y * y < 4) { const t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++ }
	out[g.y][g.x] = n
}`, args: []kernel.Arg{scalarOf(ir.F32), floats(2)}, axes: 2, loop: true, most: 1.2,
		c: `GLOBAL void k(float w, float *out, int n0, int n1) { int gx = ID(x), gy = ID(y); if (gx >= n1 || gy >= n0) return;
	float cx = gx / w * 3 - 2, cy = gy / w * 3 - 1.5f, x = 0, y = 0; int n = 0;
	while (n < 256 && x * x + y * y < 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++; }
	out[gy * n1 + gx] = n; }`},
	{name: "nbody", script: `(g, n, p, a) => {
	const x = p[g.x][0], y = p[g.x][1], z = p[g.x][2]
	let ax = 0, ay = 0, az = 0
	for (let j = 0; j < p.shape[0]; j++) {
		const dx = p[j][0] - x, dy = p[j][1] - y, dz = p[j][2] - z, r = dx * dx + dy * dy + dz * dz + 0.01
		const s = p[j][3] / (r * Math.sqrt(r))
		ax += dx * s; ay += dy * s; az += dz * s
	}
	a[g.x][0] = ax; a[g.x][1] = ay; a[g.x][2] = az
}`, args: []kernel.Arg{scalarOf(ir.I32), floats(2), floats(2)}, axes: 1, loop: true, most: 1.05,
		c: `GLOBAL void k(int n, const float *p, int rows, float *a) { int i = ID(x); if (i >= n) return;
	float x = p[4*i], y = p[4*i+1], z = p[4*i+2], ax = 0, ay = 0, az = 0;
	for (int j = 0; j < rows; j++) { float dx = p[4*j] - x, dy = p[4*j+1] - y, dz = p[4*j+2] - z, r = dx * dx + dy * dy + dz * dz + 0.01f;
		float s = p[4*j+3] / (r * __builtin_sqrtf(r)); ax += dx * s; ay += dy * s; az += dz * s; }
	a[4*i] = ax; a[4*i+1] = ay; a[4*i+2] = az; }`},
	{name: "stencil", script: `(g, from, to) => {
	const x = g.x, y = g.y
	if (x > 0 && y > 0 && x < from.shape[1] - 1 && y < from.shape[0] - 1)
		to[y][x] = 0.2 * (from[y][x] + from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x])
}`, args: []kernel.Arg{floats(2), floats(2)}, axes: 2, registers: 1.13, most: 1,
		c: `GLOBAL void k(const float *from, int h, int w, float *to, int h1, int w1) { int x = ID(x), y = ID(y); if (x >= w1 || y >= h1) return;
	if (x > 0 && y > 0 && x < w - 1 && y < h - 1) to[y * (long)w1 + x] = 0.2f * (from[y * (long)w + x] + from[y * (long)w + x - 1] + from[y * (long)w + x + 1] +
		from[(y - 1) * (long)w + x] + from[(y + 1) * (long)w + x]); }`},
	{name: "transpose", script: `(g, from, to) => {
	const tile = g.shared(f32, 32, 33)
	const x = g.local.x, y = g.local.y
	for (let r = 0; r < 32; r += 8) tile[y + r][x] = from[g.group.y * 32 + y + r][g.group.x * 32 + x]
	g.barrier()
	for (let r = 0; r < 32; r += 8) to[g.group.x * 32 + y + r][g.group.y * 32 + x] = tile[x][y + r]
}`, args: []kernel.Arg{floats(2), floats(2)}, axes: 2, group: [3]int{32, 8, 1}, most: 1.2,
		c: `GLOBAL void k(const float *from, int w, float *to, int h) { SHARED float tile[32][33]; int x = LOCAL(x), y = LOCAL(y);
	for (int r = 0; r < 32; r += 8) tile[y + r][x] = from[(GROUP(y) * 32 + y + r) * (long)w + GROUP(x) * 32 + x];
	BARRIER; for (int r = 0; r < 32; r += 8) to[(GROUP(x) * 32 + y + r) * (long)h + GROUP(y) * 32 + x] = tile[x][y + r]; }`},
	{name: "sgemm", script: `(g, a, b, c) => {
	const ta = g.shared(f32, 16, 16), tb = g.shared(f32, 16, 16)
	const x = g.local.x, y = g.local.y
	let sum = 0
	for (let t = 0; t < a.shape[1]; t += 16) {
		ta[y][x] = g.y < a.length && t + x < a.shape[1] ? a[g.y][t + x] : 0
		tb[y][x] = t + y < b.length && g.x < b.shape[1] ? b[t + y][g.x] : 0
		g.barrier()
		for (let k = 0; k < 16; k++) sum += ta[y][k] * tb[k][x]
		g.barrier()
	}
	if (g.y < c.length && g.x < c.shape[1]) c[g.y][g.x] = sum
}`, args: []kernel.Arg{floats(2), floats(2), floats(2)}, axes: 2, group: [3]int{16, 16, 1}, loop: true, most: 1.05,
		c: `GLOBAL void k(const float *a, int m, int n, const float *b, int p, int q, float *c, int u, int v) { SHARED float ta[16][16], tb[16][16];
	int x = LOCAL(x), y = LOCAL(y), gx = ID(x), gy = ID(y); float sum = 0;
	for (int t = 0; t < n; t += 16) { ta[y][x] = gy < m && t + x < n ? a[gy * (long)n + t + x] : 0; tb[y][x] = t + y < p && gx < q ? b[(t + y) * (long)q + gx] : 0;
		BARRIER; for (int k = 0; k < 16; k++) sum += ta[y][k] * tb[k][x]; BARRIER; }
	if (gy < u && gx < v) c[gy * (long)v + gx] = sum; }`},
	{name: "Black-Scholes", script: `(g, spot, strike, years, call) => {
	const normal = d => {
		const k = 1 / (1 + 0.2316419 * Math.abs(d)), e = 1 / (1 + d * d / 128)
		const e2 = e * e, e4 = e2 * e2, e8 = e4 * e4, e16 = e8 * e8, e32 = e16 * e16, e64 = e32 * e32
		const t = 0.39894228 * e64 * k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
		return d > 0 ? 1 - t : t
	}
	const s = spot[g.x], x = strike[g.x], t = years[g.x]
	const root = Math.sqrt(t), z = (s - x) / (s + x), zz = z * z
	const log = 2 * z * (1 + zz * (0.33333333 + zz * (0.2 + zz * 0.14285714)))
	const d1 = (log + 0.065 * t) / (0.3 * root), d2 = d1 - 0.3 * root
	const e = 1 - 0.02 * t / 8, e2 = e * e, e4 = e2 * e2
	call[g.x] = s * normal(d1) - x * e4 * e4 * normal(d2)
}`, args: []kernel.Arg{floats(1), floats(1), floats(1), floats(1)}, axes: 1, most: 1,
		c: `static __attribute__((device, always_inline)) float normal(float d) { float k = 1 / (1 + 0.2316419f * __builtin_fabsf(d)), e = 1 / (1 + d * d / 128);
	float e2 = e * e, e4 = e2 * e2, e8 = e4 * e4, e16 = e8 * e8, e32 = e16 * e16, e64 = e32 * e32;
	float t = 0.39894228f * e64 * k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
	return d > 0 ? 1 - t : t; }
GLOBAL void k(const float *spot, const float *strike, const float *years, float *call, int n) { int i = ID(x); if (i >= n) return;
	float s = spot[i], x = strike[i], t = years[i], root = __builtin_sqrtf(t), z = (s - x) / (s + x), zz = z * z;
	float log = 2 * z * (1 + zz * (0.33333333f + zz * (0.2f + zz * 0.14285714f)));
	float d1 = (log + 0.065f * t) / (0.3f * root), d2 = d1 - 0.3f * root, e = 1 - 0.02f * t / 8, e2 = e * e, e4 = e2 * e2;
	call[i] = s * normal(d1) - x * e4 * e4 * normal(d2); }`},
	{name: "reduction", script: `(g, x, out) => {
	let s = 0
	for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
	const all = g.reduce.add(s)
	if (g.local.x === 0) out[g.group.x] = all
}`, args: []kernel.Arg{floats(1), floats(1)}, axes: 1, group: [3]int{256, 1, 1}, loop: true, most: 1,
		c: `GLOBAL void k(const float *x, int n, float *out) { SHARED float part[8]; float s = 0; int size = GROUPS(x) * SIZE(x);
	for (int i = ID(x); i < n; i += size) s += x[i];
	for (int d = 16; d > 0; d >>= 1) s += shuffle(s, d);
	if (LOCAL(x) % 32 == 0) part[LOCAL(x) / 32] = s; BARRIER;
	if (LOCAL(x) == 0) { for (int i = 1; i < 8; i++) s += part[i]; out[GROUP(x)] = s; } }`},
}

const cudaHead = `
#define GLOBAL extern "C" __attribute__((global))
#define SHARED static __attribute__((shared))
#define BARRIER __syncthreads()
#define LOCAL(axis) __nvvm_read_ptx_sreg_tid_##axis()
#define GROUP(axis) __nvvm_read_ptx_sreg_ctaid_##axis()
#define SIZE(axis) __nvvm_read_ptx_sreg_ntid_##axis()
#define GROUPS(axis) __nvvm_read_ptx_sreg_nctaid_##axis()
static __attribute__((device, always_inline)) float shuffle(float x, int d) { int b = __builtin_bit_cast(int, x); b = __nvvm_shfl_sync_down_i32(~0u, b, d, 31); return __builtin_bit_cast(float, b); }
#define ID(axis) (__nvvm_read_ptx_sreg_ctaid_##axis() * __nvvm_read_ptx_sreg_ntid_##axis() + __nvvm_read_ptx_sreg_tid_##axis())
`
