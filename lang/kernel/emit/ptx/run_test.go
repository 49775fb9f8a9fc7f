package ptx_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
)

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// TestBits compares the results of every operation, for all combinations of special values, with the interpreter's.
func TestBits(t *testing.T) {
	for _, o := range irgen.Operations() {
		if out, diff, err := irgen.OperationCase(o).ComparePTX(false); err != nil || diff != "" {
			t.Errorf("%v: %v, %s", o, err, diff)
		} else if len(out.Data) != len(o.Args)+1 {
			t.Errorf("%v: %d buffers", o, len(out.Data))
		}
	}
}

// TestForms compares the results of every memory, group and version 2 operation with the interpreter's.
func TestForms(t *testing.T) {
	for _, f := range irgen.Forms() {
		if _, diff, err := irgen.FormCase(f).ComparePTX(false); err != nil || diff != "" {
			t.Errorf("%v: %v, %s", f, err, diff)
		}
	}
}

// TestRandomBits compares random kernels with the interpreter: buffers, prints and the fault. The environment variables
// OREPL_RANDOM_KERNELS and OREPL_RANDOM_FIRST set the number of kernels and the first seed.
func TestRandomBits(t *testing.T) {
	count, first := 150, number("OREPL_RANDOM_FIRST", 1)
	if testing.Short() {
		count = 60
	}
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		count = 20000
	}
	count = number("OREPL_RANDOM_KERNELS", count)
	var faults, prints, failed atomic.Int64
	var done sync.WaitGroup
	seeds := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(seed, 31))
				o := irgen.Options{Groups: seed%3 != 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 1, Even: seed%7 == 0, Tiles: seed%5 == 0,
					Places: seed%6 == 1 || seed%6 == 2, Strides: seed%11 == 0, Extended: seed%8 > 5, Jumps: seed%13 == 0, Calls: seed%9 == 0 && seed%4 != 2, Size: 20 + rng.IntN(100)}
				c := irgen.Case(rng, o)
				c.Unchecked = o.NoFaults && seed%2 == 0
				if seed%5 < 3 {
					opt.Run(irgen.Module(c.Kernel), opt.Default, nil)
				}
				out, diff, err := c.ComparePTX(seed%2 == 0)
				if err != nil || diff != "" {
					t.Errorf("seed %d, %+v: %v, %.2000s", seed, o, err, diff)
					failed.Add(1)
					continue
				}
				if out.Fault != nil {
					faults.Add(1)
				}
				prints.Add(int64(len(out.Prints)))
			}
		})
	}
	for seed := uint64(first); seed < uint64(first+count) && failed.Load() < 5; seed++ {
		seeds <- seed
	}
	close(seeds)
	done.Wait()
	t.Logf("%d kernels, %d of them with faults, %d prints", count, faults.Load(), prints.Load())
	if faults.Load() == 0 || prints.Load() == 0 {
		t.Error("no faults or no prints")
	}
}
