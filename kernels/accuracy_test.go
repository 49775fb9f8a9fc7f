package kernels_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/kernels/internal/bigmath"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// documented returns the error bounds of docs/math.md in units in the last place, by function and type.
func documented(t testing.TB) map[string]float64 {
	t.Helper()
	data, err := os.ReadFile("../docs/math.md")
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]float64{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([0-9.]+) \\| ([0-9.]+) \\| .").FindAllStringSubmatch(string(data), -1) {
		for i, typ := range []string{"f32", "f64"} {
			if bounds[row[1]+"."+typ], err = strconv.ParseFloat(row[2+i], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return bounds
}

// reference32 are float64 functions as references for f32 results; their error is below 1e-8 ulp of f32.
var reference32 = map[string]func(float64) float64{
	"exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1, "log": math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"erf": math.Erf, "cbrt": math.Cbrt, "sqrt": math.Sqrt, "rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
}

var binary32 = map[string]func(x, y float64) float64{"pow": math.Pow, "hypot": math.Hypot, "atan2": math.Atan2}

// compare32 returns the error of a result. It is infinite if the result is of another class than the reference: NaN, a zero
// of the wrong sign, or a wrong infinity.
func compare32(got float32, want float64) float64 {
	if got == 0 && want == 0 && math.Signbit(float64(got)) != math.Signbit(want) {
		return math.Inf(1)
	}
	if got != 0 && got == got && want == want && want != 0 && math.Signbit(float64(got)) != math.Signbit(want) {
		return math.Inf(1)
	}
	return ulps32(got, want)
}

func TestF32(t *testing.T) {
	lib, bounds := kernels.New(), documented(t)
	for fn, reference := range reference32 {
		t.Run(fn, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(32, 1))
			bound, ok := bounds[fn+".f32"]
			if !ok {
				t.Fatal("docs/math.md has no row")
			}
			r := newRunner(t, lib, fn, ir.F32)
			// Every exponent and sign with the same number of significands covers small and huge arguments.
			var args []float32
			for top := uint32(0); top < 512; top++ {
				for range 256 {
					args = append(args, math.Float32frombits(top<<23|rng.Uint32()>>9))
				}
			}
			for i, got := range r.run32(args) {
				if e := compare32(got, reference(float64(args[i]))); !(e <= bound) {
					t.Fatalf("%s(%x) = %x, want %x: %.3f ulp, documented %.2f", fn, args[i], got, reference(float64(args[i])), e, bound)
				}
			}
		})
	}
}

func TestF32Binary(t *testing.T) {
	lib, bounds := kernels.New(), documented(t)
	for fn, reference := range binary32 {
		t.Run(fn, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(32, 2))
			r := newRunner(t, lib, fn, ir.F32)
			var xs, ys []float32
			for i := range 100_000 {
				x, y := math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())
				switch i % 4 {
				case 1: // close to each other
					y = x * (rng.Float32() + 0.5)
				case 2: // of moderate size
					x, y = float32(rng.NormFloat64()), float32(10*rng.NormFloat64())
				case 3: // results over the whole range
					if fn == "pow" {
						y = float32(rng.Float64()*300-150) / float32(math.Log2(math.Abs(float64(x))))
					}
				}
				xs, ys = append(xs, x), append(ys, y)
			}
			for i, got := range r.run32(xs, ys) {
				want := reference(float64(xs[i]), float64(ys[i]))
				if xs[i] != xs[i] || ys[i] != ys[i] || math.IsInf(float64(ys[i]), 0) {
					continue // another test checks JavaScript's special values
				}
				if e := compare32(got, want); !(e <= bounds[fn+".f32"]) {
					t.Fatalf("%s(%x, %x) = %x, want %x: %.3f ulp, documented %.2f", fn, xs[i], ys[i], got, want, e, bounds[fn+".f32"])
				}
			}
		})
	}
}

// exact is a function of bigmath. ok reports whether it is defined for the arguments.
type exact struct {
	fn func(c *bigmath.Constants, x, y *big.Float) *big.Float
	ok func(x, y float64) bool
}

func unary(fn func(*bigmath.Constants, *big.Float) *big.Float, ok func(x float64) bool) exact {
	return exact{
		func(c *bigmath.Constants, x, _ *big.Float) *big.Float { return fn(c, x) },
		func(x, _ float64) bool { return x != 0 && x-x == 0 && ok(x) },
	}
}

func everywhere(x float64) bool { return true }
func positive(x float64) bool   { return x > 0 }
func inside(x float64) bool     { return math.Abs(x) < 1 }
func below(most float64) func(float64) bool {
	return func(x float64) bool { return math.Abs(x) < most }
}

var reference64 = map[string]exact{
	"exp": unary((*bigmath.Constants).Exp, below(745)), "exp2": unary((*bigmath.Constants).Exp2, below(1074)),
	"expm1": unary((*bigmath.Constants).Expm1, below(709)),
	"log":   unary((*bigmath.Constants).Log, positive), "log2": unary((*bigmath.Constants).Log2, positive), "log10": unary((*bigmath.Constants).Log10, positive),
	"log1p": unary((*bigmath.Constants).Log1p, func(x float64) bool { return x > -1 }),
	"sin":   unary(func(c *bigmath.Constants, x *big.Float) *big.Float { s, _ := c.SinCos(x); return s }, everywhere),
	"cos":   unary(func(c *bigmath.Constants, x *big.Float) *big.Float { _, k := c.SinCos(x); return k }, everywhere),
	"tan": unary(func(c *bigmath.Constants, x *big.Float) *big.Float {
		s, k := c.SinCos(x)
		return new(big.Float).SetPrec(bigmath.Prec).Quo(s, k)
	}, everywhere),
	"asin": unary((*bigmath.Constants).Asin, inside), "acos": unary((*bigmath.Constants).Acos, inside), "atan": unary((*bigmath.Constants).Atan, everywhere),
	"sinh": unary((*bigmath.Constants).Sinh, below(710)), "cosh": unary((*bigmath.Constants).Cosh, below(710)), "tanh": unary((*bigmath.Constants).Tanh, below(400)),
	"asinh": unary((*bigmath.Constants).Asinh, everywhere), "acosh": unary((*bigmath.Constants).Acosh, func(x float64) bool { return x > 1 }),
	"atanh": unary((*bigmath.Constants).Atanh, inside),
	"erf":   unary((*bigmath.Constants).Erf, everywhere), "cbrt": unary((*bigmath.Constants).Cbrt, everywhere), "rsqrt": unary((*bigmath.Constants).Rsqrt, positive),
	"sqrt": unary(func(_ *bigmath.Constants, x *big.Float) *big.Float {
		return new(big.Float).SetPrec(bigmath.Prec).Sqrt(x)
	}, positive),
	"pow":   {(*bigmath.Constants).Pow, func(x, y float64) bool { return x > 0 && math.Abs(y*math.Log2(x)) < 1080 && x-x == 0 }},
	"hypot": {(*bigmath.Constants).Hypot, func(x, y float64) bool { return !math.IsInf(math.Hypot(x, y), 0) }},
	"atan2": {func(c *bigmath.Constants, y, x *big.Float) *big.Float { return c.Atan2(y, x) }, func(x, y float64) bool { return x != 0 && y != 0 && x-x == 0 && y-y == 0 }},
}

// hard are critical arguments: numbers close to multiples of π/2, found by continued fractions, bounds of ranges and of
// reductions, and neighbours of zeros.
var hard = []float64{
	6381956970095103 * 0x1p797, 0x1.921fb54442d18p0, 0x1.921fb54442d18p1, 0x1.6ac5b262ca1ffp849, 5.319372648326541e255, 1.8e308 / 1.01, 1048575.9999, 1048576, 1048577,
	0x1.921fb54442d18p-1, 0.5, 0.49999999999999994, 0.5000000000000001, 1, 0.9999999999999999, 1.0000000000000002, 2, 0.7071067811865475, 0.7071067811865476, 1.4142135623730951,
	0.34657359027997264, 0.3465735902799727, 0.6931471805599453, 1.0397207708399179, 708.5, -708.5, -744.9, 709.7, 710.4, 22, 24, 19.1, 0x1p-1022, 0x1p-1074, 0x0.8p-1022, 1.7976931348623157e308,
	1e-8, 1e-16, 1e16, 1e8, 1152921504606846976, 268435456, 5.9, 6, 0.41421356237309503, 2.414213562373095, 10, 100, 1000, 1e15, 1e22, 8, 27, 64, 1e-300, 1e300,
}

func TestF64(t *testing.T) {
	lib, bounds, constants := kernels.New(), documented(t), bigmath.New()
	count := 400
	if os.Getenv("OREPL_TEST_LONG") == "1" {
		count = 100_000
	}
	for fn, reference := range reference64 {
		t.Run(fn, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(64, uint64(len(fn))))
			bound, ok := bounds[fn+".f64"]
			if !ok {
				t.Fatal("docs/math.md has no row")
			}
			r := newRunner(t, lib, fn, ir.F64)
			var xs, ys []float64
			keep := func(x, y float64) {
				if reference.ok(x, y) {
					xs, ys = append(xs, x), append(ys, y)
				}
			}
			for _, x := range hard {
				keep(x, 1/x)
				keep(-x, x)
				keep(x, math.Copysign(1.5, -x))
			}
			for len(xs) < count {
				x, y := draw(rng), draw(rng)
				if fn == "pow" && rng.IntN(2) == 0 {
					x = math.Abs(x)
					y = (rng.Float64()*2140 - 1070) / math.Log2(x)
				}
				keep(x, y)
			}
			results := r.results64(xs, ys)
			worst, at := 0.0, 0
			for i, got := range results {
				if e := compare64(got, reference.fn(constants, big.NewFloat(xs[i]), big.NewFloat(ys[i]))); !(e <= worst) {
					worst, at = e, i
				}
			}
			t.Logf("%.3f ulp", worst)
			if !(worst <= bound) {
				t.Errorf("%s(%x, %x) = %x: %.3f ulp, documented %.2f", fn, xs[at], ys[at], results[at], worst, bound)
			}
		})
	}
}

func (r *runner) results64(xs, ys []float64) []float64 {
	if r.arity == 1 {
		return r.run64(xs)
	}
	return r.run64(xs, ys)
}

// draw returns a random argument: of any exponent, of moderate size, a small angle, or a number near 1.
func draw(rng *rand.Rand) float64 {
	switch rng.IntN(5) {
	case 0:
		for {
			if x := math.Float64frombits(rng.Uint64()); x-x == 0 && math.Abs(x) > 0x1p-200 {
				return x
			}
		}
	case 1:
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(12))
	case 2:
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(20)-18)
	case 3:
		return 1 + (rng.Float64()-0.5)*math.Ldexp(1, -rng.IntN(30))
	}
	return rng.NormFloat64() * 300
}

// compare64 returns the error of got in units in the last place.
func compare64(got float64, want *big.Float) float64 {
	e := want.MantExp(nil)
	if want.Sign() == 0 && got == 0 {
		return 0
	}
	if want.Sign() == 0 || got != got {
		return math.Inf(1)
	}
	if math.IsInf(got, 0) {
		if e > 1024 && math.Signbit(got) == want.Signbit() {
			return 0
		}
		if nearest, _ := want.Float64(); nearest == got {
			return 0.5
		}
		return math.Inf(1)
	}
	diff := new(big.Float).SetPrec(bigmath.Prec).Sub(new(big.Float).SetFloat64(got), want)
	diff.SetMantExp(diff, -max(e-53, -1074))
	f, _ := diff.Float64()
	return math.Abs(f)
}

// TestNaNs checks that all NaNs, of any payload, yield NaN.
func TestNaNs(t *testing.T) {
	lib := kernels.New()
	nans32, nans64 := []float32{}, []float64{}
	for _, b := range []uint32{0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff, 0x7fa12345} {
		nans32 = append(nans32, math.Float32frombits(b))
		nans64 = append(nans64, math.Float64frombits(uint64(b&0x80000000)<<32|0x7ff<<52|uint64(b&0x7fffff)<<29))
	}
	for _, fn := range lib.Names(ir.F32) {
		if fn == "frexp_exponent" {
			continue
		}
		r32, r64 := newRunner(t, lib, fn, ir.F32), newRunner(t, lib, fn, ir.F64)
		args32, args64 := [][]float32{nans32}, [][]float64{nans64}
		if r32.arity == 2 {
			args32, args64 = append(args32, nans32), append(args64, nans64)
		}
		for i := range nans32 {
			if got := r32.run32(args32...)[i]; got == got {
				t.Errorf("%s.f32(%#x) = %v", fn, math.Float32bits(nans32[i]), got)
			}
			if got := r64.run64(args64...)[i]; got == got {
				t.Errorf("%s.f64(%#x) = %v", fn, math.Float64bits(nans64[i]), got)
			}
		}
	}
}

// TestExactResults checks that exactly representable results are exact.
func TestExactResults(t *testing.T) {
	lib := kernels.New()
	check := func(fn string, x, want float64) {
		t.Helper()
		if got := newRunner(t, lib, fn, ir.F64).run64([]float64{x})[0]; got != want {
			t.Errorf("%s(%v) = %v, want %v", fn, x, got, want)
		}
		if got := newRunner(t, lib, fn, ir.F32).run32([]float32{float32(x)})[0]; float64(float32(x)) == x && got != float32(want) {
			t.Errorf("%s.f32(%v) = %v, want %v", fn, x, got, want)
		}
	}
	for n := range 11 {
		check("log10", math.Pow10(n), float64(n))
		check("exp2", float64(n-5), math.Ldexp(1, n-5))
		check("log2", math.Ldexp(1, 10*n-50), float64(10*n-50))
		check("cbrt", float64(n*n*n), float64(n))
	}
	r := newRunner(t, lib, "pow", ir.F64)
	for _, c := range [][3]float64{{2, 10, 1024}, {3, 4, 81}, {10, 15, 1e15}, {-2, 3, -8}, {0.5, -2, 4}, {9, 0.5, 3}, {7, 1, 7}, {2, -1074, 0x1p-1074}} {
		if got := r.run64(c[:1], c[1:2])[0]; got != c[2] {
			t.Errorf("pow(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

func TestParts(t *testing.T) {
	lib := kernels.New()
	rng := rand.New(rand.NewPCG(5, 5))
	var xs, ns []float64
	var xs32, ns32 []float32
	for i := range 20_000 {
		x := math.Float64frombits(rng.Uint64())
		y := math.Float32frombits(rng.Uint32())
		switch i % 3 {
		case 1:
			x, y = math.Ldexp(x, -2000), math.Float32frombits(rng.Uint32()>>9)
		case 2:
			x, y = math.Float64frombits(rng.Uint64()>>12), float32(math.Ldexp(float64(y), -400))
		}
		xs, ns = append(xs, x), append(ns, float64(rng.IntN(4400)-2200))
		xs32, ns32 = append(xs32, y), append(ns32, float32(rng.IntN(600)-300))
	}
	for _, x := range []float32{1, -1.5, math.MaxFloat32, 0x1p-149, 0} { // exponents that overflow or underflow all results
		for _, n := range []int{378, 379, 380, 381, 500, 3066, 3067, 3068, 3069, 3070, 5000, math.MaxInt32} {
			for _, n := range []int{n, -n} {
				xs, ns, xs32, ns32 = append(xs, float64(x)), append(ns, float64(n)), append(xs32, x), append(ns32, float32(n))
			}
		}
	}
	same := func(name string, got, want float64, args ...any) {
		t.Helper()
		if got != want && (got == got || want == want) || got == 0 && math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%s(%v) = %x, want %x", name, fmt.Sprint(args...), got, want)
		}
	}
	l, f, e := newRunner(t, lib, "ldexp", ir.F64).run64(xs, ns), newRunner(t, lib, "frexp", ir.F64).run64(xs), newRunner(t, lib, "frexp_exponent", ir.F64).run64(xs)
	l32, f32, e32 := newRunner(t, lib, "ldexp", ir.F32).run32(xs32, ns32), newRunner(t, lib, "frexp", ir.F32).run32(xs32), newRunner(t, lib, "frexp_exponent", ir.F32).run32(xs32)
	for i := range xs {
		same("ldexp", l[i], math.Ldexp(xs[i], int(ns[i])), xs[i], " ", ns[i])
		frac, exp := math.Frexp(xs[i])
		same("frexp", f[i], frac, xs[i])
		same("frexp_exponent", e[i], float64(exp), xs[i])
		same("ldexp.f32", float64(l32[i]), float64(float32(math.Ldexp(float64(xs32[i]), int(ns32[i])))), xs32[i], " ", ns32[i])
		frac, exp = math.Frexp(float64(xs32[i]))
		same("frexp.f32", float64(f32[i]), frac, xs32[i])
		same("frexp_exponent.f32", float64(e32[i]), float64(exp), xs32[i])
	}
}
