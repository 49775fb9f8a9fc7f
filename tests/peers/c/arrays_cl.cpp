// Runs the operations of arrays.cl on the first device of PoCL: reads names of operations and prints the processor time of each in
// seconds and an element of its result. Arguments: the file of the operands and arrays.cl.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

// The part of the OpenCL API that this program calls, as the Khronos specification declares it.
extern "C" {
int clGetPlatformIDs(uint32_t, void **, uint32_t *);
int clGetPlatformInfo(void *, uint32_t, size_t, void *, size_t *);
int clGetDeviceIDs(void *, uint64_t, uint32_t, void **, uint32_t *);
void *clCreateContext(const intptr_t *, uint32_t, void *const *, void *, void *, int *);
void *clCreateCommandQueue(void *, void *, uint64_t, int *);
void *clCreateProgramWithSource(void *, uint32_t, const char **, const size_t *, int *);
int clBuildProgram(void *, uint32_t, void *const *, const char *, void *, void *);
int clGetProgramBuildInfo(void *, void *, uint32_t, size_t, void *, size_t *);
void *clCreateBuffer(void *, uint64_t, size_t, void *, int *);
void *clCreateKernel(void *, const char *, int *);
int clSetKernelArg(void *, uint32_t, size_t, const void *);
int clEnqueueNDRangeKernel(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *, void *);
int clEnqueueReadBuffer(void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *, void *);
int clEnqueueFillBuffer(void *, void *, const void *, size_t, size_t, size_t, uint32_t, void *, void *);
int clFinish(void *);
}

static const int SIDE = 4096, N = SIDE * SIDE, M = 1024, BLOCK = 4096, DIGITS = 2048, CHUNKS = 8;
static void *context, *queue, *program;

static void check(int status, const char *what) {
  if (status == 0) return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

static void *buffer(size_t bytes, const void *from = nullptr) {
  int status;
  void *b = clCreateBuffer(context, from ? 1 << 5 : 1, bytes, const_cast<void *>(from), &status); // CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE
  check(status, "clCreateBuffer");
  return b;
}

static std::vector<std::pair<std::string, void *>> kernels;

static void set(void *kernel, uint32_t i, void *b) { check(clSetKernelArg(kernel, i, sizeof b, b ? &b : nullptr), "buffer"); }
static void set(void *kernel, uint32_t i, int v) { check(clSetKernelArg(kernel, i, sizeof v, &v), "int"); }
static void set(void *kernel, uint32_t i, float v) { check(clSetKernelArg(kernel, i, sizeof v, &v), "float"); }

// run enqueues a kernel with its arguments.
template <class... T> static void run(const char *name, std::vector<size_t> size, std::vector<size_t> group, T... args) {
  void *kernel = nullptr;
  for (auto &k : kernels)
    if (k.first == name) kernel = k.second;
  if (!kernel) {
    int status;
    kernel = clCreateKernel(program, name, &status);
    check(status, name);
    kernels.push_back({name, kernel});
  }
  uint32_t i = 0;
  (set(kernel, i++, args), ...);
  check(clEnqueueNDRangeKernel(queue, kernel, size.size(), nullptr, size.data(), group.empty() ? nullptr : group.data(), 0, nullptr, nullptr), name);
}

template <class T> static double element(void *b, size_t i) {
  T v;
  check(clEnqueueReadBuffer(queue, b, 1, i * sizeof v, sizeof v, &v, 0, nullptr, nullptr), "clEnqueueReadBuffer");
  return v;
}

static void *x, *y, *z, *u, *v, *w, *a, *b, *c, *panels, *part, *part2, *places, *counts;

// reduce runs a kernel on blocks of x, and on their results.
static double reduce(const char *kernel) {
  const int span = N / 1024;
  run(kernel, {1024}, {1}, x, part, N, span);
  run(kernel, {1}, {1}, part, part2, 1024, 1024);
  return element<float>(part2, 0);
}

static void *sorted(void *from, int floats) {
  const int chunk = N / CHUNKS;
  void *to[] = {v, w, v};
  for (int pass = 0; pass < 3; pass++) {
    int before = floats && pass == 0, after = floats && pass == 2;
    run("countDigits", {CHUNKS}, {1}, from, counts, 11 * pass, chunk, N, before);
    run("scanCounts", {1}, {1}, counts, CHUNKS * DIGITS);
    run("placeKeys", {CHUNKS}, {1}, from, counts, to[pass], 11 * pass, chunk, N, before, after);
    from = to[pass];
  }
  return from;
}

static double operation(const std::string &name) {
  if (name == "map") return run("map", {N}, {}, x, z), element<float>(z, 1);
  if (name == "zip") return run("zip", {N}, {}, x, y, z), element<float>(z, 1);
  if (name == "sum") return reduce("sum");
  if (name == "min") return reduce("least");
  if (name == "argmax") {
    run("greatest", {1024}, {1}, x, part, N, N / 1024);
    run("findGreatest", {1}, {1}, x, part, places, 1024, N / 1024);
    return element<int>(places, 0);
  }
  if (name == "cumsum") {
    run("sum", {N / BLOCK}, {1}, x, part, N, BLOCK);
    run("scanSums", {1}, {1}, part, N / BLOCK);
    run("scanBlocks", {N / BLOCK}, {1}, x, part, z);
    return element<float>(z, N - 1);
  }
  if (name == "histogram") {
    int zero = 0;
    check(clEnqueueFillBuffer(queue, counts, &zero, sizeof zero, 0, 100 * sizeof zero, 0, nullptr, nullptr), "clEnqueueFillBuffer");
    run("histogram", {CHUNKS}, {1}, x, counts, N, N / CHUNKS, -1.0f, 1.0f, 100);
    return element<int>(counts, 50);
  }
  if (name == "filter") {
    run("countKept", {N / BLOCK}, {1}, x, counts);
    run("scanCounts", {1}, {1}, counts, N / BLOCK);
    run("placeKept", {N / BLOCK}, {1}, x, counts, z);
    return element<float>(z, 0);
  }
  if (name == "transpose") return run("transpose", {SIDE, SIDE}, {16, 16}, x, z, SIDE, SIDE), element<float>(z, 1);
  if (name == "sort u32") return element<uint32_t>(sorted(u, 0), N / 2);
  if (name == "sort f32") return element<float>(sorted(x, 1), N / 2);
  if (name == "matmul") {
    run("packPanels", {64, M, M / 64}, {64, 1, 1}, b, panels, M, M);
    run("multiplyPanels", {64, M / 8, M / 64}, {64, 1, 1}, a, panels, c, M, M);
    return element<float>(c, 1);
  }
  fprintf(stderr, "no operation %s\n", name.c_str());
  exit(1);
}

static std::string contents(const char *file) {
  FILE *f = fopen(file, "rb");
  if (!f) check(1, file);
  std::string text;
  char block[1 << 16];
  for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) text.append(block, n);
  fclose(f);
  return text;
}

int main(int, char **argv) {
  void *ids[16], *device = nullptr;
  uint32_t n = 0;
  check(clGetPlatformIDs(16, ids, &n), "clGetPlatformIDs");
  for (uint32_t i = 0; i < n && i < 16; i++) {
    char name[256] = "";
    clGetPlatformInfo(ids[i], 0x0902, sizeof name, name, nullptr); // CL_PLATFORM_NAME
    if (strstr(name, "Portable Computing Language")) check(clGetDeviceIDs(ids[i], 0xffffffff, 1, &device, nullptr), "clGetDeviceIDs");
  }
  check(!device, "PoCL");
  int status;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status), check(status, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &status), check(status, "clCreateCommandQueue");
  std::string text = contents(argv[2]), data = contents(argv[1]);
  const char *from = text.data();
  size_t size = text.size();
  program = clCreateProgramWithSource(context, 1, &from, &size, &status), check(status, "clCreateProgramWithSource");
  if (clBuildProgram(program, 1, &device, "-cl-fast-relaxed-math", nullptr, nullptr)) {
    std::string log(1 << 16, 0);
    clGetProgramBuildInfo(program, device, 0x1183, log.size(), &log[0], nullptr); // CL_PROGRAM_BUILD_LOG
    check(1, log.c_str());
  }
  const float *f = reinterpret_cast<const float *>(data.data());
  std::vector<float> reverse(N);
  for (int i = 0; i < N; i++) reverse[i] = f[N - 1 - i];
  x = buffer(4 * N, f), u = buffer(4 * N, f + N), y = buffer(4 * N, reverse.data()), a = buffer(4 * M * M, f), b = buffer(4 * M * M, f + M * M);
  z = buffer(4 * N), v = buffer(4 * N), w = buffer(4 * N), c = buffer(4 * M * M), panels = buffer(4 * M * M);
  part = buffer(4 * BLOCK), part2 = buffer(4 * BLOCK), places = buffer(4), counts = buffer(4 * (CHUNKS * DIGITS + 1));
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    clock_t start = clock();
    double result = operation(line);
    clFinish(queue);
    printf("%.9f %.17g\n", double(clock() - start) / CLOCKS_PER_SEC, result);
    fflush(stdout);
  }
}
