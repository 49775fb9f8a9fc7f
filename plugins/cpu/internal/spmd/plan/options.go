package plan

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// MaxBoth is the maximum number of instructions of a kernel that is emitted twice: with masks, and without masks for full
// gangs.
const MaxBoth = 600

// Options are the target machine and the settings of a compilation.
type Options struct {
	Features amd64.Features // extensions of the processor
	// Gang is the number of vector registers of a 32-bit value of a gang: 1, 2 or 4; 0 lets the compiler choose.
	Gang int
	// Unchecked compiles without faults. A load out of bounds returns 0, and a store or atomic there does nothing. An
	// integer division by zero returns 0. A Uniform returns the value of the first active item.
	Unchecked bool
	// Observes reports that the kernel observed its group before optimisation.
	Observes bool

	// CacheBytes is the size of the last-level cache; 0 if it is unknown.
	CacheBytes int
	// Cores is the number of cores that share a launch; 0 if it is unknown.
	Cores int
	// Model is the cost table of the processor; nil is the generic one.
	Model *uarch.Model

	// Dump is the folder for texts of the function before the passes and after each one; "" disables dumps.
	Dump string

	// Workspace is memory that compilations share; nil allocates.
	Workspace *vcode.Workspace

	Target        *vcode.Target
	InterleaveAll bool // for tests: interleave all possible loops
	FewRegs       bool // for tests: allocate few machine registers
	WideGangs     bool // for tests: wide gangs for all one-gang groups
	BlockRows     int  // for tests: the block height of all 2-D gangs
}
