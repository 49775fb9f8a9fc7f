package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestAddressesGoAlong counts the address computations in a loop: there must be none if its indices are proved in bounds.
func TestAddressesGoAlong(t *testing.T) {
	needMachine(t)
	for _, c := range []struct {
		name, text string
		computes   bool
	}{
		{"along a column", `(g, x, y) => {
  let s = 0
  for (let p = 0; p < 64; p += 4)
    for (let k = 0; k < x.length - 64; k += 5) s += x[p + k][g.x]
  y[g.y][g.x] = s
}`, false},
		{"downwards", `(g, x, y) => {
  let s = 0
  for (let k = x.length - 1; k >= 0; k -= 4) s += x[g.y][g.x] * x[k][g.x]
  y[g.y][g.x] = s
}`, false},
		{"in some iterations", `(g, x, y) => {
  let s = 0
  for (let k = -1000; k < x.length; k += 7) if (k >= 0) s += x[k][g.x]
  y[g.y][g.x] = s
}`, true},
	} {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, ir.F32)}}).Clone()
		opt.Run(m, opt.Default, nil)
		for _, target := range targets() {
			p, err := Compile(m.Kernels[0], plan.Options{Features: target.Features, Gang: 1})
			if err != nil {
				t.Fatal(err)
			}
			text, err := p.List(p.Listed(), func(int) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(text, "vaddps")
			if i := strings.Index(text, "vfmadd"); at < 0 {
				at = i
			}
			end := at + strings.Index(text[at:], "jmp")
			loop := text[strings.LastIndex(text[:at], "\n.L"):end]
			if computes := strings.Contains(loop, "movsxd") || strings.Contains(loop, "imul"); computes != c.computes {
				t.Errorf("%s, %s: the loop computes addresses: %v, want %v:\n%s", c.name, target.Name, computes, c.computes, loop)
			}
		}
	}
}

// TestCountersAndAddresses compares loops with the interpreter whose indices are affine in a counter, or only seem to be.
func TestCountersAndAddresses(t *testing.T) {
	needMachine(t)
	const side = 80 // side length of the buffers
	for _, c := range []struct{ name, text string }{
		{"downwards", `for (let k = 79; k >= 0; k -= 3) s = s * 0.5 + x[k][g.x] * x[g.y][k]`},
		{"with constants beside", `for (let k = 4; k < 70; k += 3) s = s * 0.5 + x[k - 4][g.x] + x[k + 9][g.x] * x[g.y][k - 2]`},
		{"of two counters", `for (let k = 0, j = 60; k < 20; k++, j -= 2) s = s * 0.5 + x[k + j][g.x] + x[j - k][g.x]`},
		{"of another loop's counter", `for (let p = 0; p < 40; p += 20) for (let k = 0; k < 20; k++) { s = s * 0.5 + x[p + k][g.x] + x[g.y][p - k + 30]; if (s > 1e6) break }`},
		{"after the counter went on", `for (let k = 0; k < 70;) { k += 3; s = s * 0.5 + x[k][g.x]; if (k == 45) k = 50 }`},
		{"where two ways go on", `for (let k = 0; k < 75; k++) { s += x[k][g.x]; if (k % 7 == g.y) { k += 2; continue } s = s * 0.5 + x[g.y][k] }`},
		{"in some iterations", `for (let k = -90; k < 90; k += 4) { if (k >= 0 && k < 80) s = s * 0.5 + x[k][g.x] }`},
		{"of a counter that wraps", `for (let n = 0, k = 2147385346; n < 32775; n++, k = (k + 65535) | 0) if (k >= 0 && k < 80) s = s * 0.5 + x[k][g.x]`},
		{"of a counter that wraps, in a loop", `for (let n = 0, k = 2147385346; n < 32775; n++, k = (k + 65535) | 0)
    for (let j = 0; j < 3 && k >= 0 && k < 80; j++) s = s * 0.5 + x[k][g.x + j] + x[g.y][j]`},
		{"that wraps back", `for (let n = 0, k = 2147483600; n < 80; n++, k = (k + 1) | 0) s = s * 0.5 + x[(k - 2147483600) | 0][g.x]`},
		{"of no iteration", `for (let k = 2147483647; k < g.y; k += 5) s += x[k][g.x]`},
		{"for some lanes", `for (let k = 0; k < g.x; k += 2) s = s * 0.5 + x[k][g.x] + x[g.y][k + 1]`},
		{"left in the middle", `for (let k = 0; k < 79; k++) { s = s * 0.5 + x[k][g.x]; if (k == 30 + g.y) break; s += x[g.y][k + 1] }`},
		{"times another", `const n = g.y + 1; for (let k = 0; k < 20; k++) s = s * 0.5 + x[n][k] + x[k * 3][g.x] + x[(k << 1) + n][g.x]`},
		{"in memory of the group", `const all = g.shared(f32, 20, 16)
  for (let k = 0; k < 20; k++) all[k][g.local.x & 15] = x[k][g.x]
  g.barrier()
  for (let p = 0; p < 3; p++) {
    for (let k = 0; k < 20; k++) s = s * 0.5 + all[k][g.local.x & 15] * x[p + k][g.x]
    g.barrier()
  }`},
	} {
		k := rank2(t, "(g, x, y) => {\n  let s = 0\n  "+c.text+"\n  y[g.y][g.x] = s\n}", ir.F32)
		sizes := [][3]int{{32, 3, 1}, {77, 2, 1}}
		if strings.Contains(c.text, "32775") { // an index that wraps in a late iteration
			sizes = [][3]int{{16, 1, 1}}
		}
		for i, size := range sizes {
			launch := &oracle.Case{Kernel: k, Size: size, GroupSize: [3]int{16, 1, 1}}
			for range 2 {
				launch.Args = append(launch.Args, oracle.Arg{Data: floats(side*side, func(i int) float32 { return float32(i%97) / 4 }), Dims: []int32{side, side}})
			}
			if gang := i + 1; !compare(t, launch, gang, i) {
				t.Errorf("%s, %v, gang %d", c.name, size, gang)
			}
		}
	}
}
