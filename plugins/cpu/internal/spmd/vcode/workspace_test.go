package vcode

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"weak"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TestWorkspaceKeepsBuffers compiles on many threads, one after the other. They share the same buffers until the garbage collector
// frees these.
func TestWorkspaceKeepsBuffers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var w Workspace
	use := func() weak.Pointer[Buffers] {
		b := w.Take(amd64.ForAVX2)
		w.Put(b, &Func{Insts: b.Insts, Spare: b.Spare, Regs: b.Regs})
		return weak.Make(b)
	}
	first := use()
	for range 100 {
		var wg sync.WaitGroup
		wg.Go(func() {
			runtime.LockOSThread() // ends the thread, so that the next one may run on another processor
			if use() != first {
				t.Error("a compilation has made buffers again")
			}
		})
		wg.Wait()
	}
	a, b := w.Take(amd64.ForAVX2), w.Take(amd64.ForAVX2)
	if a == b {
		t.Error("two compilations have the same buffers")
	}
	w.Put(a, &Func{Insts: a.Insts, Spare: a.Spare, Regs: a.Regs})
	w.Put(b, &Func{Insts: b.Insts, Spare: b.Spare, Regs: b.Regs})
	a, b = nil, nil
	for range 3 { // a pool keeps its contents for one collection
		runtime.GC()
	}
	if first.Value() != nil {
		t.Error("the garbage collector has not freed the buffers")
	}
}
