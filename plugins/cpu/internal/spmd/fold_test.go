package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestFoldLoads counts the separate loads in the loop over whole gangs. Loads with one use become memory operands,
// except across a store, and as both operands of an instruction that allows one.
func TestFoldLoads(t *testing.T) {
	for _, c := range []struct {
		name, text string
		alone      int
	}{
		{"a sum", `(g, x, y) => { y[g.x] = x[g.x] + 1.5 }`, 0},
		{"a sum of two", `(g, x, y) => { y[g.x] = x[g.x] + y[g.x] }`, 1},
		{"a product with what is added", `(g, x, y) => { y[g.x] = 0.5 * x[g.x] + y[g.x] }`, 1},
		{"a difference from what is loaded", `(g, x, y) => { y[g.x] = x[g.x] - g.x }`, 1},
		{"a difference of what is loaded", `(g, x, y) => { y[g.x] = g.x - x[g.x] }`, 0},
		{"a square", `(g, x, y) => { const a = x[g.x]; y[g.x] = a * a }`, 1},
		{"behind a store", `(g, x, y) => { const a = x[g.x]; y[g.x] = 1; y[g.x] = a + 1.5 }`, 1},
	} {
		for _, target := range allTargets {
			text := listed(t, rank1(t, c.text, ir.F32, ir.F32), plan.Options{Features: target.Features, Gang: 1})
			body, _, _ := strings.Cut(text, "\ttest ")
			loads := 0
			for line := range strings.Lines(body) {
				if f := strings.Fields(line); len(f) > 2 && f[0] == "vmovups" && strings.Contains(line, "*4]") && !strings.Contains(f[1], "word") {
					loads++
				}
			}
			if loads != c.alone {
				t.Errorf("%s, %s: %d loads, want %d, in\n%s", c.name, target.Name, loads, c.alone, body)
			}
		}
	}
}
