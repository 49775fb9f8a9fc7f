package exec

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/regalloc"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// MaxBatch is the maximum number of work-groups of a batch.
const MaxBatch = 16

// batch returns the number of work-groups per batch for this group size, or 1 if work-groups do not run in batches. The frames
// of a batch of several work-groups should stay in the inner caches: they have at most maxSpare bytes.
func (c *Code) batch(size [3]int) int {
	if c.BatchRow == 0 || size[1] > 1 || size[2] > 1 {
		return 1
	}
	gangs := c.GangsOf(size)
	return max(1, min(c.BatchRow/4/size[0], MaxBatch, maxSpare/(gangs*c.Frame)))
}

// GangsOf returns the number of gangs in a work-group of this size.
func (c *Code) GangsOf(size [3]int) int {
	return ((size[0]-1)/c.Width + 1) * ((size[1]-1)/c.Height + 1) * size[2]
}

// ColumnOf returns the position of a gang from its number, unit, in column-major order within bands. band, perRow and rows are the
// rows of a band, the gangs of a row and the rows of a plane. column counts gangs, and first is the first row of the gang's band.
func ColumnOf(unit, band, perRow, rows int) (column, row, plane, first int) {
	plane, unit = unit/(perRow*rows), unit%(perRow*rows)
	first = unit / (perRow * band) * band
	unit -= first * perRow
	high := min(band, rows-first)
	return unit / high, first + unit%high, plane, first
}

// Code is a kernel in machine code, with the tables that workers need.
type Code struct {
	Params    []ir.Param
	Observes  bool   // the kernel observes its group
	Unchecked bool   // faults are off
	Bytes     []byte // the machine code; nil after [NewVariant]
	Listing   string
	Layout    abi.Layout
	Arrays    []*ir.Array
	Regs      []vcode.RegInfo
	Where     *regalloc.Allocation // allocation of Regs
	Traps     []vcode.Trap
	Groups    []*ir.Instr          // group operations
	Constants map[vcode.Reg]uint64 // elements of constant registers
	Resume    int                  // offset of the code that continues after a trap; 0 if there are no traps
	Ends      []int                // by trap: the offset at which its gang ends, −1 if nowhere
	Frame     int                  // bytes of a gang's frame
	Context   int                  // bytes of the context
	Shared    int                  // offset in the context of the spill slots of shared registers
	Lanes     int                  // lanes of a gang
	Width     int                  // items in a row of a gang
	Height    int                  // rows of a gang
	Target    *vcode.Target
	Small     bool // indices have 32 bits: buffers must be smaller than 2 GiB
	BatchRow  int  // maximum bytes of a row that a batch loads per round, for elements of 4 bytes; 0 without batches
	Band      int  // rows of a band in column-major order; 0 for row-major order
	Barrier   bool // the kernel has barriers or group operations: gangs of a group run in turn
}
