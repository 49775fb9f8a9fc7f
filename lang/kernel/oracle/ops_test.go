package oracle_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
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

var (
	ints   = []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64}
	floats = []ir.Type{ir.F32, ir.F64}
	values = []ir.Type{ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
)

// special are the values of a type at which operations differ from what they do elsewhere.
func special(t ir.Type) []uint64 {
	var out []uint64
	switch t {
	case ir.Bool:
		return []uint64{0, 1}
	case ir.F32, ir.F64:
		for _, x := range []float64{0, 0.5, 0.49999999999999994, 1, 1.5, 2.5, 3, 0.1, 1e-3, 255.5, 1 << 23, 1<<23 + 1, 1<<24 + 2, 1 << 31,
			1<<31 - 0.5, 1 << 32, 1<<32 - 0.5, 4503599627370495.5, 1 << 53, 1 << 63, 1 << 64, 1e20, 65504, 65519, 65520, 6e-8, 3e-8, 0x1p-14,
			0x1p-126, 0x1p-149, 0x1.8p-149, 0x1p-133, 0x1.8p-134, math.MaxFloat32, math.MaxFloat64, 0x1p-1022, math.SmallestNonzeroFloat64,
			0x1.000001p0, 0x1.0000010000001p0, 0x1.fffffep-1, math.Pi, math.Inf(1), math.NaN()} {
			out = append(out, ir.FloatBits(t, x), ir.FloatBits(t, -x), ir.FloatBits(t, math.Copysign(x, -1)))
		}
		return out
	}
	for _, n := range []int64{0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 1<<24 + 1, 1<<24 + 3,
		1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1<<53 + 1, 1<<62 + 1<<38 + 1, 1 << 62, math.MaxInt64, math.MinInt64,
		0x5555555555555555, 0x123456789abcdef} {
		out = append(out, ir.IntBits(t, n), ir.IntBits(t, -n))
	}
	return out
}

// cell is an operation on operands of certain types.
type cell struct {
	in   ir.Instr // but for operands and results
	args []ir.Type
	to   ir.Type
}

func (c *cell) String() string {
	return fmt.Sprintf("%v %v → %v %v", c.in.Op, c.args, c.to, c.in.Elem)
}

func cells() (out []cell) {
	add := func(op ir.Op, to ir.Type, args ...ir.Type) {
		out = append(out, cell{in: ir.Instr{Op: op}, args: args, to: to})
	}
	numbers := append(append([]ir.Type(nil), ints...), floats...)
	for _, t := range numbers {
		for _, op := range []ir.Op{ir.Neg, ir.Abs} {
			add(op, t, t)
		}
		for _, op := range []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Div, ir.Rem, ir.Min, ir.Max} {
			add(op, t, t, t)
		}
		for _, op := range []ir.Op{ir.Lt, ir.Le} {
			add(op, ir.Bool, t, t)
		}
	}
	for _, t := range values {
		add(ir.Eq, ir.Bool, t, t)
		add(ir.Ne, ir.Bool, t, t)
		add(ir.Select, t, ir.Bool, t, t)
		if !t.IsFloat() {
			add(ir.Not, t, t)
			for _, op := range []ir.Op{ir.And, ir.Or, ir.Xor} {
				add(op, t, t, t)
			}
		}
	}
	for _, t := range ints {
		for _, op := range []ir.Op{ir.Clz, ir.Ctz, ir.Popcnt} {
			add(op, ir.I32, t)
		}
		add(ir.MulHi, t, t, t)
		for _, count := range []ir.Type{ir.I32, ir.U32} {
			add(ir.Shl, t, t, count)
			add(ir.Shr, t, t, count)
		}
	}
	for _, t := range floats {
		for _, op := range []ir.Op{ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint} {
			add(op, t, t)
		}
		add(ir.FMA, t, t, t, t)
	}
	for _, from := range values {
		for _, to := range values {
			if to == from || to.IsFloat() || to.Size() == 8 && !from.IsFloat() || from == ir.Bool && to.IsInt() {
				add(ir.Convert, to, from)
			}
			if from != ir.Bool && to.IsInt() {
				add(ir.Sat, to, from)
				add(ir.Wrap, to, from)
			}
			if from != ir.Bool && from.Size() == to.Size() {
				add(ir.Bitcast, to, from)
			}
		}
	}
	for _, elem := range []ir.Type{ir.F16, ir.BF16} {
		out = append(out, cell{in: ir.Instr{Op: ir.Quant, Elem: elem}, args: []ir.Type{ir.F32}, to: ir.F32})
	}
	return out
}

// kernel applies the cell to each element of its operand buffers.
func (c *cell) kernel() *ir.Kernel {
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
	in := c.in
	for n, t := range c.args {
		in.Args = append(in.Args, b.Emit(&ir.Instr{Op: ir.Load, Array: buffer("xyz"[n:n+1], t), Path: path, Args: []*ir.Value{i}}, t))
	}
	v := b.Emit(&in, c.to)
	b.Emit(&ir.Instr{Op: ir.Store, Array: buffer("out", c.to), Path: path, Args: []*ir.Value{i, v}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	return k
}

// tuples are all combinations of special values for the operands; some of them where there are three.
func (c *cell) tuples() [][]uint64 {
	out := [][]uint64{nil}
	for n, t := range c.args {
		var next [][]uint64
		for k, tuple := range out {
			for j, x := range special(t) {
				if n == 2 && (j+k)%7 != 0 {
					continue
				}
				next = append(next, append(tuple[:n:n], x))
			}
		}
		out = next
	}
	return out
}

func appendElem(data []byte, t ir.Type, bits uint64) []byte {
	switch t.Size() {
	case 1:
		return append(data, byte(bits))
	case 2:
		return binary.LittleEndian.AppendUint16(data, uint16(bits))
	case 4:
		return binary.LittleEndian.AppendUint32(data, uint32(bits))
	}
	return binary.LittleEndian.AppendUint64(data, bits)
}

// TestOperations runs every operation on every type it is for, with all pairs of special values, on both oracles and
// by the scalar semantics.
func TestOperations(t *testing.T) {
	node := startNode(t)
	count := 0
	for _, c := range cells() {
		tuples := c.tuples()
		n := len(tuples)
		test := &oracle.Case{Kernel: c.kernel(), Size: [3]int{n, 1, 1}}
		for a, typ := range c.args {
			var data []byte
			for _, tuple := range tuples {
				data = appendElem(data, typ, tuple[a])
			}
			test.Args = append(test.Args, oracle.Arg{Data: data, Dims: []int32{int32(n)}})
		}
		test.Args = append(test.Args, oracle.Arg{Data: make([]byte, n*c.to.Size()), Dims: []int32{int32(n)}})
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
		if d := test.Diff(byInterp, byNode); d != "" {
			t.Errorf("%v: interpreter and node differ: %s", &c, d)
		}
		want := oracle.Outcome{Data: append([][]byte(nil), byInterp.Data...), Fault: byInterp.Fault}
		op := c.in
		for _, typ := range c.args {
			op.Args = append(op.Args, &ir.Value{Type: typ})
		}
		op.Results = []*ir.Value{{Type: c.to}}
		var data []byte
		for _, tuple := range tuples {
			bits, _ := scalar.Eval(&op, tuple...) // a division by zero leaves the 0 that is there
			data = appendElem(data, c.to, bits)
		}
		want.Data[len(c.args)] = data
		if d := test.Diff(byInterp, &want); d != "" {
			t.Errorf("%v: interpreter and scalar semantics differ: %s", &c, d)
		}
		count += n
	}
	t.Logf("%d cells, %d results", len(cells()), count)
}

// TestStorage loads and stores every storage type, with all values of the small ones.
func TestStorage(t *testing.T) {
	node := startNode(t)
	for _, typ := range []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64} {
		value := typ.Value()
		convert := cell{in: ir.Instr{Op: ir.Bitcast}, args: []ir.Type{typ}, to: typ} // a load and a store
		if typ == ir.Bool {
			convert.in.Op = ir.Not
		}
		k := convert.kernel()
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
			patterns = special(typ)
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
			if d := c.Diff(a, b); d != "" {
				t.Errorf("%v: %s", typ, d)
			}
		}
		var data []byte
		for _, b := range patterns {
			data = appendElem(data, typ, b)
		}
		n := int32(len(patterns))
		run(&oracle.Case{Kernel: k, Size: [3]int{int(n), 1, 1}, Args: []oracle.Arg{{Data: data, Dims: []int32{n}},
			{Data: make([]byte, len(data)), Dims: []int32{n}}}})

		// Every special value of the register's type, stored.
		data = nil
		patterns = special(value)
		for _, b := range patterns {
			data = appendElem(data, value, b)
		}
		store := cell{in: ir.Instr{Op: ir.Bitcast}, args: []ir.Type{value}, to: typ}
		if typ == ir.Bool {
			store.in.Op = ir.Not
		}
		k = store.kernel()
		k.Body.Instrs[2].Results[0].Type = value
		n = int32(len(patterns))
		run(&oracle.Case{Kernel: k, Size: [3]int{int(n), 1, 1}, Args: []oracle.Arg{{Data: data, Dims: []int32{n}},
			{Data: make([]byte, len(patterns)*typ.Size()), Dims: []int32{n}}}})
	}
}
