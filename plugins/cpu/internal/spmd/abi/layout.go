package abi

// Layout is where things lie in the context and the frames.
type Layout struct {
	Args    int         // of scalars
	Buffers int         // of the first buffer
	Private map[int]int // offsets of private arrays in the frame, by ID, before lanes are counted
	Arrays  map[int]int // places in the context of the addresses of shared arrays and tables
	Dirty   int         // bytes of private arrays if gangs must begin with zeros there
	Shared  int         // bytes of shared arrays
	Places  map[int]int // offsets of shared arrays
	Columns int         // see columnMem
	Size    int         // of the context up to the registers in memory
	Scratch int         // in the frame: vectors that lanes are taken from, one after the other
	Group   int         // in the frame: what a gang gives to group operations
	Tiles   int         // in the frame: see storeTile
	Lanes   int         // of a gang
	Frame   int         // where registers in memory begin in the frame
}
