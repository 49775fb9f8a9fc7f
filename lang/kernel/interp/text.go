package interp

import (
	"math"
	"slices"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// operand is an operand of a Print, Assert or Call.
type operand struct {
	reg int
	t   ir.Type
}

func (c *compiler) operands(args []*ir.Value) []operand {
	out := make([]operand, len(args))
	for i, v := range args {
		out[i] = operand{c.reg(v), v.Type}
	}
	return out
}

// bits returns the value of an operand in a lane.
func (f *frame) bits(o operand, lane uint8) uint64 {
	switch o.t.Size() {
	case 1:
		return uint64(at[uint8](f, o.reg)[lane])
	case 4:
		return uint64(at[uint32](f, o.reg)[lane])
	}
	return at[uint64](f, o.reg)[lane]
}

// message appends the text pieces with the operands between them.
func (f *frame) message(to []byte, pieces []string, args []operand, lane uint8) []byte {
	for i := range max(len(pieces), len(args)) {
		if i < len(pieces) {
			to = append(to, pieces[i]...)
		}
		if i < len(args) {
			to = AppendScalar(to, Scalar{args[i].t, f.bits(args[i], lane)})
		}
	}
	return to
}

func (c *compiler) print(in *ir.Instr) step {
	args := c.operands(in.Args)
	return func(f *frame, lanes []uint8) {
		w := f.w
		if w.launch.Services == nil {
			return
		}
		text := w.prints.Begin(w.launch.Services)
		for _, i := range lanes {
			order := f.row*width + int(i)
			text = w.prints.Add(f.message(text, in.Text, args, i), in.Site, order, w.item(order))
		}
		w.prints.End(w.launch.Prompt)
	}
}

func (c *compiler) assert(in *ir.Instr) step {
	cond, args, kind := c.reg(in.Args[0]), c.operands(in.Args[1:]), OfAssert(in)
	return func(f *frame, lanes []uint8) {
		if f.w.launch.Unchecked {
			return
		}
		ok := at[uint8](f, cond)
		for _, i := range lanes {
			if ok[i] != 0 {
				continue
			}
			f.leave(i)
			if fault := f.fault(i, kind, in.Site); fault != nil {
				fault.Text = string(f.message(nil, in.Text, args, i))
			}
		}
	}
}

func (c *compiler) call(in *ir.Instr) step {
	args, t := c.operands(in.Args), in.Type()
	d := -1
	if t != ir.Void {
		d = c.reg(in.Result())
	}
	return func(f *frame, lanes []uint8) {
		w := f.w
		for _, i := range lanes {
			w.calls = w.calls[:0]
			for _, o := range args {
				w.calls = append(w.calls, Scalar{o.t, f.bits(o, i)})
			}
			why := "there is no service " + in.Fn
			var bits uint64
			if w.launch.Services != nil {
				var err error
				if bits, err = w.launch.Services.Call(in.Site, in.Fn, w.item(f.row*width+int(i)), w.calls, t); err == nil {
					if d >= 0 {
						f.put(d, t, i, bits)
					}
					continue
				}
				why = err.Error()
			}
			f.leave(i)
			if fault := f.fault(i, CallFailed, in.Site); fault != nil {
				fault.Text = why
			}
		}
	}
}

// put sets one lane of a register.
func (f *frame) put(reg int, t ir.Type, lane uint8, bits uint64) {
	switch t.Size() {
	case 1:
		at[uint8](f, reg)[lane] = truth(bits != 0)
	case 4:
		at[uint32](f, reg)[lane] = uint32(bits)
	default:
		at[uint64](f, reg)[lane] = bits
	}
}

// AppendScalar appends a value as JavaScript converts it to a string.
func AppendScalar(to []byte, v Scalar) []byte {
	switch v.Type {
	case ir.Bool:
		return strconv.AppendBool(to, v.Bits != 0)
	case ir.I32:
		return strconv.AppendInt(to, int64(int32(v.Bits)), 10)
	case ir.I64:
		return strconv.AppendInt(to, int64(v.Bits), 10)
	case ir.U32, ir.U64:
		return strconv.AppendUint(to, v.Bits, 10)
	case ir.F32:
		return appendNumber(to, float64(math.Float32frombits(uint32(v.Bits))))
	}
	return appendNumber(to, math.Float64frombits(v.Bits))
}

// appendNumber implements JavaScript's Number::toString.
func appendNumber(to []byte, x float64) []byte {
	switch {
	case x != x:
		return append(to, "NaN"...)
	case x == 0:
		return append(to, '0')
	case math.IsInf(x, 1):
		return append(to, "Infinity"...)
	case math.IsInf(x, -1):
		return append(to, "-Infinity"...)
	}
	size := math.Abs(x)
	if size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(to, x, 'f', -1, 64)
	}
	at := len(to)
	to = strconv.AppendFloat(to, x, 'e', -1, 64)
	// Go prints at least two exponent digits, JavaScript no leading zero.
	if e := slices.Index(to[at:], 'e') + at; to[e+2] == '0' {
		to = slices.Delete(to, e+2, e+3)
	}
	return to
}
