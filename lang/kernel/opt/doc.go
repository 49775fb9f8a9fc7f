// Package opt contains the passes over kernel IR that all back ends use. It relies on package analysis.
//
// A pass modifies a kernel in place and keeps its results bit-exact: values, memory, printed output, and the set of faulting
// items. It never creates or splits a fused multiply-add, and never reorders floating-point operations. It may change results
// that the language leaves open: the payload of a NaN, and which of several faults is recorded first.
//
// A fault ends its work-item, so after a checked access or division the same check cannot fail again. An access with an unused
// result is kept while its check may fail. [Prove] finds checks that cannot fail, which the other passes then move and remove
// more freely. A proof holds only at its instruction: no pass moves a proved access to a place with weaker facts.
//
// Bounds checks are not hoisted out of loops. [Prove] removes those that cannot fail, also by the launch's [Facts]; a back end
// compiles a variant for launches where an [IndexFact] holds.
//
// Passes may remove the operations that make [ir.Kernel.ObservesGroup] true. Callers must compute it and [ir.Kernel.ABI] before
// optimizing.
//
// # Design
//
// Private arrays with constant indices become values before any device sees them, since a register tile is written as a small
// array on all devices.
//
// A pass is skipped if its last run changed nothing and no pass changed anything since.
package opt

import "github.com/orepl/orepl/lang/kernel/ir"

// Facts are properties of the launches for which a kernel is specialized. The zero value has none.
type Facts struct {
	Size      [3]int           // items on each axis; 0 if unknown
	GroupSize [3]int           // items per group on each axis; 0 if unknown
	Extents   map[string][]int // extents of buffers by name, outermost first; missing ones are unknown
	MaxExtent int              // upper bound of each extent of each buffer; 0 if unknown
	MaxSize   int              // upper bound of the size on each axis; 0 if unknown
	Within    []SizeFact       // relations between size and extents
	Index     []IndexFact      // conditions on indices
}

// SizeFact states that the launch's size on axis Axis is at most the extent with index Extent of a buffer. An access at the
// global index is then in bounds. A back end can compile a variant of a kernel for launches where some hold.
type SizeFact struct {
	Axis   int
	Buffer string
	Extent int
}

// Pass is a named transformation.
type Pass struct {
	Name string
	Run  func(*ir.Kernel, *Facts) (changed bool)

	// Marks reports that the pass only changes proofs, which no earlier pass in the list uses.
	Marks bool
}

// The levels of [Run].
const (
	None    = iota // no passes
	Basic          // folding, CSE, DCE and proofs
	Default        // additionally unrolling, SROA and LICM
)

// maxRounds is the maximum number of repetitions of the pass list; a fixed point usually takes two or three.
const maxRounds = 4

// Passes returns the passes of a level, in order.
func Passes(level int) []Pass {
	var list []Pass
	if level >= Basic {
		list = append(list, Pass{Name: "fold", Run: Fold})
	}
	if level >= Default {
		list = append(list, Pass{Name: "unroll", Run: Unroll}, Pass{Name: "sroa", Run: SROA})
	}
	if level >= Basic {
		list = append(list,
			Pass{Name: "cse", Run: CSE},
			Pass{Name: "prove", Run: Prove, Marks: true},
			Pass{Name: "dce", Run: DCE},
		)
	}
	if level >= Default {
		list = append(list, Pass{Name: "licm", Run: LICM})
	}
	return list
}

// Run optimizes the kernels of a verified module in place and renumbers their values. facts may be nil. Existing proofs are
// discarded. All levels but [None] compute them anew.
func Run(m *ir.Module, level int, facts *Facts) {
	passes := Passes(level)
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) { in.Proved = 0 })
		run(k, passes, facts)
		k.Renumber()
	}
}

// run repeats the passes until none changes the kernel, but at most maxRounds times. It skips a pass whose last run changed
// nothing. The pass runs again after a change of the kernel, or of proofs by a pass before it in the list.
func run(k *ir.Kernel, passes []Pass, facts *Facts) {
	version := 1
	clean := make([]int, len(passes)) // by pass: the version that it leaves unchanged; 0: none
	for range maxRounds {
		before := version
		for i, p := range passes {
			switch {
			case clean[i] == version:
			case !p.Run(k, facts):
				clean[i] = version
			case p.Marks:
				clear(clean[i+1:]) // later passes use proofs
				clean[i] = version
			default:
				version++
			}
		}
		if version == before {
			break
		}
	}
}
