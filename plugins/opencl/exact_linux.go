//go:build linux && (amd64 || arm64)

package opencl

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/offload"
)

// proveExact compares the device's arithmetic with the interpreter's, once. A device that differs loses the feature Exact.
func (d *device) proveExact() {
	d.proof.Do(func() {
		info := *d.info.Load()
		if !info.Features.Exact {
			return
		}
		d.inexact = portable.CompareArithmetic(d, func(k *ir.Kernel, info offload.KernelInfo) (offload.Kernel, func() error, error) {
			n := d.newKernel(&ir.Module{Kernels: []*ir.Kernel{k}}, k, info)
			p := &program{device: d, kernels: []*kernel{n}}
			return n, p.Unload, nil
		})
		if d.inexact != nil {
			info.Features.Exact = false
			d.info.Store(&info)
		}
	})
}
