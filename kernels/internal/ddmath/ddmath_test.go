package ddmath

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/orepl/orepl/kernels/internal/bigmath"
)

func TestAgainstBigmath(t *testing.T) {
	c := bigmath.New()
	rng := rand.New(rand.NewPCG(1, 1))
	check := func(name string, x, y float64, v Value, n int, want *big.Float) {
		t.Helper()
		got := new(big.Float).SetPrec(bigmath.Prec).SetFloat64(v.High)
		got.Add(got, new(big.Float).SetFloat64(v.Low))
		got.SetMantExp(got, n)
		d, _ := new(big.Float).Quo(got.Sub(got, want), want).Float64()
		if math.Abs(d) > 0x1p-88 {
			t.Errorf("%s(%x, %x): relative error %g", name, x, y, d)
		}
	}
	for range 200 {
		x := math.Abs(1 + rng.NormFloat64()*math.Ldexp(1, -rng.IntN(30)))
		y := (rng.Float64()*2000 - 1000) / math.Log2(x)
		v, n := Pow(x, y)
		check("pow", x, y, v, n, c.Pow(big.NewFloat(x), big.NewFloat(y)))
		x, y = rng.NormFloat64(), rng.NormFloat64()*math.Ldexp(1, -rng.IntN(60))
		check("hypot", x, y, Hypot(x, y), 0, c.Hypot(big.NewFloat(x), big.NewFloat(y)))
		check("atan2", y, x, Atan2(y, x), 0, c.Atan2(big.NewFloat(y), big.NewFloat(x)))
	}
}
