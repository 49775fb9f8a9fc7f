package vcode

// HasBit reports whether a set has a number, add and remove put it there and take it away.
func HasBit(set []uint64, k int32) bool { return set[k/64]>>(k%64)&1 != 0 }

func SetBit(set []uint64, k int32) { set[k/64] |= 1 << (k % 64) }

func ClearBit(set []uint64, k int32) { set[k/64] &^= 1 << (k % 64) }
