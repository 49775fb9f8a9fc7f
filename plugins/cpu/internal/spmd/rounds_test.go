package spmd

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestOnlyExit checks which loops can be interleaved: code before the only exit must be repeatable, and no operation may
// have an order among items.
func TestOnlyExit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"a count", `(g, x, y) => { let s = 0; for (let k = g.x; k < 90; k += 7) s += x[0][k]; y[0][g.x] = s }`, true},
		{"what is computed first", `(g, x, y) => { let s = 0; for (let k = g.x; Math.sqrt(k * 3) < 9; k += 7) s += x[0][k]; y[0][g.x] = s }`, true},
		{"what is loaded first", `(g, x, y) => { let s = 0; for (let k = g.x; x[1][k] < 9; k += 7) s += x[0][k]; y[0][g.x] = s }`, true},
		{"stores", `(g, x, y) => { for (let k = g.x; k < 90; k += 7) y[0][k] = x[0][k] }`, true},
		{"stores first", `(g, x, y) => { let k = g.x; while (true) { y[1][k] = k; if (k > 90) break; y[0][k] = x[0][k]; k += 7 } }`, false},
		{"two ways out", `(g, x, y) => { let s = 0; for (let k = g.x; k < 90; k += 7) { s += x[0][k]; if (s > 9) break } y[0][g.x] = s }`, false},
		{"a return", `(g, x, y) => { let s = 0; for (let k = g.x; k < 90; k += 7) { s += x[0][k]; if (s > 9) return } y[0][g.x] = s }`, false},
		{"a print", `(g, x, y) => { let s = 0; for (let k = g.x; k < 90; k += 7) { s += x[0][k]; g.print(s) } y[0][g.x] = s }`, false},
		{"a condition inside", `(g, x, y) => { let s = 0; for (let k = g.x; k < 90; k += 7) { if (x[0][k] > 3) s += x[0][k] } y[0][g.x] = s }`, true},
	} {
		m := (&ir.Module{Kernels: []*ir.Kernel{rank2(t, c.text, ir.F32)}}).Clone()
		opt.Run(m, opt.Default, nil)
		loops, got := 0, false
		m.Kernels[0].Body.Walk(func(in *ir.Instr) {
			if in.Op == ir.Loop {
				loops++
				got = analysis.ContinuesOnlyAtEnd(in) && plan.OnlyExit(in) != nil
			}
		})
		if loops != 1 || got != c.want {
			t.Errorf("%s: %d loops, in rounds %v, want %v\n%v", c.name, loops, got, c.want, m.Kernels[0])
		}
	}
}
