package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
)

// Build emits the function of a kernel. It returns the builder, and the label of the end, done. The caller binds done and l.Stop.
func Build(l *isel.Lowerer) (b *Builder, done amd64.Label) {
	b = &Builder{Lowerer: l}
	l.Grid = b
	l.Layout = l.LayOut()
	l.Stop, done = l.NewLabel(), l.NewLabel()
	l.WithShared(b.prologue)
	switch {
	case l.Spec.IsOneGang():
		b.overSingles(done)
	case l.Observes:
		b.overGroups(done)
	default:
		b.overRows(done)
	}
	return b, done
}

// Builder emits the loops over the rows, work-groups and gangs of a launch.
type Builder struct {
	*isel.Lowerer
	Start, Advance         amd64.Label // the start of a gang of a group, and the step to the next gang
	Begin, dispatch, ended amd64.Label // of a group: its start, the dispatch of its gangs, and its end
	Resumes                []amd64.Label
	Batch                  *values.Interleaved // the interleaved loop of batches; nil if there is none
	Groups                 []*ir.Instr         // the group operations
	grouped                bool
	grouping               *ir.Uniformity // uniformity in whole groups; nil until first needed
}
