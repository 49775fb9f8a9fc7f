package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/maths"
)

// mathDoc documents a function or constant of Math.
type mathDoc struct {
	signature string
	help      string
	f32, f64  float64 // maximum errors in ulp, from docs/math.md; 0 for exact or correctly rounded results
}

// mathDocs documents JavaScript's members of Math. The registry documents the additional members in kernels.
var mathDocs = later.Value[map[string]mathDoc]{Make: func() map[string]mathDoc {
	return map[string]mathDoc{
		"abs":    {"abs(x: number): number", "The absolute value.", 0, 0},
		"acos":   {"acos(x: number): number", "The arc cosine, in radians; NaN outside of [-1, 1].", 0.63, 0.68},
		"acosh":  {"acosh(x: number): number", "The inverse hyperbolic cosine; NaN below 1.", 0.70, 0.75},
		"asin":   {"asin(x: number): number", "The arc sine, in radians; NaN outside of [-1, 1].", 0.65, 0.70},
		"asinh":  {"asinh(x: number): number", "The inverse hyperbolic sine.", 0.72, 0.75},
		"atan":   {"atan(x: number): number", "The arc tangent, in radians.", 0.93, 0.95},
		"atan2":  {"atan2(y: number, x: number): number", "The angle of the point (x, y), from -π to π.", 1.05, 1.00},
		"atanh":  {"atanh(x: number): number", "The inverse hyperbolic tangent; NaN outside of [-1, 1].", 0.80, 0.75},
		"cbrt":   {"cbrt(x: number): number", "The cube root.", 0.51, 0.51},
		"ceil":   {"ceil(x: number): number", "The least integer that is at least x.", 0, 0},
		"clz32":  {"clz32(x: number): number", "The number of leading zero bits of x as a 32-bit integer.", 0, 0},
		"cos":    {"cos(x: number): number", "The cosine of an angle in radians, of any size.", 0.75, 0.80},
		"cosh":   {"cosh(x: number): number", "The hyperbolic cosine.", 0.64, 0.66},
		"exp":    {"exp(x: number): number", "e to the power of x.", 0.77, 0.70},
		"expm1":  {"expm1(x: number): number", "exp(x) - 1, accurate near 0.", 0.90, 0.95},
		"floor":  {"floor(x: number): number", "The greatest integer that is at most x.", 0, 0},
		"fround": {"fround(x: number): number", "x rounded to f32.", 0, 0},
		"hypot":  {"hypot(...values: number[]): number", "The square root of the sum of squares. More than two values are combined pairwise, from left to right.", 0.90, 0.55},
		"imul":   {"imul(a: number, b: number): number", "The product of two integers modulo 2³², as i32.", 0, 0},
		"log":    {"log(x: number): number", "The natural logarithm.", 0.66, 0.70},
		"log10":  {"log10(x: number): number", "The logarithm to base 10; exact for powers of ten.", 0.72, 0.75},
		"log1p":  {"log1p(x: number): number", "log(1 + x), accurate near 0.", 0.73, 0.75},
		"log2":   {"log2(x: number): number", "The logarithm to base 2; exact for powers of two.", 0.78, 0.80},
		"max":    {"max(...values: number[]): number", "The maximum; NaN if any value is NaN.", 0, 0},
		"min":    {"min(...values: number[]): number", "The minimum; NaN if any value is NaN.", 0, 0},
		"pow":    {"pow(x: number, y: number): number", "x to the power of y, like x ** y. A square is rounded once.", 0.85, 0.85},
		"random": {"random(): number", "A pseudorandom number in [0, 1). On the host only; kernels can use the functions of the module 'kernels'.", 0, 0},
		"round":  {"round(x: number): number", "The nearest integer; ties round up.", 0, 0},
		"sign":   {"sign(x: number): number", "1, -1, or x if x is 0 or NaN.", 0, 0},
		"sin":    {"sin(x: number): number", "The sine of an angle in radians, of any size.", 0.75, 0.80},
		"sinh":   {"sinh(x: number): number", "The hyperbolic sine.", 0.80, 0.85},
		"sqrt":   {"sqrt(x: number): number", "The square root, correctly rounded.", 0, 0},
		"tan":    {"tan(x: number): number", "The tangent of an angle in radians, of any size.", 0.92, 0.95},
		"tanh":   {"tanh(x: number): number", "The hyperbolic tangent.", 0.80, 0.85},
		"trunc":  {"trunc(x: number): number", "The integer part of x.", 0, 0},

		"E":       {"readonly E: number", "e, 2.718…", 0, 0},
		"LN10":    {"readonly LN10: number", "The natural logarithm of 10.", 0, 0},
		"LN2":     {"readonly LN2: number", "The natural logarithm of 2.", 0, 0},
		"LOG10E":  {"readonly LOG10E: number", "The logarithm of e to base 10.", 0, 0},
		"LOG2E":   {"readonly LOG2E: number", "The logarithm of e to base 2.", 0, 0},
		"PI":      {"readonly PI: number", "π, 3.141…", 0, 0},
		"SQRT1_2": {"readonly SQRT1_2: number", "The square root of 1/2.", 0, 0},
		"SQRT2":   {"readonly SQRT2: number", "The square root of 2.", 0, 0},
	}
}}

// extraErrors holds the maximum errors of functions that the registry documents.
var extraErrors = later.Value[map[string]mathDoc]{Make: func() map[string]mathDoc {
	return map[string]mathDoc{
		"erf":   {f32: 1.10, f64: 1.10},
		"exp2":  {f32: 0.77, f64: 0.70},
		"rsqrt": {f32: 0.51, f64: 0.51},
	}
}}

// mathDocOf returns the documentation of a path such as Math.sin, or false if there is none.
func mathDocOf(path string) (mathDoc, bool) {
	name, ok := strings.CutPrefix(strings.TrimSuffix(path, "()"), "Math.")
	f, known := mathDocs.Get()[name]
	return f, ok && known
}

// writeMath writes the documentation of a member of Math.
func writeMath(w io.Writer, r *bindings.Registry, path string, f mathDoc) {
	name := strings.TrimPrefix(strings.TrimSuffix(path, "()"), "Math.")
	fmt.Fprintln(w, f.signature)
	if more, _, ok := r.Lookup("Math." + name); ok && more != nil { // signatures in kernels beyond JavaScript's
		fmt.Fprintln(w, more.Signature)
	}
	fmt.Fprintf(w, "  %s\n", f.help)
	writeErrors(w, f)
	if slices.Contains(maths.Fast, name) {
		fmt.Fprintf(w, "  In kernels Math.fast.%s is within 4 ulp, and may be faster.\n", name)
	}
	where := "of JavaScript's Math"
	if name != "random" {
		where += "; in kernels too"
		if f.f64 > 0 {
			where += ", and f64 there has the bits of the host"
		}
	}
	kind := "A function "
	if name[0] >= 'A' && name[0] <= 'Z' {
		kind = "A constant "
	}
	fmt.Fprintf(w, "  %s%s.\n", kind, where)
}

// writeErrors writes the maximum errors of a function.
func writeErrors(w io.Writer, f mathDoc) {
	if f.f64 > 0 {
		fmt.Fprintf(w, "  Maximum error in ulp (units in the last place): f64 %.2f, f32 %.2f.\n", f.f64, f.f32)
	}
}
