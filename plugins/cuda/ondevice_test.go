//go:build linux && (amd64 || arm64)

package cuda_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/tests/ondevice"
)

// newRunner returns a runner on the first GPU if OREPL_GPU is 1, else on the stand-in.
func newRunner(t *testing.T) *ondevice.Runner {
	t.Helper()
	o := cuda.Options{}
	if os.Getenv("OREPL_GPU") != "1" {
		o = newStandIn(t).options()
	}
	r, err := ondevice.Open(t.Context(), cuda.New(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// number returns the number in an environment variable.
func number(name string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return otherwise
}

// TestRandomKernels launches random kernels by the plugin and compares buffers, prints and faults with the interpreter's. The
// variables OREPL_RANDOM_KERNELS and OREPL_RANDOM_FIRST set their number and the first seed.
func TestRandomKernels(t *testing.T) {
	r := newRunner(t)
	n, first := number("OREPL_RANDOM_KERNELS", 60), number("OREPL_RANDOM_FIRST", 1)
	for seed := first; seed < first+n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 37))
		c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 0, Tiles: seed%5 == 0, Places: seed%7 == 0, Even: seed%6 == 0,
			Jumps: seed%11 == 0, Size: 20 + rng.IntN(100)})
		c.SubgroupSize = 32
		if diff, err := r.Compare(t.Context(), c); err != nil || diff != "" {
			t.Fatalf("seed %d: %v, %.2000s\n%.4000v", seed, err, diff, c.Kernel)
		}
	}
	t.Logf("%d kernels from seed %d on %s", n, first, r.Device.Info().Name)
}

// TestDeviceOperations launches each operation on each type, for all tuples of special values.
func TestDeviceOperations(t *testing.T) {
	r := newRunner(t)
	list := irgen.Operations()
	if testing.Short() {
		list = list[:20]
	}
	for _, o := range list {
		c := irgen.OperationCase(o)
		c.Kernel.Sites = []ir.Site{{}, {Line: 2}} // a fault has a place in the source
		c.Kernel.Body.Walk(func(in *ir.Instr) { in.Site = 1 })
		if diff, err := r.Compare(t.Context(), c); err != nil || diff != "" {
			t.Errorf("%v: %v, %s", o, err, diff)
		}
	}
}

// TestPrintsOfGroups prints in a kernel that no longer observes its groups after passes: prints are still in groups.
func TestPrintsOfGroups(t *testing.T) {
	if diff, err := newRunner(t).CompareGroups(t.Context()); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}
