// Package opt has the passes over kernel IR that every back end wants. They rest on package analysis.
//
// A pass changes a kernel in place and keeps its results to the bit: values, memory, printed output, and which items
// fault. It never makes or splits a fused multiply-add, and never reorders floating-point operations. It may
// change results that the language leaves open: the payload of a NaN, and which of several faults is recorded first.
//
// A fault ends its work-item: after a checked access or division the same check cannot fail again. An access with an
// unused result stays while its check may fail. [Prove] finds the checks that cannot fail, which the other passes then
// move and remove more freely. A proof holds where its instruction stands: no pass moves a proved access to
// where less is known.
//
// Bounds checks are not hoisted out of loops. [Prove] removes those that cannot fail, also because of the launch's [Facts];
// a back end compiles a variant for launches where an [IndexFact] holds.
//
// Passes may remove what made [ir.Kernel.ObservesGroup] true. Ask for it, and for [ir.Kernel.ABI], before optimizing.
package opt

import "github.com/orepl/orepl/lang/kernel/ir"

// Facts are properties of the launches that a kernel is specialized for. The zero value has none.
type Facts struct {
	Size      [3]int           // items on each axis; 0 if unknown
	GroupSize [3]int           // items of a group on each axis; 0 if unknown
	Extents   map[string][]int // extents of buffers by name, outermost first
	MaxExtent int              // of all buffers; 0 if unknown
	MaxSize   int              // of the launch on all axes; 0 if unknown
	Within    []SizeFact       // relations between size and extents
	Index     []IndexFact      // upper bounds of indices
}

// SizeFact says that the launch's size on axis Axis is at most extent number Extent of a buffer: an access at the
// global index is then in bounds. A backend can compile a second version of a kernel for launches where some hold.
type SizeFact struct {
	Axis   int
	Buffer string
	Extent int
}

// Pass is a named transformation.
type Pass struct {
	Name string
	Run  func(*ir.Kernel, *Facts) (changed bool)

	// Marks says that it changes marks of proof alone, at which no pass before it in the list looks.
	Marks bool
}

// The levels of [Run].
const (
	None    = iota // nothing
	Basic          // folding, common subexpressions, dead code and proofs
	Default        // and code motion out of loops, and small private arrays in values
)

// maxRounds bounds how often the list of passes is repeated; it settles in two or three rounds.
const maxRounds = 4

// Passes returns the list that a level runs, in order.
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

// Run optimizes the kernels of a verified module in place and renumbers their values. Facts may be nil. Marks of proof
// that the kernels bear already are found anew.
func Run(m *ir.Module, level int, facts *Facts) {
	passes := Passes(level)
	for _, k := range m.Kernels {
		k.Body.Walk(func(in *ir.Instr) { in.Proved = 0 })
		run(k, passes, facts)
		k.Renumber()
	}
}

// run repeats the passes until none changes the kernel. It skips a pass whose last run changed nothing if no pass has
// changed the kernel since.
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
				clear(clean[i+1:]) // the passes after it look at the marks
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
