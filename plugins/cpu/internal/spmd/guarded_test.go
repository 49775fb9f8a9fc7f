package spmd

import (
	"fmt"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// TestGuardedIndices launches a kernel that compares an index with the extent, on more items than the buffer has elements. It runs
// without checks unless the index wraps: a negative index passes the comparison and traps.
func TestGuardedIndices(t *testing.T) {
	k := parse(t, `orepl-ir 1
kernel k(y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = item.global.y
  %2: i32 = const 70000
  %3: i32 = mul %1, %2
  %4: i32 = add %3, %0
  %5: i32 = extent.0 y
  %6: bool = lt %4, %5
  if %6 {
    %7: f32 = load y[%4]
    %8: f32 = add %7, %7
    store y[%4], %8
    yield
  } else {
    yield
  }
  return
}
`)
	for _, c := range []struct {
		rows   int
		proved bool
	}{
		{3, true},
		{30679, true},
		{30680, false},
	} {
		t.Run(fmt.Sprint(c.rows), func(t *testing.T) {
			const extent = 70003
			launch := &oracle.Case{Kernel: k, Size: [3]int{5, c.rows, 1}, GroupSize: [3]int{1, 1, 1}}
			launch.Args = []oracle.Arg{{Data: floats(extent, func(i int) float32 { return float32(i) }), Dims: []int32{extent}}}
			compare(t, launch, 1, 1)
			g := interp.Launch{Size: launch.Size, Args: []interp.Arg{{Dims: [3]int32{extent}}}}
			checkProof(t, k, &g, c.proved)
		})
	}
}
