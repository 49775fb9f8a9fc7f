package irpage

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/irgen"
)

var (
	randomCount = flag.Int("random", 0, "number of random kernels; 0 means 150 in short mode, else 600")
	randomSeed  = flag.Uint64("seed", 1, "seed of the first of them")
)

// TestRandom compares the evaluator with the interpreter on random kernels, exactly: buffers, faults and prints.
func TestRandom(t *testing.T) {
	t.Parallel()
	n := uint64(*randomCount)
	if n == 0 {
		n = 600
		if testing.Short() {
			n = 150
		}
	}
	faults, prints, failed := 0, 0, 0
	for seed := *randomSeed; seed < *randomSeed+n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		o := irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 0, Even: seed%7 == 0, Tiles: seed%5 == 0,
			Places: seed%6 == 1 || seed%6 == 2, Strides: seed%11 == 0, Extended: seed%9 == 0, Size: 20 + rng.IntN(120)}
		c := irgen.Case(rng, o)
		c.Unchecked = seed%13 == 0
		want, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := Run(c)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.Kernel)
		}
		if want.Fault != nil {
			faults++
		}
		prints += len(want.Prints)
		if d := c.Diff(want, got); d != "" {
			t.Errorf("seed %d, %+v: interpreter and evaluator differ: %.2000s", seed, o, d)
			if failed++; failed > 5 {
				t.FailNow()
			}
		}
	}
	if faults < int(n/40) || prints == 0 {
		t.Errorf("only %d faults and %d prints in %d kernels", faults, prints, n)
	}
	t.Logf("%d kernels, %d with faults, %d prints", n, faults, prints)
}
