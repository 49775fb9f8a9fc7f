package spmd

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// splitKernels add to eight sums in a loop. added is the number of loops that AVX2 with gangs of four registers adds to it.
var splitKernels = []struct {
	name, text string
	added      int
}{
	{"sums of products with a shared panel", `(g, x, y) => {
  const panel = g.shared(f32, 64, 32), sum = g.private(f32, 8)
  const lx = g.local.x
  for (let i = g.local.y; i < 64; i += 2) panel[i][lx] = x[i][lx]
  g.barrier()
  for (let k = 0; k < 64; k++)
    for (let i = 0; i < 8; i++) sum[i] += x[i][k] * panel[k][lx]
  for (let i = 0; i < 8; i++) y[8 * g.y + i][g.x] = sum[i]
}`, 3},
	{"sums that a sum before needs", `(g, x, y) => {
  const panel = g.shared(f32, 64, 32), sum = g.private(f32, 8)
  const lx = g.local.x
  for (let i = g.local.y; i < 64; i += 2) panel[i][lx] = x[i][lx]
  g.barrier()
  for (let k = 0; k < 64; k++)
    for (let i = 0; i < 8; i++) sum[i] += 0.01 * panel[k][lx] * sum[7 - i]
  for (let i = 0; i < 8; i++) y[8 * g.y + i][g.x] = sum[i]
}`, 0},
	{"sums over two phases", `(g, x, y) => {
  const panel = g.shared(f32, 16, 32), sum = g.private(f32, 8)
  const lx = g.local.x
  for (let p = 0; p < 64; p += 16) {
    for (let i = g.local.y; i < 16; i += 2) panel[i][lx] = x[p + i][lx]
    g.barrier()
    for (let k = 0; k < 16; k++)
      for (let i = 0; i < 8; i++) sum[i] += x[i][p + k] * panel[k][lx]
    g.barrier()
  }
  for (let i = 0; i < 8; i++) y[8 * g.y + i][g.x] = sum[i]
}`, 3},
	{"sums of rows of a buffer", `(g, x, y) => {
  const sum = g.private(f32, 8)
  for (let k = 0; k < 64; k++)
    for (let i = 0; i < 8; i++) sum[i] += x[i][k] * x[k][g.x]
  g.barrier()
  for (let i = 0; i < 8; i++) y[8 * g.y + i][g.x] = sum[i]
}`, 0},
}

// TestSplitSums compares kernels whose loops may be split with the interpreter, and counts the loops that a split adds. Loops with
// checks remain whole, since the first fault would be another.
func TestSplitSums(t *testing.T) {
	needMachine(t)
	const side = 80
	x := make([]byte, 4*side*side)
	for at := range side * side {
		binary.LittleEndian.PutUint32(x[4*at:], math.Float32bits(float32(at%97)/50-1))
	}
	for _, c := range splitKernels {
		k := rank2(t, c.text, ir.F32)
		p, err := Compile(optimized(k), plan.Options{Features: allTargets[1].Features, CacheBytes: 1 << 20, Model: every})
		if err != nil {
			t.Fatal(err)
		}
		spec := Spec{Gang: 4, Whole: true, WithinExtents: true, IndicesProved: true}
		if _, added := plan.SplitSums(p.facts.Prove(p.kernel, true), p.options, spec); added != c.added {
			t.Errorf("%s: %d loops added, want %d", c.name, added, c.added)
		}
		if _, added := plan.SplitSums(p.kernel, p.options, spec); added > 0 && c.added > 0 {
			t.Errorf("%s: %d loops added though loads may fault", c.name, added)
		}
		for i, size := range [][3]int{{64, 4, 1}, {32, 2, 1}, {64, 3, 1}} {
			for _, gang := range []int{1, 2, 4} {
				each := oracle.Case{Kernel: k, Size: size, GroupSize: [3]int{32, 2, 1},
					Args: []oracle.Arg{{Data: x, Dims: []int32{side, side}}, {Data: make([]byte, 4*side*side), Dims: []int32{side, side}}}}
				if !compare(t, &each, gang, i+gang) {
					t.Fatalf("%s: size %v, gang %d", c.name, size, gang)
				}
			}
		}
	}
}
