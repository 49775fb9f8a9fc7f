//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"bytes"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// TestArrays compares operations whose plans for GPUs differ from those for CPUs on both.
func TestArrays(t *testing.T) {
	s := newStandIn(t)
	open := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{}), cuda.New(s.options())}})
	t.Cleanup(func() { _ = open.Close(t.Context()) })
	ops := array.New(open)
	for _, c := range []struct {
		name string
		of   func(run *array.Run) (array.Array, error)
	}{
		{"product", func(run *array.Run) (array.Array, error) {
			a, err := run.Random(ir.F32, []int{67, 19}, 1, -1, 1)
			if err != nil {
				return a, err
			}
			b, err := run.Random(ir.F32, []int{19, 70}, 2, -1, 1)
			if err != nil {
				return a, err
			}
			return run.MatMul(a, b)
		}},
		{"sort", func(run *array.Run) (array.Array, error) {
			x, err := run.Random(ir.F32, []int{4500}, 1, -1, 1)
			if err != nil {
				return x, err
			}
			return run.Sorted(x, 0, true)
		}},
		{"argsort", func(run *array.Run) (array.Array, error) {
			x, err := run.Random(ir.I16, []int{3, 700}, 1, -9, 9)
			if err != nil {
				return x, err
			}
			return run.ArgSort(x, 1, false)
		}},
		{"filter", func(run *array.Run) (array.Array, error) {
			x, err := run.Random(ir.F32, []int{5000}, 1, -1, 1)
			if err != nil {
				return x, err
			}
			s, err := run.Filter(array.Text("v => v > 0.5"), x)
			if err != nil {
				return x, err
			}
			return run.Wait(t.Context(), s)
		}},
		{"sum", func(run *array.Run) (array.Array, error) {
			x, err := run.Random(ir.F32, []int{5000}, 1, -1, 1)
			if err != nil {
				return x, err
			}
			return run.Sum(x, array.All, false)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var results [2][]byte
			for i, id := range []string{"cpu", "cuda:0"} {
				d, err := open.Device(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				q, err := d.Queue()
				if err != nil {
					t.Fatal(err)
				}
				run := ops.On(t.Context(), q)
				run.Watch = func(l array.Launched) { t.Log(id, l.Op, l.Size, l.GroupSize) }
				x, err := c.of(run)
				if err != nil {
					t.Fatal(err)
				}
				results[i] = make([]byte, x.Size())
				if err := q.Read(results[i], x.Buffer, 0); err != nil {
					t.Fatal(err)
				}
				if err := q.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(results[0], results[1]) {
				t.Error("the results differ")
			}
		})
	}
}
