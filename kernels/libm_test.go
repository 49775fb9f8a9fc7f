package kernels_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/libm"
)

// hostFunctions maps names in the library to functions of package libm.
var hostFunctions = map[string]any{
	"acos": libm.Acos, "acosh": libm.Acosh, "asin": libm.Asin, "asinh": libm.Asinh, "atan": libm.Atan, "atan2": libm.Atan2,
	"atanh": libm.Atanh, "cbrt": libm.Cbrt, "cos": libm.Cos, "cosh": libm.Cosh, "erf": libm.Erf, "exp": libm.Exp, "exp2": libm.Exp2,
	"expm1": libm.Expm1, "frexp": libm.Frexp, "frexp_exponent": libm.FrexpExponent, "hypot": libm.Hypot, "ldexp": libm.Ldexp,
	"log": libm.Log, "log10": libm.Log10, "log1p": libm.Log1p, "log2": libm.Log2, "pow": libm.Pow, "rsqrt": libm.Rsqrt,
	"sin": libm.Sin, "sinh": libm.Sinh, "sqrt": libm.Sqrt, "tan": libm.Tan, "tanh": libm.Tanh,
}

// specials returns arguments at the limits of ranges; functions of two arguments are tested with all pairs.
func specials() []float64 {
	list := []float64{0, 1, 0.5, 2, 3, 4, 1.5, 8, 10, 100, 1000, 1e6, 1 << 20, 0x1p53, 0x1p53 - 1, 0x1p63, 0x1p64, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp-1023,
		math.MaxFloat64, math.MaxFloat32, 1e-300, 1e300, math.Inf(1), 709.8, 745.2, 1024, 1075, math.Pi, math.Pi / 2, math.Pi / 4, 1 - 0x1p-53, 1 + 0x1p-52, 1.0 / 3}
	for _, x := range append(list, hard...) {
		list = append(list, x, -x)
	}
	return append(list, math.Copysign(0, -1), math.NaN())
}

// TestHostFunctions compares the library's Go code with its IR in the interpreter, exactly.
func TestHostFunctions(t *testing.T) {
	lib := kernels.New()
	count := 100_000
	if testing.Short() {
		count = 10_000
	}
	if names := lib.Names(ir.F64); len(names) != len(hostFunctions) {
		t.Errorf("%d functions of f64 in the library, %d here: %v", len(names), len(hostFunctions), names)
	}
	for fn, host := range hostFunctions {
		t.Run(fn, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, lib, fn, ir.F64)
			var xs, ys []float64
			for _, x := range specials() {
				if r.arity == 1 {
					xs, ys = append(xs, x), append(ys, 0)
					continue
				}
				for _, y := range specials() {
					xs, ys = append(xs, x), append(ys, y)
				}
			}
			rng := rand.New(rand.NewPCG(9, uint64(len(fn))))
			for i := range count {
				x, y := draw(rng), draw(rng)
				switch i % 4 {
				case 0:
					x, y = math.Float64frombits(rng.Uint64()), math.Float64frombits(rng.Uint64())
				case 1:
					x = rng.Float64()*2 - 1
				case 2:
					if fn == "pow" {
						x = math.Abs(x)
						y = (rng.Float64()*2140 - 1070) / math.Log2(x)
					}
				}
				xs, ys = append(xs, x), append(ys, y)
			}
			for i, want := range r.results64(xs, ys) {
				var got float64
				switch f := host.(type) {
				case func(float64) float64:
					got = f(xs[i])
				case func(x, y float64) float64:
					got = f(xs[i], ys[i])
				}
				if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%s(%x, %x) = %x, in kernels %x", fn, xs[i], ys[i], got, want)
				}
			}
		})
	}
}

func BenchmarkHost(b *testing.B) {
	for name, pair := range map[string][2]func(float64) float64{
		"sin": {libm.Sin, math.Sin}, "exp": {libm.Exp, math.Exp}, "log": {libm.Log, math.Log}, "acos": {libm.Acos, math.Acos},
		"log2": {libm.Log2, math.Log2}, "erf": {libm.Erf, math.Erf}, "tan": {libm.Tan, math.Tan}, "cbrt": {libm.Cbrt, math.Cbrt},
		"pow": {func(x float64) float64 { return libm.Pow(x, 1.7) }, func(x float64) float64 { return math.Pow(x, 1.7) }},
	} {
		for i, f := range pair {
			b.Run(name+[]string{"/libm", "/go"}[i], func(b *testing.B) {
				x, sum := 0.1, 0.0
				for range b.N {
					sum += f(x)
					if x += 0.001; x > 1 {
						x = 0.1
					}
				}
				sink = sum
			})
		}
	}
}

var sink float64
