package vcode

// Scratch allocates the temporary lists of one compilation. They are freed together by [Scratch.Reset].
type Scratch struct {
	Ints   Slab[int32]
	Regs   Slab[Reg]
	Lists  Slab[[]int32]
	Words  Slab[uint64]
	Flags  Slab[bool]
	ranges Slab[LiveRange]
	blocks []Block
}

// Reset frees all lists.
func (s *Scratch) Reset() {
	s.Ints.used, s.Regs.used, s.Lists.used, s.Words.used, s.Flags.used, s.ranges.used = 0, 0, 0, 0, 0, 0
}

// Slab allocates lists from a block of memory, and from a larger block when it is full.
type Slab[T any] struct {
	block []T
	used  int
}

// Make returns a list of n zeros.
func (s *Slab[T]) Make(n int) []T {
	if n > len(s.block)-s.used {
		s.block, s.used = make([]T, max(2*len(s.block), n, 1024)), 0
	}
	list := s.block[s.used : s.used+n : s.used+n]
	s.used += n
	clear(list)
	return list
}

// HasBit reports whether a set of numbers has k.
func HasBit(set []uint64, k int32) bool { return set[k/64]>>(k%64)&1 != 0 }

// SetBit adds k to a set.
func SetBit(set []uint64, k int32) { set[k/64] |= 1 << (k % 64) }

// ClearBit removes k from a set.
func ClearBit(set []uint64, k int32) { set[k/64] &^= 1 << (k % 64) }
