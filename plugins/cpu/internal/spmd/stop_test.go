package spmd

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestStoppedLaunches runs launches whose stop flag is set from the start. All loops must end: the kernel's, and those over
// gangs and groups. An item that reaches its end writes its count.
func TestStoppedLaunches(t *testing.T) {
	needMachine(t)
	const many = 1 << 12
	x, y := make([]float32, many), make([]float32, many)
	var stop atomic.Bool
	stop.Store(true)
	long := "(g, x, y) => {\n  let s = x[g.x], t = s\n"
	for i := range plan.MaxBoth / 4 {
		long += fmt.Sprintf("  s = s * t + %d; t = t + s\n", i)
	}
	long += "  y[g.x] = s + 1\n}"
	for _, c := range []struct {
		name, text  string
		size, group int
	}{
		{"gangs", `(g, x, y) => { y[g.x] = 1 }`, many, 64},
		{"gangs of a large kernel", long, many / 64, 64},
		{"groups", `(g, x, y) => { g.barrier(); y[g.x] = 1 }`, many, 64},
		{"groups of one gang", `(g, x, y) => { const s = g.reduce.max(x[g.x]); if (g.local.x == 0) y[g.x] = s + 1 }`, many, 128},
		{"a loop of all lanes", `(g, x, y) => { let s = 0; for (let i = 0; i < x.length; i++) s += x[i] * 0.5 + 1; y[g.x] = s }`, 64, 64},
		{"a loop of each lane", `(g, x, y) => { let s = 0; for (let i = g.x; i < x.length - g.x; i++) s += x[i] * 0.5 + 1; y[g.x] = s }`, 64, 64},
		{"a loop of numbers", `(g, x, y) => { let s = g.x, n = 0; while (s < 1e6 && n < 1000000) { s = s * 0.5 + 1; n++ } y[g.x] = n }`, 64, 64},
		{"a loop with ways out", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i++) { if (x[i] > 5) break; if (x[i] > 3) continue; s += x[i] + 1; if (s < 0) return }
  y[g.x] = s + 1
}`, 64, 64},
		{"a loop around a barrier", `(g, x, y) => { let s = 1; for (let i = 0; i < x.length; i++) { g.barrier(); s += x[i] } y[g.x] = s }`, 64, 64},
		{"a loop of a group", `(g, x, y) => { let s = 1; for (let i = 0; i < x.length; i++) s += x[i] * 0.5; g.barrier(); y[g.x] = s }`, 64, 64},
		{"a loop in rounds", `(g, x, y) => { let s = 1; for (let i = g.x; i < x.length; i += g.size.x) s += x[i]; s = g.reduce.add(s); y[g.x] = s }`, 128, 128},
	} {
		k := anyRank(t, c.text)
		for _, target := range targets() {
			for _, gang := range []int{0, 1, 4} {
				p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang})
				if err != nil {
					t.Fatal(err)
				}
				clear(y)
				g := launchFor([3]int{c.size, 1, 1}, [3]int{c.group, 1, 1}, many, many)
				g.Stop, g.Args[0].Base, g.Args[1].Base = &stop, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
				v, units, err := p.Prepare(g)
				if err != nil {
					t.Fatal(err)
				}
				w := v.Acquire(g)
				fault, err := w.Run(0, units, false)
				v.Release(w)
				if fault != nil || err != nil {
					t.Fatalf("%s: %v, %v", c.name, fault, err)
				}
				done := 0
				for _, n := range y {
					if n != 0 {
						done++
					}
				}
				most := 0 // items that may have reached their end
				if !strings.HasPrefix(c.name, "a loop") {
					most = max(v.Code.Lanes, c.group)
				}
				if done > most {
					t.Errorf("%s, %s, gangs of %d registers: %d items of a launch that is to stop came to their ends", c.name, target.Name, gang, done)
				}
			}
		}
	}
}
