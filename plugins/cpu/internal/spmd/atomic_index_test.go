package spmd

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// TestIndexFromMemory runs histograms and counts the vectors from which indices are extracted. An index that consists
// of bits of a value just loaded needs none.
func TestIndexFromMemory(t *testing.T) {
	needMachine(t)
	for _, c := range []struct {
		name, index string
		direct      bool
	}{
		{"bytes", "x[g.x] & 255", true},
		{"some bits", "x[g.x] & 63", true},
		{"every other element", "x[2 * g.x] & 255", false},
		{"a sum", "(x[g.x] + 7) & 255", false},
	} {
		k := rank1(t, `(g, x, y) => {
  const bins = g.shared(i32, 256)
  Atomics.add(bins, `+c.index+`, 3)
  g.barrier()
  Atomics.add(y, g.local.x, bins[g.local.x])
}`, ir.I32, ir.I32)
		const size, group = 512, 64
		data := floats(2*size, func(i int) float32 { return float32(i*i) * 0.37 })
		for _, gang := range []int{1, 2, 4} {
			compare(t, &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
				{Data: data, Dims: []int32{2 * size}},
				{Data: make([]byte, 4*group), Dims: []int32{group}},
			}}, gang, 2)
		}
		for _, target := range allTargets {
			text := listed(t, k, plan.Options{Features: target.Features, Gang: 1})
			if got := strings.Count(text, "\tvpand") == 0; got != c.direct {
				t.Errorf("%s, %s: without vectors %v, want %v, in\n%s", c.name, target.Name, got, c.direct, text)
			}
		}
	}
}

// TestIndexFromMemoryOfFields runs histograms in a field of records whose size is not a valid scale factor of addresses.
func TestIndexFromMemoryOfFields(t *testing.T) {
	needMachine(t)
	for n := 1; n <= 5; n++ {
		var fields []ir.Field
		for i := range n {
			fields = append(fields, ir.Field{Name: fmt.Sprint("f", i), Elem: ir.Elem{Scalar: ir.I32}})
		}
		record := ir.NewRecord("Bin", fields)
		capture := func(name string) (any, error) {
			if name == "Bin" {
				return record, nil
			}
			return nil, nil
		}
		f, err := kernel.Parse(&kernel.Source{Capture: capture, Text: fmt.Sprintf(`(g, x, y) => {
  const bins = g.shared(Bin, 64)
  Atomics.add(bins[x[g.x] & 63], 'f%[1]d', 3)
  g.barrier()
  Atomics.add(y, g.local.x, bins[g.local.x].f%[1]d)
}`, n-1)})
		if err != nil {
			t.Fatal(err)
		}
		buffer := kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}
		c, err := f.Compile([]kernel.Arg{buffer, buffer}, kernel.Options{Name: "k"})
		if err != nil {
			t.Fatal(err)
		}
		const size, group = 512, 64
		for _, gang := range []int{1, 2, 4} {
			compare(t, &oracle.Case{Kernel: c.Kernel, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
				{Data: floats(size, func(i int) float32 { return float32(i*i) * 0.37 }), Dims: []int32{size}},
				{Data: make([]byte, 4*group), Dims: []int32{group}},
			}}, gang, 2)
		}
	}
}

// TestAtomicsOfVaryingValues updates shared memory by values that differ between lanes, after an update by a uniform
// value. It includes gangs of one register.
func TestAtomicsOfVaryingValues(t *testing.T) {
	needMachine(t)
	f, err := kernel.Parse(&kernel.Source{Capture: func(string) (any, error) { return nil, nil }, Text: `(g, y) => {
  const t = g.shared(i32, 6)
  Atomics.or(t, 3, g.subgroupSize)
  Atomics.or(t, g.local.x % 6, g.local.x)
  g.barrier()
  y[g.x] = t[g.x % 6]
}`})
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Compile([]kernel.Arg{{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}}, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []int{7, 16, 17, 32, 55, 64, 256} {
		for _, gang := range []int{0, 1, 2, 4} {
			compare(t, &oracle.Case{Kernel: c.Kernel, Size: [3]int{3 * group, 1, 1}, GroupSize: [3]int{group, 1, 1},
				Args: []oracle.Arg{{Data: make([]byte, 12*group), Dims: []int32{int32(3 * group)}}}}, gang, 2)
		}
	}
}

// TestAtomicsUnderMasks runs histograms of some items, and looks for the code of registers whose lanes are all active: an addition
// of each lane instead of a loop over lanes.
func TestAtomicsUnderMasks(t *testing.T) {
	needMachine(t)
	for name, condition := range map[string]string{"all": "x[g.x] > -1", "none": "x[g.x] < -1", "some": "x[g.x] % 3 !== 0", "runs": "(g.local.x & 32) === 0 || x[g.x] % 5 === 0"} {
		for value, add := range map[string]string{"one value": "3", "values": "x[g.x]"} {
			k := rank1(t, `(g, x, y) => {
  const bins = g.shared(i32, 256)
  if (`+condition+`) Atomics.add(bins, (x[g.x] * 7 + 1) & 255, `+add+`)
  g.barrier()
  for (let i = g.local.x; i < 256; i += 64) Atomics.add(y, i, bins[i])
}`, ir.I32, ir.I32)
			const size, group = 512, 64
			data := floats(size, func(i int) float32 { return math.Float32frombits(uint32(i*i%1000 + i)) })
			for _, gang := range []int{1, 2, 4} {
				compare(t, &oracle.Case{Kernel: k, Size: [3]int{size, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []oracle.Arg{
					{Data: data, Dims: []int32{size}},
					{Data: make([]byte, 4*256), Dims: []int32{256}},
				}}, gang, 2)
			}
			for _, target := range allTargets {
				text := listed(t, k, plan.Options{Features: target.Features, Gang: 1})
				if got := strings.Count(text, "\tadd dword ptr [r"); got < target.Lanes {
					t.Errorf("%s, %s, %s: %d additions to memory, want one for each of %d lanes, in\n%s", name, value, target.Name, got, target.Lanes, text)
				}
			}
		}
	}
}
