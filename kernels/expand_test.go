package kernels_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
)

func TestEveryFunctionForBothTypes(t *testing.T) {
	lib := newLibrary(t)
	want := "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 frexp frexp_exponent hypot ldexp log log10 log1p log2 pow rsqrt sin sinh sqrt tan tanh"
	for typ, want := range map[ir.Type]string{ir.F32: strings.Replace(want, "frexp", "fast.erf fast.exp fast.log fast.rsqrt frexp", 1), ir.F64: want} {
		if got := strings.Join(lib.Names(typ), " "); got != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
	}
}

// f32 functions must not use f64, which is slow on GPUs.
func TestF32FunctionsUseNoF64(t *testing.T) {
	lib := newLibrary(t)
	for _, fn := range lib.Names(ir.F32) {
		k, err := lib.Math(fn, ir.F32)
		if err != nil {
			t.Fatal(err)
		}
		k.Body.Walk(func(in *ir.Instr) {
			for _, r := range in.Results {
				if r.Type == ir.F64 || r.Type == ir.I64 || r.Type == ir.U64 {
					t.Errorf("%s: %s", fn, in)
				}
			}
		})
	}
}

func TestExpandTwiceSharesTables(t *testing.T) {
	lib := newLibrary(t)
	m, err := ir.ParseText("t", `orepl-ir 1
file 0 ""
kernel k(x: f32[*]) real f32 {
  table TWO_OVER_PI_32: f32[1] = [1]
  site 0 = 0:0:0 ""
  %0: i32 = item.global.x
  %1: f32 = load x[%0]
  %2: f32 = math.sin %1
  %3: f32 = math.cos %2
  %4: f32 = math."fast.exp" %3
  store x[%0], %4
  return
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if err := lib.Expand(m); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Kernels[0].Arrays); n != 3 {
		t.Errorf("%d arrays, want the buffer, the kernel's table and one of the library", n)
	}
	m.Kernels[0].Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Math {
			t.Errorf("left: %s", in)
		}
	})
}

func TestExpandErrors(t *testing.T) {
	lib := newLibrary(t)
	m := callModule(t, "gamma", ir.F32, 1)
	before := m.String()
	err := lib.Expand(m)
	var unknown *kernels.UnknownError
	if !errors.As(err, &unknown) || unknown.Fn != "gamma" || unknown.Code() != "not-found" {
		t.Errorf("unknown function: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "kernel call: the device library has no function gamma for f32; it has acos,") {
		t.Errorf("unknown function: %v", err)
	}
	if m.String() != before {
		t.Error("the module was changed")
	}
	if err := lib.Expand(callModule(t, "exp", ir.F32, 2)); err == nil || !strings.Contains(err.Error(), "exp takes 1 arguments, and 2 are given") {
		t.Errorf("wrong count: %v", err)
	}
}

func TestOverride(t *testing.T) {
	lib := newLibrary(t)
	parse := func(body string) *ir.Module {
		m, err := ir.ParseText("o", "orepl-ir 1\nfile 0 \"\"\nkernel \"fast.exp.f32\"(x %x.0: f32, result: f32[*]) real f32 {\n  site 0 = 0:0:0 \"\"\n"+body+"  return\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	changed, err := lib.With(parse("  %1: i32 = const 0\n  store result[%1], %x.0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := newRunner(t, changed, "fast.exp", ir.F32).run32([]float32{3}); got[0] != 3 {
		t.Errorf("overridden fast.exp(3) = %v, want 3", got[0])
	}
	if got := newRunner(t, lib, "fast.exp", ir.F32).run32([]float32{0}); got[0] != 1 {
		t.Errorf("fast.exp(0) = %v, want the exact function's 1", got[0])
	}
	for body, want := range map[string]string{
		"": "does not end by storing the result",
		"  %1: i32 = const 0\n  %2: i32 = item.global.x\n  store result[%1], %x.0\n": "operation item",
	} {
		if _, err := lib.With(parse(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("With: %v, want %q", err, want)
		}
	}
}

func TestWithRefusesOtherKernels(t *testing.T) {
	lib := newLibrary(t)
	for head, want := range map[string]string{
		"()":                              "needs a parameter",
		"(x %x.0: f32, y %y.1: f32)":      "no buffer of one dimension",
		"(x %x.0: f64, result: f32[*])":   "parameter x is no scalar of the result's type",
		"(x: f32[*], result: f32[*])":     "parameter x is no scalar of the result's type",
		"(x %x.0: f32, result: f32[*,*])": "no buffer of one dimension",
		"(x %x.0: f32, result: i32[*])":   "no buffer of one dimension",
		"(x %x.0: f32, result: f32[*])":   "does not end by storing",
	} {
		m, err := ir.ParseText("o", "orepl-ir 1\nfile 0 \"\"\nkernel \"exp.f32\""+head+" real f32 {\n  site 0 = 0:0:0 \"\"\n  return\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lib.With(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", head, err, want)
		}
	}
}
