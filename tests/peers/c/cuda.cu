// The kernels of kernels.cl as CUDA C++, with functions that launch and time them by CUDA's runtime library.

#include <cstring>

#define FUNCTION static __device__
#define SHARED
#define kernel extern "C" __global__
#define __global
#define local __shared__
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) __syncthreads()
#define native_rsqrt rsqrtf
#define native_log __logf
#define native_exp __expf
#define rotate(x, n) __funnelshift_l(x, x, n)
#define atomic_inc(at) atomicAdd(at, 1)
#define atomic_add atomicAdd
#define atomic_cmpxchg(at, old, value) atomicCAS((uint *)(at), old, value)

typedef unsigned char uchar;
typedef unsigned int uint;

#define AXIS(name, x, y) \
	static __device__ __forceinline__ int name(int axis) { return axis == 0 ? x : y; }
AXIS(get_local_id, threadIdx.x, threadIdx.y)
AXIS(get_group_id, blockIdx.x, blockIdx.y)
AXIS(get_global_id, blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y)
AXIS(get_global_size, gridDim.x * blockDim.x, gridDim.y * blockDim.y)

#include "kernels.cl"

#define NAMED(name) {#name, (const void *)name}
static const struct { const char *name; const void *function; } kernels[] = {
	NAMED(run_black_scholes), NAMED(run_black_scholes_fast), NAMED(run_blend), NAMED(run_blur), NAMED(run_copy), NAMED(run_dot), NAMED(run_empty),
	NAMED(run_fill), NAMED(run_histogram), NAMED(run_lookup), NAMED(run_mandelbrot), NAMED(run_mix), NAMED(run_nbody), NAMED(run_nbody_fast),
	NAMED(run_saxpy), NAMED(run_scans_256), NAMED(run_sgemm), NAMED(run_sgemm_packed), NAMED(run_sgemm_shared), NAMED(run_sgemm_tile),
	NAMED(run_stencil), NAMED(run_sum), NAMED(run_sums), NAMED(run_sums_256), NAMED(run_transpose), NAMED(run_transpose_blocks),
	NAMED(run_triad), NAMED(run_triad64),
};

extern "C" {

// Returns a kernel, or null.
const void *peer_kernel(const char *name) {
	for (auto &k : kernels)
		if (!strcmp(k.name, name)) return k.function;
	return nullptr;
}

// Launches a kernel a number of times without a wait. arguments are the addresses of its pointers.
int peer_launch(const void *function, void **arguments, const int *grid, const int *block, int times) {
	dim3 g(grid[0], grid[1], grid[2]), b(block[0], block[1], block[2]);
	for (int i = 0; i < times; i++)
		if (cudaError_t e = cudaLaunchKernel(function, g, b, arguments, 0, 0)) return e;
	return 0;
}

int peer_wait() { return cudaDeviceSynchronize(); }

// Launches a kernel a number of times, each with a wait.
int peer_launch_wait(const void *function, void **arguments, const int *grid, const int *block, int times) {
	for (int i = 0; i < times; i++) {
		if (int e = peer_launch(function, arguments, grid, block, 1)) return e;
		if (int e = peer_wait()) return e;
	}
	return 0;
}

void *peer_allocate(size_t size) {
	void *p = nullptr;
	return cudaMalloc(&p, size) ? nullptr : p;
}

int peer_free(void *p) { return cudaFree(p); }
int peer_submit(void *to, const void *from, size_t size) { return cudaMemcpy(to, from, size, cudaMemcpyHostToDevice); }
int peer_retrieve(void *to, const void *from, size_t size) { return cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost); }
int peer_exchange(void *to, const void *from, size_t size) {
	cudaError_t e = cudaMemcpy(to, from, size, cudaMemcpyDeviceToDevice);
	return e ? e : cudaDeviceSynchronize();
}

}
