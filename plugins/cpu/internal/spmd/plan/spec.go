package plan

// Spec selects the variant of a kernel for one kind of launches. It is the key of variants.
type Spec struct {
	Shape         Shape
	Stores        Stores
	Gang          int  // vector registers of a 32-bit value of a gang
	Whole         bool // every work-group and gang is complete
	Adjacent      bool // a work-group has several gangs along x, as interleaved loops need
	WithinExtents bool // the size is within the extents of accesses at the item's position
	IndicesProved bool // other indices are proved to be in bounds
}

// Shape is the shape of gangs.
type Shape uint8

// The shapes of gangs.
const (
	RowGangs Shape = iota // runs of items along x
	OneGang               // whole work-groups
	Gang2D                // blocks of several rows
)

// Stores is the kind of instructions with which a launch stores whole vectors to buffers.
type Stores uint8

// These are the kinds of stores.
const (
	PlainStores       Stores = iota
	HalfLineStores           // half a cache line at a time, because the launch writes more than the inner caches hold
	NonTemporalStores        // past the caches, because the launch accesses more than all of them hold
)

// IsOneGang reports whether a work-group is one gang.
func (s *Spec) IsOneGang() bool { return s.Shape == OneGang }

// Is2D reports whether gangs are 2-D.
func (s *Spec) Is2D() bool { return s.Shape == Gang2D }

// Proved reports whether the variant has proofs that depend on the launch.
func (s *Spec) Proved() bool { return s.WithinExtents || s.IndicesProved }
