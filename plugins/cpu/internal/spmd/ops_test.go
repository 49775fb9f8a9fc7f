package spmd

import (
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// operations returns a kernel that applies operations to elements of buffers: per lane, or as uniform values in a loop.
// All operations take operands of the same types; each has its own output.
func operations(ops []irgen.Operation, uniform bool) *ir.Kernel {
	k := &ir.Kernel{Name: "operations", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	buffer := func(name string, t ir.Type) *ir.Array {
		a := &ir.Array{Name: name, Space: ir.Global, Elem: ir.Elem{Scalar: t}, Rank: 1, ID: len(k.Arrays)}
		k.Arrays = append(k.Arrays, a)
		k.Params = append(k.Params, ir.Param{Name: name, Array: a})
		return a
	}
	var in, out []*ir.Array
	for n, t := range ops[0].Args {
		in = append(in, buffer("xyz"[n:n+1], t))
	}
	for i := range ops {
		out = append(out, buffer("out"+string(rune('a'+i)), ops[i].To))
	}
	path := []ir.Step{{Kind: ir.StepIndex}}
	apply := func(i *ir.Value) {
		var args []*ir.Value
		for _, a := range in {
			args = append(args, b.Emit(&ir.Instr{Op: ir.Load, Array: a, Path: path, Args: []*ir.Value{i}}, a.Elem.Scalar))
		}
		for n := range ops {
			v := b.Emit(&ir.Instr{Op: ops[n].Op, Elem: ops[n].Elem, Args: args}, ops[n].To)
			b.Emit(&ir.Instr{Op: ir.Store, Array: out[n], Path: path, Args: []*ir.Value{i, v}}, ir.Void)
		}
	}
	defer opt.CanonicalizeNaNs(k)
	if !uniform {
		apply(b.Emit(&ir.Instr{Op: ir.Item}, ir.I32))
		b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
		return k
	}
	loop := b.Nested(ir.Loop, nil, b.Int(ir.I32, 0))
	i := loop.Then.Params[0]
	b.Block = loop.Then
	more := b.Nested(ir.If, nil, b.Op(ir.Lt, ir.Bool, i, b.Emit(&ir.Instr{Op: ir.Extent, Array: in[0]}, ir.I32)))
	b.Block = more.Then
	b.Emit(&ir.Instr{Op: ir.Yield}, ir.Void)
	b.Block = more.Else
	b.Emit(&ir.Instr{Op: ir.Break, Target: loop}, ir.Void)
	b.Block = loop.Then
	apply(i)
	b.Emit(&ir.Instr{Op: ir.Continue, Target: loop, Args: []*ir.Value{b.Op(ir.Add, ir.I32, i, b.Int(ir.I32, 1))}}, ir.Void)
	b.Block = k.Body
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	return k
}

// operationGroups returns all operations, in groups with equal operand types that fit in one kernel.
func operationGroups() (groups [][]irgen.Operation) {
	at := map[string]int{}
	for _, o := range irgen.Operations() {
		key := ""
		for _, a := range o.Args {
			key += a.String() + " "
		}
		faults := (o.Op == ir.Div || o.Op == ir.Rem) && o.To.IsInt()
		if faults {
			key += "faults"
		}
		n, known := at[key]
		if !known || len(groups[n]) >= 8 {
			n = len(groups)
			at[key] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], o)
	}
	return groups
}

// TestOperations applies each operation to all pairs of special values of each type, per lane and as uniform values.
func TestOperations(t *testing.T) {
	needMachine(t)
	for n, ops := range operationGroups() {
		c := &oracle.Case{GroupSize: [3]int{1, 1, 1}, SubgroupSize: 32}
		c.Unchecked = (ops[0].Op == ir.Div || ops[0].Op == ir.Rem) && ops[0].To.IsInt() // a zero divisor faults
		all := irgen.Tuples(ops[0].Args)
		tuples := all[:0]
		step := 1 + len(all)/2000
		for i := n % step; i < len(all); i += step { // the groups take different pairs in turn
			tuples = append(tuples, all[i])
		}
		dims := []int32{int32(len(tuples))}
		for a, typ := range ops[0].Args {
			var data []byte
			for _, tuple := range tuples {
				data = irgen.AppendElem(data, typ, tuple[a])
			}
			c.Args = append(c.Args, oracle.Arg{Data: data, Dims: dims})
		}
		for _, o := range ops {
			c.Args = append(c.Args, oracle.Arg{Data: make([]byte, len(tuples)*o.To.Size()), Dims: dims})
		}
		for _, uniform := range []bool{false, true} {
			c.Kernel, c.Size = operations(ops, uniform), [3]int{len(tuples), 1, 1}
			gang := []int{1, 2, 4}[n%3]
			if uniform {
				c.Size[0], gang = 1, 1
			}
			want, err := c.Interp(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, target := range targets() {
				if !compareOn(t, c, want, target, gang, 0) {
					t.Errorf("%v and others, uniform %v", &ops[0], uniform)
				}
			}
		}
	}
}

// TestForms runs every memory, group and version 2 operation on all types.
func TestForms(t *testing.T) {
	needMachine(t)
	for n, f := range irgen.Forms() {
		gang := []int{1, 2, 4}[n%3]
		if !compare(t, irgen.FormCase(f), gang, 0) {
			t.Errorf("%v, gang %d", f, gang)
		}
	}
}
