package spmd

import (
	"bytes"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
	"github.com/orepl/orepl/tests/allocs"
)

// TestRoom cuts lists from a room, again after it was used.
func TestRoom(t *testing.T) {
	var r vcode.Slab[int32]
	for range 3 {
		r.Used = 0
		var lists [][]int32
		for n := range 80 {
			list := r.Make(n)
			if len(list) != n || cap(list) != n {
				t.Fatalf("a list of %d has %d and room for %d", n, len(list), cap(list))
			}
			for i := range list {
				if list[i] != 0 {
					t.Fatalf("a list begins with %d", list[i])
				}
				list[i] = int32(n)
			}
			lists = append(lists, list)
		}
		for n, list := range lists {
			for _, x := range list {
				if x != int32(n) {
					t.Fatalf("list %d has another's %d", n, x)
				}
			}
		}
	}
	if n := allocs.PerRun(10, func() { r.Used = 0; r.Make(len(r.Block)) }); n != 0 {
		t.Errorf("%v allocations from a room that is large enough", n)
	}
}

// TestWorkspaceLeavesNothing compiles several kernels with one workspace: the code is that of one that is new.
func TestWorkspaceLeavesNothing(t *testing.T) {
	var work Workspace
	for range 2 {
		for _, b := range barrierKernels[:5] {
			k := optimized(rank2(t, b.text, ir.F32))
			for _, target := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
				compile := func(w *Workspace) *code {
					c, err := generate(k, Options{Features: target.Features, target: target, Gang: 2, Workspace: w}, nil)
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				if old, fresh := compile(&work), compile(nil); !bytes.Equal(old.bytes, fresh.bytes) {
					t.Errorf("%s, %s: the code depends on what was compiled before", b.name, target.Name)
				}
			}
		}
	}
}
