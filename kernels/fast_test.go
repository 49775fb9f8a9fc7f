package kernels_test

import (
	"math"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// fastBound is the documented maximum error of Math.fast in docs/math.md, in units in the last place.
const fastBound = 4

const leastNormal = 0x1p-126

// fast has reference functions of Math.fast, including their documented deviations.
var fast = map[string]func(x float64) float64{
	"fast.exp": func(x float64) float64 {
		if y := math.Exp(x); y >= leastNormal || x != x {
			return y
		}
		return 0
	},
	"fast.log": func(x float64) float64 {
		if math.Abs(x) < leastNormal && x >= 0 {
			return math.Inf(-1)
		}
		return math.Log(x)
	},
	"fast.erf": math.Erf,
	"fast.rsqrt": func(x float64) float64 {
		if math.Abs(x) < leastNormal && x >= 0 {
			return math.Inf(1)
		}
		return 1 / math.Sqrt(x)
	},
}

// TestFast tests numbers of all magnitudes, and those near the limits of the functions' ranges.
func TestFast(t *testing.T) {
	lib := kernels.New()
	const stride = 9973
	var args []float32
	for b := uint64(0); b < 1<<32; b += stride {
		args = append(args, math.Float32frombits(uint32(b)))
	}
	for _, x := range []float32{0, float32(math.Copysign(0, -1)), 1, leastNormal, 88.72283, -87.33654, 4, float32(math.Sqrt2), float32(math.Sqrt2 / 2),
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32} {
		args = append(args, x, -x, math.Nextafter32(x, 0), math.Nextafter32(x, 100))
	}
	for fn, reference := range fast {
		t.Run(fn, func(t *testing.T) {
			worst, at := 0.0, float32(0)
			for i, got := range newRunner(t, lib, fn, ir.F32).run32(args) {
				want := reference(float64(args[i]))
				if e := compare32(got, want); e > fastBound || e != e {
					if fn == "fast.exp" && math.Abs(want-leastNormal) < 1e-5*leastNormal { // either side of the limit is accepted
						continue
					}
					t.Fatalf("%s(%v) = %v, want %v: %.3f ulp", fn, args[i], got, want, e)
				} else if e > worst {
					worst, at = e, args[i]
				}
			}
			t.Logf("at most %.2f ulp, at %v", worst, at)
		})
	}
}
