package cpu

import (
	"errors"
	"sync"

	"github.com/orepl/orepl/kernels"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd"
)

// functions are the device library, decoded when a kernel first calls it.
type functions struct {
	library func() (*kernels.Library, error)
}

func newFunctions() *functions { return &functions{sync.OnceValues(kernels.New)} }

// expand replaces calls of library functions by their code, except for functions that the vector compiler emits itself.
// Calls of unknown functions stay: no engine compiles such a kernel, and the error has the position of the call.
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

// all returns a kernel without calls of library functions: a copy if the kernel has any.
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
