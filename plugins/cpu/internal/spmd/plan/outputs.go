package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Stores of whole vectors to buffers are made in one of three ways, by how much memory a launch uses and by the processor's
// cost table.
//
// What stays in the caches is stored as it is. What does not is stored in halves of cache lines on Xeons, which take up to
// 1.4 times as long for whole lines that they have to fetch first, and what such a launch loads in rows is fetched ahead,
// see prefetchRow. Vectors of AVX2 are such halves. Lines that have been fetched, see fetchStored, are stored as wholes.
// What is only written goes past the caches on processors of AMD if a launch uses more memory than they hold: no line need
// be fetched then. Less than that stays in the last cache, which takes three times as much in the same time.

// Outputs says which buffers a kernel stores to, by array ID.
type Outputs struct {
	Written  []bool
	Streamed []bool // those that can be written past the caches
	Several  []bool // those where an item may store to many places, in a loop
}

// FindOutputs looks for the stores of a kernel. A buffer is streamed if it is never read and no item stores to it again
// and again. Kernels with atomic operations on buffers may tell other work-groups by them that they have written: stores
// past the caches would come too late.
func FindOutputs(k *ir.Kernel) Outputs {
	n := len(k.Arrays)
	o := Outputs{make([]bool, n), make([]bool, n), make([]bool, n)}
	read := make([]bool, n)
	atomics := false
	changing := make([]bool, k.NumValues()) // values that may differ from iteration to iteration
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

// LeastStreamed is the part of the last cache as which outputs count that are worth to be stored past it.
const LeastStreamed = 4

// Streamed reports whether stores to a buffer go past the caches, if they can.
func (l *Analysis) Streamed(a *ir.Array) bool {
	return l.Options.Stores == NonTemporalStores && l.outputs.Streamed[a.ID]
}
