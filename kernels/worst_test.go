package kernels_test

import (
	"math/big"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/kernels/internal/bigmath"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestWorstArguments checks the arguments of the maximum errors found by kernels/internal/worst for functions of two
// arguments. Those of pow are from several versions of it.
func TestWorstArguments(t *testing.T) {
	lib, bounds, constants := kernels.New(), documented(t), bigmath.New()
	for _, c := range []struct {
		fn   string
		typ  ir.Type
		x, y float64
	}{
		{"pow", ir.F64, 0x1.69a8a6c6341d1p+00, 0x1.ee7f4fa273f16p+10},            // was 1.62 ulp
		{"pow", ir.F64, 0x1.69a8a615d3855p+00, 0x1.fd0aae19e6af4p+10},            // was 1.77 ulp
		{"pow", ir.F64, 0x1.69a8a61581899p+00, 0x1.fd0ab467a49bdp+10},            // was 1.84 ulp
		{"pow", ir.F64, 0x1690c38da95065 * 0x1p-53, -0x1f0bbc8a865643 * 0x1p-43}, // was 0.88 ulp
		{"pow", ir.F64, 0x1.eb8645b6d7aaep+411, -0x1.3db8b3f545cdp+01},
		{"pow", ir.F64, 0x1.67d0501d4712bp+02, -0x1.9a781ccf8987ap+08},
		{"pow", ir.F32, 0x1.6a5df6p+00, -0x1.f6bb0cp+07}, // was 0.82 ulp
		{"pow", ir.F32, 0x1.69b6cep+00, -0x1.f9552ap+07},
		{"pow", ir.F32, 0x1.b77c2p+127, -0x1.fad936p-01},
		{"pow", ir.F32, 0x1.698c4ap-02, 0x1.50dbbep+06},
		{"pow", ir.F64, 0x1.67d0501d4712bp+02, -0x1.9a77e8ae3ca6ep+08},
		{"pow", ir.F64, 0x1.211bd9d897859p+824, -0x1.3d9bcb72f237bp+00},
		{"pow", ir.F32, 0x1.b9d29ep+127, -0x1.fad758p-01},
		{"pow", ir.F32, 0x1.0e1a92p-55, 0x1.26cba6p+01},
		{"atan2", ir.F64, 0x1.6d2c9cf1f422fp-04, 0x1.b7c2bb57db853p-03},
		{"atan2", ir.F32, 0x1.81b0aep-02, 0x1.c6a148p-01},
		{"hypot", ir.F64, 0x1.545201528a139p+00, 0x1.8270f3bfb476dp-20},
		{"hypot", ir.F32, 0x1.3fdfb2p+00, 0x1.94b114p-12},
	} {
		want := reference64[c.fn].fn(constants, big.NewFloat(c.x), big.NewFloat(c.y))
		r, bound := newRunner(t, lib, c.fn, c.typ), bounds[c.fn+"."+c.typ.String()]
		var e, got float64
		if c.typ == ir.F32 {
			f := r.run32([]float32{float32(c.x)}, []float32{float32(c.y)})[0]
			near, _ := want.Float64() // with an error below 1e-8 ulp of f32
			got, e = float64(f), compare32(f, near)
		} else {
			got = r.run64([]float64{c.x}, []float64{c.y})[0]
			e = compare64(got, want)
		}
		if !(e <= bound) {
			t.Errorf("%s.%s(%x, %x) = %x: %.3f ulp, documented %.2f", c.fn, c.typ, c.x, c.y, got, e, bound)
		}
		t.Logf("%s.%s(%x, %x): %.4f ulp", c.fn, c.typ, c.x, c.y, e)
	}
}
