package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/tests/golden"
)

// TestLoops compares the instructions in the innermost loops of typical kernels with testdata/loops.golden. A line has, for a
// kernel with all indices proved and a target, the instructions of each loop, and how many of them use a spill slot or another
// place in the frame. A row of tests/peers can get slower on a machine that is not at hand; this shows it on any. -update rewrites
// the file.
func TestLoops(t *testing.T) {
	kernels := []struct {
		name   string
		kernel *ir.Kernel
	}{
		{"dot", anyRank(t, `(g, x, y, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) Atomics.add(out, 0, s)
}`)},
		{"blend of bytes", rank1(t, `(g, x, y) => { y[g.x] = (3 * x[g.x] + y[g.x] + 2) >> 2 }`, ir.U8, ir.U8)},
		{"blur of bytes", rank2(t, `(g, from, to) => {
  const x = g.x, y = g.y
  if (x > 0 && y > 0 && x < 2047 && y < 2047)
    to[y][x] = (4 * from[y][x] + from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x]) >> 3
}`, ir.U8)},
		{"lookup", rank1(t, `(g, at, table, out) => { out[g.x] = table[at[g.x] & 4095] }`, ir.I32, ir.F32, ir.F32)},
	}
	for _, k := range typicalKernels {
		kernels = append(kernels, struct {
			name   string
			kernel *ir.Kernel
		}{k.name, anyRank(t, k.text)})
	}
	var lines strings.Builder
	for _, k := range kernels {
		for _, target := range allTargets {
			p, err := Compile(optimized(k.kernel), plan.Options{Features: target.Features, CacheBytes: 1 << 20, Model: every})
			if err != nil {
				t.Fatal(err)
			}
			spec := Spec{Gang: p.gang, Whole: p.observes, Adjacent: p.observes}
			spec.WithinExtents, spec.IndicesProved = p.facts.Any()
			text, err := p.List(spec, func(int) string { return "" })
			if err != nil {
				t.Fatalf("%s: %v", k.name, err)
			}
			fmt.Fprintf(&lines, "%s, %s, gang %d: %s\n", k.name, target.Name, p.gang, strings.Join(innermostLoops(text), "; "))
		}
	}
	golden.Compare(t, "testdata/loops.golden", lines.String(), *update)
}

// innermostLoops describes the loops without inner loops in a listing: the runs of instructions from a label to a jump back to it. A
// poll that stands apart returns by a jump that is no loop.
func innermostLoops(listing string) (loops []string) {
	at := map[string]int{} // the line after each label
	var code []string
	last := -1 // the begin of the last loop, which later loops from an earlier line contain
	for line := range strings.Lines(listing) {
		line = strings.TrimSpace(line)
		if label, ok := strings.CutSuffix(line, ":"); ok {
			at[label] = len(code)
			continue
		}
		if line == "" || line[0] == '#' || line[0] == '.' {
			continue
		}
		code = append(code, line)
		op, to, _ := strings.Cut(line, " ")
		begin, back := at[to]
		if op[0] != 'j' || !back || isPollApart(code) {
			continue
		}
		if begin > last {
			frame := 0
			for _, l := range code[begin:] {
				if strings.Contains(l, "[r15") {
					frame++
				}
			}
			loops = append(loops, fmt.Sprintf("%d (%d)", len(code)-begin, frame))
		}
		last = max(last, begin)
	}
	return loops
}

// isPollApart reports whether instructions end with a poll that is entered by jumps only.
func isPollApart(code []string) bool {
	n := len(code)
	return n >= 5 && strings.HasPrefix(code[n-1], "jmp ") && code[n-3] == "cmp byte ptr [rax], 0" && strings.HasPrefix(code[n-5], "jmp ")
}
