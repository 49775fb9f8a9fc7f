package spmd

import (
	"encoding/binary"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// countKernels count in shared memory. single reports whether groups of all sizes that a gang can cover are one gang.
var countKernels = []struct {
	name, text string
	single     bool
}{
	{"a histogram", `(g, x, y) => {
  const local = g.shared(i32, 256)
  const first = g.group.x * 4 * g.groupSize.x + g.local.x
  for (let k = 0; k < 4; k++) Atomics.add(local, x[first + g.groupSize.x * k] & 255, 1)
  g.barrier()
  for (let i = g.local.x; i < 256; i += g.groupSize.x) Atomics.add(y, i, local[i])
}`, false},
	{"a histogram of as many counters as items", `(g, x, y) => {
  const local = g.shared(i32, 256)
  for (let k = 0; k < 4; k++) Atomics.add(local, x[4 * g.x - 3 * g.local.x + 8 * k] & 255, 1)
  g.barrier()
  Atomics.add(y, g.local.x, local[g.local.x])
}`, true},
	{"a histogram of some items", `(g, x, y) => {
  const local = g.shared(i32, 256)
  for (let k = 0; k < 4; k++) if (x[g.x + 8 * k] > 100) Atomics.add(local, x[g.x + 8 * k] & 255, 1)
  g.barrier()
  Atomics.add(y, g.local.x, local[g.local.x])
}`, false},
	{"a histogram of sums", `(g, x, y) => {
  const local = g.shared(i32, 256)
  for (let k = 0; k < 4; k++) Atomics.add(local, x[g.x + 8 * k] + x[g.x] & 255, 1)
  g.barrier()
  Atomics.add(y, g.local.x, local[g.local.x])
}`, false},
}

// TestCounts compares kernels that count with the interpreter, in groups that are one gang and in others.
func TestCounts(t *testing.T) {
	needMachine(t)
	const n = 5*256*4 + 64
	x := make([]byte, 4*n)
	for i := range n {
		binary.LittleEndian.PutUint32(x[4*i:], uint32(i*i*31%1009))
	}
	for _, c := range countKernels {
		k := rank1(t, c.text, ir.I32, ir.I32)
		for _, target := range allTargets {
			p, err := Compile(optimized(k), plan.Options{Features: target.Features, CacheBytes: 1 << 20, Model: every})
			if err != nil {
				t.Fatal(err)
			}
			if most := abi.MaxGangItems / target.Lanes; (p.oneGang == most) != c.single {
				t.Errorf("%s, %s: groups of up to %d registers are one gang, of at most %d", c.name, target.Name, p.oneGang, most)
			}
		}
		for i, group := range []int{8, 16, 64, 128, 256, 100} {
			size := 5 * group
			if group == 64 {
				size += 7
			}
			each := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1},
				Args: []oracle.Arg{{Data: x, Dims: []int32{n}}, {Data: make([]byte, 1024), Dims: []int32{256}}}}
			if !compare(t, each, 0, 2+i%2) {
				t.Fatalf("%s: group %d", c.name, group)
			}
		}
	}
}
