package array

import (
	"bytes"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// TestParts compares the kernels that reduce long rows: of processors, of GPUs and of other devices.
func TestParts(t *testing.T) {
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	device, err := s.Device(t.Context(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := device.Queue()
	if err != nil {
		t.Fatal(err)
	}
	r := New(s).On(t.Context(), q)
	r.op = "test"
	for _, d := range []reduction{sumOf(ir.F32), extremeOf(ir.F32, "max"), extremeOf(ir.I32, "min")} {
		for _, n := range []int{1, 15, 255, 256, 257, 4095, rowSpan, rowSpan + 1, 3*rowSpan - 7} {
			x, err := r.Random(d.acc, []int{2, n}, 1, -50, 50)
			if err != nil {
				t.Fatal(err)
			}
			blocks := divide(n, rowSpan)
			var found [4][]byte
			for i, text := range []string{"reduceRows", "reduceParts", "reduceParts", "reduceWide"} {
				out, err := r.temp(d.acc, 2, blocks)
				if err != nil {
					t.Fatal(err)
				}
				e := stored(x)
				src, _, err := r.around(e, 1)
				if err != nil {
					t.Fatal(err)
				}
				size, group := groups(blocks, 2), oneRow
				p := src.program(r.op, text, e).with("SPAN", rowSpan)
				if text == "reduceParts" {
					parts := partsOf(&offload.DeviceInfo{VectorBits: 512 / i})
					p, size, group = p.with("PARTS", parts), []int{blocks * groupSize / parts, 2}, []int{groupSize / parts, 1, 1}
				}
				p = d.bind(p, d.pre, "v => v")
				if err := r.launch(p, size, group, in(x), in(out)); err != nil {
					t.Fatal(err)
				}
				data := make([]byte, out.Size())
				if err := q.Read(data, out.Buffer, 0); err != nil {
					t.Fatal(err)
				}
				if err := q.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				found[i] = data
			}
			if slices.ContainsFunc(found[1:], func(data []byte) bool { return !bytes.Equal(data, found[0]) }) {
				t.Errorf("%s of %d elements: %x", d.op, n, found)
			}
		}
	}
}
