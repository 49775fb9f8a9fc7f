package values

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Counter is the parameter in the exit condition of an interleaved loop. One test of its last value in a round replaces the
// tests of all iterations, and the checks of indices that equal the counter. If the test fails, the round runs with all
// tests.
type Counter struct {
	Param int // its index in the loop's parameters
	Test  *ir.Instr
	Step  *ir.Value
	First vcode.Reg // the counter of lane 0 at the start of the current round, zero-extended
}

// Interleaved is an interleaved loop. In each round, each gang of a work-group executes some iterations in turn, so adjacent
// gangs access adjacent cache lines at about the same time. All lanes of all gangs must be active. Before a lane leaves the
// loop, the gangs continue one by one, each from its current iteration.
//
// All gangs stop before the loop, as at a barrier. The first gang to continue executes the rounds for all gangs. Between
// rounds, live values are in the gangs' frames.
type Interleaved struct {
	Loop    *ir.Instr
	Exit    *ir.Instr   // the If by which lanes leave the loop
	Leave   amd64.Label // the label at which gangs continue one by one, with their values in variables
	Params  Entry       // the variables that hold the loop's parameters between rounds
	Now     Entry       // the parameters in the current iteration
	Turns   int         // iterations per round
	Rows    int         // number of loads that access distant rows in successive iterations
	Further int         // number of iterations of the round after the current one
	Ended   amd64.Label // batch: the label at which a gang ends during its iterations
	Sweeps  bool        // the gangs share a counter while its test succeeds
	Tested  *Counter    // counter of the current round, if one test covers its iterations
}

// Entry has the values of a loop's parameters at one point, by index. A parameter may have a lane-0 value in a register, in place of
// its value or besides it; other parameters have register 0 in Lane0s.
type Entry struct {
	Values []Value
	Lane0s []vcode.Reg
}
