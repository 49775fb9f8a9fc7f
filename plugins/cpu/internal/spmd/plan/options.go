package plan

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// MaxBoth is the number of instructions up to which gangs with all lanes get code of their own.
const MaxBoth = 600

// Options are those of [Compile].
type Options struct {
	Features amd64.Features // of the machine
	// Gang is how many registers of 32-bit elements a gang has: 1, 2 or 4; 0 lets the compiler choose.
	Gang int
	// Unchecked compiles without faults: a load out of bounds gives 0, a store or atomic there does nothing, an integer
	// division by zero gives 0, and a Uniform gives the value of the group's first item to all of them.
	Unchecked bool
	// Observes says that the kernel observed its group before it was optimized.
	Observes bool
	// Whole says that every work-group has all its items, and no gang fewer.
	Whole bool
	// Beside says that several gangs of a work-group lie side by side.
	Beside bool

	// CacheBytes is the size of the last cache; 0 if it is not known.
	CacheBytes int
	// Cores is how many cores share a launch; 0 if it is not known.
	Cores int
	// Model is the cost table of the processor; nil stands for the generic one.
	Model *uarch.Model

	// Dump is a folder into which the function is written before the passes and after each one; "" writes nothing.
	Dump string

	// Workspace is memory that this compilation shares with others; nil gives it its own.
	Workspace *vcode.Workspace

	Target        *vcode.Target
	Stores        int  // kindHalves, kindPast or 0
	InterleaveAll bool // run all loops in rounds that can be, for tests
	FewRegs       bool // give few machine registers out, for tests
	WideGangs     bool // have wide gangs for groups that are one gang whatever the kernel, for tests
	Single        bool // groups are one gang
	Stacked       bool // gangs are stacked
	StackRows     int  // have stacked gangs of so many rows wherever they can be, for tests
}

// The kinds of launches that have code of their own.
const (
	WithinExtents     = 1 << iota // the size is within the extents that accesses at the item's own place need
	IndicesProved                 // and so are other indices
	WholeGroups                   // every group is complete
	AdjacentGangs                 // and has gangs side by side, which is asked of kernels with loops for rounds
	HalfLineStores                // more is written than caches near to the core hold
	NonTemporalStores             // more is written and read than the caches hold
	NumKinds          = 2 * NonTemporalStores
)
