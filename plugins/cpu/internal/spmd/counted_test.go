package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestTestedRounds compares loops whose rounds have one test for several iterations with the interpreter. Bounds,
// extents and steps end some rounds early, or make them fault.
func TestTestedRounds(t *testing.T) {
	needMachine(t)
	const group, groups = 64, 3
	const size = group * groups
	for _, c := range []struct {
		name, loop string
		x, y       int // numbers of elements
	}{
		{"whole rounds", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]", 32 * size, 32 * size},
		{"a round cut short", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]", 27*size + 5, 32 * size},
		{"an array that ends before", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]", 32 * size, 21*size + 7},
		{"one row", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i]", 29*size + 1, size},
		{"a constant bound", "for (let i = g.x; i < 4000; i += 192) s += x[i] + y[i]", 4000, 4001},
		{"a constant bound behind the end", "for (let i = g.x; i < 4000; i += 192) s += x[i] + y[i]", 4000, 3900},
		{"at most", "for (let i = g.x; i <= 4000; i += g.size.x) s += x[i]", 4001, size},
		{"at most, behind the end", "for (let i = g.x; i <= 4000; i += g.size.x) s += x[i]", 4000, size},
		{"a start before the first element", "for (let i = g.x - 70; i < x.length; i += g.size.x) s += i < 0 ? 3 : x[i]", 20 * size, size},
		{"a start before the first element, which is read", "for (let i = g.x - 70; i < x.length; i += g.size.x) s += x[i]", 20 * size, size},
		{"a step of the data", "const d = i32(y[0]); for (let i = g.x; i < x.length; i += d) s += x[i]", 20 * size, size},
		{"a step back", "const d = -i32(y[0]); for (let i = g.x; i < x.length; i += d) s += x[i]", 20 * size, size},
		{"a step that wraps", "const d = 2000000000 + i32(y[0]); for (let i = g.x; i < x.length; i += d) s += x[i]", 20 * size, size},
		{"a bound of the data", "const n = 1900 + i32(y[0]); for (let i = g.x; i < n; i += g.size.x) s += x[i]", 1906, size},
		{"a bound of the data, negative", "const n = -i32(y[0]); for (let i = g.x; i < n; i += g.size.x) s += x[i]", 1906, size},
		{"neighbours", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i] - y[i + 1]", 20*size - 1, 20 * size},
		{"neighbours, one too many", "for (let i = g.x; i < x.length; i += g.size.x) s += x[i] - y[i + 1]", 20 * size, 20 * size},
	} {
		k := rank1(t, "(g, x, y, out) => { let s = 0; "+c.loop+"; out[g.x] = s }", ir.F32, ir.F32, ir.F32)
		for i, gang := range []int{1, 2, 4} {
			launch := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
				{Data: floats(c.x, func(i int) float32 { return float32(i*37%101) / 40 }), Dims: []int32{int32(c.x)}},
				{Data: floats(c.y, func(i int) float32 { return float32(5 + i*i%7) }), Dims: []int32{int32(c.y)}},
				{Data: floats(size, func(int) float32 { return -1 }), Dims: []int32{size}},
			}}
			if !compare(t, launch, gang, i%2+2) {
				t.Errorf("%s, gangs of %d registers", c.name, gang)
			}
		}
	}
}

// TestOneTestForRounds counts the jumps between the iterations of a round.
func TestOneTestForRounds(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, c := range []struct {
			loop  string
			jumps int // jumps of the test before the iterations
		}{
			{"for (let i = g.x; i < x.length; i += g.size.x) s += x[i]", 1},
			{"for (let i = g.x; i < x.length; i += g.size.x) s += x[i] * y[i]", 2},
			{"for (let i = g.x; i < 99999; i += 1024) s += x[i] * y[i]", 1}, // all indices are proved in bounds
		} {
			k := rank1(t, "(g, x, y, out) => { let s = g.local.x; "+c.loop+"; out[g.x] = s }", ir.F32, ir.F32, ir.F32)
			text := listed(t, k, plan.Options{Features: target.Features, Gang: 1})
			sums, first, last := 0, 0, 0
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				if strings.HasPrefix(line, "\tvfmadd") || strings.HasPrefix(line, "\tvaddps") {
					if sums++; sums == 1 {
						first = i
					}
					if sums == plan.SomeTurns {
						last = i
					}
				}
			}
			if first == 0 || last == 0 {
				t.Fatalf("%d sums in\n%s", sums, text)
			}
			begin := first
			for labels := 0; labels < 2; begin-- { // the loop over gangs, and that of rounds around it
				if strings.HasPrefix(lines[begin], ".L") {
					labels++
				}
			}
			if n := strings.Count(strings.Join(lines[begin:first], "\n"), "\tj"); n != c.jumps {
				t.Errorf("%s: %d jumps before the first iteration, want %d, in\n%s", c.loop, n, c.jumps, strings.Join(lines[begin:last], "\n"))
			}
			if between := strings.Join(lines[first:last], "\n"); strings.Contains(between, "\tj") {
				t.Errorf("%s: jumps between iterations\n%s", c.loop, between)
			}
		}
	})
}
