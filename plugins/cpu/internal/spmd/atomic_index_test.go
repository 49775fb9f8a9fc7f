package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// TestIndexFromMemory runs histograms, and looks for vectors that indices are taken from: there are none where the index
// is some bits of what is loaded just before.
func TestIndexFromMemory(t *testing.T) {
	needMachine(t)
	for _, c := range []struct {
		name, index string
		direct      bool
	}{
		{"bytes", "x[g.x] & 255", true},
		{"some bits", "x[g.x] & 63", true},
		{"every other element", "x[2 * g.x] & 255", false},
		{"a sum", "(x[g.x] + 7) & 255", false},
	} {
		k := rank1(t, `(g, x, y) => {
  const bins = g.shared(i32, 256)
  Atomics.add(bins, `+c.index+`, 3)
  g.barrier()
  Atomics.add(y, g.local.x, bins[g.local.x])
}`, ir.I32, ir.I32)
		const size, group = 512, 64
		data := floats(2*size, func(i int) float32 { return float32(i*i) * 0.37 })
		for _, gang := range []int{1, 2, 4} {
			compare(t, &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
				{Data: data, Dims: []int32{2 * size}},
				{Data: make([]byte, 4*group), Dims: []int32{group}},
			}}, gang, 2)
		}
		for _, target := range allTargets {
			text := listed(t, k, Options{Features: target.features, Gang: 1})
			if got := strings.Count(text, "\tvpand") == 0; got != c.direct {
				t.Errorf("%s, %s: without vectors %v, want %v, in\n%s", c.name, target.name, got, c.direct, text)
			}
		}
	}
}
