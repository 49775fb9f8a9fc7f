package array_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// contents returns the bytes of an array.
func contents(t *testing.T, run *array.Run, a array.Array) []byte {
	t.Helper()
	list := make([]byte, a.Size())
	if len(list) == 0 {
		return list
	}
	if err := run.Queue.Read(list, a.Buffer, 0); err != nil {
		t.Fatal(err)
	}
	if err := run.Queue.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return list
}

// openCL returns a runner on the OpenCL device whose results are exact, such as PoCL.
func openCL(t *testing.T) *array.Run {
	s := session.Open(session.Options{Plugins: []offload.Plugin{opencl.New(opencl.Options{})}})
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	d, err := s.Device(t.Context(), "opencl:0")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	return array.New(s).On(t.Context(), q)
}

// likeGPU returns the properties of a GPU with a number of multiprocessors, whose launches have at most two rows of groups.
func likeGPU(units int) *offload.DeviceInfo {
	return &offload.DeviceInfo{Type: offload.GPU, ComputeUnits: units, Limits: offload.Limits{SharedBytes: 48 << 10, GroupItems: 1024, GroupSize: [3]int{1024, 1024, 64}, Groups: [3]int{1 << 30, 2, 7}}}
}

// TestProductsOnGPU compares the products of the plans for GPUs with those for CPUs, bit by bit.
func TestProductsOnGPU(t *testing.T) {
	run := open(t)
	for _, c := range []struct {
		t     ir.Type
		a, b  []int
		tiled bool
	}{
		{ir.F32, []int{32, 16}, []int{16, 32}, true},
		{ir.F32, []int{31, 16}, []int{16, 32}, false},
		{ir.F32, []int{257, 131}, []int{131, 263}, true},
		{ir.F32, []int{1031, 9}, []int{9, 521}, true},
		{ir.F32, []int{8, 65, 33}, []int{33, 70}, false}, // more planes than groups
		{ir.F64, []int{300, 37}, []int{37, 301}, true},
		{ir.F64, []int{64, 64}, []int{64, 64}, true},
		{ir.I32, []int{3, 67, 40}, []int{3, 40, 65}, true},
		{ir.F16, []int{2, 65, 33}, []int{33, 70}, true},
		{ir.BF16, []int{65, 33}, []int{5, 33, 70}, true},
		{ir.U8, []int{128, 16}, []int{16, 128}, true},
		{ir.I64, []int{90, 17}, []int{17, 129}, true},
		{ir.U64, []int{33, 100}, []int{100, 33}, true},
		{ir.F32, []int{0, 100}, []int{100, 33}, false},
		{ir.F32, []int{40, 0}, []int{0, 33}, false},
		{ir.F32, []int{40, 7}, []int{7, 40}, false},
		{ir.F32, []int{40, 15}, []int{15, 40}, true},
		{ir.F32, []int{100}, []int{100, 300}, false},
	} {
		t.Run(fmt.Sprint(c.t, c.a, c.b), func(t *testing.T) {
			check := checked(t)
			a, b := check(run.Random(c.t, c.a, 1, -10, 100)), check(run.Random(c.t, c.b, 2, -10, 100))
			if c.t.Size() > 2 && c.t.IsFloat() && a.Len() > 0 && b.Len() > 0 {
				a = check(run.Map(array.Text("v => v > 99 ? Infinity : v > 98 ? -0 : v"), a))
			}
			want := check(run.MatMul(a, b))
			defer run.AsGPU(nil)
			for _, units := range []int{1, 1000} { // large and small tiles
				run.AsGPU(likeGPU(units))
				tiled := false
				run.Watch = func(l array.Launched) { tiled = tiled || len(l.GroupSize) > 0 && l.GroupSize[0] == 256 }
				got := check(run.MatMul(a, b))
				run.Watch = nil
				if tiled != c.tiled {
					t.Errorf("%d units: the product is tiled: %t", units, tiled)
				}
				if !bytes.Equal(contents(t, run, got), contents(t, run, want)) {
					t.Errorf("%d units: the products differ", units)
				}
			}
		})
	}
}

// TestProductsOnOpenCL compares them on an OpenCL device.
func TestProductsOnOpenCL(t *testing.T) {
	run, check := openCL(t), checked(t)
	a, b := check(run.Random(ir.F32, []int{139, 21}, 1, -10, 100)), check(run.Random(ir.F32, []int{21, 150}, 2, -10, 100))
	want := contents(t, run, check(run.MatMul(a, b)))
	run.AsGPU(likeGPU(1000))
	if !bytes.Equal(contents(t, run, check(run.MatMul(a, b))), want) {
		t.Error("the products differ")
	}
}

// TestSortsOnGPU compares sorts of the plans for GPUs with those for CPUs, and the indices of argsort.
func TestSortsOnGPU(t *testing.T) {
	run := open(t)
	shapes := [][]int{{1}, {4097}, {3, 1700}, {0}, {2}, {255}, {2049}, {30011}, {301, 40}, {70001, 2}, {7, 33, 41}}
	for _, e := range array.Types {
		list := shapes
		if e != ir.F32 && e != ir.U64 {
			list = shapes[:3]
		}
		for _, dims := range list {
			t.Run(fmt.Sprint(e, dims), func(t *testing.T) {
				check := checked(t)
				compareSorts(t, run, check(run.Random(e, dims, 1, -50, 200)))
			})
		}
	}
	for name, text := range map[string]string{"equal": "v => 3", "two": "v => v > 0 ? 1 : 0", "special": "v => v > 100 ? NaN : v > 50 ? -Infinity : v > 20 ? -0 : v > 0 ? 0 : v", "descending": "v => -v"} {
		for _, e := range []ir.Type{ir.F32, ir.F64} {
			t.Run(name+" "+e.String(), func(t *testing.T) {
				check := checked(t)
				compareSorts(t, run, check(run.Map(array.Text(text), check(run.Random(e, []int{9001}, 1, -50, 200)))))
			})
		}
	}
}

// compareSorts sorts an array in both ways.
func compareSorts(t *testing.T, run *array.Run, x array.Array) {
	check := checked(t)
	defer run.AsGPU(nil)
	for _, descending := range []bool{false, true} {
		var results [2][3][]byte
		for i, d := range []*offload.DeviceInfo{nil, likeGPU(8)} {
			run.AsGPU(d)
			results[i][0] = contents(t, run, check(run.Sorted(x, len(x.Dims())-1, descending)))
			results[i][1] = contents(t, run, check(run.ArgSort(x, len(x.Dims())-1, descending)))
			results[i][2] = contents(t, run, check(run.Sorted(x, 0, descending)))
		}
		for i, what := range []string{"rows", "indices", "columns"} {
			if !bytes.Equal(results[0][i], results[1][i]) {
				t.Errorf("the %s differ, descending: %t", what, descending)
			}
		}
	}
}

// TestSelectionsOnGPU compares selections of the plans for GPUs with those for CPUs.
func TestSelectionsOnGPU(t *testing.T) {
	run := open(t)
	defer run.AsGPU(nil)
	for _, dims := range [][]int{{0}, {1}, {255}, {4096}, {4097}, {70, 61}, {1300007}} {
		for _, text := range []string{"v => v > 0", "v => v > 1000", "v => v < 1000", "(v, i) => i % 3 === 1"} {
			t.Run(fmt.Sprint(dims, text), func(t *testing.T) {
				check := checked(t)
				run.AsGPU(nil)
				x := check(run.Random(ir.F32, dims, 1, -9, 9))
				small := check(run.Random(ir.U8, dims, 1, 0, 3))
				var results [2][4][]byte
				for i, d := range []*offload.DeviceInfo{nil, likeGPU(8)} {
					run.AsGPU(d)
					for k, of := range []func() (array.Selection, error){
						func() (array.Selection, error) { return run.Filter(array.Text(text), x) },
						func() (array.Selection, error) { return run.Nonzero(small) },
						func() (array.Selection, error) { return run.FilterBy(small, x) },
						func() (array.Selection, error) { return run.Unique(x) },
					} {
						s, err := of()
						if err != nil {
							t.Fatal(err)
						}
						results[i][k] = contents(t, run, check(run.Wait(t.Context(), s)))
					}
				}
				for k, what := range []string{"filter", "nonzero", "filter by", "unique"} {
					if !bytes.Equal(results[0][k], results[1][k]) {
						t.Errorf("the elements of %s differ: %d and %d bytes", what, len(results[0][k]), len(results[1][k]))
					}
				}
			})
		}
	}
}

// TestReductionsOnGPU compares reductions of the plans for GPUs with those for CPUs.
func TestReductionsOnGPU(t *testing.T) {
	run := open(t)
	defer run.AsGPU(nil)
	for _, dims := range [][]int{{1}, {257}, {2049}, {16384}, {40001}, {5, 3001}, {3, 7, 100}, {66, 65}} {
		for _, e := range []ir.Type{ir.F32, ir.F64, ir.U8, ir.I64} {
			t.Run(fmt.Sprint(dims, e), func(t *testing.T) {
				check := checked(t)
				run.AsGPU(nil)
				x := check(run.Random(e, dims, 1, -9, 9))
				var results [2][]byte
				for i, d := range []*offload.DeviceInfo{nil, likeGPU(8)} {
					run.AsGPU(d)
					for _, axis := range []int{array.All, 0, 1, 2}[:len(dims)+1] {
						for _, of := range []func(array.Array, int, bool) (array.Array, error){run.Sum, run.Prod, run.Min, run.Max, run.ArgMax, run.Mean, run.Any} {
							results[i] = append(results[i], contents(t, run, check(of(x, axis, false)))...)
						}
					}
				}
				if !bytes.Equal(results[0], results[1]) {
					t.Error("the results differ")
				}
			})
		}
	}
}

// TestFunctionsOnOpenCL runs callers' functions in kernels that an emulated GPU runs without checks where nothing can fail. Faults
// of functions are reported all the same.
func TestFunctionsOnOpenCL(t *testing.T) {
	run, beside := openCL(t), open(t)
	table := func(text string) array.Function {
		f := array.Text(text)
		f.Source.Capture = func(name string) (any, error) { return map[string]any{"table": []float64{1, -1, 2}}[name], nil }
		return f
	}
	for _, c := range []struct {
		what  string
		keep  array.Function
		fault string
	}{
		{"comparison", array.Text("v => v > 1"), ""},
		{"division", array.Text("v => (6 / v | 0) > 1"), ""},
		{"division by zero", array.Text("v => i32(6) % (v - 2) === 0"), "zero"},
		{"table", table("v => table[v - 1] > 0"), ""},
		{"index out of bounds", table("v => table[v] > 0"), "is outside table"},
		{"loop", array.Text("v => { let n = 0; for (let i = 0; i < v; i++) n += i; return n > 1 }"), ""},
	} {
		var kept [2][]byte
		for i, r := range []*array.Run{run, beside} {
			x, err := r.FromI32([]int32{1, 2, 3, 1, 2, 3, 3})
			if err != nil {
				t.Fatal(err)
			}
			y, err := r.Filter(c.keep, x)
			if err == nil {
				var a array.Array
				if a, err = r.Wait(t.Context(), y); err == nil {
					kept[i] = contents(t, r, a)
				}
			}
			if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s on %s: %v", c.what, r.Queue.Device().ID(), err)
			}
		}
		if !bytes.Equal(kept[0], kept[1]) {
			t.Errorf("%s: kept %v and %v", c.what, kept[0], kept[1])
		}
	}
	for _, r := range []*array.Run{run, beside} {
		x, err := r.FromI32([]int32{1, 2, 3})
		if err == nil {
			_, err = r.Reduce(table("(a, b) => Math.max(a, table[b])"), x, array.All, false)
		}
		if err == nil {
			err = r.Queue.Sync(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "is outside table") {
			t.Errorf("a reduction on %s: %v", r.Queue.Device().ID(), err)
		}
	}
}

// TestAloneOnOpenCL compares operations whose kernels work in items of their own there with those of the CPU.
func TestAloneOnOpenCL(t *testing.T) {
	run, beside := openCL(t), open(t)
	for _, n := range []int{1, 33, 255, 4097, 40001} {
		for _, e := range []ir.Type{ir.F32, ir.I64} {
			var results [2][]byte
			for i, r := range []*array.Run{run, beside} {
				check := checked(t)
				x := check(r.Random(e, []int{n}, 1, -9, 9))
				for _, of := range []func(array.Array, int, bool) (array.Array, error){r.Sum, r.Min, r.ArgMax} {
					results[i] = append(results[i], contents(t, r, check(of(x, array.All, false)))...)
				}
				results[i] = append(results[i], contents(t, r, check(r.CumSum(x, 0)))...)
				counts, _, err := r.Histogram(x, 7, -8, 5)
				results[i] = append(results[i], contents(t, r, check(counts, err))...)
				results[i] = append(results[i], contents(t, r, check(r.Reduce(array.Text("(a, b) => Math.max(a, b)"), x, array.All, false)))...)
			}
			if !bytes.Equal(results[0], results[1]) {
				t.Errorf("%d elements of %s: the results differ", n, e)
			}
		}
	}
}
