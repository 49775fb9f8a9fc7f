package spmd

import (
	"encoding/binary"
	"testing"

	"github.com/orepl/orepl/lang/kernel/oracle"
)

// TestUncheckedLanes accesses elements out of bounds in unchecked code, by 32-bit and 64-bit indices. Loads must return 0,
// and memory next to the buffers must not change.
func TestUncheckedLanes(t *testing.T) {
	needMachine(t)
	k := parse(t, `orepl-ir 1
kernel k(at: i32[*], x: f32[*], y: f32[*], z: f32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = load at[%0]
  %2: f32 = load x[%1]
  store y[%0], %2
  %3: i64 = convert %1
  %4: f32 = load x[%3]
  %5: f32 = add %4, %2
  store z[%3], %5
  return
}
`)
	const n, items = 30, 70
	var at []byte
	for i := range items {
		index := i // the item's own element, or none
		if i%3 == 1 || i >= n {
			index = []int{n, n + 1, -1, -1000, n + 1<<20, 1<<31 - 1, -1 << 31}[i%7]
		}
		at = binary.LittleEndian.AppendUint32(at, uint32(int32(index)))
	}
	for _, gang := range []int{1, 2, 4} {
		compare(t, &oracle.Case{Kernel: k, Size: [3]int{items, 1, 1}, GroupSize: [3]int{1, 1, 1}, Unchecked: true, Args: []oracle.Arg{
			{Data: at, Dims: []int32{items}},
			{Data: floats(n, func(i int) float32 { return float32(i) + 1 }), Dims: []int32{n}},
			{Data: floats(items, func(int) float32 { return -1 }), Dims: []int32{items}},
			{Data: floats(n, func(int) float32 { return -2 }), Dims: []int32{n}}}}, gang, gang%2)
	}
}
