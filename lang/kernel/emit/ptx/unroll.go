package ptx

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// Limits of unrolling, in operations of the IR.
const (
	unrolledLoop   = 512  // all iterations of a loop that goes away
	unrolledBody   = 64   // the body of a loop that stays
	unrolledKernel = 4096 // a kernel
)

// Unroll returns an optimized kernel with its short counted loops unrolled, before it is lowered. Such loops look at no stop
// word, and constant indices become displacements. The kernel itself stays as it is.
func Unroll(k *ir.Kernel) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone()
	if _, changed := opt.PartialUnroll(m.Kernels[0], opt.PartialUnrollLimits{Whole: unrolledLoop, Body: unrolledBody, Total: unrolledKernel}); changed {
		return m.Kernels[0]
	}
	return k
}
