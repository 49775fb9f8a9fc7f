package spmd

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestRunsOfUnits runs launches in chunks of several lengths, the last chunk first. Each item runs once: it increments
// its element and stores its position.
func TestRunsOfUnits(t *testing.T) {
	needMachine(t)
	const place = "((g.z * g.size.y + g.y) * g.size.x + g.x)"
	for _, c := range []struct{ name, text string }{
		{"gangs", `(g, x, y) => { x[` + place + `] += 1; y[` + place + `] += g.x + 100 * g.y + 10000 * g.z }`},
		{"groups", `(g, x, y) => {
  g.barrier()
  x[` + place + `] += 1
  y[` + place + `] += g.group.x * g.groupSize.x + g.local.x + 100 * (g.group.y * g.groupSize.y + g.local.y) + 10000 * (g.group.z * g.groupSize.z + g.local.z)
}`},
		{"groups that do something together", `(g, x, y) => {
  const all = g.reduce.add(g.x - g.x + 1)
  x[` + place + `] += all / all
  y[` + place + `] += g.x + 100 * g.y + 10000 * g.z
}`},
		{"groups in rounds", `(g, x, y) => {
  for (let i = g.x; i < g.size.x; i += g.size.x) {
    x[(g.z * g.size.y + g.y) * g.size.x + i] += 1
    y[(g.z * g.size.y + g.y) * g.size.x + i] += i + 100 * g.y + 10000 * g.z
  }
  g.barrier()
}`},
	} {
		k := anyRank(t, c.text)
		for _, l := range []struct{ size, group [3]int }{
			{[3]int{70, 3, 2}, [3]int{10, 2, 1}},
			{[3]int{64, 2, 3}, [3]int{64, 1, 1}},
			{[3]int{96, 3, 1}, [3]int{32, 1, 1}},
			{[3]int{5, 7, 3}, [3]int{2, 3, 2}},
		} {
			for _, target := range targets() {
				for _, gang := range []int{0, 1, 2} {
					p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang, InterleaveAll: true, WideGangs: true})
					if err != nil {
						t.Fatal(err)
					}
					n := l.size[0] * l.size[1] * l.size[2]
					for _, most := range []int{1, 2, 5, 1000} {
						x, y := make([]float32, n), make([]float32, n)
						g := launchFor(l.size, l.group, n, n)
						g.Args[0].Base, g.Args[1].Base = unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
						v, units, err := p.Prepare(g)
						if err != nil {
							t.Fatal(err)
						}
						w := v.Acquire(g)
						for last := units; last > 0; last -= most {
							if fault, err := w.Run(max(0, last-most), last, false); fault != nil || err != nil {
								t.Fatal(fault, err)
							}
						}
						v.Release(w)
						where := fmt.Sprintf("%s, %s, gang %d, %v in groups of %v, %d units at a time", c.name, target.Name, gang, l.size, l.group, most)
						for i := range n {
							at := float32(i%l.size[0] + 100*(i/l.size[0]%l.size[1]) + 10000*(i/l.size[0]/l.size[1]))
							if x[i] != 1 || y[i] != at {
								t.Fatalf("%s: item %d is done %v times and takes itself for %v, want %v", where, i, x[i], y[i], at)
							}
						}
					}
				}
			}
		}
	}
}
