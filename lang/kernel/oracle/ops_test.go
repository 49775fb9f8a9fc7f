package oracle_test

import (
	"errors"
	"os"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

func startNode(t testing.TB) *oracle.Node {
	t.Helper()
	n, err := oracle.StartNode()
	if errors.Is(err, oracle.ErrNoNode) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// kernelOf returns a kernel that applies the operation to each element of its operand buffers.
func kernelOf(c *irgen.Operation) *ir.Kernel {
	k := &ir.Kernel{Name: "cell", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	buffer := func(name string, t ir.Type) *ir.Array {
		a := &ir.Array{Name: name, Space: ir.Global, Elem: ir.Elem{Scalar: t}, Rank: 1, ID: len(k.Arrays)}
		k.Arrays = append(k.Arrays, a)
		k.Params = append(k.Params, ir.Param{Name: name, Array: a})
		return a
	}
	path := []ir.Step{{Kind: ir.StepIndex}}
	i := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	in := ir.Instr{Op: c.Op, Elem: c.Elem}
	for n, t := range c.Args {
		in.Args = append(in.Args, b.Emit(&ir.Instr{Op: ir.Load, Array: buffer("xyz"[n:n+1], t), Path: path, Args: []*ir.Value{i}}, t))
	}
	v := b.Emit(&in, c.To)
	b.Emit(&ir.Instr{Op: ir.Store, Array: buffer("out", c.To), Path: path, Args: []*ir.Value{i, v}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	opt.CanonicalizeNaNs(k)
	return k
}

// TestOperations runs every operation on all its types, with all pairs of special values, on both oracles and with the scalar
// semantics.
func TestOperations(t *testing.T) {
	node := startNode(t)
	count := 0
	all := irgen.Operations()
	for _, c := range all {
		tuples := irgen.Tuples(c.Args)
		n := len(tuples)
		test := &oracle.Case{Kernel: kernelOf(&c), Size: [3]int{n, 1, 1}}
		for a, typ := range c.Args {
			var data []byte
			for _, tuple := range tuples {
				data = irgen.AppendElem(data, typ, tuple[a])
			}
			test.Args = append(test.Args, oracle.Arg{Data: data, Dims: []int32{int32(n)}})
		}
		test.Args = append(test.Args, oracle.Arg{Data: make([]byte, n*c.To.Size()), Dims: []int32{int32(n)}})
		m := &ir.Module{Kernels: []*ir.Kernel{test.Kernel}, Files: []string{""}}
		if err := m.Verify(); err != nil {
			t.Fatalf("%v: %v", &c, err)
		}
		byInterp, err := test.Interp(interp.Options{})
		if err != nil {
			t.Fatalf("%v: %v", &c, err)
		}
		byNode, err := node.Run(test)
		if err != nil {
			t.Fatalf("%v: %v", &c, err)
		}
		if d := test.DiffNode(byInterp, byNode); d != "" {
			t.Errorf("%v: interpreter and node differ: %s", &c, d)
		}
		want := oracle.Outcome{Data: append([][]byte(nil), byInterp.Data...), Fault: byInterp.Fault}
		op := ir.Instr{Op: c.Op, Elem: c.Elem}
		for _, typ := range c.Args {
			op.Args = append(op.Args, &ir.Value{Type: typ})
		}
		op.Results = []*ir.Value{{Type: c.To}}
		var data []byte
		for _, tuple := range tuples {
			bits, _ := scalar.Eval(&op, tuple...) // a division by zero keeps the 0 in the buffer
			data = irgen.AppendElem(data, c.To, bits)
		}
		want.Data[len(c.Args)] = data
		if d := test.Diff(byInterp, &want); d != "" {
			t.Errorf("%v: interpreter and scalar semantics differ: %s", &c, d)
		}
		count += n
	}
	t.Logf("%d cells, %d results", len(all), count)
}

// TestStorage loads and stores every storage type, with all values of types up to 16 bits.
func TestStorage(t *testing.T) {
	node := startNode(t)
	for _, typ := range irgen.Storage {
		value := typ.Value()
		convert := irgen.Operation{Op: ir.Bitcast, Args: []ir.Type{typ}, To: typ} // a load and a store
		if typ == ir.Bool {
			convert.Op = ir.Not
		}
		k := kernelOf(&convert)
		for _, in := range k.Body.Instrs {
			for _, v := range in.Results {
				if v.Type == typ {
					v.Type = value
				}
			}
		}
		var patterns []uint64
		switch typ.Size() {
		case 1, 2:
			for b := range uint64(1) << (8 * typ.Size()) {
				patterns = append(patterns, b)
			}
		default:
			patterns = irgen.Special(typ)
		}
		run := func(c *oracle.Case) {
			a, err := c.Interp(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := node.Run(c)
			if err != nil {
				t.Fatal(err)
			}
			if d := c.DiffNode(a, b); d != "" {
				t.Errorf("%v: %s", typ, d)
			}
		}
		var data []byte
		for _, b := range patterns {
			data = irgen.AppendElem(data, typ, b)
		}
		n := int32(len(patterns))
		run(&oracle.Case{Kernel: k, Size: [3]int{int(n), 1, 1}, Args: []oracle.Arg{{Data: data, Dims: []int32{n}},
			{Data: make([]byte, len(data)), Dims: []int32{n}}}})

		// stores every special value of the register's type
		data = nil
		patterns = irgen.Special(value)
		for _, b := range patterns {
			data = irgen.AppendElem(data, value, b)
		}
		store := irgen.Operation{Op: ir.Bitcast, Args: []ir.Type{value}, To: typ}
		if typ == ir.Bool {
			store.Op = ir.Not
		}
		k = kernelOf(&store)
		k.Body.Instrs[2].Results[0].Type = value
		n = int32(len(patterns))
		run(&oracle.Case{Kernel: k, Size: [3]int{int(n), 1, 1}, Args: []oracle.Arg{{Data: data, Dims: []int32{n}},
			{Data: make([]byte, len(patterns)*typ.Size()), Dims: []int32{n}}}})
	}
}
