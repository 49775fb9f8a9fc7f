// The operations of arrays.cpp in OpenCL C, by the algorithms of the kernels that orepl launches on processors.
// Groups of one item work on a chunk each.

#define BLOCK 4096

kernel void map(global const float *x, global float *out) {
  size_t i = get_global_id(0);
  out[i] = x[i] * 2 + 1;
}

kernel void zip(global const float *x, global const float *y, global float *out) {
  size_t i = get_global_id(0);
  out[i] = x[i] * y[i] + x[i];
}

// REDUCTION defines a kernel of which each item reduces a block of n elements to 256 values first.
#define REDUCTION(name, start, join) \
  kernel void name(global const float *x, global float *out, int n, int span) { \
    float own[256]; \
    int from = get_group_id(0) * span; \
    for (int l = 0; l < 256; l++) own[l] = start; \
    for (int k = from; k < from + span; k += 256) \
      for (int l = 0; l < 256; l++) own[l] = join(own[l], x[k + l]); \
    for (int d = 128; d > 0; d /= 2) \
      for (int l = 0; l < d; l++) own[l] = join(own[l], own[l + d]); \
    out[get_group_id(0)] = own[0]; \
  }

#define ADD(a, b) (a + b)
#define LESSER(a, b) (b < a ? b : a)
#define GREATER(a, b) (b > a ? b : a)

REDUCTION(sum, 0, ADD)
REDUCTION(least, INFINITY, LESSER)
REDUCTION(greatest, -INFINITY, GREATER)

// findGreatest stores the place of the first element that equals the greatest of the blocks' greatest elements.
kernel void findGreatest(global const float *x, global const float *best, global int *place, int blocks, int span) {
  int block = 0;
  for (int k = 1; k < blocks; k++)
    if (best[k] > best[block]) block = k;
  int at = block * span;
  while (x[at] != best[block]) at++;
  *place = at;
}

kernel void scanSums(global float *sums, int blocks) {
  float s = 0;
  for (int i = 0; i < blocks; i++) {
    float v = sums[i];
    sums[i] = s;
    s += v;
  }
}

// scanBlocks adds the prefixes of 32 elements to the sum before them.
kernel void scanBlocks(global const float *x, global const float *sums, global float *out) {
  size_t b = get_global_id(0);
  float sum = sums[b], own[32];
  for (size_t i = b * BLOCK; i < (b + 1) * BLOCK; i += 32) {
    for (int l = 0; l < 32; l++) own[l] = x[i + l];
    for (int l = 31; l >= 1; l--) own[l] += own[l - 1];
    for (int l = 31; l >= 2; l--) own[l] += own[l - 2];
    for (int l = 31; l >= 4; l--) own[l] += own[l - 4];
    for (int l = 31; l >= 8; l--) own[l] += own[l - 8];
    for (int l = 31; l >= 16; l--) own[l] += own[l - 16];
    for (int l = 0; l < 32; l++) out[i + l] = sum + own[l];
    sum += own[31];
  }
}

kernel void histogram(global const float *x, global int *counts, int n, int chunk, float low, float high, int bins) {
  local int own[4][256];
  int found[64], from = get_group_id(0) * chunk;
  for (int k = 0; k < 1024; k++) ((local int *)own)[k] = 0;
  float scale = bins / (high - low), width = (high - low) / bins;
  for (int i = from; i < from + chunk; i += 64) {
    for (int k = 0; k < 64; k++) {
      float v = x[i + k], guess = trunc((v - low) * scale);
      int bin = (int)(v >= low + (guess + 1) * width ? guess + 1 : v < low + guess * width ? guess - 1 : guess);
      found[k] = v >= low && v <= high ? min(max(bin, 0), bins - 1) : -1;
    }
    for (int k = 0; k < 64; k++)
      if (found[k] >= 0) own[k & 3][found[k]]++;
  }
  for (int k = 0; k < bins; k++) atomic_add(&counts[k], own[0][k] + own[1][k] + own[2][k] + own[3][k]);
}

kernel void countKept(global const float *x, global int *counts) {
  int from = get_group_id(0) * BLOCK, kept = 0;
  for (int i = from; i < from + BLOCK; i++) kept += x[i] > 0.5f;
  counts[get_group_id(0)] = kept;
}

kernel void scanCounts(global int *counts, int blocks) {
  int s = 0;
  for (int i = 0; i < blocks; i++) {
    int v = counts[i];
    counts[i] = s;
    s += v;
  }
  counts[blocks] = s;
}

kernel void placeKept(global const float *x, global const int *starts, global float *out) {
  size_t b = get_global_id(0);
  int at = starts[b], end = starts[b + 1];
  for (size_t i = b * BLOCK; at < end; i++) {
    out[at] = x[i];
    at += x[i] > 0.5f;
  }
}

kernel void transpose(global const float *from, global float *to, int w, int h) {
  local float tile[16][17];
  int lx = get_local_id(0), ly = get_local_id(1), x = get_group_id(0) * 16, y = get_group_id(1) * 16;
  tile[ly][lx] = from[(y + ly) * w + x + lx];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[(x + ly) * h + y + lx] = tile[lx][ly];
}

uint orderOf(uint v, int floats) { return floats ? v ^ ((uint)((int)v >> 31) | 0x80000000u) : v; }

uint elementOf(uint key, int floats) { return floats ? key ^ (((key >> 31) - 1) | 0x80000000u) : key; }

#define DIGITS 2048

kernel void countDigits(global const uint *keys, global int *counts, int shift, int chunk, int n, int floats) {
  local int own[DIGITS];
  int c = get_group_id(0), chunks = get_num_groups(0), from = c * chunk, to = min(from + chunk, n);
  for (int k = 0; k < DIGITS; k++) own[k] = 0;
  for (int i = from; i < to; i++) own[orderOf(keys[i], floats) >> shift & (DIGITS - 1)]++;
  for (int k = 0; k < DIGITS; k++) counts[k * chunks + c] = own[k];
}

kernel void placeKeys(global const uint *keys, global const int *starts, global uint *out, int shift, int chunk, int n, int before, int after) {
  local int own[DIGITS];
  int c = get_group_id(0), chunks = get_num_groups(0), from = c * chunk, to = min(from + chunk, n);
  for (int k = 0; k < DIGITS; k++) own[k] = starts[k * chunks + c];
  for (int i = from; i < to; i++) {
    uint key = orderOf(keys[i], before);
    out[own[key >> shift & (DIGITS - 1)]++] = elementOf(key, after);
  }
}

kernel void packPanels(global const float *b, global float *panels, int n, int k) {
  int x = get_global_id(0), row = get_global_id(1), panel = get_global_id(2);
  panels[(panel * k + row) * 64 + x] = b[row * n + panel * 64 + x];
}

kernel void multiplyPanels(global const float *a, global const float *panels, global float *c, int n, int k) {
  int l = get_global_id(0), y = 8 * get_global_id(1), panel = get_global_id(2);
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
  for (int i = 0; i < k; i++) {
    float v = panels[(panel * k + i) * 64 + l];
    s0 = fma(a[y * k + i], v, s0), s1 = fma(a[(y + 1) * k + i], v, s1), s2 = fma(a[(y + 2) * k + i], v, s2), s3 = fma(a[(y + 3) * k + i], v, s3);
    s4 = fma(a[(y + 4) * k + i], v, s4), s5 = fma(a[(y + 5) * k + i], v, s5), s6 = fma(a[(y + 6) * k + i], v, s6), s7 = fma(a[(y + 7) * k + i], v, s7);
  }
  global float *to = c + y * n + panel * 64 + l;
  to[0] = s0, to[n] = s1, to[2 * n] = s2, to[3 * n] = s3, to[4 * n] = s4, to[5 * n] = s5, to[6 * n] = s6, to[7 * n] = s7;
}
