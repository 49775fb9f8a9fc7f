package kernels_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

func TestEveryFunctionForBothTypes(t *testing.T) {
	lib := kernels.New()
	want := "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf exp exp2 expm1 frexp frexp_exponent hypot ldexp log log10 log1p log2 pow rsqrt sin sinh sqrt tan tanh"
	for typ, want := range map[ir.Type]string{ir.F32: strings.Replace(want, "frexp", "fast.erf fast.exp fast.log fast.rsqrt frexp", 1), ir.F64: want} {
		if got := strings.Join(lib.Names(typ), " "); got != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
	}
}

// TestF32FunctionsUseNoF64 checks that f32 functions do not use f64, which is slow on GPUs.
func TestF32FunctionsUseNoF64(t *testing.T) {
	lib := kernels.New()
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

// TestOperations bounds the operations of functions that many kernels call.
func TestOperations(t *testing.T) {
	lib := kernels.New()
	for fn, most := range map[string]int{"erf": 55, "exp": 42, "fast.erf": 42, "fast.exp": 20, "fast.log": 28, "log": 48, "log2": 53, "log10": 54} {
		k, err := lib.Math(fn, ir.F32)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		k.Body.Walk(func(in *ir.Instr) {
			if in.Op.IsArith() && in.Op != ir.Const {
				n++
			}
		})
		if n > most {
			t.Errorf("%s: %d operations, want at most %d", fn, n, most)
		}
	}
}

func TestExpandTwiceSharesTables(t *testing.T) {
	lib := kernels.New()
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
	lib := kernels.New()
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
	lib := kernels.New()
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
		"": "it is (f32, f32[*]) → (), and replaces (f32) → (f32)",
		"  %1: i32 = const 0\n  %2: i32 = item.global.x\n  store result[%1], %x.0\n": "operation item",
	} {
		if _, err := lib.With(parse(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("With: %v, want %q", err, want)
		}
	}
}

func TestWithRefusesOtherKernels(t *testing.T) {
	lib := kernels.New()
	for head, want := range map[string]string{
		"()":                            "neither a result nor an array",
		"(x %x.0: f32, y %y.1: f32)":    "neither a result nor an array",
		"(x: f32[*], y %y.0: f32)":      "parameter y is a scalar and stands after a buffer",
		"(x %x.0: f64, result: f32[*])": "it is (f64, f32[*]) → (), and replaces (f32) → (f32)",
		"(x: f32[*], result: f32[*,*])": "it is (f32[*], f32[*,*]) → (), and",
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

// functions is a module of functions with parameters and results of several types.
const functions = `orepl-ir 2
record pair { a: i32 @0, b: f32 @4 } size 8 align 4
kernel divmod(x %x.0: i32, y %y.1: u64, sum: i32[*], flag: bool[*]) real f32 {
  site 0 = 0:0:0 ""
  %2: i32 = wrap %y.1
  %3: i32 = add %x.0, %2
  %4: bool = lt %x.0, %2
  %5: i32 = const 0
  store sum[%5], %3
  store flag[%5], %4
  return
}
kernel reverse(n %n.0: i32, x: i32[*], old: i32[*]) real f32 {
  private keep: i32[4]
  site 0 = 0:0:0 ""
  %1: i32 = const 0
  %2: i32 = const 1
  %3: i32 = extent.0 x
  %4: i32 = load keep[%2]
  store keep[%2], %3
  loop @1 (%5: i32 = %1) {
    %6: bool = lt %5, %n.0
    if %6 {
      yield
    } else {
      break @1
    }
    %7: i32 = sub %3, %5
    %8: i32 = sub %7, %2
    %9: i32 = load x[%5]
    %10: i32 = load x[%8]
    store x[%5], %10
    store x[%8], %9
    %11: i32 = add %5, %2
    continue @1 %11
  }
  store old[%1], %4
  return
}
kernel half(p: pair[*]) real f32 {
  site 0 = 0:0:0 ""
  fence.both.group
  %0: i32 = const 0
  %1: f32 = load p[%0].b
  %2: f32 = const 0.5
  %3: f32 = mul %1, %2
  store p[%0].b, %3
  return
}
`

const callers = `orepl-ir 2
record other { first: i32 @0, second: f32 @4 } size 8 align 4
kernel k(x: i32[*], p: other[*], out: i32[*]) real f32 {
  private own: i32[2]
  site 0 = 0:0:0 ""
  %0: i32 = const 0
  %1: i32 = const 1
  %2: u64 = const 4
  %3: i32, %4: bool = lib.divmod %1, %2
  store out[%0], %3
  %5: i32 = convert %4
  store out[%1], %5
  zero own
  store own[%1], %3
  %6: i32 = lib.reverse [own] %1
  %7: i32 = lib.reverse [x] %1
  %8: i32 = load own[%0]
  %9: i32 = const 2
  store out[%9], %8
  %10: i32 = const 3
  %11: i32 = add %6, %7
  store out[%10], %11
  lib.half [p]
  %12: i32 = block.dot4 @1 %6, %9 {
    %13: i32 = add %6, %9
    yield %13
  }
  %14: i32 = const 4
  store out[%14], %12
  return
}
`

// TestExpandLib runs calls of functions with several results and arrays by reference, unoptimized and optimized.
func TestExpandLib(t *testing.T) {
	f, err := ir.ParseText("f", functions)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := kernels.New().With(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []int{opt.None, opt.Default} {
		m, err := ir.ParseText("m", callers)
		if err != nil {
			t.Fatal(err)
		}
		opt.Run(m, level, nil) // calls are unchanged
		if err := m.Verify(); err != nil {
			t.Fatal(err)
		}
		if level == opt.Default && !strings.Contains(m.String(), "block.dot4 @1 %") {
			t.Errorf("the extension operation has lost its form:\n%s", m)
		}
		if kept := m.Clone(); lib.Leaving("extension.dot4", "divmod").Expand(kept) != nil || !strings.Contains(kept.String(), "block.dot4") || !strings.Contains(kept.String(), "lib.divmod") {
			t.Errorf("what the target has itself is expanded:\n%s", kept)
		}
		if err := lib.Expand(m); err != nil || kernels.Needed(m) {
			t.Fatalf("calls remain, or %v", err)
		}
		if err := m.Verify(); err != nil {
			t.Fatalf("%v\n%s", err, m)
		}
		opt.Run(m, level, nil)
		bytes := func(values ...uint32) (b []byte) {
			for _, v := range values {
				b = binary.LittleEndian.AppendUint32(b, v)
			}
			return b
		}
		c := &oracle.Case{Kernel: m.Kernels[0], Size: [3]int{1, 1, 1}, GroupSize: [3]int{1, 1, 1}, Args: []oracle.Arg{
			{Data: bytes(1, 2, 3), Dims: []int32{3}},
			{Data: bytes(7, math.Float32bits(3)), Dims: []int32{1}},
			{Data: bytes(9, 9, 9, 9, 9), Dims: []int32{5}},
		}}
		out, err := c.Interp(interp.Options{})
		if err != nil || out.Fault != nil {
			t.Fatalf("%v, fault %v", err, out.Fault)
		}
		for i, want := range [][]byte{bytes(3, 2, 1), bytes(7, math.Float32bits(1.5)), bytes(5, 1, 5, 0, 2)} {
			if !slices.Equal(out.Data[i], want) {
				t.Errorf("level %d: buffer %d is % x, want % x", level, i, out.Data[i], want)
			}
		}
	}
}

// TestExpandLibRefuses checks the errors of calls that do not match their function.
func TestExpandLibRefuses(t *testing.T) {
	f, err := ir.ParseText("f", functions)
	if err != nil {
		t.Fatal(err)
	}
	lib, err := kernels.New().With(f)
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"lib.nothing":                               "the device library has no function nothing; it has acos.f32,",
		"%3: i32, %4: bool = lib.divmod %1":         "function divmod takes 2 operands, and 1 are given",
		"%3: i32, %4: bool = lib.divmod %1, %1":     "takes u64 as operand 2, not i32",
		"%3: i32 = lib.divmod %1, %2":               "has 2 results, not 1",
		"%3: u32, %4: bool = lib.divmod %1, %2":     "has i32 as result 1, not u32",
		"%3: i32, %4: bool = lib.divmod [x] %1, %2": "takes 0 arrays, and 1 are given",
		"%3: i32 = lib.reverse [y] %1":              "takes an array of i32 of rank 1, and y is one of f32 of rank 1",
		"lib.half [y]":                              "takes an array of pair of rank 1, and y is one of f32 of rank 1",
	} {
		m, err := ir.ParseText("m", "orepl-ir 2\nkernel k(x: i32[*], y: f32[*]) real f32 {\n%1: i32 = const 1\n%2: u64 = const 1\n"+call+"\nreturn\n}\n")
		if err == nil {
			err = m.Verify()
		}
		if err != nil {
			t.Fatal(err)
		}
		before := m.String()
		if err := lib.Expand(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", call, err, want)
		}
		if m.String() != before {
			t.Errorf("%s: the module was changed", call)
		}
	}
}
