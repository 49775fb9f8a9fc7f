package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// TestFMA32 compares the fast path with the slow one, mainly near ties and at the limits of the range.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	short := func() float32 { // few bits, so that sums are near half way between floats
		x := math.Ldexp(float64(rng.IntN(1<<rng.IntN(25))), rng.IntN(40)-20)
		if rng.IntN(8) == 0 {
			x = math.Ldexp(x, rng.IntN(300)-180)
		}
		return float32(math.Copysign(x, float64(rng.IntN(2))-0.5))
	}
	for range 500000 {
		a, b, c := short(), short(), short()
		if rng.IntN(4) == 0 {
			c = math.Float32frombits(math.Float32bits(float32(float64(a)*float64(b))) + uint32(rng.IntN(3)-1)<<(rng.IntN(26)))
		}
		got, want := fma32(a, b, c), scalar.FMA32(a, b, c)
		if math.Float32bits(got) != math.Float32bits(want) && got == got {
			t.Fatalf("fma(%b, %b, %b) = %b, want %b", a, b, c, got, want)
		}
	}
}
