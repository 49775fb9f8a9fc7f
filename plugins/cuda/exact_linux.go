//go:build linux && (amd64 || arm64)

package cuda

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// proveExact compares the device's arithmetic with the interpreter's once. A device that differs loses the feature Exact. An
// error means that the comparison failed to run.
func (d *device) proveExact() error {
	return d.arithmetic.Compare(d, func(k *ir.Kernel, info offload.KernelInfo) (offload.Kernel, func() error, error) {
		n := d.newKernel(&ir.Module{Kernels: []*ir.Kernel{k}}, k, info)
		p := &program{device: d, kernels: []*kernel{n}}
		return n, p.Unload, nil
	}, func() {
		info := *d.info.Load()
		info.Features.Exact = false
		d.info.Store(&info)
	})
}
