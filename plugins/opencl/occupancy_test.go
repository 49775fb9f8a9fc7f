package opencl_test

import (
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestOccupancy checks the group sizes that kernels of OpenCL C report.
func TestOccupancy(t *testing.T) {
	m := newImages(t)
	most := m.device.Info().Limits.GroupItems
	for _, name := range []string{"axpy", "total"} {
		k := m.kernel(name)
		o := must[offload.Occupancy](t)(m.program.(offload.Occupied).Occupancy(k, 0, 0))
		if o.Most < 1 || o.Most > most || o.Multiple < 1 || o.Suggested < 1 || o.Suggested > o.Most || o.Items != o.Suggested || o.Fits || o.Cooperative != 0 {
			t.Errorf("%s: %+v", name, o)
		}
		if o.Suggested > o.Multiple && o.Suggested%o.Multiple != 0 {
			t.Errorf("%s: a suggested size that wastes lanes: %+v", name, o)
		}
		if o = must[offload.Occupancy](t)(m.program.(offload.Occupied).Occupancy(k, 4, 0)); o.Items != 4 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if o := must[offload.Occupancy](t)(m.program.(offload.Occupied).Occupancy(m.kernel("fixed"), 0, 0)); o.Suggested != 16 || o.Most != 16 || o.Items != 16 {
		t.Errorf("a kernel with a required size: %+v", o)
	}
}
