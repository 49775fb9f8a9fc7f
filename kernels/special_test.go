package kernels_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

var update = flag.Bool("update", false, "compute testdata/special.txt anew with node")

const specialFile = "testdata/special.txt"

// specialScript prints `function x y result` for special arguments, with numbers as bits of doubles. Arguments are f32
// values, so they are valid for both types.
const specialScript = `
const b = x => { const v = new DataView(new ArrayBuffer(8)); v.setFloat64(0, x); return x !== x ? 'nan' : v.getBigUint64(0).toString(16) }
const list = [NaN, 0, -0, Infinity, -Infinity, 1, -1, 0.5, -0.5, 2, -2, 3, -3, 4, 1.5, -1.5, 8, -8, 10, 100, -100, 1000, -1000, 1e6, 88.5, 89.5, -87.5, -104.5,
  2**-149, -(2**-149), 2**-126, -(2**-126), 2**-140, 2**127, -(2**127), 16777215, 16777216, -16777217, 2**24 + 2, Math.fround(3.4e38), Math.fround(-3.4e38),
  Math.fround(0.1), Math.fround(-0.1), 1 - 2**-24, 1 + 2**-23, -1 + 2**-24, -1 - 2**-23, 2**-30, -(2**-30)].map(Math.fround)
for (const f of ['exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sqrt', 'cbrt', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh'])
  for (const x of list) console.log(f, b(x), '-', b(Math[f](x)))
const short = list.filter((_, i) => i < 12 || i % 2 == 0)
for (const f of ['pow', 'atan2', 'hypot'])
  for (const x of short) for (const y of short) console.log(f, b(x), b(y), b(Math[f](x, y)))
`

func TestSpecialValuesAreJavaScripts(t *testing.T) {
	if *update {
		out, err := exec.Command("node", "-e", specialScript).Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(specialFile, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(specialFile)
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		if s == "nan" {
			return math.NaN()
		}
		var b uint64
		if _, err := fmt.Sscanf(s, "%x", &b); err != nil && s != "-" {
			t.Fatal(err)
		}
		return math.Float64frombits(b)
	}
	type row struct{ x, y, want float64 }
	rows := map[string][]row{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		f := strings.Fields(s.Text())
		rows[f[0]] = append(rows[f[0]], row{number(f[1]), number(f[2]), number(f[3])})
	}
	if len(rows) != 23 {
		t.Fatalf("%d functions, want 23", len(rows))
	}
	lib := kernels.New()
	for fn, rows := range rows {
		t.Run(fn, func(t *testing.T) {
			r32, r64 := newRunner(t, lib, fn, ir.F32), newRunner(t, lib, fn, ir.F64)
			var x32, y32 []float32
			var x64, y64 []float64
			for _, r := range rows {
				x32, y32, x64, y64 = append(x32, float32(r.x)), append(y32, float32(r.y)), append(x64, r.x), append(y64, r.y)
			}
			args32, args64 := [][]float32{x32, y32}[:r32.arity], [][]float64{x64, y64}[:r64.arity]
			out32, out64 := r32.run32(args32...), r64.run64(args64...)
			for i, r := range rows {
				if e := compare32(out32[i], r.want); !(e <= 1) {
					t.Errorf("%s.f32(%v, %v) = %v, JavaScript: %v", fn, r.x, r.y, out32[i], r.want)
				}
				got := out64[i]
				if r.want == 0 || math.IsInf(r.want, 0) || r.want != r.want {
					if math.Float64bits(got) != math.Float64bits(r.want) && !(got != got && r.want != r.want) {
						t.Errorf("%s.f64(%v, %v) = %v, JavaScript: %v", fn, r.x, r.y, got, r.want)
					}
				} else if e := ulps(got, r.want, 0, 53, -1074, 1024); !(e <= 2) {
					t.Errorf("%s.f64(%v, %v) = %v, JavaScript: %v: %v ulp", fn, r.x, r.y, got, r.want, e)
				}
			}
		})
	}
	// Functions that JavaScript lacks.
	for _, c := range []struct {
		fn      string
		x, want float64
	}{
		{"rsqrt", 0, math.Inf(1)}, {"rsqrt", math.Copysign(0, -1), math.Inf(-1)}, {"rsqrt", math.Inf(1), 0}, {"rsqrt", -1, math.NaN()}, {"rsqrt", 4, 0.5},
		{"erf", 0, 0}, {"erf", math.Copysign(0, -1), math.Copysign(0, -1)}, {"erf", math.Inf(1), 1}, {"erf", math.Inf(-1), -1},
		{"exp2", math.Inf(1), math.Inf(1)}, {"exp2", math.Inf(-1), 0}, {"exp2", math.Copysign(0, -1), 1}, {"exp2", 1024, math.Inf(1)}, {"exp2", -1075, 0},
	} {
		got32, got64 := newRunner(t, lib, c.fn, ir.F32).run32([]float32{float32(c.x)})[0], newRunner(t, lib, c.fn, ir.F64).run64([]float64{c.x})[0]
		for _, got := range []float64{float64(got32), got64} {
			if math.Float64bits(got) != math.Float64bits(c.want) && !(got != got && c.want != c.want) {
				t.Errorf("%s(%v) = %v, want %v", c.fn, c.x, got, c.want)
			}
		}
	}
}
