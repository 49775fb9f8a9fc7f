package oracle_test

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestOptimizedRandom runs random kernels unoptimized and optimized, with every proof checked. Kernels that fault may report
// different faults.
func TestOptimizedRandom(t *testing.T) {
	for seed := *randomSeed; seed < *randomSeed+uint64(*randomCount); seed++ {
		c := randomCase(seed)
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := c.Kernel.String()
		m := irgen.Module(c.Kernel)
		observes := c.Kernel.ObservesGroup()
		opt.Run(m, opt.Default, nil)
		if err := m.Verify(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, before)
		}
		if c.Kernel.ObservesGroup() != observes {
			continue // the optimized kernel may have other groups
		}
		got, err := c.Interp(interp.Options{IgnoreProofs: true})
		if err != nil {
			t.Fatal(err)
		}
		if (got.Fault == nil) != (want.Fault == nil) {
			t.Fatalf("seed %d: faults %v and %v\n%s", seed, want.Fault, got.Fault, before)
		}
		want.Fault, got.Fault = nil, nil
		if d := c.Diff(want, got); d != "" {
			t.Fatalf("seed %d: %s\n%s\noptimized\n%s", seed, d, before, c.Kernel)
		}
	}
}
