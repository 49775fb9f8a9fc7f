package array

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// Operand is an operand of an elementwise operation: an array, or a number for all elements.
type Operand struct {
	Array  Array
	Number float64
	Type   ir.Type // type of a scalar, whose bits are Bits; Void for Number
	Bits   uint64
	// Place is one more than the index of the number in the list of [Sequence.Issue]; 0 for a number that is always the same.
	Place int
	part  *part // of a stored array; nil for all of it
}

// In returns an operand that is an array.
func In(a Array) Operand { return Operand{Array: a} }

// Num returns an operand that is a number.
func Num(x float64) Operand { return Operand{Number: x} }

func (o Operand) arg() arg {
	switch {
	case o.Array.joined != nil: // an element
		return arg{typ: o.Array.Elem.Scalar.Value()}
	case o.Array.Buffer != nil:
		return in(o.Array)
	case o.Type != ir.Void:
		return number(o.Type, o.Bits)
	}
	return arg{num: o.Number, isNum: true, place: o.Place}
}

// letters are the names of parameters in generated texts.
var letters = []string{"a", "b", "c", "d", "e", "f", "h", "p", "q", "r", "s", "t"}

// coordinates are the indices of an item's element, by the number of dimensions.
var coordinates = [4][]string{nil, {"g.x"}, {"g.y", "g.x"}, {"g.z", "g.y", "g.x"}}

// reversed returns extents as the size of a launch, the last one first.
func reversed(dims []int) []int {
	size := slices.Clone(dims)
	slices.Reverse(size)
	return size
}

// Map returns the results of a function of the elements of an array. The function's further parameters are the element's indices. The
// result has the type of the function's value.
func (r *Run) Map(fn Function, x Array) (Array, error) { return r.Zip("map", fn, ir.Void, In(x)) }

// Zip returns the results of a function of the elements of operands, whose shapes broadcast; see [Run.Map]. At least one
// operand is an array, and there are at most 12 operands. If t is not Void, it is the type of the result's elements.
func (r *Run) Zip(op string, fn Function, t ir.Type, operands ...Operand) (Array, error) {
	end, err := r.begin(op)
	if err != nil {
		return Array{}, err
	}
	defer end()
	shape, t, operands, err := r.zipped(fn, t, operands)
	if err != nil {
		return Array{}, err
	}
	indices, err := r.indexed(fn, len(operands), len(shape))
	if err != nil {
		return Array{}, err
	}
	out, err := r.make(t, shape)
	if err != nil {
		return Array{}, err
	}
	e := joinOf(op, fn, operands)
	if e.real = realOf(operands, t); len(e.inputs) > mostInputs {
		operands, err = r.settleAll(operands)
		e = joinOf(op, fn, operands)
		e.real = realOf(operands, t)
	}
	if err == nil {
		err = r.evaluate(out, e, indices)
	}
	if err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	return out, nil
}

// zipped checks the operands of an elementwise operation. It returns the operation's shape, the type of its elements and
// the operands. If the functions of a joined operand have another real type than the operation, zipped stores all joined operands.
func (r *Run) zipped(fn Function, t ir.Type, operands []Operand) ([]int, ir.Type, []Operand, error) {
	var arrays []Array
	var shapes [][]int
	for _, o := range operands {
		if o.IsArray() {
			arrays, shapes = append(arrays, o.Array), append(shapes, o.Array.Dims())
		}
	}
	if err := r.check(arrays, true); err != nil {
		return nil, t, nil, err
	}
	if len(arrays) == 0 || len(operands) > mostInputs {
		return nil, t, nil, r.fail(offload.InvalidArgument, "the operands are %d arrays of %d; there must be at least one array, and at most %d operands", len(arrays), len(operands), mostInputs)
	}
	shape, err := r.broadcast(shapes...)
	if err != nil {
		return nil, t, nil, err
	}
	if t == ir.Void {
		if t, err = r.resultType(fn, shape, operands); err != nil {
			return nil, t, nil, err
		}
	}
	real := realOf(operands, t)
	for _, o := range operands {
		if j := o.Array.joined; j != nil && j.real != ir.Void && j.real != real {
			operands, err = r.settleAll(operands)
			break
		}
	}
	return shape, t, operands, err
}

// settleAll stores the joined arrays among operands until the end of the operation.
func (r *Run) settleAll(operands []Operand) ([]Operand, error) {
	list := slices.Clone(operands)
	for i, o := range list {
		if o.Array.joined == nil {
			continue
		}
		a, err := r.settle(o.Array)
		if err != nil {
			return nil, err
		}
		list[i] = In(a)
	}
	return list, nil
}

// indexed returns the number of indices that a function takes after its n operands. More than rank are an error.
func (r *Run) indexed(fn Function, n, rank int) (int, error) {
	params, err := r.types.arity(fn.Source)
	if err != nil {
		return 0, err
	}
	if params > n+rank {
		return 0, r.fail(offload.InvalidArgument, "the function takes %d parameters; there are %d elements and %d indices", params, n, rank).
			WithHint("its parameters are an element of each array, then the indices of the element")
	}
	return max(params-n, 0), nil
}

// resultType returns the type of a function's value for elements of the operands.
func (r *Run) resultType(fn Function, shape []int, operands []Operand) (ir.Type, error) {
	params, elements := []string{"g"}, []string{}
	args := make([]arg, len(operands))
	for i, o := range operands {
		params = append(params, letters[i])
		if args[i] = o.arg(); o.Array.Buffer != nil {
			elements = append(elements, letters[i]+".flat[g.x]")
		} else {
			elements = append(elements, letters[i])
		}
	}
	indices, err := r.indexed(fn, len(operands), len(shape))
	if err != nil {
		return ir.Void, err
	}
	elements = append(elements, coordinates[len(shape)][:indices]...)
	p := &program{name: r.op, text: fmt.Sprintf("(%s) => { const result = fn(%s) }", strings.Join(params, ", "), strings.Join(elements, ", "))}
	p.with("fn", fn)
	types := kernelArgs(args)
	key := p.key(types)
	if t := r.types.load(key); t != ir.Void {
		return t, nil
	}
	f, err := kernel.Parse(p.source(p.text))
	if err != nil {
		return ir.Void, err
	}
	t, err := f.TypeOf("result", types, kernel.Options{Name: r.op})
	if err != nil {
		return ir.Void, p.hinted(err)
	}
	if t == ir.Void {
		return ir.Void, r.fail(offload.InvalidArgument, "the function returns no number").WithHint("write %s(v => v * 2), with an expression, or a block that returns", r.op)
	}
	r.types.store(key, t)
	return t, nil
}

// realOf returns the real type of a kernel over the operands: f64 if an operand or the result is of f64, else f32.
func realOf(operands []Operand, result ir.Type) ir.Type {
	if result == ir.F64 {
		return ir.F64
	}
	for _, o := range operands {
		if o.IsArray() && o.Array.Elem.Scalar == ir.F64 || o.Type == ir.F64 {
			return ir.F64
		}
	}
	return ir.F32
}

// elementAt returns the text of the indices of an input's element for an item of the result. dims are the extents of the input,
// and shape those of the result.
func elementAt(dims, shape []int) string {
	var b strings.Builder
	for axis, at := range coordinates[len(shape)] {
		if dims[axis] == 1 && shape[axis] != 1 {
			at = "0"
		}
		b.WriteString("[" + at + "]")
	}
	return b.String()
}

// Where returns the elements of a where the condition is true, and those of b elsewhere. The shapes broadcast. t is the type of
// the result, or Void; see [Run.Zip].
func (r *Run) Where(condition, a, b Operand, t ir.Type) (Array, error) {
	return r.Zip("where", Text("(c, a, b) => c ? a : b"), t, condition, a, b)
}
