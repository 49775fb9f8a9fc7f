package cpu

import (
	"errors"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
)

// expand inlines library functions, except those that the vector compiler emits itself. Calls of unknown functions stay: no
// engine compiles such a kernel, and its error has the position of the call.
func expand(m *ir.Module) error {
	return expandBy(kernels.New().Leaving(spmd.Functions()...), m)
}

func expandBy(library *kernels.Library, m *ir.Module) error {
	for _, k := range m.Kernels {
		var unknown *kernels.UnknownError
		if err := library.ExpandKernel(k); err != nil && !errors.As(err, &unknown) {
			return err
		}
	}
	return nil
}

// expandAll returns a copy of the kernel with all library functions inlined, or the kernel itself if it calls none.
func expandAll(k *ir.Kernel) (*ir.Kernel, error) {
	m := &ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}
	if !kernels.Needed(m) {
		return k, nil
	}
	m = m.Clone()
	return m.Kernels[0], expandBy(kernels.New(), m)
}
