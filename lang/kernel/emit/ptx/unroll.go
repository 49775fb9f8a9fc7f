package ptx

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// Limits of unrolling in IR operations.
const (
	unrolledLoop   = 512  // maximum for all iterations of a completely unrolled loop
	unrolledBody   = 64   // maximum for the body of a partially unrolled loop
	unrolledKernel = 4096 // maximum for a kernel
)

// Unroll returns a copy of an optimized kernel with its short counted loops unrolled, to be lowered. It returns the kernel itself
// if no loop can be unrolled. Unrolled iterations do not poll the stop word, and constant indices become displacements.
func Unroll(k *ir.Kernel) *ir.Kernel {
	m := (&ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}).Clone()
	if _, changed := opt.PartialUnroll(m.Kernels[0], opt.PartialUnrollLimits{Whole: unrolledLoop, Body: unrolledBody, Total: unrolledKernel}); changed {
		return m.Kernels[0]
	}
	return k
}
