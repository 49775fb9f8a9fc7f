// The loops of kernels.c that benefit from threads.

void threads_saxpy(long n, const float *restrict x, float *restrict y) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) y[i] = 0.5f * x[i] + y[i];
}

void threads_triad(long n, const float *restrict x, const float *restrict y, float *restrict z) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) z[i] = x[i] + 3 * y[i];
}

void threads_copy(long n, const float *restrict x, float *restrict y) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) y[i] = x[i];
}

void threads_fill(long n, float *x) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) x[i] = 1.5f;
}

void threads_stencil(long w, long h, const float *restrict from, float *restrict to) {
#pragma omp parallel for
	for (long j = 1; j < h - 1; j++)
		for (long i = 1; i < w - 1; i++)
			to[j * w + i] = 0.2f * (from[j * w + i] + from[j * w + i - 1] + from[j * w + i + 1] + from[(j - 1) * w + i] +
				from[(j + 1) * w + i]);
}

void threads_sum(long n, const float *restrict x, float *restrict out) {
	float s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += x[i];
	*out += s;
}

void threads_dot(long n, const float *restrict x, const float *restrict y, float *restrict out) {
	float s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += x[i] * y[i];
	*out += s;
}
