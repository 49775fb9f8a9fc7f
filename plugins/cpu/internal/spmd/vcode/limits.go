package vcode

// MaxPeel bounds what constants go from an index into the address, in sum. No extent comes so near to 2^31 that the index
// without them could wrap where the index does not: launches with such extents are left to the interpreter.
const MaxPeel = 1 << 16
