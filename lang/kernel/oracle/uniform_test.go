package oracle_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// TestUniformIsTheSame asserts in random kernels that values which the analysis reports as uniform are equal in the group. It
// inserts g.uniform of every such value at all positions that the verifier allows.
func TestUniformIsTheSame(t *testing.T) {
	asserted := 0
	for seed := *randomSeed; seed < *randomSeed+uint64(*randomCount); seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := irgen.Case(rng, irgen.Options{Groups: true, NoFaults: true, Size: 40 + rng.IntN(80)})
		m := irgen.Module(c.Kernel)
		if err := m.Verify(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		u := c.Kernel.Uniformity(ir.Scope{})
		for _, p := range places(c.Kernel.Body, nil) {
			if u.Value(p.v) == ir.Varying {
				continue
			}
			p.assert(c.Kernel)
			if m.Verify() != nil { // items may be divergent here
				p.remove()
			} else {
				asserted++
			}
		}
		out, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, c.Kernel)
		}
		if out.Fault != nil {
			t.Fatalf("seed %d: %+v\n%s", seed, out.Fault, c.Kernel)
		}
	}
	if asserted < 10**randomCount {
		t.Errorf("%d values asserted in %d kernels: too few to show anything", asserted, *randomCount)
	}
}

// place is a value and the instruction after which it is defined; nil stands for the start of the block.
type place struct {
	b     *ir.Block
	after *ir.Instr
	v     *ir.Value
	in    *ir.Instr // asserts uniformity
}

// places returns the values of a block and its nested blocks, other than constants.
func places(b *ir.Block, list []*place) []*place {
	if b == nil {
		return list
	}
	for _, v := range b.Params {
		list = append(list, &place{b: b, v: v})
	}
	for _, in := range b.Instrs {
		list = places(in.Else, places(in.Then, list))
		for _, v := range in.Results {
			if in.Op != ir.Const {
				list = append(list, &place{b: b, after: in, v: v})
			}
		}
	}
	return list
}

func (p *place) assert(k *ir.Kernel) {
	p.in = &ir.Instr{Op: ir.Uniform, Args: []*ir.Value{p.v}}
	p.in.Results = []*ir.Value{k.NewValue(p.v.Type, p.in)}
	p.b.Instrs = slices.Insert(p.b.Instrs, slices.Index(p.b.Instrs, p.after)+1, p.in)
}

func (p *place) remove() {
	i := slices.Index(p.b.Instrs, p.in)
	p.b.Instrs = slices.Delete(p.b.Instrs, i, i+1)
}

// TestUniformWithChecksOff passes differing values to g.uniform. With checks off there is no fault, and all items of a group
// receive the first one's value.
func TestUniformWithChecksOff(t *testing.T) {
	node := startNode(t)
	for _, typ := range []ir.Type{ir.I32, ir.U64, ir.F32, ir.F64} {
		m, err := ir.ParseText("uniform", `orepl-ir 1
kernel k(y: `+typ.String()+`[*]) real f32 {
  %0: i32 = item.global.x
  %1: `+typ.String()+` = load y[%0]
  %2: `+typ.String()+` = uniform %1
  store y[%0], %2
  return
}
`)
		if err != nil {
			t.Fatal(err)
		}
		const n, group = 11, 4
		size := typ.Size()
		data, want := make([]byte, n*size), make([]byte, n*size)
		for i := range n {
			data[i*size], want[i*size] = byte(i+1), byte(i/group*group+1)
		}
		c := &oracle.Case{Kernel: m.Kernels[0], Size: [3]int{n, 1, 1}, GroupSize: [3]int{group, 1, 1}, Unchecked: true,
			Args: []oracle.Arg{{Data: data, Dims: []int32{n}}}}
		got, err := c.Interp(interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Fault != nil || !bytes.Equal(got.Data[0], want) {
			t.Errorf("%v, interpreter: %+v, fault %+v; want %v", typ, got.Data[0], got.Fault, want)
		}
		if got, err = node.Run(c); err != nil {
			t.Fatal(err)
		}
		if got.Fault != nil || !bytes.Equal(got.Data[0], want) {
			t.Errorf("%v, node: %+v, fault %+v; want %v", typ, got.Data[0], got.Fault, want)
		}
	}
}
