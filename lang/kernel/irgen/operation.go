package irgen

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// Value types: integers, floats and all.
var (
	Ints   = []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64}
	Floats = []ir.Type{ir.F32, ir.F64}
	Values = []ir.Type{ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}
)

// Storage are the element types of buffers.
var Storage = []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64}

// Operation is an operation on values of specific types.
type Operation struct {
	Op   ir.Op
	Elem ir.Type // element type of Quant
	Args []ir.Type
	To   ir.Type
}

// String returns the operation with its types.
func (o *Operation) String() string {
	s := fmt.Sprintf("%v %v → %v", o.Op, o.Args, o.To)
	if o.Op == ir.Quant {
		s += fmt.Sprintf(" by %v", o.Elem)
	}
	return s
}

// Operations returns all operations that compute a value from others, on all types, except Math.
func Operations() (out []Operation) {
	add := func(op ir.Op, to ir.Type, args ...ir.Type) {
		out = append(out, Operation{Op: op, Args: args, To: to})
	}
	for _, t := range Values {
		for _, op := range []ir.Op{ir.Eq, ir.Ne} {
			add(op, ir.Bool, t, t)
		}
		add(ir.Select, t, ir.Bool, t, t)
		if !t.IsFloat() {
			add(ir.Not, t, t)
			for _, op := range []ir.Op{ir.And, ir.Or, ir.Xor} {
				add(op, t, t, t)
			}
		}
		if t == ir.Bool {
			continue
		}
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
	for _, t := range Ints {
		for _, op := range []ir.Op{ir.Clz, ir.Ctz, ir.Popcnt} {
			add(op, ir.I32, t)
		}
		add(ir.MulHi, t, t, t)
		for _, count := range []ir.Type{ir.I32, ir.U32} {
			add(ir.Shl, t, t, count)
			add(ir.Shr, t, t, count)
		}
	}
	for _, t := range Floats {
		for _, op := range []ir.Op{ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint} {
			add(op, t, t)
		}
		add(ir.FMA, t, t, t, t)
	}
	return append(out, conversions()...)
}

func conversions() (out []Operation) {
	for _, from := range Values {
		for _, to := range Values {
			add := func(op ir.Op) { out = append(out, Operation{Op: op, Args: []ir.Type{from}, To: to}) }
			if to == from || to.IsFloat() || to.Size() == 8 && !from.IsFloat() || from == ir.Bool && to.IsInt() {
				add(ir.Convert)
			}
			if from != ir.Bool && to.IsInt() {
				add(ir.Wrap)
			}
			if from.IsFloat() && to.IsInt() {
				add(ir.Sat)
			}
			if from != ir.Bool && from.Size() == to.Size() {
				add(ir.Bitcast)
			}
		}
	}
	for _, elem := range []ir.Type{ir.F16, ir.BF16, ir.F32, ir.F64} {
		t := ir.F32
		if elem == ir.F64 {
			t = elem
		}
		out = append(out, Operation{Op: ir.Quant, Elem: elem, Args: []ir.Type{t}, To: t})
	}
	return out
}

// Special returns the bits of the values of a value type for which operations have special cases.
func Special(t ir.Type) (out []uint64) {
	switch {
	case t == ir.Bool:
		return []uint64{0, 1}
	case t.IsFloat():
		for _, x := range []float64{0, 0.5, 0.49999999999999994, 1, 1.5, 2.5, 3, 0.1, 1e-3, 255.5, 1 << 23, 1<<23 + 1, 1<<24 + 2, 1 << 31,
			1<<31 - 0.5, 1 << 32, 1<<32 - 0.5, 4503599627370495.5, 1 << 53, 1 << 63, 1 << 64, 1e20, 65504, 65519, 65520, 6e-8, 3e-8,
			0x1p-14, 0x1p-126, 0x1p-149, 0x1.8p-149, 0x1p-133, 0x1.8p-134, math.MaxFloat32, math.MaxFloat64, 0x1p-1022,
			math.SmallestNonzeroFloat64, 0x1.000001p0, 0x1.0000010000001p0, 0x1.fffffep-1, math.Pi, math.Inf(1)} {
			out = append(out, ir.FloatBits(t, x), ir.FloatBits(t, math.Copysign(x, -1)))
		}
		if t == ir.F32 { // NaNs: canonical, as produced by x86, with a payload, and signalling
			return append(out, ir.NaN32, 0xffc00000, 0x7fffffff, 0xff812345)
		}
		return append(out, ir.NaN64, 0xfff8000000000000, 0x7fffffffffffffff, 0xfff123456789abcd)
	}
	for _, n := range []int64{0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 1<<24 + 1,
		1<<24 + 3, 1<<31 - 1, 1 << 31, 1<<31 + 1, 1<<32 - 1, 1 << 32, 1<<53 - 1, 1<<53 + 1, 1<<62 + 1<<38 + 1, 1 << 62, math.MaxInt64,
		math.MinInt64, math.MinInt64 + 1<<39 + 1, math.MinInt64 + 1<<10 + 1, 0x5555555555555555, 0x123456789abcdef} {
		out = append(out, ir.IntBits(t, n), ir.IntBits(t, -n))
	}
	return out
}

// Tuples returns combinations of special values for operands of the types: all for up to two operands, a subset for three.
func Tuples(args []ir.Type) [][]uint64 {
	out := [][]uint64{nil}
	for n, t := range args {
		var next [][]uint64
		for k, tuple := range out {
			for j, x := range Special(t) {
				if n == 2 && (j+k)%17 != 0 {
					continue
				}
				next = append(next, append(tuple[:n:n], x))
			}
		}
		out = next
	}
	return out
}

// AppendElem appends the memory representation of an element of a storage type.
func AppendElem(data []byte, t ir.Type, bits uint64) []byte {
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

// OperationCase returns a launch of a kernel that computes the operation for the combinations of [Tuples], one per item.
func OperationCase(o Operation) *oracle.Case {
	k := &ir.Kernel{Name: "f", Real: ir.F32, Body: &ir.Block{}}
	b := ir.Builder{Kernel: k, Block: k.Body}
	tuples := Tuples(o.Args)
	c := &oracle.Case{Kernel: k, Size: [3]int{len(tuples), 1, 1}}
	buffer := func(name string, t ir.Type) *ir.Array {
		a := &ir.Array{Name: name, Elem: ir.Elem{Scalar: t}, Rank: 1, ID: len(k.Arrays)}
		k.Arrays = append(k.Arrays, a)
		k.Params = append(k.Params, ir.Param{Name: name, Array: a})
		c.Args = append(c.Args, oracle.Arg{Dims: []int32{int32(len(tuples))}})
		return a
	}
	path := []ir.Step{{}}
	at := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	in := &ir.Instr{Op: o.Op, Elem: o.Elem}
	for i, t := range o.Args {
		a := buffer(fmt.Sprint("x", i), t)
		for _, tuple := range tuples {
			c.Args[i].Data = AppendElem(c.Args[i].Data, t, tuple[i])
		}
		in.Args = append(in.Args, b.Emit(&ir.Instr{Op: ir.Load, Array: a, Path: path, Args: []*ir.Value{at}}, t))
	}
	out := buffer("out", o.To)
	c.Args[len(o.Args)].Data = make([]byte, len(tuples)*o.To.Size())
	b.Emit(&ir.Instr{Op: ir.Store, Array: out, Path: path, Args: []*ir.Value{at, b.Emit(in, o.To)}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	opt.CanonicalizeNaNs(k)
	return c
}
