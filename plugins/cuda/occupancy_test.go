//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"errors"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestOccupancy compares what kernels of the language and of an image report with the stand-in's occupancy.
func TestOccupancy(t *testing.T) {
	s := newStandIn(t)
	s.set("units", 4)
	s.set("best", 512)
	d, _ := setup(t, s)
	portable, err := d.Load(t.Context(), image(t))
	if err != nil {
		t.Fatal(err)
	}
	of, err := portable.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	native, err := d.Load(t.Context(), ptxImage(axpy))
	if err != nil {
		t.Fatal(err)
	}
	axpyKernel, err := native.(offload.SignedProgram).KernelAs("axpy", &axpySignature)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program       offload.Program
		kernel        offload.Kernel
		items, shared int
		want          offload.Occupancy
	}{
		{native, axpyKernel, 0, 0, offload.Occupancy{Items: 512, Suggested: 512, Most: 1024, Multiple: 32, PerUnit: 4, Groups: 16, Fits: true}},
		{native, axpyKernel, 64, 0, offload.Occupancy{Items: 64, Suggested: 512, Most: 1024, Multiple: 32, PerUnit: 32, Groups: 128, Fits: true}},
		{native, axpyKernel, 64, 16 << 10, offload.Occupancy{Items: 64, Suggested: 512, Most: 1024, Multiple: 32, PerUnit: 3, Groups: 12, Fits: true}},
		{native, axpyKernel, 64, 64 << 10, offload.Occupancy{Items: 64, Suggested: 512, Most: 1024, Multiple: 32, Fits: true}},
		{portable, of, 128, 0, offload.Occupancy{Items: 128, Suggested: 512, Most: 1024, Multiple: 32, PerUnit: 16, Groups: 64, Fits: true}},
		{portable, of, 1024, 0, offload.Occupancy{Items: 1024, Suggested: 512, Most: 1024, Multiple: 32, PerUnit: 2, Groups: 8, Fits: true}},
	} {
		got, err := c.program.(offload.Occupied).Occupancy(c.kernel, c.items, c.shared)
		if err != nil || got != c.want {
			t.Errorf("%s, %d items, %d bytes: %+v, %v, want %+v", c.kernel.Info().Name, c.items, c.shared, got, err, c.want)
		}
	}
	s.fail("cuOccupancyMaxActiveBlocksPerMultiprocessor", 1, 0)
	_, err = native.(offload.Occupied).Occupancy(axpyKernel, 64, 0)
	checkError(t, "a failing driver", err, offload.BackendFailure, "INVALID_VALUE")
	if err := errors.Join(native.Unload(), portable.Unload()); err != nil {
		t.Error(err)
	}
	_, err = native.(offload.Occupied).Occupancy(axpyKernel, 64, 0)
	checkError(t, "an unloaded image", err, offload.Closed, "unloaded")
	_, err = portable.(offload.Occupied).Occupancy(of, 64, 0)
	checkError(t, "an unloaded program", err, offload.Closed, "unloaded")
}
