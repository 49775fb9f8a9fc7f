package plan

// Spec selects the variant of a kernel for a class of launches. It is the key of variants.
type Spec struct {
	Shape         Shape
	Stores        Stores
	Gang          int  // vector registers of a 32-bit value of a gang
	Whole         bool // every work-group and gang is complete
	Adjacent      bool // work-groups, or batches of them, have several gangs along x, as interleaved loops require
	WithinExtents bool // the launch's size is at most the extents of arrays that positions index
	IndicesProved bool // other indices are proved to be in bounds
}

// Shape is the shape of gangs.
type Shape uint8

// Shapes of gangs.
const (
	RowGangs Shape = iota // runs of items along x
	OneGang               // whole work-groups
	Gang2D                // blocks of several rows
)

// Stores is the kind of instructions for storing whole vectors to buffers.
type Stores uint8

// Kinds of stores.
const (
	PlainStores       Stores = iota
	HalfLineStores           // half a cache line at a time if Model.HalfLines is set, for launches whose outputs exceed the inner caches
	NonTemporalStores        // past the caches, for launches whose memory is too large for them
)

// IsOneGang reports whether a work-group is one gang.
func (s *Spec) IsOneGang() bool { return s.Shape == OneGang }

// Is2D reports whether gangs are 2-D.
func (s *Spec) Is2D() bool { return s.Shape == Gang2D }

// Proved reports whether the variant has proofs that depend on the launch.
func (s *Spec) Proved() bool { return s.WithinExtents || s.IndicesProved }
