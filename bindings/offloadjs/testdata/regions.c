#include <stdint.h>
#pragma omp declare target
int counter = 5;
static float table[4] = {1, 2, 3, 4};
double factor(double x) { return x * table[2]; }
#pragma omp end declare target
typedef struct { float a; int32_t k; double scale; } Params;

void saxpy(int n, float a, float *x, float *y) {
#pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
double sum(int n, double *x) {
  double s = 0;
#pragma omp target teams distribute parallel for reduction(+: s) map(to: x[0:n]) map(tofrom: s)
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
void stencil(int n, int m, float *in, float *out) {
#pragma omp target teams distribute parallel for collapse(2) map(to: in[0:n*m]) map(from: out[0:n*m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      out[i*m+j] = in[i*m+j] + in[(i-1)*m+j] + in[(i+1)*m+j] + in[i*m+j-1] + in[i*m+j+1];
}
void count(int n) {
#pragma omp target
  counter += n;
}
void scalars(double *out, int8_t a, uint16_t b, float c, double d, int64_t e) {
#pragma omp target firstprivate(a, b, c, d, e) map(from: out[0:5])
  { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; }
}
void structs(double *out, Params p) {
#pragma omp target firstprivate(p) map(from: out[0:3])
  { out[0] = p.a; out[1] = p.k; out[2] = factor(p.scale); }
}
void nested(int n, int *out) {
#pragma omp target teams num_teams(2) map(from: out[0:n])
  {
#pragma omp distribute
    for (int i = 0; i < n / 8; i++) {
#pragma omp parallel for
      for (int j = 0; j < 8; j++) out[i * 8 + j] = i * 100 + j;
    }
  }
}
void distribute(int n, int *out) {
#pragma omp target teams distribute map(from: out[0:n])
  for (int i = 0; i < n; i++) out[i] = i * i;
}
void dynamic(int n, int64_t *out) {
#pragma omp target parallel for schedule(dynamic, 7) map(from: out[0:n])
  for (int i = 0; i < n; i++) { int64_t v = 0; for (int k = 0; k <= i; k++) v += k; out[i] = v; }
}
int maximum(int n, int *x) {
  int m = -1;
#pragma omp target parallel for reduction(max: m) map(to: x[0:n]) map(tofrom: m)
  for (int i = 0; i < n; i++) if (x[i] > m) m = x[i];
  return m;
}
void critical(int n, int *hist) {
#pragma omp target parallel for map(tofrom: hist[0:4])
  for (int i = 0; i < n; i++) {
#pragma omp atomic
    hist[i & 3]++;
  }
}
void wild(int n, int *p) {
#pragma omp target parallel for map(tofrom: p[0:n])
  for (int i = 0; i < n; i++) ((volatile int *)16)[i] = p[i];
}
void endless(int *p) {
#pragma omp target map(tofrom: p[0:1])
  for (;;) (*(volatile int *)p)++;
}
int big[4];
#pragma omp declare target link(big)
void linked(int *out) {
#pragma omp target map(from: out[0:1]) map(to: big)
  out[0] = big[0] + big[1] + big[2] + big[3];
}
int main(void) { return 1; }
