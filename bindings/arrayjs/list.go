package arrayjs

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// lists returns the constructor of arrays of numbers that a script lists.
func lists() constructor {
	return constructor{Entry: bindings.NewMethod("array", "Returns a buffer of the numbers of an array, of arrays of numbers as its rows, or of three levels of arrays. Arrays of one level have equal lengths.",
		"<T>(type: Type<T>, values: readonly Input<T>[], options?: ArrayOptions): Buffer<T, 1>", "<T>(type: Type<T>, values: readonly (readonly Input<T>[])[], options?: ArrayOptions): Buffer<T, 2>",
		"<T>(type: Type<T>, values: ArrayLike<any>, options?: ArrayOptions): Buffer<T>"),
		run: func(c *call) (array.Array, error) {
			if len(c.args) > 2 {
				c.failHint("write array(f32, [1, 2, 3]), or array(f32, [[1, 2], [3, 4]])", "the numbers are one argument, an array")
			}
			return c.listed("the values", c.scalarType(c.arg(0)), c.arg(1))
		}}
}

// listed makes an array of the numbers of nested arrays, or of a single number.
func (c *call) listed(what string, t ir.Type, v goja.Value) (array.Array, error) {
	l := list{call: c, what: what, t: t}
	if c.err == nil {
		l.add(v, 0)
	}
	if c.err != nil {
		return array.Array{}, c.err
	}
	if len(l.dims) == 0 {
		l.dims = []int{1}
	}
	return c.FromBytes(t, l.dims, l.data)
}

// list reads nested arrays of a script.
type list struct {
	*call
	what string
	t    ir.Type
	dims []int // of the arrays so far, by their depth
	deep int   // the depth of numbers, from 1 on; 0 before the first one
	data []byte
}

// isList reports whether a value is an array or a typed array.
func (c *call) isList(v goja.Value) (o *goja.Object, ok bool) {
	o, ok = v.(*goja.Object)
	if !ok {
		return nil, false
	}
	_, _, typed := c.TypedArray(o)
	return o, typed || o.ClassName() == "Array"
}

// add appends the numbers of a value, around which there are depth arrays. Values of the wrong form set the call's error.
func (l *list) add(v goja.Value, depth int) {
	o, ok := l.isList(v)
	if !ok {
		l.number(v, depth)
		return
	}
	n := int(o.Get("length").ToInteger())
	switch {
	case depth == 3:
		l.fail("%s have more than 3 levels of arrays; a buffer has at most 3 dimensions", l.what)
	case l.deep > 0 && depth >= l.deep:
		l.fail("%s have a number and an array beside each other", l.what)
	case depth == len(l.dims):
		l.dims = append(l.dims, n)
	case l.dims[depth] != n:
		l.failHint("the rows of a matrix have equal lengths", "%s have an array of %d elements beside one of %d", l.what, n, l.dims[depth])
	}
	for i := 0; i < n && l.err == nil; i++ {
		l.add(o.Get(strconv.Itoa(i)), depth+1)
	}
}

func (l *list) number(v goja.Value, depth int) {
	switch {
	case v == nil || goja.IsUndefined(v):
		l.failHint("write array(f32, [1, 2, 3])", "%s have a gap, or are missing", l.what)
		return
	case l.isBuffer(v):
		l.failHint("stack([x, y]) of the module 'array' joins buffers; x.map(v => f32(v)) converts one", "%s are numbers, not a buffer", l.what)
		return
	case l.deep > 0 && l.deep != depth || depth < len(l.dims):
		l.fail("%s have a number and an array beside each other", l.what)
		return
	}
	l.deep = depth
	if _, isObject := v.(*goja.Object); isObject {
		l.fail("%s are numbers, not %s", l.what, convert.Describe(v))
		return
	}
	bits := l.bits(l.what, l.t, v)
	l.data = append(l.data, binary.LittleEndian.AppendUint64(nil, bits)[:l.t.Size()]...)
}

// operandOr reads an operand like element, or makes a buffer of an array of numbers. done frees that buffer.
func (c *call) operandOr(what string, v goja.Value, t ir.Type) (o array.Operand, done func()) {
	if _, ok := c.isList(v); !ok || c.err != nil {
		what = strings.TrimSuffix(what, "s")
		if o = c.element(what, v, t); c.err == nil && (t == ir.F16 || t == ir.BF16) && goja.IsNumber(v) {
			o = array.Operand{Type: t.Value(), Bits: array.ValueBits(t, c.bits(what, t, v))} // rounded once, as fill does
		}
		return o, func() {}
	}
	a, err := c.listed(what, t, v)
	if err != nil {
		c.note(err)
		return o, func() {}
	}
	return array.In(a), func() { _ = a.Free() } // the launch holds the memory
}
