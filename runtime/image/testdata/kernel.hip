// A HIP kernel that needs no headers of HIP.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
typedef unsigned long size_t;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
extern "C" int __hipPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" int __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, void **);
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
__device__ int table[4];
extern "C" __global__ void add(float *x, float a) { x[__builtin_amdgcn_workitem_id_x()] += a + table[0]; }
int run(float *x) {
  add<<<1, 64>>>(x, 2);
  return 0;
}
