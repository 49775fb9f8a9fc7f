package mpi

import "golang.org/x/sys/unix"

// usable returns the cores on which this process may run. It is empty if the system does not tell.
func usable() (c cores) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return cores{}
	}
	for i := range 64 * len(c) {
		if set.IsSet(i) {
			c[i/64] |= 1 << (i % 64)
		}
	}
	return c
}
