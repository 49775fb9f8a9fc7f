package ptx

import (
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
)

var axes = [3]string{"x", "y", "z"}

var coordinates = map[ir.ItemKind]string{ir.LocalID: "%tid", ir.GroupID: "%ctaid", ir.GroupSize: "%ntid", ir.NumGroups: "%nctaid"}

// compute prints an operation on values, whose result goes to the register r.
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
		e.line("mov.%s %s, %s", registers[to], r, literal(to, in.Bits))
	case ir.Extent:
		e.line("ld.param.u32 %s, [p_d%d_%d]", r, in.Array.ID, in.Axis)
	case ir.Item:
		switch in.Item {
		case ir.GlobalSize:
			e.line("ld.param.u32 %s, [p_size_%d]", r, in.Axis)
		case ir.SubgroupSize:
			e.line("mov.b32 %s, %d", r, e.kernel.SubgroupSize)
		default:
			e.line("mov.u32 %s, %s.%s", r, coordinates[in.Item], axes[in.Axis])
		}
	case ir.Clock:
		e.line("mov.u64 %s, %%globaltimer", r)
	case ir.Select:
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
			kind = typed[t]
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
		e.line("cvt.%s.%s.%s %s, %s", mode, typed[t], typed[t], r, args[0])
	case ir.Sqrt:
		e.line("sqrt.rn.%s %s, %s", typed[t], r, args[0])
	case ir.FMA:
		e.line("fma.rn.%s %s, %s, %s, %s", typed[t], r, args[0], args[1], args[2])
	case ir.MulHi:
		e.line("mul.hi.%s %s, %s, %s", typed[t], r, args[0], args[1])
	default: // add, sub, mul, div, rem, min, max
		name := in.Op.String()
		switch {
		case t.IsFloat():
			name += ".rn"
		case in.Op == ir.Mul:
			name += ".lo"
		}
		e.line("%s.%s %s, %s, %s", name, typed[t], r, args[0], args[1])
	}
}

func (e *emitter) logical(t ir.Type) string {
	if t == ir.Bool {
		return "pred"
	}
	return bits(t)
}

// count returns the count of a shift, which has 32 bits in PTX.
func (e *emitter) count(v *ir.Value) string {
	if v.Type.Size() == 4 {
		return register(v)
	}
	r := e.fresh("b32")
	e.line("cvt.u32.u64 %s, %s", r, register(v))
	return r
}

// sign prints Neg and Abs of floats on their bits: neg and abs of PTX change those of NaNs.
func (e *emitter) sign(in *ir.Instr, arg, r string) {
	t := in.Args[0].Type
	if !t.IsFloat() {
		e.line("%s.%s %s, %s", in.Op, typed[t], r, arg)
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

// selection prints a choice. Predicates have no instruction for it.
func (e *emitter) selection(args []*ir.Value, t ir.Type, r string) {
	c, a, b := register(args[0]), register(args[1]), register(args[2])
	if t != ir.Bool {
		e.line("selp.%s %s, %s, %s, %s", registers[t], r, a, b, c)
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
	e.line("setp.%s.%s %s, %s, %s", name, typed[t], r, args[0], args[1])
}

// convert prints a conversion: of integers by their low bits, of a float to an integer that has its truncated value.
func (e *emitter) convert(v *ir.Value, to ir.Type, r string) {
	from := v.Type
	arg := register(v)
	switch {
	case from == ir.Bool && to == ir.Bool:
		e.line("mov.pred %s, %s", r, arg)
	case from == ir.Bool:
		e.line("selp.%s %s, %s, %s, %s", registers[to], r, one(to), literal(to, 0), arg)
	case to == ir.Bool && from.IsFloat():
		e.line("setp.neu.%s %s, %s, %s", typed[from], r, arg, literal(from, 0))
	case to == ir.Bool:
		e.line("setp.ne.%s %s, %s, 0", typed[from], r, arg)
	case from.IsFloat() && to.IsFloat():
		switch {
		case from == to:
			e.line("mov.%s %s, %s", registers[to], r, arg)
		case to == ir.F32:
			e.line("cvt.rn.f32.f64 %s, %s", r, arg)
		default:
			e.line("cvt.f64.f32 %s, %s", r, arg)
		}
	case from.IsFloat():
		e.line("cvt.rzi.%s.%s %s, %s", typed[to], typed[from], r, arg)
	case to.IsFloat():
		e.line("cvt.rn.%s.%s %s, %s", typed[to], typed[from], r, arg)
	case from.Size() == to.Size():
		e.line("mov.%s %s, %s", bits(to), r, arg)
	default:
		e.line("cvt.%s.%s %s, %s", typed[to], typed[from], r, arg)
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
