// Launches and copies of libomptarget on its host device.
#include <omp.h>

int target_ready(void) {
	int initial = 1;
#pragma omp target map(from : initial)
	initial = omp_is_initial_device();
	return !initial;
}

void target_launches(long n) {
	for (long i = 0; i < n; i++) {
#pragma omp target
		{}
	}
}

void *target_alloc(long size) { return omp_target_alloc(size, omp_get_default_device()); }
void target_free(void *p) { omp_target_free(p, omp_get_default_device()); }

void target_submit(void *to, void *from, long size) {
	omp_target_memcpy(to, from, size, 0, 0, omp_get_default_device(), omp_get_initial_device());
}

void target_retrieve(void *to, void *from, long size) {
	omp_target_memcpy(to, from, size, 0, 0, omp_get_initial_device(), omp_get_default_device());
}

void target_exchange(void *to, void *from, long size) {
	omp_target_memcpy(to, from, size, 0, 0, omp_get_default_device(), omp_get_default_device());
}

void target_map(char *p, long size) {
#pragma omp target enter data map(to : p[0 : size])
#pragma omp target exit data map(delete : p[0 : size])
}
