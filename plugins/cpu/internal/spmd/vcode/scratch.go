package vcode

// Scratch is room for lists that are needed for a moment within one compilation.
type Scratch struct {
	Ints   Slab[int32]
	Regs   Slab[Reg]
	Lists  Slab[[]int32]
	Words  Slab[uint64]
	Flags  Slab[bool]
	ranges Slab[LiveRange]
	blocks []Block
}

func (s *Scratch) Reset() {
	s.Ints.Used, s.Regs.Used, s.Lists.Used, s.Words.Used, s.Flags.Used, s.ranges.Used = 0, 0, 0, 0, 0, 0
}

// Slab is a block of memory that lists are cut from. When it is full the next block is larger.
type Slab[T any] struct {
	Block []T
	Used  int
}

// Make gives a list of zeros.
func (r *Slab[T]) Make(n int) []T {
	if n > len(r.Block)-r.Used {
		r.Block, r.Used = make([]T, max(2*len(r.Block), n, 1024)), 0
	}
	list := r.Block[r.Used : r.Used+n : r.Used+n]
	r.Used += n
	clear(list)
	return list
}
