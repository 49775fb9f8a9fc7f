package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Counter is the parameter that the condition of an interleaved loop compares. One test of the last counter in a round
// replaces the tests of each iteration and of each index that is the counter. If that test fails, the round runs with
// all tests.
type Counter struct {
	Param int // its index in the loop's parameters
	Test  *ir.Instr
	Step  *ir.Value
	First vcode.Reg // the counter of the first item in the current round, zero-extended
}

// Interleaved is an interleaved loop. In each round, each gang of a work-group executes some iterations in turn. Adjacent
// gangs thus access adjacent cache lines at about the same time. All lanes of all gangs must be active. When a lane is to
// leave the loop, the gangs continue one by one, each from its own iteration.
//
// All gangs wait before the loop, as at a barrier; the first that continues executes the rounds for all of them. Live
// values are in the gangs' frames between rounds.
type Interleaved struct {
	Loop    *ir.Instr
	Exit    *ir.Instr   // the If by which lanes leave the loop
	Leave   amd64.Label // the label at which gangs continue one by one, with their values in variables
	Params  Entry       // the variables that hold the loop's parameters between rounds
	Now     Entry       // the parameters in the current iteration
	Turns   int         // iterations per round
	Rows    int         // loads whose rows are apart from one iteration to the next
	Further int         // the loads of these that follow the current one
	Ended   amd64.Label // of a batch: where a gang ends after its turn
	Tested  *Counter    // of the current round, if one test covers all of its iterations
}
