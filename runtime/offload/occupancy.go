package offload

// Occupied is a [Program] that can tell how groups of its kernels share the device. Default: unknown.
type Occupied interface {
	// Occupancy describes launches of k with groups of items work-items and shared bytes of shared memory beyond the kernel's own.
	// An items of 0 means the suggested size. It may compile the kernel.
	Occupancy(k Kernel, items, shared int) (Occupancy, error)
}

// Occupancy describes how the groups of a kernel share a device. A count of 0 is unknown, if the field does not say otherwise.
type Occupancy struct {
	Items       int // work-items of a group that PerUnit and Groups are for
	Suggested   int // work-items of a group that occupy the device best
	Most        int // maximum number of work-items of a group
	Multiple    int // group sizes that are multiples of this number use all lanes
	PerUnit     int // groups that one compute unit runs at the same time; see Fits
	Groups      int // groups that the device runs at the same time; see Fits
	Cooperative int // maximum number of groups of a cooperative launch; 0: the kernel has no cooperative launches

	Fits bool // PerUnit and Groups are known; they are 0 if a group is too large for the device
}
