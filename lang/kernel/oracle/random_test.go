package oracle_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

var (
	randomCount = flag.Int("random", 400, "number of random kernels")
	randomSeed  = flag.Uint64("seed", 1, "seed of the first of them")
)

// randomCase returns the case of a seed.
func randomCase(seed uint64) *oracle.Case {
	rng := rand.New(rand.NewPCG(seed, 0))
	o := irgen.Options{Extended: seed%5 == 0, Groups: seed%2 == 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 0, Size: 20 + rng.IntN(120)}
	return irgen.Case(rng, o)
}

// TestRandom runs random kernels on both oracles.
func TestRandom(t *testing.T) {
	node := startNode(t)
	faults := 0
	for seed := *randomSeed; seed < *randomSeed+uint64(*randomCount); seed++ {
		c := randomCase(seed)
		if err := irgen.Module(c.Kernel).Verify(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.Kernel)
		}
		a, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.Kernel)
		}
		b, err := node.Run(c)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.Kernel)
		}
		if a.Fault != nil {
			faults++
		}
		if d := c.DiffNode(a, b); d != "" {
			t.Fatalf("seed %d: %s\n%s", seed, d, c.Kernel)
		}
	}
	t.Logf("%d kernels, %d of them with faults", *randomCount, faults)
}

// TestRandomKernelsUseEverything checks that the generator emits every operation.
func TestRandomKernelsUseEverything(t *testing.T) {
	seen := map[ir.Op]bool{}
	for seed := range uint64(400) {
		randomCase(seed).Kernel.Body.Walk(func(in *ir.Instr) { seen[in.Op] = true })
	}
	for op := ir.Const; op < ir.Lib; op++ {
		if !seen[op] && op != ir.Math && op != ir.Call && op != ir.Unreachable {
			t.Errorf("no random kernel has %v", op)
		}
	}
}
