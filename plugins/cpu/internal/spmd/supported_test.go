package spmd

import (
	"errors"
	"math"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestUnsupported compiles kernels that the compiler does not support. Compile rejects operations and functions, and Check
// rejects too large private arrays.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct{ name, text, what string }{
		{"library call", "orepl-ir 2\n\nkernel k(x: u64[*]) real f32 {\n  %0: i32 = item.global.x\n  %1: u64 = lib.next %0\n  store x[%0], %1\n  return\n}\n", "lib"},
		{"function", "orepl-ir 1\n\nkernel k(x: f32[*]) real f32 {\n  %0: i32 = item.global.x\n  %1: f32 = load x[%0]\n  %2: f32 = math.sin %1\n  store x[%0], %2\n  return\n}\n", "the function sin of f32"},
		{"private array", "orepl-ir 1\n\nkernel k(x: i32[*]) real f32 {\n  private big: i32[1048576]\n  %0: i32 = item.global.x\n  zero big\n  %1: i32 = load big[%0]\n  store x[%0], %1\n  return\n}\n",
			"4194304 bytes of private arrays"},
	} {
		k := parse(t, c.text)
		p, err := Compile(k, plan.Options{Features: vcode.AVX512.Features, Gang: 4})
		if err == nil {
			err = p.Check()
		}
		var u *plan.UnsupportedError
		if !errors.As(err, &u) || u.What != c.what {
			t.Errorf("%s: %v, want %q", c.name, err, c.what)
		}
	}
}

// TestFarConstantIndex loads a private element at a constant index whose displacement exceeds 32 bits. The bounds check
// faults as in the interpreter.
func TestFarConstantIndex(t *testing.T) {
	const text = `orepl-ir 1

kernel far(x: i32[*]) real f32 {
  private big: i32[2, 1024]
  %0: i32 = item.global.x
  %1: i32 = const 60000
  %2: i32 = add %0, %1
  zero big
  %3: i32 = load big[%2][%0]
  store x[%0], %3
  return
}
`
	k := parse(t, text)
	if disp := int64(60000) * 1024 * 4 * 16; disp <= math.MaxInt32 {
		t.Fatalf("a displacement of %d fits", disp)
	}
	for _, gang := range []int{1, 4} {
		for _, target := range allTargets {
			p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang})
			if err == nil {
				err = p.Check()
			}
			if err != nil {
				t.Errorf("%s: %v", target.Name, err)
			}
		}
		compare(t, &oracle.Case{Kernel: k, Size: [3]int{100, 1, 1}, GroupSize: [3]int{100, 1, 1}, Args: []oracle.Arg{{Data: make([]byte, 400), Dims: []int32{100}}}}, gang, 0)
	}
}
