package spmd

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// barrierKernels have values that are live across barriers and change between them. Each reads x and writes y.
var barrierKernels = []struct{ name, text string }{
	{"in a loop", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0, t = 1
  for (let p = 0; p < 3; p++) {
    all[g.local.x] = x[p][g.x] + s
    g.barrier()
    for (let k = 0; k < 20; k++) { s += all[k] * x[g.y][k]; t = t + s }
    g.barrier()
  }
  y[g.y][g.x] = s + t
}`},
	{"in a loop that is left in its middle", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0, t = 1
  for (let p = 0; p < 4; p++) {
    all[g.local.x] = x[p][g.x] + t
    g.barrier()
    let n = 0
    for (let k = 0; k < 20; k++) {
      s += all[k]
      if (k == g.group.x + 5) break
      t += s
      n++
    }
    g.barrier()
    if (p == 2) { t += 100 + n; break }
    s += n
  }
  y[g.y][g.x] = s + t
}`},
	{"for some lanes", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0, t = 1, u = 2
  for (let p = 0; p < 3; p++) {
    if (g.local.x % 3 == p) { s = x[p][g.x]; for (let k = 0; k < g.local.x % 5; k++) u += s }
    else t += u
    all[g.local.x] = s + u
    g.barrier()
    if (all[(g.local.x * 7) % 8] > 50) s += t
    g.barrier()
  }
  y[g.y][g.x] = s + t + u
}`},
	{"on one of two ways, for all lanes", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 1, t = 2
  for (let p = 0; p < 4; p++) {
    if ((p + g.group.x) % 2 == 0) { s += x[p][g.x]; t += s }
    all[g.local.x] = s
    g.barrier()
    if (g.group.y == 0) s = all[p] + t
    g.barrier()
    if (p == 1 && g.group.x == 1) { t += s; continue }
    s += 1
  }
  y[g.y][g.x] = s + t
}`},
	{"only before", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0
  for (let k = 0; k < 20; k++) s += x[k][g.x]
  all[g.local.x] = s
  g.barrier()
  y[g.y][g.x] = all[0] + s + s * s
}`},
	{"that change places", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = x[0][g.x], t = 2, u = 3
  for (let p = 0; p < 5; p++) {
    all[g.local.x] = s
    g.barrier()
    const old = s
    s = t + all[(g.local.x + 1) % 8]
    t = u
    u = old
    g.barrier()
  }
  y[g.y][g.x] = s + 3 * t + 7 * u
}`},
	{"that are needed as they were before a loop between", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0, t = 1
  for (let p = 0; p < 3; p++) {
    all[g.local.x] = x[p][g.x] + t
    g.barrier()
    const before = s
    for (let k = 0; k < 20; k++) s += all[k % 8] * x[g.y][k]
    g.barrier()
    t += s - before
    all[g.local.x] = before
    g.barrier()
    if (all[p] > 9) s = before + 1
    g.barrier()
  }
  y[g.y][g.x] = s + t
}`},
	{"of loops whose values some lanes keep", `(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 1, t = 0
  for (let p = 0; p < 3; p++) {
    all[g.local.x] = s
    g.barrier()
    let u = s
    for (let k = 0; k < g.local.x % 4; k++) { u += all[k]; if (u > 40) break }
    g.barrier()
    if (g.local.x % 3 != p) { t += s; s = u }
  }
  y[g.y][g.x] = s + t
}`},
	{"more of them than a word has bits", manyAcrossBarriers(70)},
}

// manyAcrossBarriers returns a kernel with n values live across barriers, each set again on one of two paths.
func manyAcrossBarriers(n int) string {
	var before, between, after strings.Builder
	for i := range n {
		fmt.Fprintf(&before, "  let v%d = x[%d][g.x]\n", i, i)
		fmt.Fprintf(&between, "    if (all[p] > %d) v%d += all[%d]\n", i, i, i%8)
		fmt.Fprintf(&after, "  s = s * 0.5 + v%d\n", i)
	}
	return fmt.Sprintf(`(g, x, y) => {
  const all = g.shared(f32, 64)
  let s = 0
%v  for (let p = 0; p < 3; p++) {
    all[g.local.x] = v%d + v3
    g.barrier()
%v    g.barrier()
  }
%v  y[g.y][g.x] = s
}`, &before, n-1, &between, &after)
}

// TestSplitAtBarriers compares kernels with values live across barriers with the interpreter.
func TestSplitAtBarriers(t *testing.T) {
	needMachine(t)
	const side = 80 // side length of the buffers
	for _, c := range barrierKernels {
		k := rank2(t, c.text, ir.F32)
		for i, l := range []struct {
			size, group [3]int
			gang        int
		}{{[3]int{32, 4, 1}, [3]int{16, 2, 1}, 1}, {[3]int{40, 3, 1}, [3]int{20, 2, 1}, 2}, {[3]int{64, 1, 1}, [3]int{64, 1, 1}, 2}} {
			launch := &oracle.Case{Kernel: k, Size: l.size, GroupSize: l.group}
			for range 2 {
				launch.Args = append(launch.Args, oracle.Arg{Data: floats(side*side, func(i int) float32 { return float32(i%97) / 4 }), Dims: []int32{side, side}})
			}
			if !compare(t, launch, l.gang, i) {
				t.Errorf("%s, %v in groups of %v", c.name, l.size, l.group)
			}
		}
	}
}

// TestLoopsBetweenBarriers checks that the sums of a loop between barriers stay in registers, and have one slot each in
// the frame of a waiting gang.
func TestLoopsBetweenBarriers(t *testing.T) {
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, `(g, x, y) => {
  const all = g.shared(f32, 64), sum = g.private(f32, 4)
  for (let p = 0; p < 64; p++) {
    all[g.local.x] = x[p][g.x]
    g.barrier()
    for (let k = 0; k < x[0][0]; k++)
      for (let i = 0; i < 4; i++) sum[i] += all[g.local.x] * x[p + i][k]
    g.barrier()
  }
  for (let i = 0; i < 4; i++) y[g.y + i][g.x] = sum[i]
}`, ir.F32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	text := listed(t, m.Kernels[0], plan.Options{Features: vcode.AVX512.Features, Gang: 2})
	at := strings.Index(text, "vfmadd")
	if at < 0 {
		t.Fatalf("no fused multiply-add in:\n%s", text)
	}
	end := at + strings.Index(text[at:], "jmp")
	begin := strings.LastIndex(text[:at], "j") // the loop's exit
	loop := text[begin:end]
	if strings.Contains(loop, "[r15") {
		t.Errorf("the loop uses a gang's frame:\n%s", loop)
	}
	if copies := regexp.MustCompile(`vmov\w+ [xyz]mm\d+, [xyz]mm\d`); copies.MatchString(loop) {
		t.Errorf("the loop copies vectors:\n%s", loop)
	}
	// Each slot is zeroed, stored and loaded by the loop, and loaded for the result.
	places := map[string]int{}
	for _, m := range regexp.MustCompile(`vmovups .*\[(r15 \+ \d+)\]`).FindAllStringSubmatch(text, -1) {
		places[m[1]]++
	}
	for place, n := range places {
		if n != 4 {
			t.Errorf("%s is stored and loaded %d times, want 4, in:\n%s", place, n, text)
			break
		}
	}
	if len(places) != 2*4 {
		t.Errorf("%d places for 8 vectors", len(places))
	}
}

// TestWaitingGangsKeepTheirFrames runs kernels with barriers and few registers, so that the code that selects the next
// gang spills. It must not spill to the frame of the waiting gang.
func TestWaitingGangsKeepTheirFrames(t *testing.T) {
	needMachine(t)
	for _, seed := range []uint64{105020284, 105021451, 105021559, 105021964} {
		checkSeed(t, seed)
	}
}

// TestLoopsAreRepeated checks the unrolling of loops with constant trip counts. A short loop must be unrolled completely,
// with addresses that differ by constants.
func TestLoopsAreRepeated(t *testing.T) {
	m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, `(g, x, y) => {
  let s = 0
  for (let k = 0; k < 1024; k++) s += x[0][k] * x[k][g.x]
  let u = 0
  for (let k = 0; k < 3; k++) u += x[1][g.x + k]
  y[g.y][g.x] = s * u
}`, ir.F32)}}).Clone()
	opt.Run(m, opt.Default, nil)
	text := listed(t, m.Kernels[0], plan.Options{Features: vcode.AVX512.Features, Gang: 1})
	// One copy is for complete gangs, one for others.
	if n := strings.Count(text, "vfmadd"); n != 2*8 {
		t.Errorf("%d fused multiply-adds, want 16", n)
	}
	if !strings.Contains(text, "*4 + 28]") {
		t.Errorf("no address of an eighth element that differs by a constant:\n%s", text)
	}
}
