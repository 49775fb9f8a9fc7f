package spmd

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// trimCase returns a case of a kernel (g, n, x, y), whose buffers have rows of this width.
func trimCase(t *testing.T, body string, n int32, elem ir.Type, size [3]int, width int) *oracle.Case {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: "(g, n, x, y) => {\n  const i = g.x, j = g.y\n  " + body + "\n}"})
	if err != nil {
		t.Fatal(err)
	}
	buffer := kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: elem}, Rank: 2}
	c, err := f.Compile([]kernel.Arg{{Kind: kernel.Scalar, Type: ir.I32}, buffer, buffer}, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	const rows = 4
	x := []byte(nil)
	for i := range uint64(width * rows) {
		v := i % 97
		if elem.IsFloat() {
			v = ir.FloatBits(elem, float64(v))
		}
		x = irgen.AppendElem(x, elem, v)
	}
	dims := []int32{rows, int32(width)}
	return &oracle.Case{Kernel: c.Module.Kernels[0], Size: size, GroupSize: [3]int{1, 1, 1}, Args: []oracle.Arg{
		{Bits: uint64(uint32(n))}, {Data: x, Dims: dims}, {Data: make([]byte, len(x)), Dims: dims}}}
}

// TestTrim runs kernels whose effects are all behind a test of the position, with bounds inside and outside of the launch, for
// elements of all sizes. Some kernels must not be trimmed, since items outside of the bounds have effects or faults.
func TestTrim(t *testing.T) {
	needMachine(t)
	const store = "y[j][i] = x[j][i] + 2 * x[j][i - 1] + x[j][i + 1]"
	bodies := []string{
		"if (i > 0 && j > 0 && i < x.shape[1] - 1 && j < 3) " + store,
		"if (i < 1 || j === 0 || i >= x.shape[1] - 1 || j > 2) return; " + store,
		"if (i >= n && i < x.shape[1] - 1 && i > 0) " + store,
		"if (!(i <= n || i >= x.shape[1] - 1 || i < 1)) " + store,
		"if (i < 1) return; if (n < i) return; if (i < x.shape[1] - 1) " + store,
		"if (i <= n) y[j][i] = 3; if (i > 9) return",
		"if (i <= n) y[j][i] = 3",
		"if (n <= i && i < g.size.x - 3) y[j][i] = x[j][i]",
		"if (n * 2 + 1 > i) y[j][i] = x[j][i] + 1; else y[j][i] = 7",
		"const v = x[j][i + 5]; if (i < n) y[j][i] = v",
		"y[j][i] = 1; if (i < n) y[j][i] = 2",
		"if (i < n) y[j][i] = 1; y[j][0] = 2",
		"if (i < n) { if (j === 1) return; y[j][i] = x[j][n + i] }",
		"if (i > 2 && x[j][i] > 5 && i < 70) y[j][i] = 1",
		"if (i > 5 && i < n) for (let k = 0; k < 3; k++) y[j][i] += x[j][i + k - 3]",
	}
	count := 0
	for _, body := range bodies {
		for _, n := range []int32{-5, 0, 1, 7, 33, 63, 64, math.MaxInt32, math.MinInt32} {
			for _, gang := range []int{1, 4} {
				elem, width := []ir.Type{ir.F32, ir.U8, ir.I16, ir.F64, ir.U8}[count%5], []int{1, 37, 70, 140}[count/2%4]
				c := trimCase(t, body, n, elem, [3]int{width + count%3, []int{1, 4, 4}[count%3], 1}, width+count%2)
				c.Unchecked = count%7 == 0
				if !compare(t, c, gang, count/2%8) {
					t.Fatalf("%s: n %d, elements of %v, %d items of %d, gangs of %d registers", body, n, elem, c.Size[0], width, gang)
				}
				count++
			}
		}
	}
}

// TestTrimCode checks which kernels lose their tests of the position: interior gangs then have neither comparisons nor masks.
func TestTrimCode(t *testing.T) {
	onAllTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, c := range []struct {
			condition string
			elem      ir.Type
			trimmed   bool
		}{
			{"i < 1000", ir.F32, true},
			{"i <= x.length", ir.U8, true},
			{"i > 3 && i < x.length - 1", ir.U8, true},
			{"i > 3 && i < x.length - 1", ir.F32, target.Name == "avx2"},
			{"i - 5 < 1000", ir.F32, false},
			{"i < x[0]", ir.F32, false},
			{"i < 1000 || i > 2000", ir.F32, false},
		} {
			k := rank1(t, fmt.Sprintf("(g, x, y) => { const i = g.x; if (%s) y[i] = x[i] }", c.condition), c.elem, c.elem)
			spec := plan.Spec{Gang: 1}
			options := plan.Options{Features: target.Features, Target: target}
			got, trim := plan.TrimRows(k, &options, &spec)
			tests := 0
			got.Body.Walk(func(in *ir.Instr) {
				if in.Op == ir.If {
					tests++
				}
			})
			if trimmed := tests == 0; trimmed != c.trimmed || c.trimmed && len(trim.Upper) == 0 {
				t.Errorf("%s of %v: trimmed is %v, want %v, with %+v", c.condition, c.elem, trimmed, c.trimmed, trim)
			}
			text := listed(t, k, plan.Options{Features: target.Features, Gang: 1})
			if masked := strings.Count(text, "vpcmpgtd ymm") + strings.Count(text, "vpcmpd k"); c.trimmed && masked != 1 {
				t.Errorf("%s of %v: %d comparisons of vectors, want 1 for the last gang of a row, in\n%s", c.condition, c.elem, masked, text)
			}
		}
	})
}
