// The kernels of kernels.go in typical OpenCL C. cuda.cu includes them as CUDA C++.

#ifndef FUNCTION
#define FUNCTION
#define SHARED local
#endif

kernel void run_saxpy(__global const float *x, __global float *y) {
	size_t i = get_global_id(0);
	y[i] = 0.5f * x[i] + y[i];
}

kernel void run_mandelbrot(__global int *out) {
	int i = get_global_id(0), j = get_global_id(1), n = 0;
	float cx = -2 + 3 * (float)i / 1024, cy = -1.5f + 3 * (float)j / 1024, x = 0, y = 0;
	while (n < 256 && x * x + y * y < 4) {
		float t = x * x - y * y + cx;
		y = 2 * x * y + cy;
		x = t;
		n++;
	}
	out[j * 1024 + i] = n;
}

kernel void run_mix(__global int *x) {
	size_t i = get_global_id(0);
	uint v = x[i], a = v, b = v ^ 0x9e3779b9u, c = v + 77, d = v * 3;
	for (int r = 0; r < 64; r++) {
		a += b; d = rotate(d ^ a, 16u);
		c += d; b = rotate(b ^ c, 12u);
		a += b; d = rotate(d ^ a, 8u);
		c += d; b = rotate(b ^ c, 7u);
	}
	x[i] = a ^ b ^ c ^ d;
}

kernel void run_nbody(__global const float *x, __global const float *y, __global const float *z, __global const float *m, __global float *ax) {
	size_t i = get_global_id(0);
	float fx = 0, fy = 0, fz = 0;
	for (int j = 0; j < 4096; j++) {
		float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
		float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
		float s = m[j] / (r2 * sqrt(r2));
		fx += s * dx; fy += s * dy; fz += s * dz;
	}
	ax[i] = fx + fy + fz;
}

kernel void run_nbody_fast(__global const float *x, __global const float *y, __global const float *z, __global const float *m, __global float *ax) {
	size_t i = get_global_id(0);
	float fx = 0, fy = 0, fz = 0;
	for (int j = 0; j < 4096; j++) {
		float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
		float r = native_rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
		float s = m[j] * r * r * r;
		fx += s * dx; fy += s * dy; fz += s * dz;
	}
	ax[i] = fx + fy + fz;
}

kernel void run_stencil(__global const float *from, __global float *to) {
	int x = get_global_id(0), y = get_global_id(1);
	if (x > 0 && y > 0 && x < 1023 && y < 1023)
		to[y * 1024 + x] = 0.2f * (from[y * 1024 + x] + from[y * 1024 + x - 1] + from[y * 1024 + x + 1] +
			from[(y - 1) * 1024 + x] + from[(y + 1) * 1024 + x]);
}

kernel void run_triad(__global const float *x, __global const float *y, __global float *z) {
	size_t i = get_global_id(0);
	z[i] = x[i] + 3 * y[i];
}

kernel void run_triad64(__global const double *x, __global const double *y, __global double *z) {
	size_t i = get_global_id(0);
	z[i] = x[i] + 3 * y[i];
}

kernel void run_copy(__global const float *x, __global float *y) {
	size_t i = get_global_id(0);
	y[i] = x[i];
}

kernel void run_fill(__global float *x) { x[get_global_id(0)] = 1.5f; }

kernel void run_transpose(__global const float *from, __global float *to) {
	size_t x = get_global_id(0), y = get_global_id(1), n = get_global_size(0);
	to[x * n + y] = from[y * n + x];
}

kernel void run_transpose_blocks(__global const float *from, __global float *to) {
	local float tile[32][33];
	int x = get_local_id(0), y = get_local_id(1), gx = get_group_id(0), gy = get_group_id(1), n = get_global_size(0);
	for (int r = 0; r < 32; r += 8) tile[y + r][x] = from[(gy * 32 + y + r) * n + gx * 32 + x];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int r = 0; r < 32; r += 8) to[(gx * 32 + y + r) * n + gy * 32 + x] = tile[x][y + r];
}

kernel void run_black_scholes(__global const float *s, __global float *out) {
	size_t i = get_global_id(0);
	float S = 100 + 40 * s[i], d1 = (log(S / 100) + 0.065f) / 0.3f, d2 = d1 - 0.3f;
	out[i] = S * 0.5f * (1 + erf(d1 * 0.70710678f)) - 100 * exp(-0.02f) * 0.5f * (1 + erf(d2 * 0.70710678f));
}

kernel void run_black_scholes_fast(__global const float *s, __global float *out) {
	size_t i = get_global_id(0);
	float S = 100 + 40 * s[i], d1 = (native_log(S / 100) + 0.065f) / 0.3f, d2 = d1 - 0.3f;
	out[i] = S * 0.5f * (1 + erf(d1 * 0.70710678f)) - 100 * native_exp(-0.02f) * 0.5f * (1 + erf(d2 * 0.70710678f));
}

// add returns the sum of a value over a group of 256 to the first item.
FUNCTION float add(float v, SHARED float *part) {
	int l = get_local_id(0);
	part[l] = v;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int n = 128; n > 0; n /= 2) {
		if (l < n) part[l] += part[l + n];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	return part[0];
}

FUNCTION void atomic_add_float(volatile __global float *at, float v) {
	union { uint bits; float value; } old, sum;
	do {
		old.value = *at;
		sum.value = old.value + v;
	} while (atomic_cmpxchg((volatile __global uint *)at, old.bits, sum.bits) != old.bits);
}

kernel void run_sums(__global const float *x, __global float *out) {
	local float part[256];
	float sum = 0;
	for (int i = get_global_id(0); i < 4194304; i += 65536) sum += x[i];
	sum = add(sum, part);
	if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

kernel void run_sums_256(__global const float *x, __global float *out) {
	local float part[256];
	float sum = add(x[get_global_id(0)], part);
	if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

kernel void run_scans_256(__global const float *x, __global float *out) {
	local float part[256];
	int l = get_local_id(0);
	float v = x[get_global_id(0)];
	for (int n = 1; n < 256; n *= 2) {
		part[l] = v;
		barrier(CLK_LOCAL_MEM_FENCE);
		if (l >= n) v += part[l - n];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	out[get_global_id(0)] = v;
}

kernel void run_sum(__global const float *x, __global float *out) {
	local float part[256];
	float s = 0;
	for (int i = get_global_id(0); i < 4194304; i += get_global_size(0)) s += x[i];
	s = add(s, part);
	if (get_local_id(0) == 0) atomic_add_float(out, s);
}

kernel void run_dot(__global const float *x, __global const float *y, __global float *out) {
	local float part[256];
	float s = 0;
	for (int i = get_global_id(0); i < 4194304; i += get_global_size(0)) s += x[i] * y[i];
	s = add(s, part);
	if (get_local_id(0) == 0) atomic_add_float(out, s);
}

kernel void run_histogram(__global const int *data, __global int *bins) {
	local int mine[256];
	int l = get_local_id(0), first = get_group_id(0) * 65536 + l;
	mine[l] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int k = 0; k < 256; k++) atomic_inc(&mine[data[first + 256 * k] & 255]);
	barrier(CLK_LOCAL_MEM_FENCE);
	atomic_add(&bins[l], mine[l]);
}

kernel void run_sgemm(__global const float *a, __global const float *b, __global float *c) {
	int x = get_global_id(0), y = get_global_id(1);
	float sum = 0;
	for (int k = 0; k < 512; k++) sum += a[y * 512 + k] * b[k * 512 + x];
	c[y * 512 + x] = sum;
}

kernel void run_sgemm_shared(__global const float *a, __global const float *b, __global float *c) {
	local float ta[16][16], tb[16][16];
	int x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
	float sum = 0;
	for (int k = 0; k < 512; k += 16) {
		ta[y][x] = a[gy * 512 + k + x];
		tb[y][x] = b[(k + y) * 512 + gx];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int i = 0; i < 16; i++) sum += ta[y][i] * tb[i][x];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	c[gy * 512 + gx] = sum;
}

kernel void run_sgemm_tile(__global const float *a, __global const float *b, __global float *c) {
	float sum[8] = {0};
	int x = get_global_id(0), y = 8 * get_global_id(1);
	for (int k = 0; k < 1024; k++)
		for (int i = 0; i < 8; i++) sum[i] += a[(y + i) * 1024 + k] * b[k * 1024 + x];
	for (int i = 0; i < 8; i++) c[(y + i) * 1024 + x] = sum[i];
}

kernel void run_sgemm_packed(__global const float *a, __global const float *b, __global float *c) {
	local float panel[256][32];
	float sum[8] = {0};
	int x = get_global_id(0), y = 8 * get_global_id(1), lx = get_local_id(0);
	for (int p = 0; p < 1024; p += 256) {
		for (int i = get_local_id(1); i < 256; i += 16) panel[i][lx] = b[(p + i) * 1024 + x];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int k = 0; k < 256; k++)
			for (int i = 0; i < 8; i++) sum[i] += a[(y + i) * 1024 + p + k] * panel[k][lx];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int i = 0; i < 8; i++) c[(y + i) * 1024 + x] = sum[i];
}

kernel void run_empty() {}

kernel void run_blend(__global const uchar *x, __global uchar *y) {
	size_t i = get_global_id(0);
	y[i] = (3 * x[i] + y[i] + 2) >> 2;
}

kernel void run_blur(__global const uchar *from, __global uchar *to) {
	int x = get_global_id(0), y = get_global_id(1), w = 2048;
	if (x > 0 && y > 0 && x < w - 1 && y < w - 1)
		to[y * w + x] = (4 * from[y * w + x] + from[y * w + x - 1] + from[y * w + x + 1] + from[(y - 1) * w + x] + from[(y + 1) * w + x]) >> 3;
}

kernel void run_lookup(__global const int *at, __global const float *table, __global float *out) {
	size_t i = get_global_id(0);
	out[i] = table[at[i] & 4095];
}
