package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestUnmaskedIf runs kernels with an If that depends on the item's position, taken by all gangs or by some. Positions
// also wrap within a gang.
func TestUnmaskedIf(t *testing.T) {
	needMachine(t)
	for _, condition := range []string{
		"i < 40", "i <= 40", "i > 40", "i >= 40", "i > 3 && i < n - 3", "i > 3 && j > 0 && i < 61 && j < 2", "i + 2147483600 > 7",
		"i + 2147483600 < 2147483640", "7 < i - 5", "2 * i < n", "i < -1", "-1 <= i", "2147483640 < i + 2147483600",
	} {
		k := rank1(t, `(g, x, y) => {
  const i = g.x, j = g.y, n = x.length
  if (`+condition+`) y[i] = x[i] + 1.5 * x[(i + 1) % n]
}`, ir.F32, ir.F32)
		for _, size := range []int{1, 8, 31, 64, 77, 131} {
			c := &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{64, 1, 1}, Args: []oracle.Arg{
				{Data: floats(size, func(i int) float32 { return float32(i*37%101)/40 - 1 }), Dims: []int32{int32(size)}},
				{Data: floats(size, func(i int) float32 { return -1 }), Dims: []int32{int32(size)}},
			}}
			for _, gang := range []int{1, 2, 4} {
				if !compare(t, c, gang, 2) {
					t.Fatalf("%s, %d items, gangs of %d registers", condition, size, gang)
				}
			}
		}
	}
}

// TestUnmaskedIfCode counts masked stores in the code of interior gangs: one for partial gangs and one for gangs at an
// edge, beside two without masks.
func TestUnmaskedIfCode(t *testing.T) {
	for _, c := range []struct {
		condition  string
		plain, all int // unmasked stores, and all
	}{
		{"i + x.length > 3 && i + x.length < 61", 1, 3},
		{"x[i] > 3", 0, 2},
	} {
		k := rank1(t, fmt.Sprintf("(g, x, y) => { const i = g.x; if (%s) y[i] = x[i] + 1.5 }", c.condition), ir.F32, ir.F32)
		text := listed(t, k, plan.Options{Features: vcode.AVX2.Features, Gang: 1})
		plain, masked := strings.Count(text, "\tvmovups ymmword ptr [rsi"), strings.Count(text, "\tvmaskmovps ymmword ptr [rsi")
		if plain != c.plain || plain+masked != c.all {
			t.Errorf("%s: %d stores without masks and %d with, want %d and %d, in\n%s", c.condition, plain, masked, c.plain, c.all-c.plain, text)
		}
	}
}
