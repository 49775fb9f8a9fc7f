package opencl_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
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

// TestMoreSharedMemoryThanTheDeviceHas checks that kernels with larger shared arrays are errors. PoCL would end the process.
func TestMoreSharedMemoryThanTheDeviceHas(t *testing.T) {
	platform := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	defer platform.Close()
	d := platform.Devices()[0]
	limit := d.Info().Limits.SharedBytes
	for _, c := range []struct{ bytes, reduced int }{{limit + 4, 0}, {ir.MaxSharedBytes, 0}, {limit, 1}} {
		if limit >= ir.MaxSharedBytes { // no kernel of the language declares more
			break
		}
		body := "  %1: i32 = item.local.x\n  store s[%1], %1\n  barrier\n  %2: i32 = load s[%1]\n"
		if c.reduced > 0 {
			body += "  %3: i32 = reduce.add %2\n  store x[%1], %3\n"
		} else {
			body += "  store x[%1], %2\n"
		}
		img := image(t, fmt.Sprintf("orepl-ir 2\nkernel k(x: i32[*]) real f32 {\n  shared s: i32[%d]\n%s  return\n}\n", c.bytes/4, body))
		p := must[offload.Program](t)(d.Load(t.Context(), img))
		defer p.Unload()
		k, err := p.Kernel("k")
		if err == nil {
			err = k.(interface{ Prepare() error }).Prepare()
		}
		var e *offload.Error
		if !errors.As(err, &e) || e.Code != offload.Unsupported || !strings.Contains(err.Error(), fmt.Sprintf("more than the %d of the device", limit)) || e.Hint == "" {
			t.Errorf("%d bytes, %d reductions: %v", c.bytes, c.reduced, err)
		}
	}

	source := fmt.Sprintf("kernel void k(global int *x) { local int s[%d]; s[get_local_id(0)] = x[0]; barrier(CLK_LOCAL_MEM_FENCE); x[0] = s[1]; }", limit/4+1)
	p, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageOpenCLC, Label: "k.cl", Data: []byte(source)})
	if err == nil {
		defer p.Unload()
		_, err = p.Kernel("k")
	} else if d.Info().Class != offload.ClassEmulated {
		return // a driver's compiler may refuse it first
	}
	if offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "local variables") {
		t.Errorf("OpenCL C: %v", err)
	}
}
