package opencl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/ondevice"
)

// bench runs cases on the first device.
type bench struct {
	t testing.TB
	*ondevice.Runner
}

func newBench(t testing.TB) *bench {
	t.Helper()
	r, err := ondevice.Open(t.Context(), available(t, opencl.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return &bench{t, r}
}

// compare runs a case on the device and in the interpreter, and returns how the outcomes differ.
func (b *bench) compare(c *oracle.Case) (diff string, err error) { return b.Compare(b.t.Context(), c) }

// count returns the number of random kernels and the first seed. A long run has 20 000 kernels.
func count(short, usual int) (n int, first uint64) {
	n = usual
	switch {
	case os.Getenv("OREPL_TEST_LONG") == "1":
		n = 20000
	case testing.Short():
		n = short
	}
	if s, err := strconv.Atoi(os.Getenv("OREPL_RANDOM_KERNELS")); err == nil {
		n = s
	}
	first, _ = strconv.ParseUint(os.Getenv("OREPL_RANDOM_FIRST"), 10, 64)
	return n, first
}

// randomCase returns the case of a seed.
func randomCase(seed uint64) *oracle.Case {
	rng := rand.New(rand.NewPCG(seed, 29))
	c := irgen.Case(rng, irgen.Options{Groups: seed%2 == 0, Subgroups: seed%4 == 0, NoFaults: seed%3 == 0, Tiles: seed%5 == 0, Places: seed%7 == 0, Jumps: seed%11 == 0,
		Size: 20 + rng.IntN(100)})
	c.SubgroupSize = 0
	return c
}

// TestBarriersInBranches runs kernels with conditional barriers, which PoCL 3.1 miscompiles: with optimization in incomplete
// groups, and in groups of one item in the first dimension.
func TestBarriersInBranches(t *testing.T) {
	b := newBench(t)
	for _, seed := range []uint64{77004, 200030, 200062} {
		if diff, err := b.compare(randomCase(seed)); err != nil || diff != "" {
			t.Errorf("seed %d: %.2000s %v", seed, diff, err)
		}
	}
}

// TestRandomKernels compares random kernels on the device with the interpreter: bits, faults and prints.
func TestRandomKernels(t *testing.T) {
	b := newBench(t)
	n, first := count(15, 30)
	refused := 0
	for seed := first; seed < first+uint64(n); seed++ {
		c := randomCase(seed)
		diff, err := b.compare(c)
		switch {
		case offload.CodeOf(err) == offload.Unsupported:
			refused++
			t.Logf("seed %d: %v", seed, err)
		case err != nil:
			t.Fatalf("seed %d: %v\n%.4000v", seed, err, c.Kernel)
		case diff != "":
			t.Errorf("seed %d: %s\n%.4000v", seed, diff, c.Kernel)
		}
	}
	if refused*10 > n {
		t.Errorf("%d of %d kernels are refused", refused, n)
	}
	t.Logf("%d kernels from seed %d, %d refused", n, first, refused)
}

// TestOperations compares each operation on each of its types with the interpreter, for all tuples of special values.
func TestOperations(t *testing.T) {
	b := newBench(t)
	const together = 8 // operations in a kernel, so that the driver compiles fewer
	all := irgen.Operations()
	results := 0
	for len(all) > 0 {
		part := all[:min(together, len(all))]
		all = all[len(part):]
		c := operations(part)
		if diff, err := b.compare(c); err != nil {
			t.Fatalf("%v: %v", part, err)
		} else if diff != "" {
			t.Errorf("%v: %s", part, diff)
		}
		for _, a := range c.Args {
			results += int(a.Dims[0])
		}
	}
	t.Logf("%d values", results)
}

// TestForms compares memory, group and version 2 operations with the interpreter. Only a long run has all forms, since the
// driver compiles a kernel for each.
func TestForms(t *testing.T) {
	b, step := newBench(t), 29
	switch {
	case os.Getenv("OREPL_TEST_LONG") == "1":
		step = 1
	case testing.Short():
		step = 41
	}
	for n, f := range irgen.Forms() {
		if n%step != 0 {
			continue
		}
		diff, err := b.compare(irgen.FormCase(f))
		switch {
		case f.Op == ir.Clock && offload.CodeOf(err) == offload.Unsupported:
		case err != nil:
			t.Errorf("%v: %v", f, err)
		case diff != "":
			t.Errorf("%v: %s", f, diff)
		}
	}
}

// operations returns a case whose kernel applies the operations to elements of operand buffers, each in its own branch.
func operations(list []irgen.Operation) *oracle.Case {
	k := &ir.Kernel{Name: "cells", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	c := &oracle.Case{Kernel: k, Size: [3]int{1, 1, 1}, GroupSize: [3]int{64, 1, 1}}
	path := []ir.Step{{Kind: ir.StepIndex}}
	at := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	for n := range list {
		op := &list[n]
		tuples := irgen.Tuples(op.Args)
		buffer := func(t ir.Type, data []byte) *ir.Array {
			a := &ir.Array{Name: fmt.Sprint("b", len(k.Arrays)), Space: ir.Global, Elem: ir.Elem{Scalar: t}, Rank: 1, ID: len(k.Arrays)}
			k.Arrays = append(k.Arrays, a)
			k.Params = append(k.Params, ir.Param{Name: a.Name, Array: a})
			c.Args = append(c.Args, oracle.Arg{Data: data, Dims: []int32{int32(len(tuples))}})
			return a
		}
		count := b.Emit(&ir.Instr{Op: ir.Const, Bits: uint64(len(tuples))}, ir.I32)
		within := b.Emit(&ir.Instr{Op: ir.Lt, Args: []*ir.Value{at, count}}, ir.Bool)
		branch := &ir.Instr{Op: ir.If, Args: []*ir.Value{within}, Then: &ir.Block{}, Else: &ir.Block{}}
		b.Emit(branch, ir.Void)
		outer := b.Block
		b.Block = branch.Else
		b.Emit(&ir.Instr{Op: ir.Yield}, ir.Void)
		b.Block = branch.Then
		in := ir.Instr{Op: op.Op, Elem: op.Elem}
		for i, typ := range op.Args {
			var data []byte
			for _, tuple := range tuples {
				data = irgen.AppendElem(data, typ, tuple[i])
			}
			in.Args = append(in.Args, b.Emit(&ir.Instr{Op: ir.Load, Array: buffer(typ, data), Path: path, Args: []*ir.Value{at}}, typ))
		}
		v := b.Emit(&in, op.To)
		b.Emit(&ir.Instr{Op: ir.Store, Array: buffer(op.To, make([]byte, len(tuples)*op.To.Size())), Path: path, Args: []*ir.Value{at, v}}, ir.Void)
		b.Emit(&ir.Instr{Op: ir.Yield}, ir.Void)
		b.Block = outer
		c.Size[0] = max(c.Size[0], len(tuples))
	}
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	opt.CanonicalizeNaNs(k)
	return c
}

// TestPrintsOfGroups checks that prints keep their group even if passes remove all uses of the group from the kernel.
func TestPrintsOfGroups(t *testing.T) {
	if diff, err := newBench(t).CompareGroups(t.Context()); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}

// TestSums compares kernels with simple loops with the interpreter. On processors the items of a group meet in these loops.
func TestSums(t *testing.T) {
	b := newBench(t)
	n, first := count(8, 12)
	for seed := first; seed < first+uint64(n); seed++ {
		c, err := irgen.SumCase(rand.New(rand.NewPCG(seed, 31)))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff, err := b.compare(c); err != nil || diff != "" {
			t.Errorf("seed %d: %s %v\n%.4000v", seed, diff, err, c.Kernel)
		}
	}
}
