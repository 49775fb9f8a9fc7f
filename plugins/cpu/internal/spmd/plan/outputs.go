package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// LeastStreamed is the divisor of the last-level cache's size in bytes that yields the minimum size of streamed outputs.
const LeastStreamed = 4

// Outputs describes the buffers that a kernel stores to, by array ID.
//
// A launch stores whole vectors in one of three ways, by the memory it accesses and the processor's cost table. Buffers that
// fit the caches are stored normally. Larger ones are stored in half cache lines on Xeons, where whole-line stores that miss
// take up to 1.4 times as long. On AMD processors, launches that exceed the caches use non-temporal stores for buffers that
// they do not read.
type Outputs struct {
	Written  []bool
	Streamed []bool // buffers that allow non-temporal stores
	Several  []bool // buffers where an item may store to several places in a loop
}

// FindOutputs analyses the stores of a kernel. A buffer is streamed if it is stored to, never read, and no store to it is in a loop.
// Kernels with atomic operations on buffers stream none, because another work-group could read an element before its
// non-temporal store completes.
func FindOutputs(k *ir.Kernel) Outputs {
	n := len(k.Arrays)
	o := Outputs{make([]bool, n), make([]bool, n), make([]bool, n)}
	read := make([]bool, n)
	atomics := false
	changing := make([]bool, k.NumValues()) // values that may change between iterations
	changes := func(v *ir.Value) bool { return changing[v.ID] }
	var walk func(b *ir.Block, inLoop bool)
	walk = func(b *ir.Block, inLoop bool) {
		if b == nil {
			return
		}
		for _, in := range b.Instrs {
			if in.Array != nil && in.Array.Space == ir.Global {
				switch in.Op {
				case ir.Store:
					id := in.Array.ID
					o.Written[id] = true
					read[id] = read[id] || inLoop
					o.Several[id] = o.Several[id] || slices.ContainsFunc(in.Args[:in.NumIndices()], changes)
				case ir.Atomic:
					atomics = true
				case ir.Load:
					read[in.Array.ID] = true
				}
			}
			if in.Op == ir.Loop {
				for _, v := range in.Then.Params {
					changing[v.ID] = true
				}
			}
			walk(in.Then, inLoop || in.Op == ir.Loop)
			walk(in.Else, inLoop)
			for _, v := range in.Results {
				changing[v.ID] = inLoop && (!in.IsPure() || slices.ContainsFunc(in.Args, changes))
			}
		}
	}
	walk(k.Body, false)
	for id := range read {
		o.Streamed[id] = o.Written[id] && !read[id] && !atomics
	}
	return o
}

// Streamed reports whether stores to a buffer are non-temporal in variants with such stores.
func (l *Analysis) Streamed(a *ir.Array) bool {
	return l.Spec.Stores == NonTemporalStores && l.outputs.Streamed[a.ID]
}
