package spmd

import (
	"fmt"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// checkProof reports targets on which a launch runs without checks though it is not proved to stay in bounds, or with them though it is.
func checkProof(t *testing.T, k *ir.Kernel, g *interp.Launch, proved bool) {
	t.Helper()
	for _, target := range allTargets {
		p, err := Compile(optimized(k), plan.Options{Features: target.Features})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := p.facts.Hold(g); got != proved {
			t.Errorf("%s runs without checks: %v", target.Name, got)
		}
	}
}

// TestIndicesOfLaunches launches a kernel with indices computed from parameters, just in and just out of bounds. Only
// the former may run code without checks.
func TestIndicesOfLaunches(t *testing.T) {
	k := parse(t, `orepl-ir 1
kernel k(n %n.20: i32, rows %rows.21: i32, y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = item.global.y
  %2: i32 = mul %1, %n.20
  %3: i32 = add %2, %0
  %4: f32 = load y[%3]
  %5: i32 = const 0
  %6: i32 = const 1
  %7: f32 = loop @1 (%8: i32 = %5, %9: f32 = %4) {
    %10: bool = lt %8, %rows.21
    if %10 {
      yield
    } else {
      break @1 %9
    }
    %11: f32 = load y[%8]
    %12: f32 = add %9, %11
    %13: i32 = add %8, %6
    continue @1 %13, %12
  }
  %14: bool = lt %7, %4
  if %14 {
    store y[%3], %4
    yield
  } else {
    yield
  }
  return
}
`)
	for _, c := range []struct {
		n, rows, x, y, extent int
		proved                bool
	}{
		{20, 4, 20, 4, 80, true},
		{20, 80, 20, 4, 80, true},
		{20, 81, 20, 4, 80, false},
		{20, 4, 20, 4, 79, false},
		{20, 4, 21, 4, 80, false},
		{0, 0, 5, 3, 5, true},
		{20, -1, 20, 4, 80, false},
		{-20, 4, 20, 1, 80, false}, // all indices are in bounds because there is one row
		{1 << 30, 1, 3, 9, 80, false},
		{1 << 28, 1, 1, 17, 80, false}, // the last index wraps to 0
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			launch := &oracle.Case{Kernel: k, Size: [3]int{c.x, c.y, 1}, GroupSize: [3]int{1, 1, 1}}
			launch.Args = []oracle.Arg{{Bits: uint64(uint32(c.n))}, {Bits: uint64(uint32(c.rows))},
				{Data: floats(c.extent, func(i int) float32 { return float32(i) }), Dims: []int32{int32(c.extent)}}}
			for _, gang := range []int{1, 2} {
				compare(t, launch, gang, 1)
			}
			g := interp.Launch{Size: launch.Size, Args: []interp.Arg{{Bits: launch.Args[0].Bits}, {Bits: launch.Args[1].Bits},
				{Dims: [3]int32{int32(c.extent)}}}}
			checkProof(t, k, &g, c.proved)
		})
	}
}
