package spmd

import (
	"fmt"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
)

// TestBlocksOfNoLane checks that blocks reached with an empty mask have no effect. Their uniform values are scalar and
// unmasked.
func TestBlocksOfNoLane(t *testing.T) {
	needMachine(t)
	const kernel = `orepl-ir 1
kernel k(n %%n.90: i32, zero %%zero.91: i32, x: f32[*], y: f32[*], count: i32[*]) real f32 {
  private own: f32[3]
  %%0: i32 = item.global.x
  %%1: f32 = load x[%%0]
  %%2: f32 = const -1
  %%3: bool = lt %%1, %%2
  %%4: i32 = const 2147483647
  %%5: i32 = and %%n.90, %%4
  %%6: i32 = extent.0 x
  %%7: bool = lt %%5, %%6
  %%8: bool = %s %%7, %%3
  %%9: i32 = const 1
  %%10: i32 = const 0
  %%11: f32 = const 7
  store own[%%9], %%11
  if %%8 {
%s  } else {
%s  }
  %%80: f32 = load own[%%9]
  store y[%%0], %%80
  return
}
`
	for _, c := range []struct{ name, block string }{
		{"a load", "%20: f32 = load x[%5]\nstore y[%0], %20\n"},
		{"a load for all", "%20: f32 = load x[%5]\nstore y[%10], %20\n"},
		{"a store", "store x[%5], %11\n"},
		{"a store of what is there", "store y[%10], %11\n"},
		{"an atomic", "%20: i32 = atomic.add count[%10], %9\n"},
		{"an atomic out of bounds", "%20: i32 = atomic.add count[%5], %9\n"},
		{"a division", "%20: i32 = div %9, %zero.91\nstore count[%10], %20\n"},
		{"a remainder", "%20: i32 = rem %0, %zero.91\nstore count[%10], %20\n"},
		{"a print", "print \"here\"\n"},
		{"an assertion", "assert %3, \"no\"\n"},
		{"a cleared array", "zero own\n"},
		{"a private element", "store own[%9], %1\n"},
		{"a loop", "loop @1 (%20: i32 = %10) {\n%21: bool = lt %20, %9\nif %21 {\nyield\n} else {\nbreak @1\n}\nstore y[%20], %11\n%22: i32 = add %20, %9\ncontinue @1 %22\n}\n"},
		{"a return", "return\n"},
	} {
		ends := "yield\n"
		if c.name == "a return" {
			ends = ""
		}
		for _, otherwise := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, otherwise %v", c.name, otherwise), func(t *testing.T) {
				op, then, other := "and", c.block+ends, "yield\n"
				if otherwise { // if no lane is below the extent, or the value that is not below it
					op, then, other = "or", "yield\n", c.block+ends
				}
				k := parse(t, fmt.Sprintf(kernel, op, then, other))
				for i, n := range []int{17, 64} {
					for _, index := range []uint64{1 << 30, 0} {
						if otherwise {
							index = 0 // below the extent: all lanes yield
						}
						values := floats(n, func(i int) float32 { return float32(i) })
						dims := []int32{int32(n)}
						launch := &oracle.Case{Kernel: k, Size: [3]int{n, 1, 1}, GroupSize: [3]int{1, 1, 1}, Args: []oracle.Arg{{Bits: index}, {},
							{Data: values, Dims: dims}, {Data: values, Dims: dims}, {Data: make([]byte, 8), Dims: []int32{2}}}}
						launch.Unchecked = n == 17
						compare(t, launch, 1+i, i)
					}
				}
			})
		}
	}
}
