package kernels_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestEveryFunctionIsMeasured checks that the tables of references have all functions of the library except exact ones.
func TestEveryFunctionIsMeasured(t *testing.T) {
	lib := kernels.New()
	exact := []string{"frexp", "frexp_exponent", "ldexp"} // TestExactResults
	for _, fn := range lib.Names(ir.F32) {
		_, isUnary := reference32[fn]
		_, isBinary := binary32[fn]
		_, isFast := fast[fn]
		if !isUnary && !isBinary && !isFast && !slices.Contains(exact, fn) {
			t.Errorf("%s of f32 has no reference: add it to accuracy_test.go, or to fast_test.go", fn)
		}
	}
	for _, fn := range lib.Names(ir.F64) {
		if _, ok := reference64[fn]; !ok && !slices.Contains(exact, fn) {
			t.Errorf("%s of f64 has no reference: add it to reference64 in accuracy_test.go", fn)
		}
		if _, ok := hostFunctions[fn]; !ok {
			t.Errorf("%s is not compared with package libm: add it to hostFunctions in libm_test.go", fn)
		}
	}
}

// TestLanguageAndLibraryAgree checks that the library has a function for each name of Math that the front end does not
// compile to operations, and vice versa.
func TestLanguageAndLibraryAgree(t *testing.T) {
	lib := kernels.New()
	operations := strings.Fields("abs ceil clamp clz32 ctz floor fma fround imul max min mix mulhi popcount round sign trunc")
	names := kernel.MathNames()
	for _, typ := range []ir.Type{ir.F32, ir.F64} {
		in := lib.Names(typ)
		for _, fn := range names {
			constant := unicode.IsUpper(rune(fn[0]))
			if !constant && !slices.Contains(operations, fn) && !slices.Contains(in, fn) {
				t.Errorf("Math.%s has no function of %v in kernels/common/math: add it, and its name to kernels/internal/gen/main.go", fn, typ)
			}
		}
		for _, fn := range in {
			name := strings.TrimSuffix(strings.TrimPrefix(fn, "fast."), "_exponent")
			if !slices.Contains(names, name) {
				t.Errorf("kernels cannot call %s of %v: add it to lang/kernel/mathfn.go and mathNames in suggest.go", fn, typ)
			}
		}
	}
}
