package array_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// open returns a runner on the CPU.
func open(t *testing.T) *array.Run {
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	d, err := s.Device(t.Context(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	return array.New(s).On(t.Context(), q)
}

// checked returns a function that returns an operation's array, and ends the test at an error.
func checked(t *testing.T) func(a array.Array, err error) array.Array {
	return func(a array.Array, err error) array.Array {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// one returns the only element of an array of f32.
func one(t *testing.T, a array.Array) float32 {
	list, err := session.Read[float32](t.Context(), a.Buffer, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// TestFromGo runs operations without a script.
func TestFromGo(t *testing.T) {
	run := open(t)
	b, err := session.BufferOf(t.Context(), run.Queue.Device(), "x", []float32{3, 1, 2, -4})
	if err != nil {
		t.Fatal(err)
	}
	x := array.Of(b)
	y, err := run.Map(array.Text("v => v * v"), x)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := run.Sum(y, array.All, false)
	if err != nil {
		t.Fatal(err)
	}
	if v := one(t, sum); v != 30 {
		t.Errorf("the sum is %v", v)
	}
	chosen, err := run.Filter(array.Text("v => v > 1"), x)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := run.Wait(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := session.Read[float32](t.Context(), kept.Buffer, 0, -1); err != nil || !slices.Equal(list, []float32{3, 2}) {
		t.Errorf("%v, %v", list, err)
	}
	mean, err := run.Mean(x, array.All, false)
	if err != nil {
		t.Fatal(err)
	}
	if v := one(t, mean); math.Abs(float64(v)-0.5) > 1e-7 {
		t.Errorf("the mean is %v", v)
	}
}

// TestNothingStaysAllocated checks that operations free their intermediate results.
func TestNothingStaysAllocated(t *testing.T) {
	run := open(t)
	x, err := run.Random(ir.F32, []int{300, 70}, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(a array.Array, err error) {
		t.Helper()
		if err == nil {
			err = a.Free()
		}
		if err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		keep(run.Var(x, 0, true, 0))
		keep(run.CumSum(x, 0))
		keep(run.ArgMax(x, 0, false))
		keep(run.Sorted(x, 0, false))
		keep(run.ArgSort(x, -1, true))
		keep(run.Quantile(x, []float64{0.5}))
		keep(run.Norm(x, array.All, false))
		keep(run.Permutation(1000, 1))
		s, err := run.Unique(x)
		if err != nil {
			t.Fatal(err)
		}
		keep(run.Wait(t.Context(), s))
		counts, edges, err := run.Histogram(x, 9, 0, 0)
		keep(counts, err)
		keep(edges, err)
		sorted, places, err := run.SortBy(array.Text("(a, b) => a - b"), x, 0, false)
		keep(sorted, err)
		keep(places, err)
	}
	if err := run.Queue.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, o := range run.Queue.Device().Session().Live() {
		if o.Kind == "buffer" && o.ID != 0 && o.Bytes != x.Size() {
			t.Errorf("%v of %d bytes is left", o, o.Bytes)
		}
	}
}

// TestErrors checks the errors of arguments.
func TestErrors(t *testing.T) {
	run := open(t)
	x, err := run.Random(ir.F32, []int{4, 3}, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, err := run.Random(ir.F32, []int{4, 2}, 1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	freed, _ := run.Random(ir.F32, []int{1}, 1, 0, 1)
	_ = freed.Free()
	for name, fail := range map[string]func() error{
		"the shapes [4, 3] and [4, 2] do not match: axis -1 has the extents 3 and 2": func() error {
			_, err := run.Zip("zip", array.Text("(a, b) => a + b"), ir.Void, array.In(x), array.In(y))
			return err
		},
		"axis 2 is outside of the shape [4, 3]":                        func() error { _, err := run.Sum(x, 2, false); return err },
		"12 elements of the shape [4, 3] do not fill the shape [5, 3]": func() error { _, err := run.Reshape(x, []int{5, 3}); return err },
		"the shapes [4, 3] and [4, 2] do not match: the last axis of the left one has the extent 3, axis 0 of the right one 4": func() error {
			_, err := run.MatMul(x, y)
			return err
		},
		"has been freed": func() error { _, err := run.Sum(freed, array.All, false); return err },
		"the array has the shape [1, 1, 1], and a matrix has two dimensions": func() error {
			z, _ := run.Random(ir.F32, []int{1, 1, 1}, 1, 0, 1)
			_, err := run.Trace(z, 0)
			return err
		},
	} {
		err := fail()
		var e *offload.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
