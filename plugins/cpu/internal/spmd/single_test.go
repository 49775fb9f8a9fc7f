package spmd

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// singleKernels have group operations, and may have one-gang groups.
var singleKernels = []struct {
	name, text string
	single     int // maximum registers of one-gang groups on AVX-512; 0 if there are none
}{
	{"sums", `(g, x, y) => {
  const all = g.reduce.add(x[g.x])
  if (g.local.x === 0) y[g.group.x] = all
}`, abi.MaxGangItems / 16},
	{"the greatest of some", `(g, x, y) => {
  const all = g.reduce.max(g.local.x % 3 == 1 ? -9 : x[g.x])
  if (g.local.x % 3 == 1) return
  y[g.x] = all
}`, abi.MaxGangItems / 16},
	{"what another item says", `(g, x, y) => {
  const all = g.reduce.min(x[g.x])
  if (g.local.x - 3 === x[g.group.x] & 63) y[g.x] = all
  else y[g.x] = -1
  if (g.local.x === g.groupSize.x - 1) y[g.x] += g.local.x
  if (g.x === 77) y[g.x] = g.x
}`, 4},
	{"whole numbers", `(g, x, y) => {
  const n = x[g.x] * 8 | 0
  y[g.x] = g.reduce.add(n) + g.reduce.max(n) * 3 + g.reduce.min(n - 5)
}`, abi.MaxGangItems / 16},
	{"shared memory", `(g, x, y) => {
  const kept = g.shared(f32, 256)
  kept[g.local.x] = x[g.x]
  g.barrier()
  y[g.x] = kept[g.groupSize.x - 1 - g.local.x]
}`, 0},
	{"out of bounds in one group", `(g, x, y) => {
  const all = g.reduce.add(x[g.group.x == 2 && g.local.x == 9 ? -1 : g.x])
  y[g.x] = all
}`, 0},
	{"out of bounds in the last lane", `(g, x, y) => {
  const all = g.reduce.add(x[g.x])
  y[g.x + (g.local.x === g.groupSize.x - 1 ? 100000 : 0)] = all
}`, 0},
	{"prints", `(g, x, y) => {
  const all = g.reduce.max(x[g.x])
  if (g.local.x % 25 == 13) g.print(all, g.x)
  y[g.x] = all
}`, 0},
	{"a loop", `(g, x, y) => {
  let s = 0
  for (let i = g.local.x; i < x.length; i += g.groupSize.x) s += x[i]
  y[g.x] = g.reduce.add(s)
}`, 4},
	{"scans", `(g, x, y) => { y[g.x] = g.scan.add(x[g.x]) }`, 4},
	{"exclusive scans", `(g, x, y) => { y[g.x] = g.scan.add.exclusive(x[g.x]) + g.scan.max.exclusive(x[g.x] * 3 | 0) }`, 4},
	{"scans after faults", `(g, x, y) => {
  const v = x[g.group.x == 2 && g.local.x % 5 === 2 ? -1 : g.x]
  y[g.x] = g.scan.max(v) + g.scan.add(f64(v))
}`, 4},
	{"votes", `(g, x, y) => { y[g.x] = g.subgroup.any(x[g.x] > 0) ? 1 : 0 }`, -1},
}

// oneGang returns the spec of launches with one-gang groups of this many items.
func oneGang(t *testing.T, p *Program, items int) Spec {
	t.Helper()
	s, ok := p.OneGang(items)
	if !ok {
		t.Fatalf("groups of %d items are not one gang", items)
	}
	return s
}

func TestSingles(t *testing.T) {
	needMachine(t)
	for _, s := range singleKernels {
		t.Run(s.name, func(t *testing.T) {
			k := rank1(t, s.text, ir.F32, ir.F32)
			for i, group := range []int{8, 16, 64, 128, 256, 100} {
				size := 5 * group
				if group == 64 {
					size += 7
				}
				c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
					{Data: floats(size, func(i int) float32 { return float32(i*37%101)/40 - 1 }), Dims: []int32{int32(size)}},
					{Data: floats(size, func(i int) float32 { return -1 }), Dims: []int32{int32(size)}},
				}}
				compare(t, c, 0, 2+i%2)
			}
		})
	}
}

// TestRandomSingles runs random kernels with one-gang groups.
func TestRandomSingles(t *testing.T) {
	needMachine(t)
	launches := 0
	manySeeds(t, 100, func(t *testing.T, seed uint64) bool {
		rng := rand.New(rand.NewPCG(seed, 6))
		c := irgen.Case(rng, irgen.Options{
			Groups: true, Even: true, NoFaults: rng.IntN(4) > 0, Size: 15 + rng.IntN(40),
			Tiles: rng.IntN(3) == 0, Places: rng.IntN(2) == 0, Strides: rng.IntN(2) == 0,
		})
		c.Unchecked = rng.IntN(8) == 0
		if !slices.ContainsFunc(targets(), func(target *vcode.Target) bool { return isSingle(c, target) }) {
			return true
		}
		launches++
		if level := rng.IntN(8)*2 + 1; !compare(t, c, 0, level) { // odd levels force such gangs
			t.Errorf("seed %d", seed)
			return false
		}
		return true
	})
	if launches == 0 {
		t.Error("no kernel has such groups")
	}
}

// isSingle reports whether the groups of a case can be one gang each.
func isSingle(c *oracle.Case, target *vcode.Target) bool {
	n := c.GroupSize[0]
	if c.GroupSize[1] > 1 || c.GroupSize[2] > 1 || c.Size[0]%n != 0 || n%target.Lanes != 0 || n&(n-1) != 0 {
		return false
	}
	return plan.OneGangRegs(c.Kernel, &plan.Options{Target: target, WideGangs: true}, 1) > 0
}

// TestFaultsOfSingles makes each item of a one-gang group fault, before and after a barrier.
func TestFaultsOfSingles(t *testing.T) {
	needMachine(t)
	k := rank1(t, `(g, x, y) => {
  const t = g.shared(f32, 8)
  if (g.local.x < 8) t[g.local.x] = 2
  g.barrier()
  const v = t[i32(x[g.x])]
  g.barrier()
  y[g.x] = v + f32(7 / i32(y[g.x]))
}`, ir.F32, ir.F32)
	for _, group := range []int{64, 128, 256} {
		size := 2 * group
		for item := 0; item < size; item += 1 + group/48 {
			for fault := range 2 {
				c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
					{Data: floats(size, func(i int) float32 {
						if i == item && fault == 0 {
							return 8
						}
						return float32(i % 8)
					}), Dims: []int32{int32(size)}},
					{Data: floats(size, func(i int) float32 {
						if i == item && fault == 1 {
							return 0
						}
						return float32(1 + i%5)
					}), Dims: []int32{int32(size)}},
				}}
				if !compare(t, c, 0, 2) {
					t.Fatalf("group of %d, item %d", group, item)
				}
			}
		}
	}
}

func TestWhichGroupsAreOneGang(t *testing.T) {
	for _, s := range singleKernels {
		p, err := Compile(rank1(t, s.text, ir.F32, ir.F32), plan.Options{Features: amd64.ForAVX512})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= abi.MaxGangItems/16 && s.single != 0; n *= 2 {
			g := &interp.Launch{Size: [3]int{64 * n, 1, 1}, GroupSize: [3]int{16 * n, 1, 1}}
			if got := p.hasOneGangGroups(g); got != (n <= s.single) {
				t.Errorf("%s: groups of %d are one gang: %v", s.name, 16*n, got)
			}
			if g.Size[0]++; p.hasOneGangGroups(g) {
				t.Errorf("%s: incomplete groups of %d are one gang", s.name, 16*n)
			}
		}
	}
}

// TestSingleReduction counts the instructions of a one-gang group, which must store no partial results.
func TestSingleReduction(t *testing.T) {
	for _, target := range allTargets {
		p, err := Compile(rank1(t, singleKernels[0].text, ir.F32, ir.F32), plan.Options{Features: target.Features})
		if err != nil {
			t.Fatal(err)
		}
		text, err := p.List(oneGang(t, p, abi.MaxGangItems), func(int) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = strings.Cut(text, "vzeroupper")
		last := bits.Len(uint(target.Lanes)) - 1
		if got, want := strings.Count(text, "\tvaddps"), abi.MaxGangItems/target.Lanes-1+last; got != want {
			t.Errorf("%s: %d additions, want %d of vectors and %d in the last", target.Name, got, want-last, last)
		}
		moved := 0
		for line := range strings.Lines(text) {
			if strings.Contains(line, "\tvmovups") && !strings.Contains(line, "[rip") { // constants do not count
				moved++
			}
		}
		if got, want := moved, abi.MaxGangItems/target.Lanes/2; got != want {
			t.Errorf("%s: %d vectors moved, want %d that are loaded\n%s", target.Name, got, want, text)
		}
		if strings.Contains(text, "vpcmp") || strings.Contains(text, "kortest") {
			t.Errorf("%s: masks for one item in\n%s", target.Name, text)
		}
	}
}
