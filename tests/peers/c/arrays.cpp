// The peer of array operations: the usual loops of C with OpenMP. It reads the name of an operation a line, runs it once and
// prints the processor seconds that it took and an element of its result.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <omp.h>
#include <parallel/algorithm>

static const long N = 4096L * 4096L, M = 1024;
static float *x, *y, *z;
static uint32_t *u, *v;
static float *a, *b, *c;

template <class T> static T *make(long n) { return static_cast<T *>(aligned_alloc(1 << 21, (n * sizeof(T) + (1 << 21) - 1) >> 21 << 21)); }

static double sumOf() {
  float s = 0;
#pragma omp parallel for simd reduction(+ : s)
  for (long i = 0; i < N; i++) s += x[i];
  return s;
}

static double least() {
  float s = INFINITY;
#pragma omp parallel for simd reduction(min : s)
  for (long i = 0; i < N; i++) s = x[i] < s ? x[i] : s;
  return s;
}

static double greatestPlace() {
  long place = 0;
  float most = -INFINITY;
#pragma omp parallel
  {
    long at = 0;
    float best = -INFINITY;
#pragma omp for nowait
    for (long block = 0; block < N; block += 4096) {
      float m = -INFINITY;
#pragma omp simd reduction(max : m)
      for (long i = block; i < block + 4096; i++) m = x[i] > m ? x[i] : m;
      if (m > best) best = m, at = std::find(x + block, x + block + 4096, m) - x;
    }
#pragma omp critical
    if (best > most || (best == most && at < place)) most = best, place = at;
  }
  return place;
}

static double scan() {
  float before[257] = {0};
#pragma omp parallel
  {
    int t = omp_get_thread_num(), n = omp_get_num_threads();
    long from = N * t / n, to = N * (t + 1) / n;
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (long i = from; i < to; i++) s += x[i];
    before[t + 1] = s;
#pragma omp barrier
#pragma omp single
    for (int i = 1; i < n; i++) before[i + 1] += before[i];
    s = before[t];
#pragma omp simd reduction(inscan, + : s)
    for (long i = from; i < to; i++) {
      s += x[i];
#pragma omp scan inclusive(s)
      z[i] = s;
    }
  }
  return z[N - 1];
}

// histogram finds the bins of 64 elements, corrected by the edges as NumPy does, then counts them in four tables.
static double histogram() {
  static int counts[256];
  memset(counts, 0, sizeof counts);
#pragma omp parallel
  {
    int own[4][256] = {{0}}, found[64];
    const float low = -1, high = 1, width = (high - low) / 100, scale = 100 / (high - low);
#pragma omp for nowait
    for (long i = 0; i < N; i += 64) {
      for (int k = 0; k < 64; k++) {
        float e = x[i + k], guess = truncf((e - low) * scale);
        int bin = int(guess) + (e >= low + (guess + 1) * width) - (e < low + guess * width);
        found[k] = e >= low && e <= high ? std::min(std::max(bin, 0), 99) : 100;
      }
      for (int k = 0; k < 64; k++) own[k & 3][found[k]]++;
    }
#pragma omp critical
    for (int i = 0; i < 100; i++) counts[i] += own[0][i] + own[1][i] + own[2][i] + own[3][i];
  }
  return counts[50];
}

static double filter() {
  long starts[257] = {0};
#pragma omp parallel
  {
    int t = omp_get_thread_num(), n = omp_get_num_threads();
    long from = N * t / n, to = N * (t + 1) / n, k = 0;
    for (long i = from; i < to; i++) k += x[i] > 0.5f;
    starts[t + 1] = k;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < n; i++) starts[i + 1] += starts[i];
    k = starts[t];
    for (long i = from; i < to; i++)
      if (x[i] > 0.5f) z[k++] = x[i];
  }
  return z[0];
}

static double transpose() {
#pragma omp parallel for collapse(2)
  for (long i = 0; i < 4096; i += 16)
    for (long j = 0; j < 4096; j += 16)
      for (long k = j; k < j + 16; k++)
        for (long l = i; l < i + 16; l++) z[k * 4096 + l] = x[l * 4096 + k];
  return z[1];
}

static double gemm() {
#pragma omp parallel for
  for (long i = 0; i < M; i += 8) {
    memset(c + i * M, 0, 8 * M * sizeof(float));
    for (long k0 = 0; k0 < M; k0 += 128)
      for (long j = 0; j < M; j += 64)
        for (long r = i; r < i + 8; r++)
          for (long k = k0; k < k0 + 128; k++) {
            const float f = a[r * M + k];
#pragma omp simd
            for (long l = j; l < j + 64; l++) c[r * M + l] += f * b[k * M + l];
          }
  }
  return c[1];
}

static double run(const char *name) {
  if (!strcmp(name, "map")) {
#pragma omp parallel for simd
    for (long i = 0; i < N; i++) z[i] = x[i] * 2 + 1;
    return z[1];
  }
  if (!strcmp(name, "zip")) {
#pragma omp parallel for simd
    for (long i = 0; i < N; i++) z[i] = x[i] * y[i] + x[i];
    return z[1];
  }
  if (!strcmp(name, "sum")) return sumOf();
  if (!strcmp(name, "min")) return least();
  if (!strcmp(name, "argmax")) return greatestPlace();
  if (!strcmp(name, "cumsum")) return scan();
  if (!strcmp(name, "histogram")) return histogram();
  if (!strcmp(name, "filter")) return filter();
  if (!strcmp(name, "transpose")) return transpose();
  if (!strcmp(name, "matmul")) return gemm();
  if (!strcmp(name, "sort u32")) {
    std::copy(u, u + N, v);
    __gnu_parallel::sort(v, v + N);
    return v[N / 2];
  }
  if (!strcmp(name, "sort f32")) {
    std::copy(x, x + N, z);
    __gnu_parallel::sort(z, z + N);
    return z[N / 2];
  }
  fprintf(stderr, "no operation %s\n", name);
  exit(1);
}

int main(int, char **argv) {
  omp_set_num_threads(2);
  x = make<float>(N), y = make<float>(N), z = make<float>(N), u = make<uint32_t>(N), v = make<uint32_t>(N);
  a = make<float>(M * M), b = make<float>(M * M), c = make<float>(M * M);
  FILE *f = fopen(argv[1], "rb");
  if (!f || fread(x, 4, N, f) != size_t(N) || fread(u, 4, N, f) != size_t(N)) return 1;
  std::copy(u, u + N, v);
  for (long i = 0; i < N; i++) y[i] = x[N - 1 - i], z[i] = 0;
  std::copy(x, x + M * M, a), std::copy(x + M * M, x + 2 * M * M, b);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    clock_t start = clock();
    double result = run(line);
    printf("%.9f %.17g\n", double(clock() - start) / CLOCKS_PER_SEC, result);
    fflush(stdout);
  }
}
