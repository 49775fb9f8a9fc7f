package plan

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// MaxBoth is the largest number of instructions of a kernel that is emitted twice: with and without masks for full
// gangs.
const MaxBoth = 600

// Options says for which launches and which machine a kernel is compiled.
type Options struct {
	Features amd64.Features // extensions of the processor
	// Gang is the number of vector registers of a 32-bit value of a gang: 1, 2 or 4; 0 lets the compiler choose.
	Gang int
	// Unchecked compiles without faults. A load out of bounds returns 0, and a store or atomic there does nothing. An
	// integer division by zero returns 0. A Uniform returns the value of the group's first item.
	Unchecked bool
	// Observes says that the kernel observed its group before optimisation.
	Observes bool
	// Whole says that every work-group and gang is complete.
	Whole bool
	// Beside says that a work-group has several gangs along x, as interleaved loops need.
	Beside bool

	// CacheBytes is the size of the last-level cache; 0 if it is unknown.
	CacheBytes int
	// Cores is the number of cores that share a launch; 0 if it is unknown.
	Cores int
	// Model is the cost table of the processor; nil is the generic one.
	Model *uarch.Model

	// Dump is a folder into which the function is written before the passes and after each one; "" writes nothing.
	Dump string

	// Workspace is memory that compilations share; nil allocates.
	Workspace *vcode.Workspace

	Target        *vcode.Target
	Stores        int  // HalfLineStores, NonTemporalStores or 0
	InterleaveAll bool // for tests: interleave all loops that can be
	FewRegs       bool // for tests: allocate few machine registers
	WideGangs     bool // for tests: wide gangs for all one-gang groups
	Single        bool // a work-group is one gang
	Stacked       bool // gangs are 2-D
	StackRows     int  // for tests: the block height of all 2-D gangs
}

// The kinds of launches that have a variant of their own, as bits.
const (
	WithinExtents     = 1 << iota // the size is within the extents of accesses at the item's position
	IndicesProved                 // other indices are proved to be in bounds
	WholeGroups                   // every work-group is complete
	AdjacentGangs                 // a work-group has several gangs along x
	HalfLineStores                // the launch writes more than the inner caches hold
	NonTemporalStores             // the launch accesses more than all caches hold
	NumKinds          = 2 * NonTemporalStores
)
