package opt_test

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// TestQuantsAreDropped folds kernels that store values that can be NaN, and values that cannot.
func TestQuantsAreDropped(t *testing.T) {
	for _, c := range []struct {
		body  string
		stays bool
	}{
		{"%2: f32 = load x[%1]\n  %3: f32 = add %2, %2", true},
		{"%2: i32 = load b[%1]\n  %8: f32 = convert %2\n  %9: f32 = const 0.25\n  %3: f32 = fma %8, %9, %9", false},
		{"%2: i32 = load b[%1]\n  %8: f32 = convert %2\n  %3: f32 = sqrt %8", false},
		{"%8: f32 = convert %1\n  %3: f32 = sqrt %8", true}, // the analysis allows a negative identifier
		{"%2: f32 = load x[%1]\n  %8: f32 = quant.f16 %2\n  %9: f32 = const 1\n  %7: bool = lt %2, %9\n  %3: f32 = select %7, %8, %9", false},
		{"%2: f32 = load x[%1]\n  %9: f32 = const 1\n  %7: bool = lt %2, %9\n  %3: f32 = select %7, %2, %9", false},
		{"%2: f32 = load x[%1]\n  %9: f32 = const 1\n  %7: bool = lt %2, %9\n  %3: f32 = select %7, %9, %2", true},
		{"%2: f32 = load x[%1]\n  %9: f32 = const 0\n  %3: f32 = mul %2, %9", true},
	} {
		text := "orepl-ir 1\nkernel k(x: f32[*], b: u8[*], y: f32[*]) real f32 {\n  %1: i32 = item.global.x\n  " + c.body + "\n  %5: f32 = quant.f32 %3\n  store y[%1], %5\n  return\n}\n"
		m, err := ir.ParseText("test", text)
		if err == nil {
			err = m.Verify()
		}
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		k := m.Kernels[0]
		opt.Fold(k, nil)
		stays := false
		k.Body.Walk(func(in *ir.Instr) { stays = stays || in.Op == ir.Quant && in.Elem == ir.F32 })
		if stays != c.stays {
			t.Errorf("%s: the quant stays: %v", c.body, stays)
		}
	}
}
