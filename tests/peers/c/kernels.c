// Typical C loops for the kernels of kernels.go.
#include <math.h>
#include <stdint.h>

void saxpy(long n, float a, const float *restrict x, float *restrict y) {
	for (long i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
void run_saxpy(long n, const float *x, float *y) { saxpy(n, 0.5f, x, y); }

void run_mandelbrot(long w, long h, int *out) {
	for (long j = 0; j < h; j++)
		for (long i = 0; i < w; i++) {
			float cx = -2 + 3 * (float)i / w, cy = -1.5f + 3 * (float)j / h, x = 0, y = 0;
			int n = 0;
			while (n < 256 && x * x + y * y < 4) {
				float t = x * x - y * y + cx;
				y = 2 * x * y + cy;
				x = t;
				n++;
			}
			out[j * w + i] = n;
		}
}

static inline uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }

void run_mix(long n, int *x) {
	for (long i = 0; i < n; i++) {
		uint32_t v = x[i], a = v, b = v ^ 0x9e3779b9u, c = v + 77, d = v * 3;
		for (int r = 0; r < 64; r++) {
			a += b; d = rotl(d ^ a, 16);
			c += d; b = rotl(b ^ c, 12);
			a += b; d = rotl(d ^ a, 8);
			c += d; b = rotl(b ^ c, 7);
		}
		x[i] = a ^ b ^ c ^ d;
	}
}

void run_nbody(long n, const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict m,
	float *restrict ax) {
	for (long i = 0; i < n; i++) {
		float fx = 0, fy = 0, fz = 0;
		for (long j = 0; j < n; j++) {
			float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
			float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
			float s = m[j] / (r2 * sqrtf(r2));
			fx += s * dx; fy += s * dy; fz += s * dz;
		}
		ax[i] = fx + fy + fz;
	}
}

void run_stencil(long w, long h, const float *restrict from, float *restrict to) {
	for (long j = 1; j < h - 1; j++)
		for (long i = 1; i < w - 1; i++)
			to[j * w + i] = 0.2f * (from[j * w + i] + from[j * w + i - 1] + from[j * w + i + 1] + from[(j - 1) * w + i] +
				from[(j + 1) * w + i]);
}

void run_triad(long n, const float *restrict x, const float *restrict y, float *restrict z) {
	for (long i = 0; i < n; i++) z[i] = x[i] + 3 * y[i];
}

void run_copy(long n, const float *restrict x, float *restrict y) {
	for (long i = 0; i < n; i++) y[i] = x[i];
}

void run_fill(long n, float *x) {
	for (long i = 0; i < n; i++) x[i] = 1.5f;
}

void run_transpose(long n, const float *restrict from, float *restrict to) {
	for (long j = 0; j < n; j++)
		for (long i = 0; i < n; i++) to[i * n + j] = from[j * n + i];
}

void run_black_scholes(long n, const float *restrict s, float *restrict out) {
	for (long i = 0; i < n; i++) {
		float S = 100 + 40 * s[i], d1 = (logf(S / 100) + 0.065f) / 0.3f, d2 = d1 - 0.3f;
		out[i] = S * 0.5f * (1 + erff(d1 * 0.70710678f)) - 100 * expf(-0.02f) * 0.5f * (1 + erff(d2 * 0.70710678f));
	}
}

void run_histogram(long n, const int *restrict data, int *restrict bins) {
	for (long i = 0; i < n; i++) bins[data[i] & 255]++;
}

void run_sgemm(long n, const float *restrict a, const float *restrict b, float *restrict c) {
	for (long i = 0; i < n; i++) {
		for (long j = 0; j < n; j++) c[i * n + j] = 0;
		for (long k = 0; k < n; k++)
			for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
	}
}

// A tile of 8 × 32 sums in registers, or 4 × 16 on targets with 16 vectors of 8 elements. The compiler keeps the tile in
// registers only if the sums are explicit vectors.
#ifdef __AVX512F__
enum { LANES = 16, ROWS = 8 };
#else
enum { LANES = 8, ROWS = 4 };
#endif
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));

void run_sgemm_tile(long n, const float *restrict a, const float *restrict b, float *restrict c) {
	for (long i = 0; i < n; i += ROWS)
		for (long j = 0; j < n; j += 2 * LANES) {
			vec sum[ROWS][2] = {0};
			for (long k = 0; k < n; k++) {
#pragma GCC unroll 8
				for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
					for (int s = 0; s < 2; s++) sum[r][s] += a[(i + r) * n + k] * *(const vec *)(b + k * n + j + LANES * s);
			}
			for (int r = 0; r < ROWS; r++)
				for (int s = 0; s < 2; s++) *(vec *)(c + (i + r) * n + j + LANES * s) = sum[r][s];
		}
}

// The same, after packing a panel of columns of b.
void run_sgemm_packed(long n, const float *restrict a, const float *restrict b, float *restrict c) {
	static float panel[1024][2 * LANES] __attribute__((aligned(64)));
	for (long j = 0; j < n; j += 2 * LANES) {
		for (long k = 0; k < n; k++)
			for (int s = 0; s < 2 * LANES; s++) panel[k][s] = b[k * n + j + s];
		for (long i = 0; i < n; i += ROWS) {
			vec sum[ROWS][2] = {0};
			for (long k = 0; k < n; k++) {
#pragma GCC unroll 8
				for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
					for (int s = 0; s < 2; s++) sum[r][s] += a[(i + r) * n + k] * *(const vec *)&panel[k][LANES * s];
			}
			for (int r = 0; r < ROWS; r++)
				for (int s = 0; s < 2; s++) *(vec *)(c + (i + r) * n + j + LANES * s) = sum[r][s];
		}
	}
}

// Sums of elements 256 apart in 65 536, which a compiler may add in vector order.
void run_sums(long n, const float *restrict x, float *restrict out) {
	for (long g = 0; g < 256; g++) {
		float sum[256] = {0}, all = 0;
		for (long i = g * 256; i < n; i += 65536)
			for (int j = 0; j < 256; j++) sum[j] += x[i + j];
		for (int j = 0; j < 256; j++) all += sum[j];
		out[g] = all;
	}
}

void run_sums_256(long n, const float *restrict x, float *restrict out) {
	for (long g = 0; g < n / 256; g++) {
		float sum[16] = {0}, all = 0;
		for (int i = 0; i < 256; i += 16)
			for (int j = 0; j < 16; j++) sum[j] += x[g * 256 + i + j];
		for (int j = 0; j < 16; j++) all += sum[j];
		out[g] = all;
	}
}

void run_scans_256(long n, const float *restrict x, float *restrict out) {
	for (long g = 0; g < n / 256; g++) {
		float sum = 0;
		for (int i = 0; i < 256; i++) out[g * 256 + i] = sum += x[g * 256 + i];
	}
}

void run_sum(long n, const float *restrict x, float *restrict out) {
	float s = 0;
#pragma omp simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += x[i];
	*out += s;
}

void run_dot(long n, const float *restrict x, const float *restrict y, float *restrict out) {
	float s = 0;
#pragma omp simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += x[i] * y[i];
	*out += s;
}

void run_triad64(long n, const double *restrict x, const double *restrict y, double *restrict z) {
	for (long i = 0; i < n; i++) z[i] = x[i] + 3 * y[i];
}

void run_transpose_blocks(long n, const float *restrict from, float *restrict to) {
	for (long j = 0; j < n; j += 32)
		for (long i = 0; i < n; i += 32)
			for (long y = i; y < i + 32; y++)
				for (long x = j; x < j + 32; x++) to[y * n + x] = from[x * n + y];
}

void run_blend(long n, const uint8_t *restrict x, uint8_t *restrict y) {
	for (long i = 0; i < n; i++) y[i] = (3 * x[i] + y[i] + 2) >> 2;
}

void run_blur(long w, long h, const uint8_t *restrict from, uint8_t *restrict to) {
	for (long j = 1; j < h - 1; j++)
		for (long i = 1; i < w - 1; i++)
			to[j * w + i] = (4 * from[j * w + i] + from[j * w + i - 1] + from[j * w + i + 1] + from[(j - 1) * w + i] +
				from[(j + 1) * w + i]) >> 3;
}

void run_lookup(long n, const int *restrict at, const float *restrict table, float *restrict out) {
	for (long i = 0; i < n; i++) out[i] = table[at[i] & 4095];
}
