package spmd

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/plugins/cpu/internal/uarch"
)

const gathers = `(g, x, y) => {
  const a = x[g.y][(g.x * 7 + 3) & 63], b = x[(g.x * 5 + g.y) & 63][79 - g.x]
  y[g.y][g.x] = a + 3 * b
}`

// TestGathers checks the code of 32-bit gathers for processors with slow gather instructions and for others.
func TestGathers(t *testing.T) {
	for _, elem := range []ir.Type{ir.F32, ir.I32, ir.F64} {
		k := rank2(t, gathers, elem)
		for _, c := range []struct {
			features amd64.Features
			model    string
			splits   bool
		}{
			{vcode.AVX2.Features, "zen3", true}, {vcode.AVX2.Features, "skylake", false}, {amd64.ForAVX512, "zen4", false},
		} {
			text := listed(t, k, plan.Options{Features: c.features, Model: uarch.Named(c.model)})
			whole := strings.Split(text, "vmaskmov")[0] // before the last gang, whose lanes are masked
			if got := strings.Contains(whole, "vinsertps"); got != (c.splits && elem != ir.F64) {
				t.Errorf("%v on %s: single loads: %v\n%s", elem, c.model, got, text)
			}
		}
	}
}

// TestGathersLoad compares the elements that gathers load with the interpreter.
func TestGathersLoad(t *testing.T) {
	needMachine(t)
	for _, elem := range []ir.Type{ir.F32, ir.I32, ir.U32, ir.F64, ir.U8} {
		k := rank2(t, gathers, elem)
		for level := range 8 {
			for _, gang := range []int{1, 2, 4} {
				c := stackCase(k, elem, [3]int{64, 20, 1})
				c.Unchecked = level%3 == 0
				compare(t, c, gang, level)
			}
		}
	}
}
