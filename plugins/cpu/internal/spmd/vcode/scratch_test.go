package vcode

import (
	"testing"

	"github.com/orepl/orepl/tests/allocs"
)

// TestSlab checks that lists of a slab are separate and zeroed, also after a reset.
func TestSlab(t *testing.T) {
	var r Slab[int32]
	for range 3 {
		r.used = 0
		var lists [][]int32
		for n := range 80 {
			list := r.Make(n)
			if len(list) != n || cap(list) != n {
				t.Fatalf("a list of %d has length %d and capacity %d", n, len(list), cap(list))
			}
			for i := range list {
				if list[i] != 0 {
					t.Fatalf("a new list has %d", list[i])
				}
				list[i] = int32(n)
			}
			lists = append(lists, list)
		}
		for n, list := range lists {
			for _, x := range list {
				if x != int32(n) {
					t.Fatalf("list %d shares %d with another", n, x)
				}
			}
		}
	}
	if n := allocs.PerRun(10, func() { r.used = 0; r.Make(len(r.block)) }); n != 0 {
		t.Errorf("%v allocations from a slab that is large enough", n)
	}
}
