package ptx

import (
	"math"
	mathbits "math/bits"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

var axes = [3]string{"x", "y", "z"}

var coordinates = later.Value[map[ir.ItemKind]string]{Make: func() map[ir.ItemKind]string {
	return map[ir.ItemKind]string{ir.LocalID: "%tid", ir.GroupID: "%ctaid", ir.GroupSize: "%ntid", ir.NumGroups: "%nctaid"}
}}

// compute prints an operation on values with the result register r.
func (e *emitter) compute(in *ir.Instr, r string) {
	args := make([]string, len(in.Args))
	for i, a := range in.Args {
		args[i] = register(a)
	}
	to := in.Type()
	var t ir.Type
	if len(in.Args) > 0 {
		t = in.Args[0].Type
	}
	switch in.Op {
	case ir.Const:
		if to == ir.Bool {
			e.line("setp.ne.s32 %s, %d, 0", r, min(in.Bits, 1))
			return
		}
		e.line("mov.%s %s, %s", registers.Get()[to], r, literal(to, in.Bits))
	case ir.Extent:
		e.line("ld.param.u32 %s, [p_d%d_%d]", r, in.Array.ID, in.Axis)
	case ir.Item:
		if in.Item != ir.SubgroupSize && int(in.Axis) >= e.axes {
			e.line("mov.b32 %s, %d", r, map[ir.ItemKind]int{ir.GlobalSize: 1, ir.GroupSize: 1, ir.NumGroups: 1}[in.Item])
			return
		}
		switch in.Item {
		case ir.GlobalSize:
			e.line("ld.param.u32 %s, [p_size_%d]", r, in.Axis)
		case ir.SubgroupSize:
			e.line("mov.b32 %s, %d", r, e.kernel.SubgroupSize)
		default:
			e.line("mov.u32 %s, %s.%s", r, coordinates.Get()[in.Item], axes[in.Axis])
		}
	case ir.Clock:
		e.line("mov.u64 %s, %%globaltimer", r)
	case ir.Select:
		if x := oneNaN(in.Args); x != nil {
			at := e.fresh("b32")
			e.line("mov.b32 %s, %s", at, register(x))
			e.line("min.s32 %s, %s, 0x%x", at, at, uint32(ir.FloatBits(ir.F32, math.NaN())))
			e.line("mov.b32 %s, %s", r, at)
			return
		}
		e.selection(in.Args, to, r)
	case ir.Convert, ir.Wrap, ir.Sat:
		e.convert(in.Args[0], to, r)
	case ir.Bitcast:
		e.line("mov.%s %s, %s", bits(to), r, args[0])
	case ir.Neg, ir.Abs:
		e.sign(in, args[0], r)
	case ir.Not:
		e.line("not.%s %s, %s", e.logical(t), r, args[0])
	case ir.And, ir.Or, ir.Xor:
		e.line("%s.%s %s, %s, %s", in.Op, e.logical(t), r, args[0], args[1])
	case ir.Shl, ir.Shr:
		kind := bits(t)
		if in.Op == ir.Shr {
			kind = typed.Get()[t]
		}
		e.line("%s.%s %s, %s, %s", in.Op, kind, r, args[0], e.count(in.Args[1]))
	case ir.Clz:
		e.line("clz.%s %s, %s", bits(t), r, args[0])
	case ir.Popcnt:
		e.line("popc.%s %s, %s", bits(t), r, args[0])
	case ir.Eq, ir.Ne, ir.Lt, ir.Le:
		e.compare(in, args, r)
	case ir.Floor, ir.Ceil, ir.Trunc, ir.Rint:
		mode := map[ir.Op]string{ir.Floor: "rmi", ir.Ceil: "rpi", ir.Trunc: "rzi", ir.Rint: "rni"}[in.Op]
		e.line("cvt.%s.%s.%s %s, %s", mode, typed.Get()[t], typed.Get()[t], r, args[0])
	case ir.Sqrt:
		e.line("sqrt.rn.%s %s, %s", typed.Get()[t], r, args[0])
	case ir.FMA:
		e.line("fma.rn.%s %s, %s, %s, %s", typed.Get()[t], r, args[0], args[1], args[2])
	case ir.MulHi:
		e.line("mul.hi.%s %s, %s, %s", typed.Get()[t], r, args[0], args[1])
	case ir.Mul:
		if !e.product(in, r) {
			e.arithmetic(in, args, r)
		}
	default: // add, sub, div, rem, min, max
		e.arithmetic(in, args, r)
	}
}

// arithmetic prints an operation on two operands of the result's type.
func (e *emitter) arithmetic(in *ir.Instr, args []string, r string) {
	name, t := in.Op.String(), in.Args[0].Type
	switch {
	case t.IsFloat():
		name += ".rn"
	case in.Op == ir.Mul:
		name += ".lo"
	}
	e.line("%s.%s %s, %s, %s", name, typed.Get()[t], r, args[0], args[1])
}

// product prints a 64-bit product of a constant with one or two widened 32-bit factors, as in row indices times the bytes of a
// row. It returns false, and prints nothing, for other products.
func (e *emitter) product(in *ir.Instr, r string) bool {
	if in.Args[0].Type.Size() != 8 {
		return false
	}
	if from, factor := widening(in); from != nil {
		e.line("mul.wide.%s %s, %s, %d", typed.Get()[from.Type], r, register(from), factor)
		return true
	}
	for i, v := range in.Args {
		index, row := narrow(v), in.Args[1-i].Def
		if index == nil || row == nil || row.Op != ir.Mul {
			continue
		}
		if extent, size := widening(row); extent != nil && extent.Type == index.Type {
			at := e.fresh("b64")
			e.line("mul.wide.%s %s, %s, %s", typed.Get()[index.Type], at, register(index), register(extent))
			if size > 0 && size&(size-1) == 0 {
				e.line("shl.b64 %s, %s, %d", r, at, mathbits.TrailingZeros64(uint64(size)))
			} else {
				e.line("mul.lo.s64 %s, %s, %d", r, at, size)
			}
			return true
		}
	}
	return false
}

// narrow returns the 32-bit integer from which a 64-bit value was converted, or nil.
func narrow(v *ir.Value) *ir.Value {
	if d := v.Def; d != nil && (d.Op == ir.Wrap || d.Op == ir.Convert) && d.Args[0].Type.IsInt() && d.Args[0].Type.Size() == 4 {
		return d.Args[0]
	}
	return nil
}

// widening returns the 32-bit operand and the constant factor of a 64-bit product that mul.wide can compute, or nil.
func widening(in *ir.Instr) (from *ir.Value, factor int64) {
	for i, v := range in.Args {
		if n, ok := constant(in.Args[1-i]); ok && n >= 0 && n <= math.MaxInt32 && v.Type.Size() == 8 {
			if from = narrow(v); from != nil {
				return from, n
			}
		}
	}
	return nil, 0
}

// constant returns the value of an integer constant, also of conversions to 64 bits and products of constants. It returns
// false for other values.
func constant(v *ir.Value) (n int64, ok bool) {
	d := v.Def
	switch {
	case d == nil || !v.Type.IsInt():
		return 0, false
	case d.Op == ir.Const && v.Type == ir.I32:
		return int64(int32(d.Bits)), true
	case d.Op == ir.Const:
		return int64(d.Bits), true
	case (d.Op == ir.Wrap || d.Op == ir.Convert) && v.Type.Size() == 8:
		return constant(d.Args[0])
	case d.Op == ir.Mul && v.Type.Size() == 8:
		x, ok1 := constant(d.Args[0])
		y, ok2 := constant(d.Args[1])
		return x * y, ok1 && ok2
	}
	return 0, false
}

func (e *emitter) logical(t ir.Type) string {
	if t == ir.Bool {
		return "pred"
	}
	return bits(t)
}

// count returns the register of a shift count, converted to the 32 bits that PTX requires.
func (e *emitter) count(v *ir.Value) string {
	if v.Type.Size() == 4 {
		return register(v)
	}
	r := e.fresh("b32")
	e.line("cvt.u32.u64 %s, %s", r, register(v))
	return r
}

// sign prints Neg and Abs. For floats it uses integer operations, because PTX's neg and abs change the bits of NaNs.
func (e *emitter) sign(in *ir.Instr, arg, r string) {
	t := in.Args[0].Type
	if !t.IsFloat() {
		e.line("%s.%s %s, %s", in.Op, typed.Get()[t], r, arg)
		return
	}
	width := bits(t)
	at := e.fresh(width)
	e.line("mov.%s %s, %s", width, at, arg)
	sign := uint64(1) << (8*t.Size() - 1)
	if in.Op == ir.Neg {
		e.line("xor.%s %s, %s, 0x%x", width, at, at, sign)
	} else {
		e.line("and.%s %s, %s, 0x%x", width, at, at, sign-1)
	}
	e.line("mov.%s %s, %s", width, r, at)
}

// oneNaN matches a select between a result of f32 arithmetic and the canonical NaN. It returns that result, or nil for others. A
// NaN result has the bits 0x7fffffff. As a signed integer it is the maximum, so an integer minimum makes it canonical. Source:
// CUDA C Programming Guide, floating-point standard.
func oneNaN(args []*ir.Value) *ir.Value {
	test, yes, no := args[0].Def, args[1], args[2]
	if test == nil || yes.Type != ir.F32 || len(test.Args) != 2 || test.Args[0] != test.Args[1] {
		return nil
	}
	if test.Op == ir.Eq {
		yes, no = no, yes
	} else if test.Op != ir.Ne {
		return nil
	}
	if no != test.Args[0] || no.Def == nil || yes.Def == nil || yes.Def.Op != ir.Const || yes.Def.Bits != ir.FloatBits(ir.F32, math.NaN()) {
		return nil
	}
	switch no.Def.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Div, ir.FMA, ir.Sqrt:
		return no
	}
	return nil
}

// selection prints a select of type t. PTX cannot select predicates, so logical operations compute a bool.
func (e *emitter) selection(args []*ir.Value, t ir.Type, r string) {
	c, a, b := register(args[0]), register(args[1]), register(args[2])
	if t != ir.Bool {
		e.line("selp.%s %s, %s, %s, %s", registers.Get()[t], r, a, b, c)
		return
	}
	yes, no := e.fresh("pred"), e.fresh("pred")
	e.line("and.pred %s, %s, %s", yes, c, a)
	e.line("not.pred %s, %s", no, c)
	e.line("and.pred %s, %s, %s", no, no, b)
	e.line("or.pred %s, %s, %s", r, yes, no)
}

func (e *emitter) compare(in *ir.Instr, args []string, r string) {
	t := in.Args[0].Type
	if t == ir.Bool {
		e.line("xor.pred %s, %s, %s", r, args[0], args[1])
		if in.Op == ir.Eq {
			e.line("not.pred %s, %s", r, r)
		}
		return
	}
	name := in.Op.String()
	if in.Op == ir.Ne && t.IsFloat() {
		name = "neu" // true for NaN
	}
	e.line("setp.%s.%s %s, %s, %s", name, typed.Get()[t], r, args[0], args[1])
}

// convert prints a conversion of v to a type. A narrower integer receives the low bits of an integer. A float that becomes an integer
// must have a truncated value that the integer type holds.
func (e *emitter) convert(v *ir.Value, to ir.Type, r string) {
	from := v.Type
	arg := register(v)
	switch {
	case from == ir.Bool && to == ir.Bool:
		e.line("mov.pred %s, %s", r, arg)
	case from == ir.Bool:
		e.line("selp.%s %s, %s, %s, %s", registers.Get()[to], r, one(to), literal(to, 0), arg)
	case to == ir.Bool && from.IsFloat():
		e.line("setp.neu.%s %s, %s, %s", typed.Get()[from], r, arg, literal(from, 0))
	case to == ir.Bool:
		e.line("setp.ne.%s %s, %s, 0", typed.Get()[from], r, arg)
	case from.IsFloat() && to.IsFloat():
		switch {
		case from == to:
			e.line("mov.%s %s, %s", registers.Get()[to], r, arg)
		case to == ir.F32:
			e.line("cvt.rn.f32.f64 %s, %s", r, arg)
		default:
			e.line("cvt.f64.f32 %s, %s", r, arg)
		}
	case from.IsFloat():
		e.line("cvt.rzi.%s.%s %s, %s", typed.Get()[to], typed.Get()[from], r, arg)
	case to.IsFloat():
		e.line("cvt.rn.%s.%s %s, %s", typed.Get()[to], typed.Get()[from], r, arg)
	case from.Size() == to.Size():
		e.line("mov.%s %s, %s", bits(to), r, arg)
	default:
		e.line("cvt.%s.%s %s, %s", typed.Get()[to], typed.Get()[from], r, arg)
	}
}

func one(t ir.Type) string {
	switch t {
	case ir.F32:
		return literal(t, 0x3f800000)
	case ir.F64:
		return literal(t, 0x3ff0000000000000)
	}
	return strconv.Itoa(1)
}
