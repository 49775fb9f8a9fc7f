package spmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// convertedIndices are kernels whose indices pass through integer conversions. Conversions wrap: a negative i32 becomes
// a large u32, and a large u64 a negative i32. Bounds of the operand therefore do not bound the result.
var convertedIndices = []struct{ name, body string }{
	{"u32 of a difference that a signed comparison bounds", `
  %10: i32 = sub %0, %a.20
  %11: bool = lt %10, %1
  %12: u32 = wrap %10
  if %11 {
    store y[%12], %a.20
    yield
  } else {
    yield
  }`},
	{"a difference whose u32 is bounded", `
  %10: i32 = sub %0, %a.20
  %12: u32 = wrap %10
  %13: u32 = wrap %1
  %11: bool = lt %12, %13
  if %11 {
    store y[%10], %a.20
    yield
  } else {
    yield
  }`},
	{"i32 of a u32 that is clamped from above", `
  %10: u32 = wrap %a.20
  %11: u32 = wrap %0
  %12: u32 = add %10, %11
  %13: i32 = wrap %12
  %14: i32 = const 1
  %15: i32 = sub %1, %14
  %16: i32 = min %13, %15
  store y[%16], %a.20`},
	{"i32 of a u32 that is clamped from below", `
  %10: u32 = wrap %a.20
  %11: u32 = wrap %0
  %12: u32 = add %10, %11
  %13: i32 = wrap %12
  %14: i32 = const 0
  %16: i32 = max %13, %14
  store y[%16], %a.20`},
	{"i32 of an i64 that is not negative", `
  %10: i64 = convert %a.20
  %11: i64 = const 1073741824
  %12: i64 = mul %10, %11
  %13: i64 = convert %0
  %14: i64 = add %12, %13
  %15: i64 = const 0
  %16: bool = le %15, %14
  %17: i32 = wrap %14
  if %16 {
    store y[%17], %a.20
    yield
  } else {
    yield
  }`},
	{"u64 of an i32 that a comparison bounds from above", `
  %10: i32 = sub %0, %a.20
  %11: bool = lt %10, %1
  %12: u64 = convert %10
  if %11 {
    store y[%12], %a.20
    yield
  } else {
    yield
  }`},
	{"u32 as the bound of a loop", `
  %10: u32 = wrap %a.20
  %11: u32 = const 0
  %12: u32 = const 1
  loop @1 (%13: u32 = %11) {
    %14: bool = lt %13, %10
    if %14 {
      yield
    } else {
      break @1
    }
    %15: i32 = load y[%13]
    %16: i32 = add %15, %0
    store y[%13], %16
    %17: u32 = add %13, %12
    continue @1 %17
  }`},
	{"u32 as the start of a loop that counts down", `
  %9: i32 = const -1
  %8: i32 = add %a.20, %9
  %10: u32 = wrap %8
  %11: u32 = const 0
  %12: u32 = const 1
  loop @1 (%13: u32 = %10) {
    %14: bool = lt %11, %13
    if %14 {
      yield
    } else {
      break @1
    }
    store y[%13], %a.20
    %17: u32 = sub %13, %12
    continue @1 %17
  }`},
	{"u32 of a remainder, which may be negative", `
  %10: i32 = const 5
  %11: i32 = sub %a.20, %0
  %12: i32 = rem %11, %10
  %13: u32 = wrap %12
  store y[%13], %a.20`},
	{"i32 of the upper half of a product", `
  %10: u32 = wrap %a.20
  %11: u32 = const 4294967295
  %12: u32 = mulhi %10, %11
  %13: i32 = wrap %12
  %14: bool = lt %13, %1
  if %14 {
    store y[%13], %a.20
    yield
  } else {
    yield
  }`},
}

// TestConvertedIndices runs kernels whose indices are conversions. Some are out of bounds only because conversions
// wrap. They must fault as in the interpreter, and write nothing outside the buffers.
func TestConvertedIndices(t *testing.T) {
	needMachine(t)
	const n = 40
	faults, fine := 0, 0
	for _, k := range convertedIndices {
		text := "orepl-ir 1\nkernel k(a %a.20: i32, y: i32[*]) real f32 {\n  %0: i32 = item.global.x\n  %1: i32 = extent.0 y" + k.body + "\n  return\n}\n"
		for _, a := range []int32{0, 1, 2, 3, n - 1, n, n + 1, -1, -2, -n, -n - 1, 1<<31 - 1, -1 << 31, 1 << 30} {
			if a < 0 && strings.Contains(k.name, "counts down") {
				continue // runs too long
			}
			t.Run(fmt.Sprint(k.name, " ", a), func(t *testing.T) {
				c := &oracle.Case{Kernel: parse(t, text), Size: [3]int{n, 1, 1}, GroupSize: [3]int{n, 1, 1}, SubgroupSize: 32}
				c.Args = []oracle.Arg{{Bits: uint64(uint32(a))}, {Data: make([]byte, 4*n), Dims: []int32{n}}}
				out, err := c.Interp(interp.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if out.Fault != nil {
					faults++
				} else {
					fine++
				}
				for _, gang := range []int{1, 2, 4} {
					for level := range 4 {
						if k.name == "u32 as the bound of a loop" && out.Fault == nil && a > 0 {
							continue // items write the same elements: the result is undefined
						}
						compare(t, c, gang, level)
					}
				}
			})
		}
	}
	if faults < 20 || fine < 40 {
		t.Errorf("%d cases fault and %d do not", faults, fine)
	}
}
