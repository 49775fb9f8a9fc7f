// Target regions, a declare-target variable, an indirect function and a requires clause.
#ifdef REQUIRES
#pragma omp requires unified_shared_memory
#endif

#pragma omp begin declare target
int table[4] = {1, 2, 3, 4};
#pragma omp end declare target

void NAME(int n, float a, float *x, float *y) {
#pragma omp target teams distribute parallel for map(to : x[:n]) map(tofrom : y[:n])
  for (int i = 0; i < n; i++)
    y[i] += a * x[i] + table[i & 3];
}

int sum(int n, int *x) {
  int s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) map(to : x[:n])
  for (int i = 0; i < n; i++)
    s += x[i];
  return s;
}

#ifdef MAIN
#if __clang_major__ > 15
#pragma omp begin declare target indirect
int twice(int v) { return 2 * v; }
#pragma omp end declare target
#endif

int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
  NAME(4, 2, x, y);
  return y[3] != 12;
}
#endif
