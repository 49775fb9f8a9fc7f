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

// expand puts the code of the library's functions in the place of calls, but for those that vector code computes by
// instructions. A kernel that calls what the library has not keeps its calls: no engine compiles it, and the error then
// has its place.
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

// all gives a kernel in which no calls are left, a copy if it has any.
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
