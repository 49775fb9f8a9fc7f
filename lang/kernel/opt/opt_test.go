package opt_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// launch runs a case with a different kernel.
func launch(t *testing.T, c *oracle.Case, k *ir.Kernel, options interp.Options) *oracle.Outcome {
	t.Helper()
	with := *c
	with.Kernel = k
	out, err := with.Interp(options)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameOutcome compares the effects of two runs. Kernels that fault may report different faults.
func sameOutcome(t *testing.T, what string, c *oracle.Case, got, want *oracle.Outcome) bool {
	t.Helper()
	if (got.Fault == nil) != (want.Fault == nil) {
		t.Errorf("%s: fault %v, want %v", what, got.Fault, want.Fault)
		return false
	}
	g, w := *got, *want
	g.Fault, w.Fault = nil, nil
	if d := c.Diff(&g, &w); d != "" {
		t.Errorf("%s: %s", what, d)
		return false
	}
	return true
}

// trueFacts returns facts that hold for a case's launch. They include the extents of parameters with an even index only.
func trueFacts(t testing.TB, c *oracle.Case) *opt.Facts {
	t.Helper()
	facts := &opt.Facts{Size: c.Size, GroupSize: c.GroupSize, Extents: map[string][]int{}}
	for i, p := range c.Kernel.Params {
		if p.Array == nil {
			continue
		}
		extents := make([]int, p.Array.Rank)
		for axis := range extents {
			extents[axis] = int(c.Args[i].Dims[axis])
			for of := range c.Size {
				if c.Size[of] <= extents[axis] {
					facts.Within = append(facts.Within, opt.SizeFact{Axis: of, Buffer: p.Name, Extent: axis})
				}
			}
		}
		if i%2 == 0 { // of other buffers only relations to the launch's size are known
			facts.Extents[p.Name] = extents
		}
	}
	for _, f := range opt.IndexFacts(c.Kernel, facts) {
		if f.Holds(func(term opt.Term) int64 { return brings(t, c, term) }) {
			facts.Index = append(facts.Index, f)
		}
	}
	return facts
}

// brings returns the value of a term for a case's launch.
func brings(t testing.TB, c *oracle.Case, term opt.Term) int64 {
	t.Helper()
	switch term.Kind {
	case opt.TermSize:
		return int64(c.Size[term.Axis])
	case opt.TermGroupSize:
		return int64(c.GroupSize[term.Axis])
	case opt.TermGroups:
		return int64((c.Size[term.Axis]-1)/c.GroupSize[term.Axis] + 1)
	}
	for i, p := range c.Kernel.Params {
		if p.Name == term.Name && p.Array != nil {
			return int64(c.Args[i].Dims[term.Axis])
		} else if p.Name == term.Name {
			return int64(int32(c.Args[i].Bits))
		}
	}
	t.Fatalf("no parameter %s", term.Name)
	return 0
}

func TestPassesKeepResults(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 150
	}
	for seed := range seeds {
		checkSeed(t, seed)
		if t.Failed() {
			return
		}
	}
}

func FuzzPassesKeepResults(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(checkSeed)
}

func checkSeed(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	o := irgen.Options{Extended: seed%4 == 3, Size: 5 + rng.IntN(120), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Subgroups: seed%6 == 0, Tiles: seed%5 < 2}
	random := irgen.Case(rng, o)
	m := irgen.Module(random.Kernel)
	if err := m.Verify(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	want := launch(t, random, m.Kernels[0], interp.Options{})
	if o.NoFaults && want.Fault != nil {
		t.Fatalf("seed %d: fault without faults: %v\n%v", seed, want.Fault, m)
	}
	check := func(name string, run func(*ir.Module)) bool {
		c := m.Clone()
		run(c)
		what := fmt.Sprintf("seed %d, %s", seed, name)
		if err := c.Verify(); err != nil {
			t.Errorf("%s: %v\n%v", what, err, c)
			return false
		}
		k := c.Kernels[0]
		if k.ObservesGroup() != m.Kernels[0].ObservesGroup() {
			return true // the optimized kernel may have other groups
		}
		checked := launch(t, random, k, interp.Options{IgnoreProofs: true})
		return sameOutcome(t, what, random, launch(t, random, k, interp.Options{}), want) &&
			sameOutcome(t, what+", proofs ignored", random, checked, want) && noProvedFault(t, what, k, checked.Fault)
	}
	for level := opt.Basic; level <= opt.Default; level++ {
		for _, facts := range []*opt.Facts{nil, trueFacts(t, random)} {
			if !check(fmt.Sprint("level ", level, facts != nil), func(c *ir.Module) { opt.Run(c, level, facts) }) {
				break
			}
		}
	}
	if t.Failed() { // determines the failing pass
		for _, p := range opt.Passes(opt.Default) {
			check("only "+p.Name, func(c *ir.Module) { p.Run(c.Kernels[0], nil) })
		}
		t.Logf("%v", m)
	}
}

// noProvedFault fails if an instruction with a proved check faulted.
func noProvedFault(t *testing.T, what string, k *ir.Kernel, f *oracle.Fault) bool {
	ok := true
	if f == nil {
		return ok
	}
	k.Body.Walk(func(in *ir.Instr) {
		proved := f.Kind == interp.OutOfBounds.String() && in.Proved>>f.Axis&1 != 0 ||
			f.Kind == interp.DivisionByZero.String() && in.Proved == ir.ProvedDivisor
		if in.Site == f.Site && proved {
			t.Errorf("%s: %v was proved and faults: %v", what, in, f)
			ok = false
		}
	})
	return ok
}

// TestTilesAreValues checks that private arrays with indices that become constant are promoted.
func TestTilesAreValues(t *testing.T) {
	before, after, unrolled := 0, 0, 0
	for seed := range uint64(100) {
		c := irgen.Case(rand.New(rand.NewPCG(seed, 3)), irgen.Options{Size: 60, Tiles: true})
		m := irgen.Module(c.Kernel).Clone()
		if opt.Unroll(m.Kernels[0], nil) {
			unrolled++
		}
		before += privates(m.Kernels[0])
		opt.Run(m, opt.Default, nil)
		after += privates(m.Kernels[0])
	}
	if after*2 > before || unrolled < 10 {
		t.Errorf("%d of %d private arrays are left, and loops were unrolled in %d kernels", after, before, unrolled)
	}
	t.Logf("%d of %d private arrays are left, and loops were unrolled in %d kernels", after, before, unrolled)
}

func privates(k *ir.Kernel) (n int) {
	for _, a := range k.Arrays {
		if a.Space == ir.Private {
			n++
		}
	}
	return n
}

func TestProofsAreFound(t *testing.T) {
	proved, all := 0, 0
	for seed := range uint64(100) {
		c := irgen.Case(rand.New(rand.NewPCG(seed, 3)), irgen.Options{Size: 100, NoFaults: true})
		m := irgen.Module(c.Kernel)
		opt.Run(m, opt.Default, trueFacts(t, c))
		m.Kernels[0].Body.Walk(func(in *ir.Instr) {
			if in.NumIndices() > 0 {
				all++
				if in.Proved == 1<<in.NumIndices()-1 {
					proved++
				}
			}
		})
	}
	if proved*100 < all*70 {
		t.Errorf("only %d of %d accesses are proved", proved, all)
	}
	t.Logf("%d of %d accesses are proved", proved, all)
}
