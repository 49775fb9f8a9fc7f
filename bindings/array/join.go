package array

import (
	"fmt"
	"slices"
	"strings"

	texts "github.com/orepl/orepl/kernels/array"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// expression is the text that computes an element of a joined array from elements of stored arrays and scalars.
type expression struct {
	dims   []int
	inputs []Operand // arrays that are stored, and scalars
	fns    []Function
	real   ir.Type  // real type of the functions; Void if they do not depend on it
	ops    []string // the operations that are joined, in their order
	// text returns the expression. at returns the text of an input's element, and first is the first function's number.
	text func(at func(input int) string, first int) string
}

// mostInputs is the maximum number of arrays and scalars that a kernel of an expression takes.
const mostInputs = 12

// stored returns the expression of the elements of a stored array.
func stored(x Array) *expression {
	return &expression{dims: x.Dims(), inputs: []Operand{In(x)}, text: func(at func(int) string, _ int) string { return at(0) }}
}

// expr returns the expression of an array.
func (a Array) expr() *expression {
	if a.joined != nil {
		return a.joined
	}
	return stored(a)
}

// Dims returns the extents, outermost first.
func (a Array) Dims() []int {
	if a.joined != nil {
		return a.joined.dims
	}
	return a.Buffer.Dims()
}

// Len returns the number of elements.
func (a Array) Len() int64 {
	n := int64(1)
	for _, d := range a.Dims() {
		n *= int64(d)
	}
	return n
}

// Joined reports whether the array has no memory: each operation that takes it computes its elements.
func (a Array) Joined() bool { return a.joined != nil }

// IsArray reports whether the operand is an array.
func (o Operand) IsArray() bool { return o.Array.Buffer != nil || o.Array.joined != nil }

// Join returns an array like that of [Run.Zip] without computing it: Zip, Map, Join and the reductions compute its elements in
// their own launch, with the same bits; [Run.Store] stores it. Join returns a stored array if this is not possible: for example, if fn
// takes indices, the array is empty, or there are more than 12 inputs.
func (r *Run) Join(op string, fn Function, operands ...Operand) (Array, error) {
	end, err := r.begin(op)
	if err != nil {
		return Array{}, err
	}
	defer end()
	shape, t, operands, err := r.zipped(fn, ir.Void, operands)
	if err != nil {
		return Array{}, err
	}
	indices, err := r.indexed(fn, len(operands), len(shape))
	if err != nil {
		return Array{}, err
	}
	// An operand that zipped has stored is freed at the end of this operation, which must therefore read it.
	brief := slices.ContainsFunc(operands, func(o Operand) bool { return slices.Contains(r.temps, o.Array.Buffer) })
	e := joinOf(op, fn, operands)
	if brief || indices > 0 || t.Value() != t || len(e.inputs) > mostInputs || product(shape) == 0 {
		return r.Zip(op, fn, ir.Void, operands...)
	}
	e.dims, e.real = shape, realOf(operands, t)
	return Array{Elem: ir.Elem{Scalar: t}, joined: e}, nil
}

// Store returns the array itself, or a stored copy of a joined one. Outside of an operation, its launch and its errors have the name
// of the last operation that is joined.
func (r *Run) Store(x Array) (Array, error) {
	if x.joined == nil {
		return x, nil
	}
	end, _ := r.begin(x.joined.ops[len(x.joined.ops)-1]) // it only refuses arrays
	defer end()
	out, err := r.make(x.Elem.Scalar, x.Dims())
	if err != nil {
		return Array{}, err
	}
	if err := r.evaluate(out, x.joined, 0); err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	return out, nil
}

// settle stores a joined array until the end of the operation. It returns a stored array unchanged.
func (r *Run) settle(x Array) (Array, error) {
	if x.joined == nil {
		return x, nil
	}
	label := r.Label
	r.Label = r.op + ", intermediate"
	defer func() { r.Label = label }()
	s, err := r.Store(x)
	if err == nil {
		r.scrap(s)
	}
	return s, err
}

// joinOf returns the expression of a function of operands. Arrays that occur several times are loaded once.
func joinOf(op string, fn Function, operands []Operand) *expression {
	e := &expression{}
	parts := make([]func(at func(int) string, first int) string, len(operands))
	for i, o := range operands {
		if o.Array.joined == nil {
			k := e.input(o)
			parts[i] = func(at func(int) string, _ int) string { return at(k) }
			continue
		}
		inner := o.Array.joined
		places := make([]int, len(inner.inputs))
		for k, in := range inner.inputs {
			places[k] = e.input(in)
		}
		before := len(e.fns)
		e.fns, e.ops = append(e.fns, inner.fns...), append(e.ops, inner.ops...)
		parts[i] = func(at func(int) string, first int) string {
			return inner.text(func(k int) string { return at(places[k]) }, first+before)
		}
	}
	own := len(e.fns)
	e.fns, e.ops = append(e.fns, fn), append(e.ops, op)
	e.text = func(at func(int) string, first int) string {
		args := make([]string, len(parts))
		for i, p := range parts {
			args[i] = p(at, first)
		}
		return fmt.Sprintf("fn%d(%s)", first+own, strings.Join(args, ", "))
	}
	return e
}

// input returns the number of an input, which it adds unless the array is one already.
func (e *expression) input(o Operand) int {
	for i, in := range e.inputs {
		if o.Array.Buffer != nil && in.Array.Buffer == o.Array.Buffer && in.part == o.part {
			return i
		}
	}
	e.inputs = append(e.inputs, o)
	return len(e.inputs) - 1
}

// evaluate stores the elements of an expression in out. indices is the number of indices that its last function takes after its
// operands.
func (r *Run) evaluate(out Array, e *expression, indices int) error {
	if out.Len() == 0 {
		return nil
	}
	shape := out.Dims()
	var dims [][]int
	whole, inputs := true, slices.Clone(e.inputs)
	for i, o := range inputs {
		if o.IsArray() {
			var err error
			if o, err = r.placed(o); err != nil {
				return err
			}
			inputs[i] = o
			dims, whole = append(dims, aligned(o.inputDims(), len(shape))), whole && o.part == nil
		}
	}
	if indices == 0 && whole {
		shape, dims = merge(shape, dims)
	}
	target, err := r.as(out, shape...)
	if err != nil {
		return err
	}
	args := []arg{in(target)}
	at := coordinates[len(shape)]
	var more extras
	texts := make([]string, len(inputs))
	for i, o := range inputs {
		if texts[i] = letters[i]; !o.IsArray() {
			args = append(args, o.arg())
			continue
		}
		if o.part != nil {
			texts[i], args, dims = letters[i]+o.part.element(o.part.repeated(at, shape), &more), append(args, in(o.Array)), dims[1:]
			continue
		}
		v, err := r.as(o.Array, dims[0]...)
		if err != nil {
			return err
		}
		texts[i], args = letters[i]+elementAt(dims[0], shape), append(args, in(v))
		dims = dims[1:]
	}
	text := e.text(func(i int) string { return texts[i] }, 0)
	if indices > 0 {
		text = strings.TrimSuffix(text, ")") + ", " + strings.Join(at[:indices], ", ") + ")"
	}
	p := &program{name: r.op, real: e.real, text: fmt.Sprintf("(g, out, %s) => { out[%s] = %s }", strings.Join(append(slices.Clone(letters[:len(e.inputs)]), more.names...), ", "), strings.Join(at, "]["), text)}
	e.bind(p)
	return r.launch(p, reversed(shape), nil, append(args, more.args...)...)
}

// bind binds the functions of an expression.
func (e *expression) bind(p *program) {
	p.joined = e.ops
	for i, fn := range e.fns {
		p.with(fmt.Sprintf("fn%d", i), fn)
	}
}

// rows describes an expression around an axis: the texts of its parameters and of its elements, and the arguments.
type rows struct {
	params []string
	args   []arg
	extent string // text of the middle extent
	text   func(index []string) string
}

// program returns a kernel of package kernels/array over the elements of an expression. Its text has the parameter operands, and
// calls extent(operands) and element(operands, row, i) or element(operands, plane, i, column).
func (d *rows) program(op, name string, e *expression) *program {
	params := strings.Join(d.params, ", ")
	index := []string{"row", "i"}
	if name == "reduceColumns" {
		index = []string{"plane", "i", "column"}
	}
	p := &program{name: op, real: e.real, text: strings.ReplaceAll(texts.Text(name), "operands", params)}
	e.bind(p)
	return p.with("extent", fmt.Sprintf("(%s) => %s", params, d.extent)).
		with("element", fmt.Sprintf("(%s, %s) => %s", params, strings.Join(index, ", "), d.text(index)))
}

// around returns the description of an expression around an axis: with the dimensions [outer, n] if the inner extent is 1, else
// [outer, n, inner]. ok is false if an input is repeated along a part of one of these dimensions, or no array extends along the
// axis. It is also false if a part of an array has no such description; see [part.around].
func (r *Run) around(e *expression, axis int) (d rows, ok bool, err error) {
	outer, n, inner := around(e.dims, axis)
	full := []int{outer, n, inner}
	if inner == 1 {
		full = full[:2]
	}
	views := make([][]int, len(e.inputs))
	var more extras
	parts := map[int]func(index []string) string{}
	for i, o := range e.inputs {
		if d.params = append(d.params, letters[i]); !o.IsArray() {
			d.args = append(d.args, o.arg())
			continue
		}
		if o, err = r.placed(o); err != nil {
			return d, false, err
		}
		if o.part != nil {
			if parts[i] = o.part.around(letters[i], e.dims, axis, &more); parts[i] == nil {
				return d, false, nil
			}
			d.args = append(d.args, in(o.Array))
			continue
		}
		dims := aligned(o.Array.Dims(), len(e.dims))
		a, b, c := around(dims, axis)
		views[i] = []int{a, b, c}[:len(full)]
		for k, m := range views[i] {
			if m != full[k] && m != 1 {
				return d, false, nil
			}
		}
		v, err := r.as(o.Array, views[i]...)
		if err != nil {
			return d, false, err
		}
		if d.args = append(d.args, in(v)); views[i][1] == n && d.extent == "" {
			d.extent = letters[i] + ".shape[1]"
		}
	}
	if d.extent == "" && len(parts) == 0 {
		return d, false, nil
	} else if d.extent == "" {
		d.extent = more.add(n)
	}
	d.params, d.args = append(d.params, more.names...), append(d.args, more.args...)
	d.text = func(index []string) string {
		return e.text(func(i int) string {
			if p := parts[i]; p != nil {
				return p(index)
			}
			if views[i] == nil {
				return letters[i]
			}
			var b strings.Builder
			b.WriteString(letters[i])
			for k, at := range index {
				if views[i][k] == 1 && full[k] != 1 {
					at = "0"
				}
				b.WriteString("[" + at + "]")
			}
			return b.String()
		}, 0)
	}
	return d, true, nil
}
