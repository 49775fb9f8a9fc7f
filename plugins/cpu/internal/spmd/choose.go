package spmd

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// Spec selects the variant for a class of launches.
type Spec = plan.Spec

// spec returns the spec of the general variant.
func (p *Program) spec() Spec { return Spec{Gang: p.gang} }

// Listed returns the spec of typical launches, for listings. As far as launches can prove it, their positions and other indices
// are in bounds. Gangs are 2-D if the program has such gangs. If the kernel observes its group, work-groups are complete, and
// have several gangs along x unless these are 2-D.
func (p *Program) Listed() Spec {
	s := Spec{Gang: p.gang, Whole: p.observes, Adjacent: p.observes}
	s.WithinExtents, s.IndicesProved = p.facts.Any()
	if p.rows > 0 {
		s.Shape, s.Gang, s.Adjacent = plan.Gang2D, p.rows, false
	}
	return s
}

// OneGang returns the spec of launches with one-dimensional complete work-groups of this many items. ok reports whether one
// gang can cover such a group; otherwise the spec is not usable.
func (p *Program) OneGang(items int) (s Spec, ok bool) {
	s = p.Listed()
	s.Shape, s.Whole, s.Adjacent = plan.OneGang, true, false
	s.Gang = items / p.options.Target.Lanes
	return s, p.isOneGang(items)
}

// OneGangGroups returns the sizes along x of work-groups that have one-gang variants, in ascending order. It compiles these
// variants.
func (p *Program) OneGangGroups() []int {
	var list []int
	for regs := 1; regs <= p.oneGang; regs *= 2 {
		if _, err := p.variant(Spec{Shape: plan.OneGang, Gang: regs, Whole: true}); err == nil {
			list = append(list, p.options.Target.Lanes*regs)
		}
	}
	return list
}

// isOneGang reports whether one gang can cover a work-group of this many items: they fill a power of two of registers that
// the kernel allows.
func (p *Program) isOneGang(items int) bool {
	regs := items / p.options.Target.Lanes
	return regs > 0 && regs <= p.oneGang && regs&(regs-1) == 0 && regs*p.options.Target.Lanes == items
}

// hasOneGangGroups reports whether a launch has complete work-groups along x, each of which one gang can cover.
func (p *Program) hasOneGangGroups(g *interp.Launch) bool {
	n := g.GroupSize[0]
	return g.GroupSize[1] <= 1 && g.GroupSize[2] <= 1 && p.isOneGang(n) && g.Size[0]%n == 0
}

// has2DGangs reports whether a launch should have 2-D gangs. In a kernel that observes its groups, all groups must be complete and
// 2-D gangs must leave no lane idle. In other kernels they may need at most an eighth more registers than 1-D gangs, unless the
// options demand them.
func (p *Program) has2DGangs(g *interp.Launch) bool {
	if p.rows == 0 || g.Size[0] <= 0 || g.Size[1] <= 0 || g.Size[2] <= 0 {
		return false
	}
	lanes := p.options.Target.Lanes
	if p.observes {
		return g.GroupSize[0]%lanes == 0 && g.GroupSize[1]%p.rows == 0 && wholeGroups(g)
	}
	return p.options.BlockRows > 0 || 8*p.rows*plan.NumGangs(g.Size, lanes, p.rows) <= 9*p.gang*plan.NumGangs(g.Size, lanes*p.gang, 1)
}

// rowGangs returns s with the fields that depend on the work-groups of a launch, for gangs that are runs of a row.
func (p *Program) rowGangs(g *interp.Launch, s Spec) Spec {
	s.Gang = p.fitting(g.GroupSize[0])
	if !p.observes {
		return s
	}
	lanes := p.options.Target.Lanes * s.Gang
	s.Whole = g.GroupSize[0]%lanes == 0 && wholeGroups(g)
	s.Adjacent = s.Whole && p.interleaves && (g.GroupSize[0] > lanes || p.batches && g.Size[0] > g.GroupSize[0])
	return s
}

// wholeGroups reports whether all work-groups of a launch are complete.
func wholeGroups(g *interp.Launch) bool {
	for axis, n := range g.GroupSize {
		if g.Size[axis]%n != 0 {
			return false
		}
	}
	return true
}

// fitting returns the number of registers of gangs for work-groups with this many items along x. It is that of the general
// variant. If the program has narrower gangs, it is halved while a row has over an eighth more registers than it would have with
// single-register gangs.
func (p *Program) fitting(items int) int {
	registers := func(w int) int {
		lanes := p.options.Target.Lanes * w
		return (items + lanes - 1) / lanes * w
	}
	w := p.gang
	for w > 1 && p.narrows && 8*registers(w) > 9*registers(1) {
		w /= 2
	}
	return w
}
