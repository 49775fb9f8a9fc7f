package spmd

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/grid"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

// rank1 compiles and optimizes a kernel whose buffers have rank 1.
func rank1(t *testing.T, text string, elems ...ir.Type) *ir.Kernel {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	var args []kernel.Arg
	for _, e := range elems {
		args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: e}, Rank: 1})
	}
	c, err := f.Compile(args, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	m := c.Module.Clone()
	opt.Run(m, opt.Default, nil)
	return m.Kernels[0]
}

// batchKernels have grid-stride loops. A batch interleaves the rounds of some of them.
var batchKernels = []struct {
	name, text string
	batches    bool
}{
	{"sums", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) y[g.group.x] = s
}`, true},
	{"sums of each item", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * (g.group.x + 1)
  y[g.group.x * g.groupSize.x + g.local.x] = s
}`, true},
	{"two loops", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  const all = g.reduce.max(s)
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i] < all ? x[i] : g.group.x
  y[g.x] = s + g.local.x
}`, true},
	{"groups that do nothing", `(g, x, y) => {
  if (g.group.x % 3 == 2) return
  let s = g.local.x
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`, true},
	{"items that do nothing", `(g, x, y) => {
  if (g.local.x % 5 == 2 && g.group.x > 1) return
  let s = g.local.x
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`, false},
	{"items that come out early", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length - 3 * g.local.x; i += g.size.x) s = s * 0.5 + x[i]
  y[g.x] = s
}`, true},
	{"a loop that two values go through", `(g, x, y) => {
  let a = g.local.x, b = 2
  for (let i = g.x; i < x.length; i += g.size.x) { const t = a; a = b; b = t + x[i] }
  y[g.x] = a * 3 + b
}`, true},
	{"rows that all groups read", `(g, x, y) => {
  let s = 0
  for (let i = g.local.x; i < x.length; i += g.groupSize.x) s += x[i] * (g.group.x + 1)
  y[g.x] = s
}`, true},
	{"groups in descending order", `(g, x, y) => {
  let s = 0
  for (let i = g.size.x - (g.group.x + 1) * g.groupSize.x + g.local.x; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`, true},
	{"groups at uneven distances", `(g, x, y) => {
  let s = 0
  for (let i = g.x + (g.group.x & 1) * 7; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`, true},
	{"a step of each group", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x * (1 + (g.group.x & 1))) s += x[i]
  y[g.x] = s
}`, true},
	{"out of bounds", `(g, x, y) => {
  let s = g.local.x
  for (let i = g.x; i < x.length + 70; i += g.size.x) s += x[i]
  y[g.x] = s
}`, true},
	{"out of bounds in one group", `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[g.group.x == 3 && g.local.x > 40 ? i + g.size.x : i]
  y[g.x] = s
}`, false},
	{"a barrier before", `(g, x, y) => {
  g.barrier()
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`, false},
	{"shared memory", `(g, x, y) => {
  const kept = g.shared(f32, 256)
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  kept[g.local.x & 255] = s
  g.barrier()
  y[g.x] = kept[(g.local.x + 1) % g.groupSize.x & 255]
}`, false},
}

func TestBatches(t *testing.T) {
	needMachine(t)
	for _, b := range batchKernels {
		t.Run(b.name, func(t *testing.T) {
			k := rank1(t, b.text, ir.F32, ir.F32)
			for i, launch := range []struct{ group, groups, n int }{{64, 1, 9 * 64}, {64, 5, 7*320 + 33}, {192, 7, 6*1344 - 1}} {
				size := launch.group * launch.groups
				c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{launch.group, 1, 1}, Args: []oracle.Arg{
					{Data: floats(launch.n, func(i int) float32 { return float32(i*37%101) / 40 }), Dims: []int32{int32(launch.n)}},
					{Data: floats(size, func(i int) float32 { return -1 }), Dims: []int32{int32(size)}},
				}}
				compare(t, c, []int{1, 2, 4}[i], 2+i%2)
			}
		})
	}
}

// launchOf returns a prepared launch of a kernel for buffers of 32-bit elements with the listed lengths.
func launchOf(t *testing.T, target *vcode.Target, k *ir.Kernel, size, group int, counts ...int) (*exec.Variant, *interp.Launch, [][]uint32, int) {
	t.Helper()
	p, err := Compile(k, plan.Options{Features: target.Features})
	if err != nil {
		t.Fatal(err)
	}
	g := &interp.Launch{Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, SubgroupSize: abi.SubgroupSize}
	var buffers [][]uint32
	for _, n := range counts {
		b := make([]uint32, n)
		buffers = append(buffers, b)
		g.Args = append(g.Args, interp.Arg{Base: unsafe.Pointer(&b[0]), Bytes: 4 * n, Dims: [3]int32{int32(n)}})
	}
	v, units, err := p.Prepare(g)
	if err != nil {
		t.Fatal(err)
	}
	return v, g, buffers, units
}

func TestWhichLaunchesHaveBatches(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, b := range batchKernels {
			k := rank1(t, b.text, ir.F32, ir.F32)
			for group, want := range map[int]int{128: exec.MaxBatch, 256: grid.RowBytes / 4 / 256, 4096: 1} {
				v, g, _, _ := launchOf(t, target, k, 20*group, group, 100*group, 20*group)
				if !b.batches {
					want = 1
				}
				if got := v.Together(g); got != want && (want == 1 || got < 2 || got > want) { // frames may be too large
					t.Errorf("%s: %d groups of %d run together, want %d", b.name, got, group, want)
				}
			}
		}
	})
}

// TestBatchesTakeTurns checks the order in which the gangs of several groups run their iterations.
func TestBatchesTakeTurns(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		k := rank1(t, `(g, x, order, count) => {
  for (let i = g.x; i < x.length; i += g.size.x)
    if (x[i] == 0 && g.local.x % 64 == 0) order[Atomics.add(count, 0, 1)] = (i / g.size.x | 0) * g.groups.x + g.group.x
}`, ir.I32, ir.I32, ir.I32)
		const group, iterations = 256, 6
		groups := 4
		v, g, _, _ := launchOf(t, target, k, group*groups, group, group*groups*iterations, 4*groups*iterations, 1)
		if groups = min(groups, v.Together(g)); groups < 2 { // AVX2 frames leave room for three
			t.Fatalf("%d groups run together", groups)
		}
		v, g, buffers, units := launchOf(t, target, k, group*groups, group, group*groups*iterations, 4*groups*iterations, 1)
		w := v.Acquire(g)
		defer v.Release(w)
		if fault, err := w.Run(0, units, false); fault != nil || err != nil {
			t.Fatal(fault, err)
		}
		for i := 1; i < len(buffers[1]); i++ {
			if buffers[1][i] < buffers[1][i-1] {
				t.Fatalf("iterations of groups, by the order in which they are done: %v", buffers[1])
			}
		}
		if want := uint32(groups*iterations - 1); buffers[1][len(buffers[1])-1] != want {
			t.Fatalf("the last one is %d, want %d", buffers[1][len(buffers[1])-1], want)
		}
	})
}

// TestTurns checks the number of iterations that a gang runs per round.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rows       int
		want       int
		inSweep    int // iterations in the rounds in which gangs share a counter
		onZen      int // the same on a core with many outstanding misses
	}{
		{"tiny", "s += x[i]", 1, plan.MostTurns, plan.MostTurns, plan.SomeTurns},
		{"short", "s += x[i] * y[i]", 2, plan.ManyTurns, plan.SweepTurns, plan.SweepTurns},
		{"middle", "s += x[i] * (x[i] + 1) * (x[i] + 2) * (x[i] + 3) * (x[i] + 4) * (x[i] + 5) * (x[i] + 6) * (x[i] + 7) * (x[i] + 8) * (x[i] + 9) * (x[i] + 10)", 1, plan.SomeTurns, plan.SomeTurns, plan.SomeTurns},
		{"with an atomic operation", "{ s += x[i]; Atomics.add(y, 0, 1) }", 1, 1, 1, 1},
	} {
		k := rank1(t, `(g, x, y) => {
  let s = g.local.x
  for (let i = g.x; i < x.length; i += g.size.x) `+c.text+`
  y[g.x] = s
}`, ir.F32, ir.F32)
		var loop *ir.Instr
		k.Body.Walk(func(in *ir.Instr) {
			if in.Op == ir.Loop {
				loop = in
			}
		})
		if got := plan.ItersPerRound(loop, c.rows); got != c.want {
			t.Errorf("%s: %d iterations in a round, want %d, of\n%v", c.name, got, c.want, k)
		}
		for model, inSweep := range map[string]int{"generic": c.inSweep, "zen5": c.onZen} {
			text := listed(t, k, plan.Options{Features: vcode.AVX512.Features, Gang: 1, Model: uarch.Named(model)})
			sums := strings.Count(text, "\tvaddps") + strings.Count(text, "\tvfmadd")
			if c.want >= plan.ManyTurns && sums != 2*inSweep+1 { // code with one test for all iterations and with one for each, and code of single gangs
				t.Errorf("%s, %s: %d additions in\n%s", c.name, model, sums, text)
			}
		}
	}
}

// TestBatchesThatFetch checks that the lines that a batch prefetches for its next round fit in the L1 cache.
func TestBatchesThatFetch(t *testing.T) {
	const group = 256
	const step = "g.size.x"
	const stepOfGroup = "g.size.x + (g.group.x >> 20)" // so gangs have counters of their own
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, c := range []struct {
			model, step, item string
			want              int
		}{
			{"zen5", step, "x[i] * y[i]", grid.RowBytes / 4 / group},
			{"zen5", step, "x[i]", grid.RoundBytes / 2 / plan.SomeTurns / 4 / group},
			{"zen5", stepOfGroup, "x[i] * y[i]", grid.RoundBytes / 2 / plan.SomeTurns / 4 / group},
			{"skylake", step, "x[i]", grid.RowBytes / 4 / group},
			{"skylake", stepOfGroup, "x[i] * y[i]", grid.RowBytes / 4 / group},
		} {
			k := rank1(t, `(g, x, y, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += `+c.step+`) s += `+c.item+`
  s = g.reduce.add(s)
  if (g.local.x == 0) out[g.group.x] = s
}`, ir.F32, ir.F32, ir.F32)
			p, err := Compile(k, plan.Options{Features: target.Features, Model: uarch.Named(c.model)})
			if err != nil {
				t.Fatal(err)
			}
			g := &interp.Launch{Size: [3]int{20 * group, 1, 1}, GroupSize: [3]int{group, 1, 1}, SubgroupSize: abi.SubgroupSize}
			for _, n := range []int{100 * group, 100 * group, 20} {
				b := make([]uint32, n)
				g.Args = append(g.Args, interp.Arg{Base: unsafe.Pointer(&b[0]), Bytes: 4 * n, Dims: [3]int32{int32(n)}})
			}
			v, _, err := p.Prepare(g)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Together(g); got > c.want || got < 2 {
				t.Errorf("%s, %s, step %s: %d groups run together, want 2 to %d", c.model, c.item, c.step, got, c.want)
			}
		}
	})
}

// TestFaultInSweep compares the fault of one gang, in a round in which gangs share a counter, with the interpreter. Another item would
// fault if gangs repeated iterations after it.
func TestFaultInSweep(t *testing.T) {
	needMachine(t)
	const group, groups, rounds = 192, 5, 31
	const size = group * groups
	for _, memory := range []string{"", "g.shared(f32, 4)[g.local.x & 3] = 1; "} {
		k := rank1(t, `(g, x, y, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) { s += x[i]; s += y[i32(s)] }
  `+memory+`out[g.x] = s
}`, ir.F32, ir.F32, ir.F32)
		for _, at := range []int{size*9 + 3, size*12 + group*2 + 70, size*17 + size - 1, size * rounds / 2} {
			x := make([]float32, size*rounds)
			for i := range x {
				x[i] = float32(size) / (rounds + 1) // one iteration more would be too many
			}
			x[at] = 1e6
			c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
				{Data: floats(len(x), func(i int) float32 { return x[i] }), Dims: []int32{int32(len(x))}},
				{Data: floats(size, func(int) float32 { return 0 }), Dims: []int32{size}},
				{Data: floats(size, func(int) float32 { return -1 }), Dims: []int32{size}},
			}}
			for i, gang := range []int{1, 2, 4} {
				compare(t, c, gang, 2+i%2)
			}
		}
	}
}
