package array

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// The maximum numbers of elements: of a row that a group reduces, of a column that an item reduces, and of a row that one item
// reduces.
const (
	rowSpan    = 64 * groupSize
	columnSpan = 256
	shortRow   = 64
)

// reduction describes a reduction: the accumulator's type, and the functions of the kernel texts.
type reduction struct {
	acc      ir.Type
	pre      string // from an element to the accumulator
	op       string
	identity string // "" if there is none
	group    string // name of the operation of g.reduce; "" if there is none
	user     Function
	ordered  bool // adjacent elements only
	any      bool // in any order, without an identity
	total    bool // the identity is the value of no elements
}

// SumType returns the type in which elements are added: i64 for signed integers and booleans, u64 for unsigned ones, f64 for f64, and
// f32 for other floats.
func SumType(t ir.Type) ir.Type {
	switch {
	case t == ir.F64:
		return ir.F64
	case t.IsFloat():
		return ir.F32
	case t == ir.U8 || t == ir.U16 || t == ir.U32 || t == ir.U64:
		return ir.U64
	}
	return ir.I64
}

// convert returns the text of a function that converts to a value type.
func convert(t ir.Type) string { return fmt.Sprintf("v => %s(v)", t) }

func sumOf(t ir.Type) reduction {
	return reduction{acc: t, pre: convert(t), op: "(a, b) => a + b", identity: fmt.Sprintf("() => %s(0)", t), group: "add", total: true}
}

func productOf(t ir.Type) reduction {
	return reduction{acc: t, pre: convert(t), op: "(a, b) => a * b", identity: fmt.Sprintf("() => %s(1)", t), total: true}
}

// extremes has the greatest and the least value of each integer type of values, in this order, as texts of kernels.
var extremes = map[ir.Type][2]string{
	ir.I32: {"i32(2147483647)", "i32(-2147483648)"}, ir.U32: {"u32(4294967295)", "u32(0)"},
	ir.I64: {"i64(9223372036854775807n)", "i64(-9223372036854775808n)"}, ir.U64: {"u64(18446744073709551615n)", "u64(0)"},
}

// extremeOf returns the reduction to the least or greatest element of type t, for the name "min" or "max".
func extremeOf(t ir.Type, name string) reduction {
	acc := t.Value()
	if t == ir.Bool {
		acc = ir.I32
	}
	which, infinity := 0, "Infinity"
	if name == "max" {
		which, infinity = 1, "-Infinity"
	}
	identity := fmt.Sprintf("%s(%s)", acc, infinity)
	if acc.IsInt() {
		identity = extremes[acc][which]
	}
	pre := "v => v"
	if t == ir.Bool {
		pre = "v => v ? 1 : 0"
	}
	return reduction{acc: acc, pre: pre, op: fmt.Sprintf("(a, b) => Math.%s(a, b)", name), identity: "() => " + identity, group: name}
}

// bind binds the reduction's names in a program.
func (d *reduction) bind(p *program, pre, post string) *program {
	p.with("value", d.acc).with("pre", pre).with("post", post)
	if d.user.IsZero() {
		p.with("op", d.op)
	} else {
		p.with("op", d.user)
	}
	if d.identity != "" {
		p.with("identity", d.identity)
	}
	switch {
	case d.group != "":
		p.with("combine", fmt.Sprintf("(g, v) => g.reduce.%s(v)", d.group))
	case d.identity != "":
		p.with("combine", "(g, v) => treeOf(g, v)")
	}
	return p
}

// reduce returns the reduction of x along an axis, or of all elements. t is the type of the result's elements, which post
// computes. If keep is set, the reduced axes stay with the extent 1.
func (r *Run) reduce(x Array, axis int, keep bool, d reduction, t ir.Type, post string) (Array, error) {
	if axis != All {
		at, err := r.axis(x, axis)
		if err != nil {
			return Array{}, err
		}
		axis = at
	}
	out, err := r.make(t, without(x.Dims(), axis, keep))
	if err != nil {
		return Array{}, err
	}
	if err := r.reduceInto(out, x, axis, d, post); err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	return out, nil
}

// reduceInto stores the reduction of x along an axis, or of all elements, in out. The reduction of no elements is the identity
// if d.total is set, else an error.
func (r *Run) reduceInto(out, x Array, axis int, d reduction, post string) error {
	outer, n, inner := around(x.Dims(), axis)
	if n == 0 {
		return r.fillIdentity(out, d, post)
	}
	if outer*inner == 0 {
		return nil
	}
	e, pre := x.expr(), d.pre
	if x.joined != nil && !d.user.IsZero() && e.real != ir.Void && e.real != realOf([]Operand{{Array: x}}, ir.Void) {
		x, err := r.settle(x)
		if err != nil {
			return err
		}
		e = stored(x)
	}
	for {
		src, ok, err := r.around(e, axis)
		if err == nil && !ok {
			if x, err = r.settle(x); err == nil {
				e = stored(x)
				src, _, err = r.around(e, axis)
			}
		}
		if err != nil {
			return err
		}
		s := stepOf(r, &d, outer, n, inner, rowSpan)
		to, after := out, post
		if s.blocks > 1 {
			if to, err = r.temp(d.acc, s.dims...); err != nil {
				return err
			}
			after = "v => v"
		}
		target, err := r.as(to, s.dims...)
		if err != nil {
			return err
		}
		p := s.bind(src.program(r.op, s.text, e))
		if p.real == ir.Void {
			p.real = realFor(d.acc)
		}
		if err := r.launch(d.bind(p, pre, after), s.size, s.group, append(src.args, in(target))...); err != nil || s.blocks == 1 {
			return err
		}
		e, axis, n, pre = stored(target), 1, s.blocks, "v => v"
	}
}

// step is a launch of a reduction.
type step struct {
	text         string
	span, blocks int   // elements that an item or group reduces, and the number of results of a row
	dims         []int // shape of the results
	size, group  []int
	parts        int // of reduceParts
}

// bind binds the sizes of a step in its program.
func (s *step) bind(p *program) *program {
	if s.parts > 0 {
		p.with("PARTS", s.parts)
	}
	p.inside = s.text == "reduceAlone"
	return p.with("SPAN", s.span)
}

// partsOf returns the number of values of 4 bytes that an item of reduceParts holds. A group holds groupSize values. Its items
// are those of one vector: 8 for vectors of 256 bits, else 16.
func partsOf(d *offload.DeviceInfo) int {
	if d.VectorBits == 256 {
		return 32
	}
	return 16
}

// stepOf returns the launch that reduces the middle axis of outer × n × inner elements.
func stepOf(r *Run, d *reduction, outer, n, inner, span int) step {
	if inner != 1 {
		blocks := divide(n, columnSpan)
		return step{text: "reduceColumns", span: columnSpan, blocks: blocks, dims: []int{outer, blocks, inner}, size: []int{inner, blocks, outer}}
	}
	s := step{text: "reduceRows", span: span, blocks: divide(n, span), group: oneRow}
	info := r.Queue.Device().Info()
	s.dims, s.size = []int{outer, s.blocks}, groups(s.blocks, outer)
	switch {
	case n <= shortRow && outer > 1:
		s.text, s.size, s.group = "reduceShort", []int{outer}, nil
	case d.any:
		s.text = "reduceAny"
	case d.ordered:
		s.text = "reduceOrdered"
	case likeGPU(r) != nil:
		s.text = "reduceWide"
	case emulated(r):
		s.text, s.size, s.group = "reduceAlone", []int{s.blocks, outer}, oneItem
	case d.group != "" && d.acc.Size() == 4 && info.Type == offload.CPU:
		s.text, s.parts = "reduceParts", partsOf(info)
		s.size, s.group = []int{s.blocks * groupSize / s.parts, outer}, []int{groupSize / s.parts, 1, 1}
	}
	return s
}

// realFor returns the real type of a kernel whose accumulator has the type acc: f64 for f64, else Void, with which the kernel's
// parameters decide.
func realFor(acc ir.Type) ir.Type {
	if acc == ir.F64 {
		return ir.F64
	}
	return ir.Void
}

// fillIdentity stores the result of a reduction of no elements in out, or returns an error if the reduction has none.
func (r *Run) fillIdentity(out Array, d reduction, post string) error {
	if !d.total {
		return r.fail(offload.InvalidSize, "the array is empty, and %s of no elements has no value", r.op).
			WithHint("check x.length first; sum and prod of no elements are 0 and 1")
	}
	flat, err := r.flat(out)
	if err != nil {
		return err
	}
	p := (&program{name: r.op, text: "(g, out) => { out[g.x] = post(identity()) }", real: realFor(d.acc)}).with("post", post).with("identity", d.identity)
	return r.launch(p, []int{int(out.Len())}, nil, in(flat))
}

// Sum returns the sum along an axis, or of all elements for [All]. Its type is that of [SumType]. If keep is set, the reduced
// axes stay with the extent 1, as in all reductions.
func (r *Run) Sum(x Array, axis int, keep bool) (Array, error) {
	return r.arithmetic("sum", x, axis, keep, sumOf(SumType(x.Elem.Scalar)))
}

// Prod returns the product along an axis, or of all elements. Its type is that of [SumType].
func (r *Run) Prod(x Array, axis int, keep bool) (Array, error) {
	return r.arithmetic("prod", x, axis, keep, productOf(SumType(x.Elem.Scalar)))
}

// Min returns the least element along an axis, or of all. NaN is less than any number. There must be an element.
func (r *Run) Min(x Array, axis int, keep bool) (Array, error) {
	return r.extreme("min", x, axis, keep)
}

// Max returns the greatest element along an axis, or of all. NaN is greater than any number. There must be an element.
func (r *Run) Max(x Array, axis int, keep bool) (Array, error) {
	return r.extreme("max", x, axis, keep)
}

func (r *Run) arithmetic(op string, x Array, axis int, keep bool, d reduction) (Array, error) {
	end, err := r.beginJoined(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.reduce(x, axis, keep, d, d.acc, "v => v")
}

func (r *Run) extreme(op string, x Array, axis int, keep bool) (Array, error) {
	end, err := r.beginJoined(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.reduce(x, axis, keep, extremeOf(x.Elem.Scalar, op), x.Elem.Scalar, "v => v")
}

// Any reports for each row along an axis, or for all elements, whether one is true: not without elements. NaN and 0 are false.
func (r *Run) Any(x Array, axis int, keep bool) (Array, error) {
	return r.truth("any", "max", x, axis, keep)
}

// Every reports for each row along an axis, or for all elements, whether all are true, also without elements. NaN and 0 are false.
func (r *Run) Every(x Array, axis int, keep bool) (Array, error) {
	return r.truth("all", "min", x, axis, keep)
}

func (r *Run) truth(op, group string, x Array, axis int, keep bool) (Array, error) {
	end, err := r.beginJoined(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	d := reduction{acc: ir.I32, pre: "v => v ? 1 : 0", op: fmt.Sprintf("(a, b) => Math.%s(a, b)", group), identity: "() => 0", group: group, total: true}
	if op == "all" {
		d.identity = "() => 1"
	}
	return r.reduce(x, axis, keep, d, ir.Bool, "v => v")
}

// MeanType returns the type of means: f64 for f64, integers and booleans, and f32 for other floats.
func MeanType(t ir.Type) ir.Type {
	if t.IsFloat() && t != ir.F64 {
		return ir.F32
	}
	return ir.F64
}

// Mean returns the mean along an axis, or of all elements. Its type is that of [MeanType]; the mean of no elements is NaN.
func (r *Run) Mean(x Array, axis int, keep bool) (Array, error) {
	end, err := r.beginJoined("mean", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.mean(x, axis, keep)
}

func (r *Run) mean(x Array, axis int, keep bool) (Array, error) {
	t := MeanType(x.Elem.Scalar)
	sum, err := r.reduce(x, axis, keep, sumOf(t), t, "v => v")
	if err != nil {
		return Array{}, err
	}
	if axis != All {
		axis, _ = r.axis(x, axis) // the sum has checked it
	}
	_, n, _ := around(x.Dims(), axis)
	return sum, r.divideBy(sum, float64(n))
}

// divideBy divides the elements of a float array by n, in place.
func (r *Run) divideBy(x Array, n float64) error {
	flat, err := r.flat(x)
	if err != nil {
		return err
	}
	p := &program{name: r.op, text: "(g, out, n) => { out[g.x] = out[g.x] / n }"}
	return r.launch(p, []int{int(x.Len())}, nil, in(flat), number(x.Elem.Scalar, numberBits(x.Elem.Scalar, n)))
}

// Reduce returns the reduction along an axis, or of all elements, by an associative function of two elements. Elements are
// combined with their neighbours, in their order. The result has the type of the elements. There must be an element.
func (r *Run) Reduce(fn Function, x Array, axis int, keep bool) (Array, error) {
	t := x.Elem.Scalar
	return r.reduceBy(x, axis, keep, reduction{acc: t.Value(), pre: "v => v", user: fn, ordered: true})
}

// ReduceAny is Reduce for a function that also commutes. Elements are combined in an order that may differ between devices and
// versions, and which is faster.
func (r *Run) ReduceAny(fn Function, x Array, axis int, keep bool) (Array, error) {
	t := x.Elem.Scalar
	return r.reduceBy(x, axis, keep, reduction{acc: t.Value(), pre: "v => v", user: fn, any: true})
}

func (r *Run) reduceBy(x Array, axis int, keep bool, d reduction) (Array, error) {
	end, err := r.beginJoined("reduce", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.reduce(x, axis, keep, d, x.Elem.Scalar, "v => v")
}
