package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// A loop over a counter runs several iterations of a gang in a round. One test of the last counter of the last iteration
// then replaces the tests of each: those of the loop's condition, and those of indices that are the counter. Fewer
// instructions for each line that is loaded let a core have more lines under way. Where the test fails, the same round
// runs with all tests.

// Counter is the parameter that the condition of a loop in rounds compares.
type Counter struct {
	Param int // its number among the parameters
	Test  *ir.Instr
	Step  *ir.Value
	First vcode.Reg // the counter of the first item in the present round, extended by zeros
}

// Gangs of a work-group go through the code one after the other. A loop in which a gang's accesses lie far apart from one
// iteration to the next, and side by side with those of its neighbours in the group, would then fetch each line of the
// caches long before or after those beside it. Such a loop is run in rounds: in each, all gangs of the group do one
// iteration. It needs all lanes of all gangs. As soon as some lane is to leave the loop, and where the group is not
// complete, gangs go on by themselves, each from where it has come to.
//
// All gangs wait for each other before the loop, as at a barrier; the first that goes on then does the rounds for all of
// them. What lives on from round to round is in the gangs' frames. Of a short loop a gang does some iterations in each
// round, between which values stay in registers: what it loads for them comes from as many places of memory at once.

// Interleaved is how a loop is run in rounds.
type Interleaved struct {
	Loop    *ir.Instr
	Exit    *ir.Instr   // the If by which lanes leave
	Leave   amd64.Label // where gangs go on by themselves, with all that they know in variables
	Params  Entry       // the variables that the loop's parameters have from round to round
	Now     Entry       // the parameters in the present iteration
	Turns   int         // iterations in a round
	Rows    int         // loads of rows that lie apart from one iteration to the next
	Further int         // of these after the present one
	Ended   amd64.Label // of a batch: where the gang that had its turn has ended
	Tested  *Counter    // of the round that is emitted, if one test before it covers all of its iterations
}
