// The methods of BabelStream and nvbandwidth on the host: the same kernels, sizes and statistics, with OpenMP.
//
//	suites ELEMENTS TIMES     prints a name and seconds on each line: the least time of TIMES runs without the first one, of each kernel on
//	                          arrays of doubles, and of copies of as many bytes as an array has, on one thread and on all
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double *restrict a, *restrict b, *restrict c;
static long n;
static const double scalar = 0.4;
static double sum;

static void copy(void) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) c[i] = a[i];
}
static void mul(void) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) b[i] = scalar * c[i];
}
static void add(void) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
}
static void triad(void) {
#pragma omp parallel for simd
	for (long i = 0; i < n; i++) a[i] = b[i] + scalar * c[i];
}
static void dot(void) {
	double s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (long i = 0; i < n; i++) s += a[i] * b[i];
	sum = s;
}
static void memcpy_one(void) { memcpy(c, a, n * sizeof *a); }
static void memcpy_all(void) {
#pragma omp parallel
	{
		long k = omp_get_num_threads(), t = omp_get_thread_num(), from = n * t / k, to = n * (t + 1) / k;
		memcpy(c + from, a + from, (to - from) * sizeof *a);
	}
}

static const struct { const char *name; void (*run)(void); } kernels[] = {
	{"Copy", copy}, {"Mul", mul}, {"Add", add}, {"Triad", triad}, {"Dot", dot}, {"memcpy_one", memcpy_one}, {"memcpy_all", memcpy_all},
};

int main(int argc, char **argv) {
	if (argc != 3) return 2;
	n = atol(argv[1]);
	int times = atoi(argv[2]);
	a = aligned_alloc(4096, n * sizeof *a), b = aligned_alloc(4096, n * sizeof *b), c = aligned_alloc(4096, n * sizeof *c);
	if (!a || !b || !c) return 1;
#pragma omp parallel for
	for (long i = 0; i < n; i++) a[i] = 0.1, b[i] = 0.2, c[i] = 0;
	for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
		double least = 1e30;
		for (int i = 0; i <= times; i++) {
			double start = now();
			kernels[k].run();
			double took = now() - start;
			if (i > 0 && took < least) least = took;
		}
		printf("%s %.9g\n", kernels[k].name, least);
	}
	// Copy, Mul, Add, Triad: c = 0.1, b = 0.04, c = 0.14, a = 0.04 + 0.4 * 0.14 = 0.096
	double want = 0.096 * 0.04 * n;
	if (sum < want * (1 - 1e-8) || sum > want * (1 + 1e-8)) {
		fprintf(stderr, "the sum is %.17g, not %.17g\n", sum, want);
		return 1;
	}
	return 0;
}
