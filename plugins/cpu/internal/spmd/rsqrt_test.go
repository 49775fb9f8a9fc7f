package spmd

import (
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

const inverseRoots = `orepl-ir 1
kernel k(x: f32[*], y: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: f32 = math."fast.rsqrt" %1
  store y[%0], %2
  return
}
`

// TestRsqrtFast tests significands with both parities of the exponent, random operands, and those at both ends of the
// range.
func TestRsqrtFast(t *testing.T) {
	needMachine(t)
	const n, bound = 1 << 16, 4
	for _, target := range targets() {
		p, err := Compile(parse(t, inverseRoots), plan.Options{Features: target.Features, Gang: 2})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := p.List(p.Listed(), func(int) string { return "" }); !strings.Contains(text, "vrsqrt") {
			t.Fatalf("%s has no instruction for it", target.Name)
		} else if strings.Contains(text, "vcmpps") || strings.Contains(text, "vblend") {
			t.Errorf("%s tells numbers from others by a mask:\n%s", target.Name, text)
		}
		x, y := make([]uint32, n), make([]uint32, n)
		worst := 0.0
		check := func(bits func(i uint32) uint32) {
			t.Helper()
			for i := range x {
				x[i] = bits(uint32(i))
			}
			runBuffers(t, p, x, y)
			for i := range x {
				a, got := math.Float32frombits(x[i]), math.Float32frombits(y[i])
				want := 1 / math.Sqrt(math.Abs(float64(a)))
				switch {
				case a > -0x1p-126 && a < 0x1p-126 && float64(got) == math.Copysign(math.Inf(1), float64(a)): // subnormals may be treated as 0
					continue
				case a == 0:
					t.Fatalf("%s: rsqrt(%v) is %v", target.Name, a, got)
				case a < 0 || a != a:
					if got == got {
						t.Fatalf("%s: rsqrt(%v) is %v", target.Name, a, got)
					}
					continue
				case want == 0:
					if got != 0 {
						t.Fatalf("%s: rsqrt(%v) is %v", target.Name, a, got)
					}
					continue
				}
				_, exponent := math.Frexp(want)
				ulps := math.Abs(float64(got)-want) / math.Ldexp(1, exponent-24)
				if worst = max(worst, ulps); !(ulps <= bound) {
					t.Fatalf("%s: rsqrt(%v) is %v, want %v", target.Name, a, got, want)
				}
			}
		}
		for at := range uint32(8) {
			check(func(i uint32) uint32 { return 0x3f800000 + (at*n+i)*31 })
		}
		check(func(i uint32) uint32 { return i * 65521 })
		for _, from := range []uint32{0, 1 << 23, lanes.Infinity32 - n/2, 0x80000000, 0xff800000 - n/2} {
			check(func(i uint32) uint32 { return from + i })
		}
		t.Logf("%s: at most %.2f ulp", target.Name, worst)
	}
}
