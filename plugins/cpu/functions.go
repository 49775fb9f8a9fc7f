package cpu

import (
	"errors"
	"sync"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
)

// functions is the device library, decoded at the first kernel that calls it.
type functions struct {
	library func() (*kernels.Library, error)
}

func newFunctions() *functions { return &functions{sync.OnceValues(kernels.New)} }

// expand inlines library functions, except those that the vector compiler emits itself. Calls of unknown functions stay: no
// engine compiles such a kernel, and its error has the position of the call.
func (f *functions) expand(m *ir.Module) error {
	if !kernels.Needed(m) {
		return nil
	}
	library, err := f.library()
	if err != nil {
		return err
	}
	return expandBy(library.Leaving(spmd.Functions()...), m)
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

// all returns the kernel with all library functions inlined. It copies a kernel that calls any.
func (f *functions) all(k *ir.Kernel) (*ir.Kernel, error) {
	m := &ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}
	if !kernels.Needed(m) {
		return k, nil
	}
	library, err := f.library()
	if err != nil {
		return nil, err
	}
	m = m.Clone()
	return m.Kernels[0], expandBy(library, m)
}
