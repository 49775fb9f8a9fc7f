//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/runtime/offload"
)

// Occupancy implements [offload.Occupied] for the variant of a typical launch with groups of this size.
func (p *program) Occupancy(of offload.Kernel, items, shared int) (offload.Occupancy, error) {
	k := of.(*kernel)
	c := k.usual()
	c.large = items > smallGroup
	v, err := k.variant(c)
	if err != nil {
		return offload.Occupancy{}, err
	}
	o, err := k.device.occupancy(v.Code.function, k.Info(), v.Most, items, shared)
	if err == nil {
		o.Most = k.device.Info().Limits.GroupItems // of the variant for large groups
	}
	return o, err
}

// Occupancy implements [offload.Occupied].
func (p *nativeProgram) Occupancy(of offload.Kernel, items, shared int) (offload.Occupancy, error) {
	k := of.(*nativeKernel)
	if p.unloaded.Load() {
		return offload.Occupancy{}, p.refuse(offload.Closed, "occupancy", k.info.Name, "the program was unloaded")
	}
	return p.device.occupancy(k.function, &k.info, k.info.GroupItems, items, shared)
}

// occupancy describes groups of a function, of items work-items or of the suggested size if items is 0. most is the maximum
// size, and shared the bytes of shared memory beyond the function's own.
func (d *device) occupancy(f driver.Function, info *offload.KernelInfo, most, items, shared int) (o offload.Occupancy, err error) {
	o = offload.Occupancy{Items: items, Most: most, Multiple: lowered.SubgroupSize}
	err = d.in(func() (err error) {
		o.Suggested = d.driver.BestGroup(f, most)
		if items == 0 {
			o.Items = o.Suggested
		}
		if o.Items > 0 {
			o.PerUnit, err = d.driver.ActiveGroups(f, o.Items, shared)
			o.Fits = err == nil
		}
		return err
	})
	if err != nil {
		return offload.Occupancy{}, d.failure("occupancy", info.Name, err)
	}
	o.Groups = o.PerUnit * d.Info().ComputeUnits
	if info.Cooperative {
		o.Cooperative = o.Groups
	}
	return o, nil
}
