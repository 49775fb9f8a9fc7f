package opencl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestRefusedKernels checks that kernels which the device cannot run are errors with script positions.
func TestRefusedKernels(t *testing.T) {
	for _, c := range []struct{ name, body, hint string }{
		{"a clock", "  %1: i32 = item.global.x\n  %2: u64 = clock !1\n  store x[%1], %2 !1\n", "no clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			platform := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
			defer platform.Close()
			img := image(t, "orepl-ir 2\nfile 0 \"a.js\"\nkernel k(x: u64[*]) real f32 {\n  site 0 = 0:1:1 \"\"\n  site 1 = 0:7:3 \"the statement\"\n"+c.body+"  return\n}\n")
			p := must[offload.Program](t)(platform.Devices()[0].Load(t.Context(), img))
			defer p.Unload()
			_, err := p.Kernel("k")
			var e *offload.Error
			if !errors.As(err, &e) {
				t.Fatalf("no error of the device: %v", err)
			}
			if e.Pos.Line != 7 || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%v, at line %d", err, e.Pos.Line)
			}
		})
	}
}
