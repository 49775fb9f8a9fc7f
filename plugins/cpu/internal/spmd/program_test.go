package spmd

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestCodeIsMadeForLaunches counts the compiled variants: none before the first launch, then those that launches need.
func TestCodeIsMadeForLaunches(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		const text = `orepl-ir 1

kernel twice(x: i32[*], y: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = load x[%0]
  %2: i32 = add %1, %1
  store y[%0], %2
  return
}
`
		p, err := Compile(parse(t, text), plan.Options{Features: target.Features})
		if err != nil {
			t.Fatal(err)
		}
		if specs := p.variants.specs(); specs != nil {
			t.Errorf("code of %v without a launch", specs)
		}
		n := 100
		x, y := make([]uint32, n), make([]uint32, n)
		for range 2 {
			runBuffers(t, p, x, y)
		}
		if specs := p.variants.specs(); !slices.Equal(specs, []Spec{{Gang: p.gang, WithinExtents: true}}) {
			t.Errorf("code of %v for a launch within the extents", specs)
		}
	})
}

// TestRefusalsAreKept checks that the compilation of a variant that fails is not repeated.
func TestRefusalsAreKept(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		const text = `orepl-ir 1

kernel large(x: i32[*]) real f32 {
  private big: i32[1048576]
  %0: i32 = item.global.x
  zero big
  %1: i32 = load big[%0]
  store x[%0], %1
  return
}
`
		p, err := Compile(parse(t, text), plan.Options{Features: target.Features, Gang: 1})
		if err != nil {
			t.Fatal(err)
		}
		var first, second *plan.UnsupportedError
		if !errors.As(p.Check(), &first) || !errors.As(p.Check(), &second) || first != second {
			t.Errorf("refused by %p, then by %p", first, second)
		}
		v, units, err := p.Prepare(&interp.Launch{Size: [3]int{9, 1, 1}, GroupSize: [3]int{1, 1, 1}, Args: []interp.Arg{{}}})
		if v != nil || units != 0 || err != error(first) {
			t.Errorf("a launch of it gets %p with %d units, %v", v, units, err)
		}
	})
}

// TestWorkspaceIsShared compiles kernels sequentially and concurrently in shared workspaces.
func TestWorkspaceIsShared(t *testing.T) {
	needMachine(t)
	var kernels []*ir.Kernel
	for _, s := range shapes {
		kernels = append(kernels, optimized(parse(t, s.text)))
	}
	for _, target := range targets() {
		options := plan.Options{Features: target.Features, Target: target}
		shared := options
		shared.Workspace = new(vcode.Workspace)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for _, k := range kernels {
					alone, err := generate(k, options, Spec{Gang: 2}, nil)
					if err != nil {
						t.Error(err)
						return
					}
					if c, err := generate(k, shared, Spec{Gang: 2}, nil); err != nil || !bytes.Equal(c.Bytes, alone.Bytes) {
						t.Errorf("%s on %s: other code in a shared workspace, %v", k.Name, target.Name, err)
					}
				}
			})
		}
		all.Wait()
	}
}

// TestTrapCode checks that code for traps is emitted only for kernels that may trap.
func TestTrapCode(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		p, err := Compile(optimized(saxpy()), plan.Options{Features: target.Features, Gang: 1})
		if err != nil {
			t.Fatal(err)
		}
		for within, want := range map[bool]bool{false: true, true: false} {
			v, err := p.variant(Spec{Gang: 1, WithinExtents: within})
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Code.Resume > 0; got != want || len(v.Code.Traps) > 0 != want {
				t.Errorf("within the extents %v: %d traps, code for them: %v; want %v", within, len(v.Code.Traps), got, want)
			}
		}
	})
}

// TestEmptyLaunches prepares launches that are empty on an axis: no unit runs, for any group size.
func TestEmptyLaunches(t *testing.T) {
	onTargets(t, func(t *testing.T, target *vcode.Target) {
		for _, text := range []string{
			`(g, x, y) => { y[g.x] = x[g.x] }`,
			`(g, x, y) => { y[g.x] = x[g.x] + g.reduce.add(x[g.x]) }`,
			`(g, x, y) => { g.barrier(); y[g.group.x] = x[g.x] }`,
		} {
			p, err := Compile(rank1(t, text, ir.F32, ir.F32), plan.Options{Features: target.Features})
			if err != nil {
				t.Fatal(err)
			}
			for axis := range 3 {
				for _, group := range [][3]int{{1, 1, 1}, {4, 4, 4}, {64, 1, 1}} {
					g := &interp.Launch{Size: [3]int{64, 4, 4}, GroupSize: group, Args: []interp.Arg{{}, {}}}
					g.Size[axis] = 0
					if _, units, err := p.Prepare(g); units != 0 || err != nil {
						t.Errorf("%s, %v in groups of %v: %d units, %v", text, g.Size, group, units, err)
					}
				}
			}
		}
	})
}
