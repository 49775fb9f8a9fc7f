package opt_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// countingLoop returns a kernel with a loop whose counter has a constant start and step. It continues while (or until) a test
// holds, and hashes the counter.
func countingLoop(t *testing.T, first, step int, test string, until bool) *ir.Module {
	t.Helper()
	stay, leave := "yield", "break @1 %12"
	if until {
		stay, leave = leave, stay
	}
	m, err := ir.ParseText("loop", fmt.Sprintf(`orepl-ir 1
kernel k(x: i32[*], y: i32[*]) real f32 {
  %%0: i32 = item.global.x
  %%1: i32 = const %d
  %%2: i32 = const %d
  %%3: i32 = const 40
  %%4: i32 = const 31
  %%5: i32 = const 63
  %%6: i32 = load x[%%0]
  %%20: i32 = loop @1 (%%11: i32 = %%1, %%12: i32 = %%6) {
    %%13: bool = %s
    if %%13 {
      %s
    } else {
      %s
    }
    %%14: i32 = add %%11, %%0
    %%15: i32 = and %%14, %%5
    %%16: i32 = load x[%%15]
    %%17: i32 = mul %%12, %%4
    %%18: i32 = add %%17, %%16
    %%19: i32 = add %%11, %%2
    continue @1 %%19, %%18
  }
  store y[%%0], %%20
  return
}
`, first, step, test, stay, leave))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRepeat(t *testing.T) {
	const below, upTo, above, downTo = "lt %11, %3", "le %11, %3", "lt %3, %11", "le %3, %11"
	for _, c := range []struct {
		first, step int
		test        string
		until       bool
		whole       int // maximum for complete unrolling
		loops       int // number of remaining loops
		times       int // their unroll factor
	}{
		{0, 1, below, false, 0, 1, 8},
		{0, 4, below, false, 0, 1, 2},
		{0, 3, below, false, 0, 1, 2},   // 14 iterations
		{-7, 1, below, false, 0, 1, 0},  // 47 iterations
		{-8, 2, upTo, false, 0, 1, 0},   // 25 iterations
		{-6, 2, upTo, false, 0, 1, 8},   // 24 iterations
		{72, -1, above, false, 0, 1, 8}, // 32 iterations
		{73, -2, above, false, 0, 1, 0}, // 17 iterations
		{71, -2, downTo, false, 0, 1, 8},
		{0, 1, downTo, true, 0, 1, 8},
		{72, -1, upTo, true, 0, 1, 8},
		{0, 10, below, false, 400, 0, 0},
		{40, -1, downTo, false, 400, 0, 0}, // one iteration
		{41, 1, below, false, 400, 1, 0},   // no iteration
		{0, 0, "lt %3, %11", false, 400, 1, 0},
		{1 << 30, 1 << 29, "lt %3, %11", false, 400, 1, 0}, // continues until it wraps
		{-1 << 31, 1 << 27, below, false, 0, 1, 0},         // 17 iterations
	} {
		m := countingLoop(t, c.first, c.step, c.test, c.until)
		data := make([]byte, 4*64)
		for i := range 64 {
			binary.LittleEndian.PutUint32(data[4*i:], uint32(i*i))
		}
		launches := &oracle.Case{Kernel: m.Kernels[0], Size: [3]int{5, 1, 1}, GroupSize: [3]int{1, 1, 1},
			Args: []oracle.Arg{{Data: data, Dims: []int32{64}}, {Data: make([]byte, 20), Dims: []int32{5}}}}
		name := fmt.Sprintf("from %d by %d, %s, until %v", c.first, c.step, c.test, c.until)
		changed := m.Clone()
		times, _ := opt.PartialUnroll(changed.Kernels[0], opt.PartialUnrollLimits{Whole: c.whole, Body: 100, Total: 1000})
		if err := changed.Verify(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		loops, most := 0, 0
		changed.Kernels[0].Body.Walk(func(in *ir.Instr) {
			if in.Op == ir.Loop {
				loops++
				most = times[in]
			}
		})
		if loops != c.loops || most != c.times {
			t.Errorf("%s: %d loops, repeated %d times, want %d and %d", name, loops, most, c.loops, c.times)
		}
		if c.step == 0 {
			continue // endless
		}
		want := launch(t, launches, m.Kernels[0], interp.Options{})
		sameOutcome(t, name, launches, launch(t, launches, changed.Kernels[0], interp.Options{}), want)
	}
}

// TestPartialUnrollKeepsResults unrolls the loops of random optimized kernels, as devices do.
func TestPartialUnrollKeepsResults(t *testing.T) {
	changed := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 9))
		random := irgen.Case(rng, irgen.Options{Size: 20 + rng.IntN(100), NoFaults: seed%2 == 1, Groups: seed%3 == 0, Tiles: seed%5 < 2})
		m := irgen.Module(random.Kernel).Clone()
		opt.Run(m, opt.Default, nil)
		want := launch(t, random, m.Kernels[0], interp.Options{})
		r := m.Clone()
		_, did := opt.PartialUnroll(r.Kernels[0], opt.PartialUnrollLimits{Whole: 300, Body: 300, Total: 4000})
		if err := r.Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if did {
			changed++
			sameOutcome(t, fmt.Sprint("seed ", seed), random, launch(t, random, r.Kernels[0], interp.Options{}), want)
		}
	}
	if changed == 0 {
		t.Error("no random kernel has a loop to repeat")
	}
}
