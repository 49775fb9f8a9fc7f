package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// fetchKernels store after barriers. Each reads x and writes y, both of rank 2, in groups of 16 × 16.
var fetchKernels = []struct {
	name, text string
	fetched    int // lines prefetched for the stores of a gang of one register
}{
	{"a tile", `(g, x, y) => {
  const t = g.shared(f32, 16, 17), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.group.x * 16 + v][g.group.y * 16 + u] = t[u][v]
}`, 1},
	{"two rows", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[2 * g.y][g.x] = t[15 - v][u]
  y[2 * g.y + 1][g.x] = t[v][15 - u]
}`, 2},
	{"behind a second barrier", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  const s = t[u][v]
  g.barrier()
  t[v][u] = s + 1
  g.barrier()
  y[g.y][g.x] = t[15 - v][u]
}`, 1},
	{"before the barrier", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  y[g.y][g.x] = x[g.y][g.x]
  g.barrier()
  t[v][u] = x[g.y][g.x]
}`, 0},
	{"where a load says", `(g, x, y) => {
  const t = g.shared(i32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = 15 - v
  g.barrier()
  y[t[v][0]][g.x] = x[g.y][g.x]
}`, 0},
	{"in columns", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.x][g.y] = t[v][u]
}`, 0},
	{"behind a loop", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  let s = 0
  for (let i = 0; i < x.shape[0]; i++) s += t[i & 15][u]
  y[g.y][g.x] = s
}`, 0},
	{"outside", `(g, x, y) => {
  const t = g.shared(f32, 16, 16), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y * 3][g.x - 16] = t[u][v]
}`, 1},
}

func TestFetchStored(t *testing.T) {
	for _, c := range fetchKernels {
		for _, target := range allTargets {
			for stores, want := range map[plan.Stores]int{plan.PlainStores: 0, plan.HalfLineStores: c.fetched, plan.NonTemporalStores: 0} { // non-temporal stores need no prefetch
				p, err := Compile(optimized(rank2(t, c.text, ir.F32)), plan.Options{Features: target.Features, Gang: 1, Observes: true})
				if err != nil {
					t.Fatal(err)
				}
				s := p.Listed()
				s.Stores = stores
				text, err := p.List(s, func(int) string { return "" })
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Count(text, "prefetchw"); got != want {
					t.Errorf("%s, %s, way %d: fetches %d lines, want %d", c.name, target.Name, stores, got, want)
				}
			}
		}
	}
}

func TestFetchedStores(t *testing.T) {
	needMachine(t)
	const side = 80
	x := floats(side*side, func(i int) float32 { return float32(i % 97) })
	dims := []int32{side, side}
	for _, c := range fetchKernels {
		k := rank2(t, c.text, ir.F32)
		for i, size := range [][3]int{{32, 64, 1}, {37, 20, 1}, {1, 40, 2}} {
			if testing.Short() && i > 0 {
				continue
			}
			for _, gang := range []int{1, 2} {
				launch := &oracle.Case{Kernel: k, Size: size, GroupSize: [3]int{16, 16, 1},
					Args: []oracle.Arg{{Data: x, Dims: dims}, {Data: make([]byte, len(x)), Dims: dims}}}
				if !compare(t, launch, gang, i+gang) { // the level also selects the kind of stores
					t.Fatalf("%s: size %v, gang %d", c.name, size, gang)
				}
			}
		}
	}
}

// TestFetchedAlone compiles the tiled transpose for a launch with a separate variant. Each gang prefetches the rows of all
// its unrolled iterations.
func TestFetchedAlone(t *testing.T) {
	k := optimized(rank2(t, `(g, x, y) => {
  const t = g.shared(f32, 32, 33), u = g.local.x, v = g.local.y
  for (let r = 0; r < 32; r += 8) t[v + r][u] = x[g.group.y * 32 + v + r][g.group.x * 32 + u]
  g.barrier()
  for (let r = 0; r < 32; r += 8) y[g.group.x * 32 + v + r][g.group.y * 32 + u] = t[u][v + r]
}`, ir.F32))
	o := plan.Options{Features: amd64.ForAVX512, Observes: true, Target: &vcode.AVX512}
	c, err := generate(k, o, Spec{Gang: 2, Whole: true, Stores: plan.HalfLineStores}, func(int) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(c.Listing, "prefetchw"); got != 8 {
		t.Errorf("fetches %d lines, want 8", got)
	}
}

// TestFetchAfter compiles sequential kernels that store at places which count up. Only those that shared memory holds are prefetched.
func TestFetchAfter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fetched    int
	}{
		{"counters in shared memory", `(g, x, y) => {
  const own = g.shared(i32, 64)
  for (let i = 0; i < x.length; i++) {
    const digit = x[i] & 63, at = own[digit]
    own[digit] = at + 1
    y[at] = x[i]
  }
}`, 1},
		{"the loop's counter", `(g, x, y) => {
  for (let i = 0; i < x.length; i++) y[i] = x[i]
}`, 0},
		{"places that a buffer holds", `(g, x, y) => {
  for (let i = 0; i < x.length; i++) y[x[i]] = i
}`, 0},
		{"counters of shared elements", `(g, x, y) => {
  const own = g.shared(i32, 64), last = g.shared(i32, 64)
  for (let i = 0; i < x.length; i++) last[own[x[i] & 63] & 63] = i
  y[0] = last[0]
}`, 0},
	} {
		for _, target := range allTargets {
			p, err := Compile(optimized(ofRank(t, c.text, ir.I32, 1)), plan.Options{Features: target.Features, Gang: 1, Observes: true})
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.List(p.Listed(), func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(text, "prefetchw"); got != c.fetched {
				t.Errorf("%s, %s: fetches %d lines, want %d\n%s", c.name, target.Name, got, c.fetched, text)
			}
		}
	}
}
