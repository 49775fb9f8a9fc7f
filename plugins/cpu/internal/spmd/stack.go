package spmd

import (
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// prepareStacked makes what compiles the kernel for stacked gangs, if they pay and the compiler is free to choose.
func (p *Program) prepareStacked(free bool) {
	if p.observes {
		return
	}
	o := p.options
	if o.Gang = o.StackRows; o.Gang == 0 && free && p.options.Gang > 1 {
		o.Gang = plan.ChooseRows(p.kernel, o.Target, p.options.Gang)
	}
	if o.Gang == 0 {
		return
	}
	p.rows, o.Stacked = o.Gang, true
	p.stacked = sync.OnceValue(func() *Program { return newProgram(p.kernel, o) })
}

// stacks reports whether a launch is of stacked gangs: its rows and columns leave hardly more lanes empty so.
func (p *Program) stacks(g *interp.Launch) bool {
	if p.stacked == nil || g.Size[0] <= 0 || g.Size[1] <= 0 || g.Size[2] <= 0 {
		return false
	}
	lanes, gang := p.options.Target.Lanes, p.options.Gang
	return p.options.StackRows > 0 || 8*p.rows*plan.NumGangs(g.Size, lanes, p.rows) <= 9*gang*plan.NumGangs(g.Size, lanes*gang, 1)
}
