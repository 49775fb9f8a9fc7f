package spmd

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/exec"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
)

// allTogether returns a kernel with all group operations of a type except votes, each with its own output.
func allTogether(t *testing.T, typ ir.Type) (k *ir.Kernel, outputs int) {
	var ops []string
	if typ != ir.Bool {
		for _, c := range []string{"add", "min", "max"} {
			ops = append(ops, "reduce."+c, "scan."+c, "scan."+c+".exclusive", "subgroup."+c)
		}
		ops = append(ops, "subgroup.scan_add")
	} else {
		ops = append(ops, "subgroup.any", "subgroup.all", "subgroup.ballot")
	}
	for _, c := range []string{"broadcast", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"} {
		ops = append(ops, "subgroup."+c)
	}
	var params, body strings.Builder
	for i, op := range ops {
		to, args := typ, "%1"
		if op == "subgroup.ballot" {
			to = ir.U64
		}
		if strings.Contains(op, "shuffle") || strings.Contains(op, "broadcast") {
			args += ", %2"
		}
		fmt.Fprintf(&params, ", y%d: %v[*]", i, to)
		fmt.Fprintf(&body, "  %%%d: %v = %s %s\n  store y%d[%%0], %%%d\n", 10+i, to, op, args, i, 10+i)
	}
	text := fmt.Sprintf(`orepl-ir 1
kernel k(x: %v[*], from: i32[*]%v) real f32 {
  %%4: i32 = item.global.x
  %%5: i32 = item.global.y
  %%6: i32 = item.size.x
  %%3: i32 = item.global.z
  %%8: i32 = item.size.y
  %%9: i32 = mul %%3, %%8
  %%60: i32 = add %%5, %%9
  %%7: i32 = mul %%60, %%6
  %%0: i32 = add %%4, %%7
  %%1: %v = load x[%%0]
  %%2: i32 = load from[%%0]
%v  return
}
`, typ, params.String(), typ, body.String())
	k = parse(t, text)
	opt.CanonicalizeNaNs(k)
	return k, len(ops)
}

// TestTogether compares group operations of each type with the interpreter, in groups of many sizes.
func TestTogether(t *testing.T) {
	needMachine(t)
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := []struct{ group, size [3]int }{
		{[3]int{256, 1, 1}, [3]int{512, 1, 1}},
		{[3]int{64, 1, 1}, [3]int{190, 1, 1}},
		{[3]int{16, 2, 1}, [3]int{32, 2, 1}},
		{[3]int{100, 1, 1}, [3]int{200, 1, 1}},
		{[3]int{24, 1, 1}, [3]int{48, 1, 1}},
		{[3]int{1024, 1, 1}, [3]int{1024, 1, 1}},
		{[3]int{64, 3, 1}, [3]int{64, 6, 1}},
		{[3]int{5, 1, 1}, [3]int{15, 1, 1}},
		{[3]int{20, 3, 1}, [3]int{40, 3, 1}}, // rows smaller than a gang
		{[3]int{20, 3, 2}, [3]int{20, 3, 2}},
	}
	for m, typ := range irgen.Values {
		k, outputs := allTogether(t, typ)
		special := irgen.Special(typ)
		for n, s := range shapes {
			if (n+m)%2 == 0 { // the other types test it
				continue
			}
			items := s.size[0] * s.size[1] * s.size[2]
			fill := func(typ ir.Type, bits func() uint64) oracle.Arg {
				arg := oracle.Arg{Dims: []int32{int32(items)}}
				for range items {
					arg.Data = irgen.AppendElem(arg.Data, typ, bits())
				}
				return arg
			}
			c := &oracle.Case{Kernel: k, Size: s.size, GroupSize: s.group}
			c.Args = append(c.Args, fill(typ, func() uint64 {
				switch {
				case n%2 == 0 && rng.IntN(4) > 0 && typ.IsFloat():
					return ir.FloatBits(typ, rng.Float64()-0.5)
				case n%3 == 0 && typ.IsFloat():
					return ir.FloatBits(typ, 0) | 1<<(8*typ.Size()-1) // −0
				}
				return special[rng.IntN(len(special))]
			}))
			c.Args = append(c.Args, fill(ir.I32, func() uint64 { return ir.IntBits(ir.I32, int64(rng.IntN(36)-2)) }))
			for i := range outputs {
				c.Args = append(c.Args, fill(k.Params[2+i].Array.Elem.Scalar, func() uint64 { return 0 }))
			}
			gang := []int{1, 2, 4}[(n+m)%3]
			if !compare(t, c, gang, 0) {
				t.Errorf("%v, groups of %v in %v", typ, s.group, s.size)
			}
		}
	}
}

// TestTogetherInCode runs groups of common sizes, whose group operations must run without a trap.
func TestTogetherInCode(t *testing.T) {
	needMachine(t)
	for m, typ := range irgen.Values {
		k, _ := allTogether(t, typ)
		for _, target := range targets() {
			for n, gang := range []int{1, 2, 4} {
				if (n+m)%2 == 0 {
					continue
				}
				for _, group := range []int{64 << n, 192}[:1+gang%2] {
					p, err := Compile(k, plan.Options{Features: target.Features, Gang: gang, Observes: true})
					if err != nil {
						t.Fatal(err)
					}
					g := interp.Launch{Size: [3]int{2 * group, 1, 1}, GroupSize: [3]int{group, 1, 1}, SubgroupSize: abi.SubgroupSize}
					for i := range k.Params {
						data := make([]uint64, 2*group)
						g.Args = append(g.Args, interp.Arg{Base: unsafe.Pointer(&data[0]), Bytes: 2 * group * k.Params[i].Array.Elem.Size(), Dims: [3]int32{int32(2 * group)}})
					}
					v, units, err := p.Prepare(&g)
					if err != nil {
						t.Fatal(err)
					}
					w := v.NewWorker()
					w.Set(&g)
					if fault, err := w.Run(0, units, false); fault != nil || err != nil {
						t.Fatal(fault, err)
					}
					if w.Scratch != nil {
						t.Errorf("%v on %v, gangs of %d, groups of %d: Go computed some of it", typ, target.Name, gang, group)
					}
				}
			}
		}
	}
}

// TestWhichGroupsCodeComputes checks by group size which group operations run without a trap.
func TestWhichGroupsCodeComputes(t *testing.T) {
	const both = abi.TogetherAll | abi.TogetherSegments
	for _, c := range []struct {
		size  [3]int
		lanes int
		want  int
	}{
		{[3]int{64, 1, 1}, 16, both},
		{[3]int{32, 2, 1}, 16, both},
		{[3]int{100, 1, 1}, 16, abi.TogetherAll}, // the last subgroup has an incomplete gang
		{[3]int{20, 1, 1}, 16, both},
		{[3]int{20, 3, 1}, 16, 0}, // rows smaller than a gang
		{[3]int{20, 1, 2}, 16, 0},
		{[3]int{1, 20, 1}, 16, 0},
		{[3]int{16, 3, 1}, 16, abi.TogetherAll},
		{[3]int{16, 2, 2}, 16, both},
		{[3]int{8, 1, 1}, 16, 0},
		{[3]int{9, 1, 1}, 16, abi.TogetherAll},
		{[3]int{32, 1, 1}, 64, abi.TogetherSegments}, // half of the lanes are empty
		{[3]int{40, 1, 1}, 64, abi.TogetherAll},
		{[3]int{48, 1, 1}, 64, abi.TogetherAll},
		{[3]int{49, 1, 1}, 64, both},
		{[3]int{33, 1, 1}, 64, abi.TogetherAll},
	} {
		w := &exec.Worker{Gangs: ((c.size[0]-1)/c.lanes + 1) * c.size[1] * c.size[2]}
		if got := w.Together(c.size, c.lanes); got != c.want {
			t.Errorf("groups of %v, gangs of %d: kinds %b, want %b", c.size, c.lanes, got, c.want)
		}
	}
}
