package cpu

import (
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// Occupancy implements [offload.Occupied]. A core runs one group at a time, so all groups fit, and
// shared memory does not matter.
func (p *program) Occupancy(k offload.Kernel, items, _ int) (offload.Occupancy, error) {
	d, most := p.device.Info(), k.Info().GroupItems
	best := offload.DefaultGroupSize([3]int{1, 1, 1})
	o := offload.Occupancy{Items: items, Most: most, Suggested: min(best[0]*best[1]*best[2], most), Multiple: 1, PerUnit: 1, Groups: d.ComputeUnits,
		Fits: true}
	if sizes := d.Limits.SubgroupSizes; len(sizes) > 0 {
		o.Multiple = slices.Max(sizes)
	}
	if items == 0 {
		o.Items = o.Suggested
	}
	return o, nil
}
