package opencl_test

import (
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestVariants checks that launches run code without checks if their size, buffers and loops allow it, and that other
// launches of the kernel report faults.
func TestVariants(t *testing.T) {
	platform := must[offload.Platform](t)(available(t, opencl.Options{}).Open(t.Context()))
	defer platform.Close()
	dev := platform.Devices()[0]
	img := image(t, `orepl-ir 1
file 0 "f"
kernel copy(x: i32[*], y: i32[*]) real f32 {
  site 0 = 0:1:1 ""
  %1: i32 = item.global.x
  %2: i32 = load x[%1] !0
  store y[%1], %2 !0
  return
}
`)
	p := must[offload.Program](t)(dev.Load(t.Context(), img))
	defer p.Unload()
	k := must[offload.Kernel](t)(p.Kernel("copy"))
	text := must[string](t)(p.(offload.Lister).Listing("copy", "clc"))
	if strings.Contains(text, "atomic") || strings.Contains(text, "size_0;") {
		t.Errorf("the usual form has checks:\n%s", text)
	}
	q := must[offload.Queue](t)(dev.NewQueue(offload.QueueOptions{}))
	defer q.Close()
	const n = 1000
	x, y := must[offload.Memory](t)(dev.Allocate(4*n, offload.DeviceMemory)), must[offload.Memory](t)(dev.Allocate(4*n, offload.DeviceMemory))
	defer x.Free()
	defer y.Free()
	data := make([]byte, 4*n)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for _, c := range []struct {
		size, group int
		extent      int32
		faults      bool
	}{{768, 256, n, false}, {768, 0, n, false}, {1000, 0, n, false}, {1000, 256, n, false}, {999, 0, n, false}, {512, 256, 511, true}, {512, 0, 511, true}, {768, 256, n, false}} {
		got := make([]byte, 4*n)
		if err := q.Submit(offload.Span{Memory: x, Size: 4 * n}, data); err != nil {
			t.Fatal(err)
		}
		if err := q.Submit(offload.Span{Memory: y, Size: 4 * n}, got); err != nil {
			t.Fatal(err)
		}
		l := &offload.Launch{Kernel: k, Size: [3]int{c.size, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: x, Dims: [3]int32{n}}, {Type: offload.I32, Memory: y, Dims: [3]int32{c.extent}}}}
		if c.group > 0 {
			l.GroupSize = [3]int{c.group, 1, 1}
		}
		err := q.Launch(l)
		if err == nil {
			err = q.Sync(t.Context())
		}
		if faults := offload.CodeOf(err) == offload.OutOfBounds; faults != c.faults || err != nil && !faults {
			t.Errorf("%+v: %v", c, err)
		}
		if err := q.Retrieve(got, offload.Span{Memory: y, Size: 4 * n}); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			want := data[i]
			if i/4 >= c.size || i/4 >= int(c.extent) {
				want = 0
			}
			if got[i] != want {
				t.Errorf("%+v: byte %d is %d, not %d", c, i, got[i], want)
				break
			}
		}
	}
}
