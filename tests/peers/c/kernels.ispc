// The kernels of kernels.go in ISPC, in their fastest forms.

export void run_saxpy(uniform int64 n, const uniform float x[], uniform float y[]) {
	foreach (i = 0 ... (int)n) y[i] = 0.5f * x[i] + y[i];
}

export void run_triad(uniform int64 n, const uniform float x[], const uniform float y[], uniform float z[]) {
	foreach (i = 0 ... (int)n) z[i] = x[i] + 3 * y[i];
}

export void run_triad64(uniform int64 n, const uniform double x[], const uniform double y[], uniform double z[]) {
	foreach (i = 0 ... (int)n) z[i] = x[i] + 3 * y[i];
}

export void run_copy(uniform int64 n, const uniform float x[], uniform float y[]) {
	foreach (i = 0 ... (int)n) y[i] = x[i];
}

export void run_fill(uniform int64 n, uniform float x[]) {
	foreach (i = 0 ... (int)n) x[i] = 1.5f;
}

export void run_stencil(uniform int64 w, uniform int64 h, const uniform float from[], uniform float to[]) {
	const uniform int width = (int)w;
	for (uniform int j = 1; j < (int)h - 1; j++)
		foreach (i = 1 ... width - 1) {
			const int at = j * width + i;
			to[at] = 0.2f * (from[at] + from[at - 1] + from[at + 1] + from[at - width] + from[at + width]);
		}
}

// A uniform loop that tests whether any lane continues is twice as fast as a loop that lanes leave.
export void run_mandelbrot(uniform int64 w, uniform int64 h, uniform int out[]) {
	const uniform int width = (int)w;
	for (uniform int j = 0; j < (int)h; j++)
		foreach (i = 0 ... width) {
			const float cx = -2 + 3 * (float)i / width, cy = -1.5f + 3 * (float)j / (uniform int)h;
			float x = 0, y = 0;
			int n = 0;
			for (uniform int k = 0; k < 256; k++) {
				const bool inside = x * x + y * y < 4;
				if (!any(inside)) break;
				n += inside ? 1 : 0;
				const float t = x * x - y * y + cx;
				y = 2 * x * y + cy;
				x = t;
			}
			// Lanes that left stay outside: n stops at the first step that is not inside.
			out[j * width + i] = n;
		}
}

static inline unsigned int rotated(unsigned int x, uniform int n) { return x << n | x >> (32 - n); }

export void run_mix(uniform int64 n, uniform int x[]) {
	foreach (i = 0 ... (int)n) {
		unsigned int v = x[i];
		unsigned int a = v, b = v ^ 0x9e3779b9u, c = v + 77, d = v * 3;
		for (uniform int r = 0; r < 64; r++) {
			a += b; d = rotated(d ^ a, 16);
			c += d; b = rotated(b ^ c, 12);
			a += b; d = rotated(d ^ a, 8);
			c += d; b = rotated(b ^ c, 7);
		}
		x[i] = a ^ b ^ c ^ d;
	}
}

export void run_nbody(uniform int64 n, const uniform float x[], const uniform float y[], const uniform float z[],
	const uniform float m[], uniform float ax[]) {
	foreach (i = 0 ... (int)n) {
		float fx = 0, fy = 0, fz = 0;
		for (uniform int j = 0; j < (int)n; j++) {
			const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
			const float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
			const float s = m[j] / (r2 * sqrt(r2));
			fx += s * dx; fy += s * dy; fz += s * dz;
		}
		ax[i] = fx + fy + fz;
	}
}

export void run_nbody_fast(uniform int64 n, const uniform float x[], const uniform float y[], const uniform float z[],
	const uniform float m[], uniform float ax[]) {
	foreach (i = 0 ... (int)n) {
		float fx = 0, fy = 0, fz = 0;
		for (uniform int j = 0; j < (int)n; j++) {
			const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
			const float r = rsqrt_fast(dx * dx + dy * dy + dz * dz + 0.01f);
			const float s = m[j] * r * r * r;
			fx += s * dx; fy += s * dy; fz += s * dz;
		}
		ax[i] = fx + fy + fz;
	}
}

// ISPC has no erf: formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions, 1964.
static inline float erf_by_formula(float x) {
	const float a = abs(x);
	const float t = 1 / (1 + 0.3275911f * a);
	const float p = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
	const float e = 1 - p * exp(-a * a);
	return x < 0 ? -e : e;
}

export void run_black_scholes(uniform int64 n, const uniform float s[], uniform float out[]) {
	foreach (i = 0 ... (int)n) {
		const float S = 100 + 40 * s[i];
		const float d1 = (log(S / 100) + 0.065f) / 0.3f;
		const float d2 = d1 - 0.3f;
		out[i] = S * 0.5f * (1 + erf_by_formula(d1 * 0.70710678f)) -
			100 * exp((uniform float)-0.02f) * 0.5f * (1 + erf_by_formula(d2 * 0.70710678f));
	}
}

export void run_sum(uniform int64 n, const uniform float x[], uniform float out[]) {
	float s = 0;
	foreach (i = 0 ... (int)n) s += x[i];
	out[0] += reduce_add(s);
}

export void run_dot(uniform int64 n, const uniform float x[], const uniform float y[], uniform float out[]) {
	float s = 0;
	foreach (i = 0 ... (int)n) s += x[i] * y[i];
	out[0] += reduce_add(s);
}

export void run_transpose(uniform int64 n, const uniform float from[], uniform float to[]) {
	const uniform int width = (int)n;
	for (uniform int j = 0; j < width; j++)
		foreach (i = 0 ... width) to[i * width + j] = from[j * width + i];
}

export void run_transpose_blocks(uniform int64 n, const uniform float from[], uniform float to[]) {
	const uniform int width = (int)n;
	for (uniform int j = 0; j < width; j += 32)
		for (uniform int i = 0; i < width; i += 32)
			for (uniform int y = i; y < i + 32; y++)
				foreach (x = j ... j + 32) to[y * width + x] = from[x * width + y];
}

export void run_histogram(uniform int64 n, const uniform int data[], uniform int bins[]) {
	for (uniform int i = 0; i < (int)n; i++) bins[data[i] & 255]++;
}

export void run_sgemm(uniform int64 n, const uniform float a[], const uniform float b[], uniform float c[]) {
	const uniform int width = (int)n;
	for (uniform int i = 0; i < width; i++) {
		foreach (j = 0 ... width) c[i * width + j] = 0;
		for (uniform int k = 0; k < width; k++) {
			const uniform float f = a[i * width + k];
			foreach (j = 0 ... width) c[i * width + j] += f * b[k * width + j];
		}
	}
}

export void run_sgemm_tile(uniform int64 n, const uniform float a[], const uniform float b[], uniform float c[]) {
	const uniform int width = (int)n;
	for (uniform int i = 0; i < width; i += 8)
		foreach (j = 0 ... width) {
			float sum[8];
			for (uniform int r = 0; r < 8; r++) sum[r] = 0;
			for (uniform int k = 0; k < width; k++) {
				const float v = b[k * width + j];
#pragma unroll 8
				for (uniform int r = 0; r < 8; r++) sum[r] += a[(i + r) * width + k] * v;
			}
			for (uniform int r = 0; r < 8; r++) c[(i + r) * width + j] = sum[r];
		}
}

// The same, after packing a panel of columns of b.
export void run_sgemm_packed(uniform int64 n, const uniform float a[], const uniform float b[], uniform float c[]) {
	const uniform int width = (int)n, columns = programCount < 32 ? 32 : programCount;
	uniform float * uniform panel = uniform new uniform float[width * columns];
	for (uniform int j = 0; j < width; j += columns) {
		for (uniform int k = 0; k < width; k++)
			foreach (s = 0 ... columns) panel[k * columns + s] = b[k * width + j + s];
		for (uniform int i = 0; i < width; i += 8)
			for (uniform int part = 0; part < columns; part += programCount) {
				float sum[8];
				for (uniform int r = 0; r < 8; r++) sum[r] = 0;
				for (uniform int k = 0; k < width; k++) {
					const float v = panel[k * columns + part + programIndex];
#pragma unroll 8
					for (uniform int r = 0; r < 8; r++) sum[r] += a[(i + r) * width + k] * v;
				}
				for (uniform int r = 0; r < 8; r++) c[(i + r) * width + j + part + programIndex] = sum[r];
			}
	}
	delete[] panel;
}
