package offload

// DefaultGroupSize returns the work-group size of a launch that states none, for a kernel that observes its group. It is
// 8×8×4 if the launch has more than one item along z, else 16×16 if it has more than one along y, else 256. It is the same on every
// device.
func DefaultGroupSize(size [3]int) [3]int {
	switch {
	case size[2] > 1:
		return [3]int{8, 8, 4}
	case size[1] > 1:
		return [3]int{16, 16, 1}
	}
	return [3]int{256, 1, 1}
}
