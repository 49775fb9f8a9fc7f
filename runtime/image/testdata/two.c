#include <stdio.h>

int main(void) {
  float x[4] = {1, 2, 3, 4}, y[4] = {0};
#pragma omp target teams distribute parallel for map(to : x) map(tofrom : y)
  for (int i = 0; i < 4; i++)
    y[i] += 2 * x[i];
  printf("%g\n", y[3]);
  return y[3] != 8;
}
