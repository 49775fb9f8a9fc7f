package spmd

import (
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// singles are the programs for groups of one gang, by the logarithm of its registers.
type singles [6]func() *Program

// prepareSingles makes what compiles a kernel for groups of one gang, when there are some.
func (p *Program) prepareSingles() {
	if !p.observes {
		return
	}
	most := plan.OneGangRegs(p.kernel, &p.options)
	for i := range p.singles {
		if 1<<i > most {
			break
		}
		o := p.options
		o.Gang, o.Whole, o.Single = 1<<i, true, true
		p.singles[i] = sync.OnceValue(func() *Program { return newProgram(p.kernel, o) })
	}
}

// SingleGroups are the numbers of work-items along x with which groups are run by programs of their own, see
// [Program.Single].
func (p *Program) SingleGroups() []int {
	var list []int
	for i, program := range p.singles {
		if program != nil && program().Check() == nil {
			list = append(list, p.options.Target.Lanes<<i)
		}
	}
	return list
}

// Single gives the program that runs complete groups of so many work-items along x, and one along the other axes, if they
// are one gang each; nil if they are not.
func (p *Program) Single(items int) *Program {
	return p.single(&interp.Launch{Size: [3]int{items, 1, 1}, GroupSize: [3]int{items, 1, 1}})
}

// single gives the program for a launch whose groups are one gang each; nil if there is none.
func (p *Program) single(g *interp.Launch) *Program {
	n := g.GroupSize[0]
	if g.GroupSize[1] > 1 || g.GroupSize[2] > 1 || n == 0 || g.Size[0]%n != 0 {
		return nil
	}
	for i, program := range p.singles {
		if program != nil && p.options.Target.Lanes<<i == n {
			if s := program(); !s.refused.Load() {
				return s
			}
		}
	}
	return nil
}
