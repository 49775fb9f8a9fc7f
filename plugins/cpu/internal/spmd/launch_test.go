package spmd

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// preparing compiles a kernel with one-dimensional buffers of f32 for AVX-512, with gangs of one register, for tests that
// only prepare launches.
func preparing(t *testing.T, text string, buffers int) *Program {
	t.Helper()
	needMachine(t)
	elems := make([]ir.Type, buffers)
	for i := range elems {
		elems[i] = ir.F32
	}
	p, err := Compile(rank1(t, text, elems...), plan.Options{Features: amd64.ForAVX512, Gang: 1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// launchFor returns a launch with buffers of the listed numbers of elements.
func launchFor(size, group [3]int, counts ...int) *interp.Launch {
	g := &interp.Launch{Size: size, GroupSize: group, SubgroupSize: abi.SubgroupSize}
	for _, n := range counts {
		g.Args = append(g.Args, interp.Arg{Bytes: 4 * n, Dims: [3]int32{int32(n)}})
	}
	return g
}

// TestKindsOfLaunches checks which launches have separate variants: within the extents, with complete groups, and with
// several gangs in a row of a group.
func TestKindsOfLaunches(t *testing.T) {
	const (
		items = `(g, x, y) => { y[g.x] = x[g.x] }`
		sums  = `(g, x, y) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) y[g.group.x] = s
}`
		shared = `(g, x, y) => {
  const kept = g.shared(f32, 64)
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  kept[g.local.x] = s
  g.barrier()
  y[g.group.x] = kept[1]
}`
		after = `(g, x, y) => {
  g.barrier()
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  y[g.x] = s
}`
		waits = `(g, x, y) => { y[g.x] = g.reduce.add(x[g.x]) }`
	)
	for _, c := range []struct {
		text        string
		size, group [3]int
		x, y        int
		want        Spec
	}{
		{items, [3]int{100, 1, 1}, [3]int{50, 1, 1}, 100, 100, Spec{Gang: 1, WithinExtents: true}},
		{items, [3]int{100, 1, 1}, [3]int{64, 1, 1}, 100, 101, Spec{Gang: 1, WithinExtents: true}},
		{items, [3]int{100, 1, 1}, [3]int{64, 1, 1}, 99, 100, Spec{Gang: 1}},
		{items, [3]int{100, 1, 1}, [3]int{64, 1, 1}, 100, 99, Spec{Gang: 1}},
		{sums, [3]int{640, 1, 1}, [3]int{64, 1, 1}, 9999, 10, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{sums, [3]int{640, 1, 1}, [3]int{64, 1, 1}, 9999, 9, Spec{Gang: 1, Whole: true, Adjacent: true}},
		{sums, [3]int{640, 1, 1}, [3]int{16, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{sums, [3]int{32, 1, 1}, [3]int{16, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{sums, [3]int{16, 1, 1}, [3]int{16, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, IndicesProved: true}},
		{sums, [3]int{32, 1, 1}, [3]int{32, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{sums, [3]int{240, 1, 1}, [3]int{24, 1, 1}, 9999, 40, Spec{Gang: 1, IndicesProved: true}},
		{sums, [3]int{650, 1, 1}, [3]int{64, 1, 1}, 9999, 40, Spec{Gang: 1, IndicesProved: true}},
		{sums, [3]int{640, 3, 1}, [3]int{64, 2, 1}, 9999, 40, Spec{Gang: 1, IndicesProved: true}},
		{sums, [3]int{640, 4, 1}, [3]int{64, 2, 1}, 9999, 40, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{sums, [3]int{640, 1, 3}, [3]int{64, 1, 2}, 9999, 40, Spec{Gang: 1, IndicesProved: true}},
		{shared, [3]int{160, 1, 1}, [3]int{16, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, IndicesProved: true}},
		{shared, [3]int{160, 1, 1}, [3]int{32, 1, 1}, 9999, 40, Spec{Gang: 1, Whole: true, Adjacent: true, IndicesProved: true}},
		{after, [3]int{160, 1, 1}, [3]int{16, 1, 1}, 9999, 160, Spec{Gang: 1, Whole: true, WithinExtents: true}},
		{after, [3]int{160, 1, 1}, [3]int{32, 1, 1}, 9999, 160, Spec{Gang: 1, Whole: true, Adjacent: true, WithinExtents: true}},
		{waits, [3]int{160, 1, 1}, [3]int{32, 1, 1}, 160, 160, Spec{Gang: 1, Whole: true, WithinExtents: true}},
	} {
		p := preparing(t, c.text, 2)
		v, _, err := p.Prepare(launchFor(c.size, c.group, c.x, c.y))
		if err != nil {
			t.Fatal(err)
		}
		var got Spec
		for _, s := range p.variants.specs() {
			if made, _ := p.variant(s); made == v {
				got = s
			}
		}
		if got != c.want {
			t.Errorf("%s\n%v in groups of %v, %d and %d elements: %+v, want %+v", c.text, c.size, c.group, c.x, c.y, got, c.want)
		}
	}
}

// TestLimitsOfLaunches prepares launches with the largest buffers and groups that compiled code accepts, and with
// slightly larger ones.
func TestLimitsOfLaunches(t *testing.T) {
	const (
		row    = `(g, x, y) => { y[g.x] = x[g.x] }`
		gather = `(g, x, y) => { y[g.x] = x[i32(y[g.x])] }`
		waits  = `(g, x, y) => { const t = g.private(f32, 4096); for (let i = 0; i < 9; i++) t[i32(x[i])] = x[g.x]; g.barrier(); y[g.x] = t[i32(x[3])] }`
	)
	one := [3]int{1, 1, 1}
	p := preparing(t, waits, 2)
	v, _, err := p.Prepare(launchFor(one, one, 9, 9))
	if err != nil {
		t.Fatal(err)
	}
	gangs := maxFrames / v.Code.Frame
	for _, c := range []struct {
		text        string
		size, group [3]int
		x           int
		fits        bool
	}{
		{row, one, one, maxExtent, true},
		{row, one, one, maxExtent + 1, false},
		{gather, one, one, maxExtent / 4, true},
		{gather, one, one, maxExtent/4 + 1, false},
		{waits, [3]int{1, gangs, 1}, [3]int{1, gangs, 1}, 9, true},
		{waits, [3]int{1, gangs, 1}, [3]int{1, gangs + 1, 1}, 9, false},
		{waits, [3]int{1, 1, gangs}, [3]int{1, 1, gangs}, 9, true},
		{waits, [3]int{1, 1, gangs}, [3]int{1, 1, gangs + 1}, 9, false},
		{waits, [3]int{16, gangs, 1}, [3]int{16, gangs, 1}, 9, true},
		{waits, [3]int{17, gangs, 1}, [3]int{17, gangs, 1}, 9, false},
	} {
		_, _, err := preparing(t, c.text, 2).Prepare(launchFor(c.size, c.group, c.x, 9))
		if c.fits && err != nil || !c.fits && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s\ngroups of %v, %d elements: %v, fits %v", c.text, c.group, c.x, err, c.fits)
		}
	}
	if maxExtent >= math.MaxInt32 {
		t.Error("no extent is too large")
	}
}

// TestUnits checks the number of gangs or groups of launches.
func TestUnits(t *testing.T) {
	items := preparing(t, `(g, x, y) => { y[g.x] = x[g.x] }`, 2)
	groups := preparing(t, `(g, x, y) => { y[g.x] = x[g.x] + g.reduce.add(x[g.x]) }`, 2)
	for _, c := range []struct {
		size, group   [3]int
		gangs, groups int
	}{
		{[3]int{1, 1, 1}, [3]int{1, 1, 1}, 1, 1},
		{[3]int{16, 1, 1}, [3]int{16, 1, 1}, 1, 1},
		{[3]int{17, 1, 1}, [3]int{16, 1, 1}, 2, 2},
		{[3]int{160, 3, 5}, [3]int{32, 1, 1}, 150, 75},
		{[3]int{161, 3, 5}, [3]int{32, 2, 2}, 165, 36},
	} {
		for program, want := range map[*Program]int{items: c.gangs, groups: c.groups} {
			if _, got, err := program.Prepare(launchFor(c.size, c.group, 999, 999)); got != want || err != nil {
				t.Errorf("%v in groups of %v: %d units, want %d, %v", c.size, c.group, got, want, err)
			}
		}
	}
}

// anyRank compiles and optimizes a kernel of f32 buffers.
func anyRank(t *testing.T, text string) *ir.Kernel {
	t.Helper()
	f, err := kernel.Parse(&kernel.Source{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(text[1:strings.Index(text, ")")], ", ")[1:]
	var args []kernel.Arg
	for _, name := range names {
		rank := 1
		if at := strings.Index(text, name+"["); at >= 0 {
			rest := text[at+len(name)+1:]
			if end := strings.Index(rest, "]"); end >= 0 && strings.HasPrefix(rest[end:], "][") {
				rank = 2
			}
		}
		args = append(args, kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: ir.F32}, Rank: rank})
	}
	c, err := f.Compile(args, kernel.Options{Name: "k"})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	m := c.Module.Clone()
	opt.Run(m, opt.Default, nil)
	return m.Kernels[0]
}

// runAtOnce runs all units of a launch in one run.
func runAtOnce(c *oracle.Case, target *vcode.Target, gang int) (*oracle.Outcome, error) {
	p, err := Compile(c.Kernel, plan.Options{Features: target.Features, Gang: gang})
	if err != nil {
		return nil, err
	}
	var out oracle.Outcome
	g := interp.Launch{Size: c.Size, GroupSize: c.GroupSize, SubgroupSize: abi.SubgroupSize, Services: services{&out}}
	g.Args, out.Data = c.Bind(exec.Aligned)
	f, err := runUnits(p, &g)
	if err != nil {
		return nil, err
	}
	out.Fault = told(f)
	return &out, nil
}

// TestWhichFaultIsTold checks which of several faults is reported: that of the lowest item in the first faulting group or
// gang.
func TestWhichFaultIsTold(t *testing.T) {
	needMachine(t)
	for _, c := range []struct {
		name, text  string
		size, group [3]int
		want        [3]int
	}{
		{"all", `(g, x) => { x[g.x + 1000000] = 1 }`, [3]int{100, 3, 2}, [3]int{10, 1, 1}, [3]int{0, 0, 0}},
		{"from one on", `(g, x) => { if (g.x > 40) x[g.x + 1000000] = 1 }`, [3]int{100, 3, 2}, [3]int{10, 1, 1}, [3]int{41, 0, 0}},
		{"in a later row", `(g, x) => { if (g.y > 1 && g.x > 5) x[g.x + 1000000] = 1 }`, [3]int{100, 3, 2}, [3]int{10, 1, 1}, [3]int{6, 2, 0}},
		{"in a later plane", `(g, x) => { if (g.z > 0 && g.y > 1) x[g.x + 1000000] = 1 }`, [3]int{100, 3, 2}, [3]int{10, 1, 1}, [3]int{0, 2, 1}},
		{"division", `(g, x) => { x[g.x] = 7 / (i32(x[g.x]) * (g.x < 33 ? 1 : 0) | 0) | 0; x[g.x] = i32(x[g.x]) % (g.x < 33 ? 3 : 0) }`, [3]int{100, 1, 1}, [3]int{10, 1, 1}, [3]int{33, 0, 0}},
		{"assertions", `(g, x) => { g.assert(g.x < 21, g.x) }`, [3]int{100, 1, 1}, [3]int{10, 1, 1}, [3]int{21, 0, 0}},
		{"of groups", `(g, x) => { g.barrier(); if (g.group.x > 0 && g.local.x > 3) x[g.x + 1000000] = 1; g.barrier() }`, [3]int{200, 1, 1}, [3]int{40, 1, 1}, [3]int{44, 0, 0}},
		{"a lower item later", `(g, x) => { if (g.local.x > 100) x[g.x + 1000000] = 1; g.barrier(); if (g.local.x < 4) x[g.x + 1000000] = 1 }`, [3]int{400, 1, 1}, [3]int{200, 1, 1}, [3]int{0, 0, 0}},
		{"a higher item later", `(g, x) => { if (g.local.x < 4) x[g.x + 1000000] = 1; g.barrier(); if (g.local.x > 100) x[g.x + 1000000] = 1 }`, [3]int{400, 1, 1}, [3]int{200, 1, 1}, [3]int{0, 0, 0}},
		{"rows of groups", `(g, x) => { g.barrier(); if (g.y > 4 && g.x > 9) x[g.x + 1000000] = 1; g.barrier() }`, [3]int{40, 12, 1}, [3]int{8, 4, 1}, [3]int{10, 5, 0}},
		{"planes of groups", `(g, x) => { g.barrier(); if (g.z > 4 && g.y > 2 && g.x > 9) x[g.x + 1000000] = 1; g.barrier() }`, [3]int{40, 12, 9}, [3]int{8, 4, 2}, [3]int{10, 3, 5}},
		{"the last item", `(g, x) => { g.barrier(); if (g.z + g.y + g.x == 58) x[g.x + 1000000] = 1; g.barrier() }`, [3]int{40, 12, 9}, [3]int{8, 4, 2}, [3]int{39, 11, 8}},
	} {
		k := anyRank(t, c.text)
		launch := &oracle.Case{Kernel: k, Size: c.size, GroupSize: c.group, SubgroupSize: 32,
			Args: []oracle.Arg{{Data: floats(c.size[0], func(int) float32 { return 1 }), Dims: []int32{int32(c.size[0])}}}}
		interpreted, err := launch.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets() {
			for _, gang := range []int{1, 2} {
				got, err := runAtOnce(launch, target, gang)
				if err != nil {
					t.Fatal(err)
				}
				if got.Fault == nil || got.Fault.Item != c.want {
					t.Errorf("%s, %s, gangs of %d registers: %s, want that of %v", c.name, target.Name, gang, faultText(k, got.Fault), c.want)
					continue
				}
				if got, want := faultText(k, got.Fault), faultText(k, interpreted.Fault); got != want {
					t.Errorf("%s, %s, gangs of %d registers: %s, and the interpreter says %s", c.name, target.Name, gang, got, want)
				}
			}
		}
	}
}
