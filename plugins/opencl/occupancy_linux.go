//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/offload"
)

// Occupancy implements [offload.Occupied] for the variant of a typical launch.
func (p *program) Occupancy(of offload.Kernel, items, _ int) (offload.Occupancy, error) {
	k := of.(*kernel)
	v, err := k.lock(k.usual())
	if err != nil {
		return offload.Occupancy{}, err
	}
	defer v.Unlock()
	return p.device.occupancy(v.Code.handle, items, [3]int{}), nil
}

// Occupancy implements [offload.Occupied]. The kernel may require one group size.
func (p *imageProgram) Occupancy(of offload.Kernel, items, _ int) (offload.Occupancy, error) {
	k := of.(*imageKernel)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unloaded {
		return offload.Occupancy{}, offload.Errorf(offload.Closed, "occupancy", "the program was unloaded").On(p.device.ID, k.info.Name)
	}
	return p.device.occupancy(k.object.handle, items, k.object.fixed), nil
}

// occupancy describes groups of a kernel, of items work-items or of the suggested size if items is 0. fixed is the group size that the
// kernel requires, or zero. OpenCL has no query for the groups that share a compute unit.
func (d *device) occupancy(k cl.Kernel, items int, fixed [3]int) offload.Occupancy {
	o := offload.Occupancy{Items: items, Most: d.lib.MaxGroup(k, d.handle), Multiple: max(int(d.lib.WorkGroup(k, d.handle, cl.PreferredMultiple)[0]), 1)}
	if most := d.Info().Limits.GroupItems; o.Most == 0 || o.Most > most {
		o.Most = most
	}
	best := offload.DefaultGroupSize([3]int{1, 1, 1})
	o.Suggested = min(best[0]*best[1]*best[2], o.Most)
	if o.Suggested > o.Multiple {
		o.Suggested -= o.Suggested % o.Multiple
	}
	if n := fixed[0] * fixed[1] * fixed[2]; n > 0 {
		o.Suggested, o.Most = n, n
	}
	if items == 0 {
		o.Items = o.Suggested
	}
	return o
}
