package abi

// Layout has the kernel-dependent offsets in the context and in frames.
type Layout struct {
	// Offsets in the context.
	Args    int         // the scalar arguments
	Buffers int         // the first description of a buffer
	Arrays  map[int]int // the addresses of shared arrays and tables, by ID
	Columns int         // the vectors of transposed loads
	Size    int         // the end; the spill slots of shared registers follow

	// Offsets in the memory of shared arrays.
	Places map[int]int // the shared arrays, by ID
	Shared int         // bytes of all

	// Offsets in a frame.
	Private map[int]int // the private arrays, by ID: offsets after the head for one lane, which Lanes multiplies
	Dirty   int         // bytes of private arrays of one lane that a gang clears when it starts
	Scratch int         // vectors whose elements are accessed one by one
	Group   int         // the operands and results of group operations
	Tiles   int         // the transpose tiles
	Lanes   int         // lanes of a gang
	Frame   int         // the end; the spill slots follow
}

// GroupBytes returns the size in a frame of operands of group operations: two operands of 64-bit elements, and the masks.
func GroupBytes(lanes int) int { return 2*8*lanes + 64 }

// GroupValue returns the offset of operand n of a group operation in a frame.
func GroupValue(y *Layout, n int) int { return y.Group + 8*y.Lanes*n }

// GroupMasks returns the offset of the masks of a group operation in a frame.
func GroupMasks(y *Layout) int { return GroupValue(y, 2) }
