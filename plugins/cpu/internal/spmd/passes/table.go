package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/avx2"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Input is a function with properties that its instructions do not show.
type Input struct {
	*vcode.Func
	Frames bool // gangs have separate frames, because the kernel observes its group
	TwoD   bool // gangs are 2-D: several vectors hold rows of items
	Single bool // a work-group is one gang

	// Labels for SplitRanges: the target of waiting gangs, the start of gangs, and the start of a work-group, where all gangs of
	// the last one have ended. Fresh is 0 in kernels with batches, where gangs of other groups may wait there.
	Advance, Start, Fresh amd64.Label
}

// pass is an entry of the table.
type pass struct {
	name  string
	run   func(in *Input) error
	when  func(in *Input) bool // nil: always
	after []string             // passes that must have run before
}

// table lists the passes in the order in which they run.
var table = []pass{
	{name: "cse", when: func(in *Input) bool { return in.TwoD },
		run: plain(func(in *Input) { CSE(in.Func) })},
	// Masks of AVX2 are vectors, which CSE must not mistake for values.
	{name: "expand", after: []string{"cse"}, when: func(in *Input) bool { return in.Target == &vcode.AVX2 },
		run: func(in *Input) error { return avx2.Expand(in.Func) }},
	// The expansion adds broadcasts that leave loops.
	{name: "licm", after: []string{"expand"},
		run: plain(func(in *Input) { LICM(in.Func, in.Frames) })},
	// The steps of counters are products that must have left the loop.
	{name: "lsr", after: []string{"licm"},
		run: plain(func(in *Input) { LSR(in.Func, in.Frames) })},
	// LSR leaves the old address arithmetic behind.
	{name: "dce", after: []string{"lsr", "expand"},
		run: plain(func(in *Input) { DCE(in.Func) })},
	// A copy of a dead value would keep a register.
	{name: "coalesce", after: []string{"dce"},
		run: plain(func(in *Input) { Coalesce(in.Func) })},
	// A load folds only if two instructions mention its register; a copy would be a third.
	{name: "fold", after: []string{"coalesce"},
		run: plain(func(in *Input) { FoldLoads(in.Func, in.Single || in.TwoD) })},
	// Copies between a branch and its target are gone.
	{name: "branches", after: []string{"coalesce"},
		run: plain(func(in *Input) { InvertBranches(in.Func) })},
	// Its copies must not be coalesced with registers live across the barrier, and loads stay folded.
	{name: "splitranges", after: []string{"coalesce", "fold", "branches"},
		run: plain(func(in *Input) { SplitRanges(in.Func, in.Advance, in.Start, in.Fresh) })},
	// It counts live values, and its copies to spill slots must not be removed.
	{name: "splitlocal", after: []string{"coalesce", "fold", "splitranges"},
		run: plain(func(in *Input) { SplitLocal(in.Func) })},
}

// plain returns a pass that calls run and cannot fail.
func plain(run func(in *Input)) func(*Input) error {
	return func(in *Input) error {
		run(in)
		return nil
	}
}

// Names returns the names of all passes, in order.
func Names() []string {
	var list []string
	for _, p := range table {
		list = append(list, p.name)
	}
	return list
}

// Run runs the passes in the order of the table, up to the first error. It calls done, if that is not nil, after each pass that
// ran. An error names an instruction that the target lacks.
func Run(in *Input, done func(pass string)) error {
	for _, p := range table {
		if p.when != nil && !p.when(in) {
			continue
		}
		if err := p.run(in); err != nil {
			return err
		}
		if done != nil {
			done(p.name)
		}
	}
	return nil
}

// misplaced returns a message for each entry of a table that comes before a pass that it must follow.
func misplaced(table []pass) (list []string) {
	var before []string
	for _, p := range table {
		for _, name := range p.after {
			if !slices.Contains(before, name) {
				list = append(list, p.name+" must follow "+name)
			}
		}
		before = append(before, p.name)
	}
	return list
}
