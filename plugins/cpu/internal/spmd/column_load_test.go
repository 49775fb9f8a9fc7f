package spmd

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// columnLoads are kernels whose gangs load columns of a shared array, and similar kernels whose gangs do not. Each
// reads x and writes y, both of rank 2.
var columnLoads = []struct {
	name, text string
	columns    int
}{
	{"indices that wrap round", `(g, x, y) => {
  const t = g.shared(f32, 32, 33), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u & 15][v & 31]
}`, 0},
	{"columns", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][v]
}`, 1},
	{"integers, behind the third column", `(g, x, y) => {
  const t = g.shared(i32, 64, 70), u = g.local.x, v = g.local.y
  t[u][v + 3] = g.x * 100 + g.y
  g.barrier()
  y[g.y][g.x] = t[u + 1][v + 3]
}`, 1},
	{"from the last row up, which nothing proves to be there", `(g, x, y) => {
  const t = g.shared(f32, 64, 70), u = g.local.x, v = g.local.y
  t[u][v] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[63 - u][v]
}`, 0},
	{"several, of two arrays", `(g, x, y) => {
  const t = g.shared(f32, 64, 64), s = g.shared(f32, 64, 66), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  s[u][v + 1] = x[g.x][g.y]
  g.barrier()
  const a = t[u][v] + s[u][v]
  g.barrier()
  s[v][u] = a
  g.barrier()
  y[g.y][g.x] = a + s[u][v] * t[u][v + 1]
}`, 4},
	{"the same element of each row", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][3]
}`, 0},
	{"every other column", `(g, x, y) => {
  const t = g.shared(f32, 64, 128), u = g.local.x, v = g.local.y
  t[u][2 * v] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][2 * v]
}`, 0},
	{"rows", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[v][u + 1]
}`, 0},
	{"before the barrier", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[u][v] = x[g.y][g.x]
  y[g.y][g.x] = t[u][v]
  g.barrier()
}`, 0},
	{"of what the item stored since", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[u][v] = x[g.y][g.x]
  g.barrier()
  if (u > 3) t[u][v] = 9
  y[g.y][g.x] = t[u][v]
}`, 0},
	{"where some items are gone", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  if (v % 8 == 0) return
  y[g.y][g.x] = t[u][v]
}`, 0},
	{"where some items may be gone", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y + 70 - 70 * (v & 1)][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][v]
}`, 0},
	{"where some gangs may be stopped", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][v] + g.uniform(x[0][g.group.x])
}`, 0},
	{"of some items", `(g, x, y) => {
  const t = g.shared(f32, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  if (v > 2) y[g.y][g.x] = t[u][v]
}`, 0},
	{"where memory says", `(g, x, y) => {
  const t = g.shared(f32, 64, 80), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][v + (x[0][g.group.x] & 7)]
}`, 0},
	{"of bytes", `(g, x, y) => {
  const t = g.shared(u8, 64, 65), u = g.local.x, v = g.local.y
  t[v][u] = x[g.y][g.x]
  g.barrier()
  y[g.y][g.x] = t[u][v]
}`, 0},
}

const columnSide = 144 // side length of the buffers

// columnCase returns a launch of a kernel with two buffers.
func columnCase(t *testing.T, text string, size, group [3]int) *oracle.Case {
	x := floats(columnSide*columnSide, func(i int) float32 { return float32(i % 1009) })
	dims := []int32{columnSide, columnSide}
	return &oracle.Case{Kernel: rank2(t, text, ir.F32), Size: size, GroupSize: group,
		Args: []oracle.Arg{{Data: x, Dims: dims}, {Data: make([]byte, len(x)), Dims: dims}}}
}

// TestColumnLoads compares column loads with the interpreter in groups of many shapes. It checks which loads are
// transposed where a group is as wide as a gang.
func TestColumnLoads(t *testing.T) {
	needMachine(t)
	for _, c := range columnLoads {
		for i, group := range [][3]int{{8, 8, 1}, {16, 24, 1}, {32, 8, 2}, {16, 12, 1}} {
			if i != 1 && (c.columns == 0 || testing.Short()) {
				continue
			}
			size := [3]int{2 * group[0], 2*group[1] + 3*(i/3), group[2]}
			for gang := max(group[0]/16, 1); gang <= group[0]/8; gang *= 2 { // as wide as the group on one of the targets
				if !compare(t, columnCase(t, c.text, size, group), gang, i+1) {
					t.Fatalf("%s: groups of %v, gang %d", c.name, group, gang)
				}
			}
		}
		for _, target := range targets() {
			p, err := Compile(optimized(rank2(t, c.text, ir.F32)), plan.Options{Features: target.Features, Gang: 1, Observes: true})
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.List(p.Listed(), func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Count(text, "vunpckhpd"), 4*c.columns; got != want {
				t.Errorf("%s, %s: %d shuffles of doubles, want %d", c.name, target.Name, got, want)
			}
		}
	}
}

// TestRandomColumnLoads compares loads of columns at random offsets in arrays of random widths with the interpreter.
func TestRandomColumnLoads(t *testing.T) {
	needMachine(t)
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		lanes := 8 << r.IntN(3)
		high := 8 * (1 + r.IntN(3))
		wide, down := high+r.IntN(40), r.IntN(5)
		column := r.IntN(wide - high + 1)
		u, v := fmt.Sprintf("u + %d", down), fmt.Sprintf("v + %d", column)
		text := fmt.Sprintf(`(g, x, y) => {
  const t = g.shared(f32, %d, %d), u = g.local.x, v = g.local.y
  for (let i = v; i < %d; i += %d) for (let j = u; j < %d; j += %d) t[i][j] = x[i][j] + g.group.x
  g.barrier()
  const a = t[%s][%s]
  if (a > 5) y[g.y][g.x] = a
  y[g.y][g.x + 64] = t[%s][v]
}`, lanes+down, wide, lanes+down, high, wide, lanes, u, v, u)
		c := columnCase(t, text, [3]int{2 * lanes, high, 1}, [3]int{lanes, high, 1})
		if !compare(t, c, max(lanes/16, 1), int(seed)) || !compare(t, c, lanes/8, int(seed)) {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}
