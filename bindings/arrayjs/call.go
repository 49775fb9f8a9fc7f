package arrayjs

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// call is a call of an operation by a script. The first error is kept.
type call struct {
	offloadjs.Host
	*array.Run
	op         string
	args       []goja.Value
	options    *goja.Object // nil without options
	device     *session.Device
	unlabelled bool
	next       string   // the method that the script calls on the result, if it takes joined arrays
	link       *chain   // the call that made the joined array, if there is one
	numbers    int      // the number of numbers among the operands of the call and of those before it in a chain
	results    []result // while the commands are recorded
	recording  bool
	err        error
}

// result is a value that a call returns for an array.
type result struct {
	value  goja.Value
	array  array.Array
	read   bool // the value is a promise of the array's only element, with narrow as in readValue
	narrow bool
}

// optionKeys are the options of all operations.
var optionKeys = []string{"queue", "label"}

// begin reads the options of a call, which follow the other arguments, and chooses its queue. known lists the operation's own
// options. If no queue can be chosen, the call has an error and no Run. After a wrong option it has both.
func begin(ops *array.Ops, h offloadjs.Host, op string, d *session.Device, args []goja.Value, known ...string) *call {
	c := &call{Host: h, op: op, args: slices.Clone(args), device: d}
	for len(c.args) > 0 && goja.IsUndefined(c.args[len(c.args)-1]) {
		c.args = c.args[:len(c.args)-1]
	}
	if n := len(c.args); n > 0 {
		if o, ok := c.args[n-1].(*goja.Object); ok && c.isOptions(o) {
			c.options, c.args = o, c.args[:n-1]
			c.checkOptions(append(known, optionKeys...))
		}
	}
	q, err := h.Queue(op, c.option("queue"), d)
	if err != nil {
		c.note(err)
		return c
	}
	c.Run = ops.On(h.Engine().Running(), q)
	c.Run.Host, c.Run.Watch = h, watching(h.Engine())
	pos, variable := h.Position()
	c.Run.Pos, c.Run.Label, c.unlabelled = pos, variable, true
	if v := c.option("label"); v != nil {
		if s, ok := v.(goja.String); ok {
			c.Run.Label, c.unlabelled = s.String(), false
		} else {
			c.fail("label must be a string, not %s", convert.Describe(v))
		}
	}
	return c
}

// isOptions reports whether a value is an object of options: neither an array, a buffer, a function nor a type.
func (c *call) isOptions(o *goja.Object) bool {
	if _, host := c.Engine().HostValue(o); host || o.ExportType() != reflect.TypeFor[map[string]any]() {
		return false
	}
	_, _, typed := c.TypedArray(o)
	return !typed
}

func (c *call) checkOptions(known []string) {
	for _, key := range c.options.Keys() {
		if slices.Contains(known, key) {
			continue
		}
		hint := "the options are " + strings.Join(known, ", ")
		if near := spelling.Nearest(key, known); near != "" {
			hint = fmt.Sprintf("did you mean %s? %s", near, hint)
		} else if own := foreignOptions.Get()[key]; own != "" {
			hint = fmt.Sprintf("write %s; %s", own, hint)
		} else if key == "out" {
			hint = "the result is a new buffer, whose memory comes from a pool; " + hint
		}
		c.failHint(hint, "there is no option %q", key)
		return
	}
}

// sortKey is the hint for options that are functions of sorts.
const sortKey = "the function as the first argument: x.sort(v => v % 10), or x.sort((a, b) => b - a)"

// foreignOptions maps the names of options in NumPy to hints.
var foreignOptions = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"keepdims": "keepDims", "dtype": "type", "dim": "axis", "axes": "axis", "dims": "axis", "ddof": "correction", "return_counts": "counts: true", "return_index": "indices: true", "return_inverse": "inverse: true",
		"decreasing": "descending", "reverse": "descending: true", "num": "the number of elements as the fourth argument: d.linspace(f32, 0, 1, 5)", "endpoint": "d.arange(f32, n).map(i => from + i * (to - from) / n)",
		"ord": "x.map(v => Math.abs(v)).sum() for the norm of absolute values, and .max() for the greatest one", "minlength": "length: n", "weights": "x.zip(weights, (v, w) => v * w).sum()", "density": "counts.map(n => n / all)",
		"range": "from and to", "bins": "the number of bins as the first argument: x.histogram(10)", "low": "from", "high": "to", "loc": "mean", "scale": "deviation", "size": "the shape behind the type: d.random(f32, [3, 4])", "shape": "the shape behind the type: d.zeros(f32, [3, 4])",
		"kind": "nothing: the sort is stable", "key": sortKey, "by": sortKey, "compare": sortKey, "cmp": sortKey, "where": "x.filter(v => v > 0) or x.map(v => v > 0 ? v : 0) first", "constant_values": "value: 0", "order": "x.reshape([3, 2]).transpose() for columns first",
		"replace": "x.take(d.random(i32, n, { from: 0, to: x.length })) with, or x.take(d.permutation(x.length)) without replacement", "initial": "the first value behind the function: x.reduce((a, b) => a + b, 0)",
	}
}}

func (c *call) note(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *call) fail(format string, args ...any) { c.failHint("", format, args...) }

func (c *call) failHint(hint, format string, args ...any) {
	e := offload.Errorf(offload.InvalidArgument, c.op, format, args...)
	if c.device != nil {
		e = e.On(c.device.ID(), "")
	}
	if hint != "" {
		e = e.WithHint("%s", hint)
	}
	c.note(e)
}

// option returns an option, or nil if it is missing.
func (c *call) option(name string) goja.Value {
	if c.options == nil {
		return nil
	}
	v := c.options.Get(name)
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}

// arg returns argument i, or undefined.
func (c *call) arg(i int) goja.Value {
	if i < len(c.args) {
		return c.args[i]
	}
	return goja.Undefined()
}

func (c *call) has(i int) bool { return !goja.IsUndefined(c.arg(i)) }

// most notes an error if there are more than n arguments.
func (c *call) most(n int) {
	if len(c.args) > n {
		c.fail("%d arguments were given; there are at most %d, then the options", len(c.args), n)
	}
}

// oneShape notes an error if there are more than n arguments, like most. Its hint is for extents that were written as
// arguments.
func (c *call) oneShape(n int) {
	if len(c.args) > n {
		c.failHint("the shape is one argument, as in [3, 4]", "%d arguments were given; there are at most %d, then the options", len(c.args), n)
	}
}

// integer reads a number or BigInt that is an integer of at most 2⁵³ in magnitude. For other values the call gets an error.
func (c *call) integer(what string, v goja.Value) int {
	x := c.number(what, v)
	switch {
	case c.err != nil:
	case x != math.Trunc(x) || math.IsInf(x, 0):
		c.fail("%s must be an integer, not %s", what, scalar.Text(x))
		return 0
	case math.Abs(x) > 1<<53:
		c.fail("%s must be an integer of at most 2**53, not %s", what, scalar.Text(x))
		return 0
	}
	return int(x)
}

// number reads a number, or a BigInt that a number equals. For other values the call gets an error, and the result is 0.
func (c *call) number(what string, v goja.Value) float64 {
	switch {
	case v == nil || goja.IsUndefined(v):
		c.fail("%s is missing", what)
		return 0
	case goja.IsNumber(v):
		return v.ToFloat()
	}
	if n, ok := internals.Export(v).(*big.Int); ok {
		x, accuracy := new(big.Float).SetInt(n).Float64()
		if accuracy != big.Exact {
			c.fail("%s is %v, which no Number equals", what, n)
			return 0
		}
		return x
	}
	c.fail("%s must be a number, not %s", what, convert.Describe(v))
	return 0
}

// numberOption returns an option that is a number, or another value if it is missing.
func (c *call) numberOption(name string, missing float64) float64 {
	v := c.option(name)
	if v == nil {
		return missing
	}
	return c.number(name, v)
}

func (c *call) boolean(name string) bool {
	v := c.option(name)
	if v == nil {
		return false
	}
	b, ok := internals.Export(v).(bool)
	if !ok {
		c.fail("%s must be true or false, not %s", name, convert.Describe(v))
	}
	return b
}

// choice reads an option that is one of several words, of which the first one is the default.
func (c *call) choice(name string, words ...string) string {
	v := c.option(name)
	if v == nil {
		return words[0]
	}
	if s, ok := v.(goja.String); ok && slices.Contains(words, s.String()) {
		return s.String()
	}
	c.fail("%s must be one of %q, not %s", name, words, convert.Describe(v))
	return words[0]
}

// integers reads an integer, or an array of up to 16 integers. After an error, which the call then has, the result is not valid.
func (c *call) integers(what string, v goja.Value) []int {
	o, ok := v.(*goja.Object)
	if !ok {
		return []int{c.integer(what, v)}
	}
	length := o.Get("length")
	if length == nil || c.isBuffer(v) {
		c.fail("%s must be an integer or an array of integers, not %s", what, convert.Describe(v))
		return nil
	}
	n := length.ToInteger()
	if n < 0 {
		c.fail("%s has the length %d", what, n)
		return nil
	}
	if n > 16 {
		c.fail("%s has %d numbers; there are at most 3 dimensions", what, n)
		return nil
	}
	list := make([]int, 0, n)
	for i := range int(n) {
		list = append(list, c.integer(what, o.Get(strconv.Itoa(i))))
	}
	return list
}

func (c *call) isBuffer(v goja.Value) bool {
	_, ok := c.Host.Elements(v)
	return ok
}

// axis returns the option axis, or else argument i, unless i is negative. It returns missing if there is none, or it is null.
func (c *call) axis(i, missing int) int {
	v := c.option("axis")
	if v == nil && i >= 0 && c.has(i) {
		v = c.arg(i)
	}
	if v == nil || goja.IsNull(v) {
		return missing
	}
	if _, callable := goja.AssertFunction(v); callable {
		c.failHint(fmt.Sprintf("map the elements first: x.map(v => v > 0).%s()", c.op), "axis must be a number, not a function")
		return missing
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Array" {
		c.fail("axis must be one number, not %s", convert.Describe(v))
		return missing
	}
	return c.integer("axis", v)
}

// shape reads extents: a number or an array of numbers. The call has an error if they are missing or negative.
func (c *call) shape(v goja.Value) []int {
	if v == nil || goja.IsUndefined(v) {
		c.failHint("write "+c.op+"(f32, [rows, columns])", "the shape is missing")
		return nil
	}
	dims := c.integers("the shape", v)
	for _, n := range dims {
		if c.err == nil && n < 0 {
			c.fail("the shape %s has a negative extent", array.Shape(dims))
		}
	}
	return dims
}

// scalarType reads an element type that is no record. After an error, which the call then has, it returns f32.
func (c *call) scalarType(v goja.Value) ir.Type {
	e, ok := c.Type(v)
	switch {
	case !ok:
		hint := fmt.Sprintf("write %s(f32, …); the types are exported by 'offload'", c.op)
		if s, isText := v.(goja.String); isText {
			if t, known := c.ForeignType(s.String()); known {
				hint = fmt.Sprintf("write %s(%s, …), without quotes; the types are exported by 'offload'", c.op, t)
			}
		}
		c.failHint(hint, "the element type comes first, not %s", convert.Describe(v))
		return ir.F32
	case e.Record != nil:
		c.fail("arrays have elements of a scalar type, not of the record %s", e)
		return ir.F32
	}
	return e.Scalar
}

// typeOption returns the option type, or Void.
func (c *call) typeOption() ir.Type {
	v := c.option("type")
	if v == nil {
		return ir.Void
	}
	return c.scalarType(v)
}

// buffer reads a buffer. For other values it sets the call's error and returns the zero Array.
func (c *call) buffer(what string, v goja.Value) array.Array {
	b, ok := c.Host.Elements(v)
	if !ok {
		hint := "make a buffer of numbers: device.array(f32, [1, 2, 3])"
		c.failHint(hint, "%s must be a buffer, not %s", what, convert.Describe(v))
		return array.Array{}
	}
	return array.Array{Buffer: b.Buffer, Elem: b.Elem}
}

// buffers reads an array of buffers. It sets the call's error for a value that is none, or has an element that is no buffer.
func (c *call) buffers(what string, v goja.Value) (list []array.Array) {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Array" {
		c.failHint("write "+c.op+"([x, y])", "%s must be an array of buffers, not %s", what, convert.Describe(v))
		return nil
	}
	for i := range int(o.Get("length").ToInteger()) {
		list = append(list, c.buffer(fmt.Sprintf("element %d of %s", i, what), o.Get(strconv.Itoa(i))))
	}
	return list
}

// operandAt reads argument i like operand. A number becomes a parameter of the recorded commands, so that calls with other
// numbers can issue them again.
func (c *call) operandAt(i int) array.Operand {
	o := c.operand("an operand", c.arg(i))
	if !o.IsArray() && o.Type == ir.Void {
		c.numbers++
		o.Place = c.numbers
	}
	return o
}

// operand reads a buffer, a number, a BigInt of 64 bits or a boolean. For other values the call gets an error. what names the
// operand in it.
func (c *call) operand(what string, v goja.Value) array.Operand {
	if b, ok := c.Host.Elements(v); ok {
		return array.In(array.Array{Buffer: b.Buffer, Elem: b.Elem})
	}
	switch x := internals.Export(v).(type) {
	case bool:
		if x {
			return array.Operand{Type: ir.Bool, Bits: 1}
		}
		return array.Operand{Type: ir.Bool}
	case *big.Int:
		t := ir.I64
		if !x.IsInt64() {
			t = ir.U64
		}
		bits, err := c.Bits(t, v)
		if err != nil {
			c.fail("%s: %v", what, err)
		}
		return array.Operand{Type: t, Bits: bits}
	}
	if !goja.IsNumber(v) {
		hint := ""
		if o, ok := v.(*goja.Object); ok && o.ExportType() == reflect.TypeFor[*goja.Promise]() {
			hint = "await the promise, or keep the value on the device: y.max({ keepDims: true })"
		} else if ok && o.Get("length") != nil {
			hint = "make a buffer of the numbers: device.array(f32, [1, 2, 3])"
		}
		c.failHint(hint, "%s must be a buffer or a number, not %s", what, convert.Describe(v))
	}
	return array.Num(v.ToFloat())
}

// typed is operand, except that a number becomes an operand of type t.Value() if t is an integer type that holds it. So does a
// BigInt if t has 64 bits. A number that a 64-bit integer type does not hold is an error.
func (c *call) typed(what string, v goja.Value, t ir.Type) array.Operand {
	if _, big := internals.Export(v).(*big.Int); big && t.IsInt() && t.Size() == 8 && outside(v, t) == 0 {
		bits, err := c.Bits(t, v)
		c.note(err)
		return array.Operand{Type: t, Bits: bits}
	}
	if goja.IsNumber(v) && t.IsInt() && (t.Size() == 8 || fits(t, v.ToFloat())) {
		bits, err := c.Bits(t.Value(), v)
		if err != nil {
			c.fail("%s: %v", what, err)
		}
		return array.Operand{Type: t.Value(), Bits: bits}
	}
	return c.operand(what, v)
}

// element reads an operand like typed, for operations whose result has the type of the elements. A number or BigInt that is no
// element of an integer type t is an error.
func (c *call) element(what string, v goja.Value, t ir.Type) array.Operand {
	if x := v; goja.IsNumber(x) && t.IsInt() && x.ToFloat() != math.Trunc(x.ToFloat()) {
		c.failHint("convert the elements first: x.map(v => f32(v))", "%s is %s, and the elements are of %s", what, scalar.Text(x.ToFloat()), t)
		return array.Num(0)
	}
	if _, big := internals.Export(v).(*big.Int); t.IsInt() && (big || goja.IsNumber(v)) {
		c.bits(what, t, v) // reports a value that t does not hold
		if c.err != nil {
			return array.Num(0)
		}
		bits, err := c.Bits(t.Value(), v)
		c.note(err)
		return array.Operand{Type: t.Value(), Bits: bits}
	}
	return c.typed(what, v, t)
}

// bound reads a bound of elements of type t like element. It returns nil for a bound that limits no integer of type t: one below
// all of them if side is -1, or above them if it is 1.
func bound(c *call, what string, v goja.Value, t ir.Type, side int) *array.Operand {
	if t.IsInt() && outside(v, t) == side {
		return nil
	}
	o := c.element(what, v, t)
	return &o
}

// absent reports whether a value is a number that no element of an integer type t equals. It is also true for a BigInt beyond 64
// bits if t is an integer type.
func absent(v goja.Value, t ir.Type) bool {
	if v == nil || !t.IsInt() {
		return false
	}
	n, big := internals.Export(v).(*big.Int)
	return goja.IsNumber(v) && !fits(t, v.ToFloat()) || big && !n.IsInt64() && !n.IsUint64()
}

// fits reports whether an integer type holds a number.
func fits(t ir.Type, x float64) bool {
	low, end := rangeOf(t)
	return x == math.Trunc(x) && x >= low && x < end
}

// outside returns -1 for a number or BigInt below the values of an integer type, 1 for one above them, and else 0.
func outside(v goja.Value, t ir.Type) int {
	x := new(big.Float)
	n, isBig := internals.Export(v).(*big.Int)
	switch {
	case isBig:
		x.SetInt(n)
	case goja.IsNumber(v) && !math.IsNaN(v.ToFloat()):
		x.SetFloat64(v.ToFloat())
	default:
		return 0
	}
	switch low, end := rangeOf(t); {
	case x.Cmp(big.NewFloat(low)) < 0:
		return -1
	case x.Cmp(big.NewFloat(end)) >= 0:
		return 1
	}
	return 0
}

// rangeOf returns the least value of an integer type, and the least integer above all of its values.
func rangeOf(t ir.Type) (low, end float64) {
	end = math.Exp2(float64(8 * t.Size()))
	if t == ir.I8 || t == ir.I16 || t == ir.I32 || t == ir.I64 {
		return -end / 2, end / 2
	}
	return 0, end
}

// bits converts a value to the bits of an element of type t. For the type bool, a number other than 0 and NaN is true. For a value that
// does not fit, the call gets an error.
func (c *call) bits(what string, t ir.Type, v goja.Value) uint64 {
	if v != nil && goja.IsNumber(v) && t == ir.Bool {
		if x := v.ToFloat(); x != 0 && !math.IsNaN(x) {
			return 1
		}
		return 0
	}
	bits, err := c.Bits(t, v)
	if _, isObject := v.(*goja.Object); err != nil && isObject {
		c.fail("%s must be a number, not %s", what, convert.Describe(v))
	} else if err != nil {
		c.fail("%s: %v", what, err)
	}
	return bits
}

// function reads a function of the kernel language. example is the call that the hint shows for another value. After an error, which
// the call then has, it returns the identity.
func (c *call) function(v goja.Value, example string) array.Function {
	if _, callable := goja.AssertFunction(v); !callable {
		c.failHint("write "+example, "expected a function, not %s", convert.Describe(v))
		return array.Text("v => v")
	}
	if info, err := c.Engine().FunctionInfo(v); err == nil && info.Native {
		c.failHint(fmt.Sprintf("write x.%s(v => Math.%s(v))", c.op, info.Name), "%s is a function of the host, and not in the kernel language by itself", info.Name)
		return array.Text("v => v")
	}
	src, info, err := c.Source(v)
	if err != nil {
		c.note(err)
		return array.Text("v => v")
	}
	return array.Function{Source: src, Key: c.keyOf(info)}
}

// mostCaptured is the number of functions in a chain of captures up to which keyOf follows it.
const mostCaptured = 8

// keyOf returns a text that is equal for functions with equal texts, positions and captured constants, or "" for a function without
// a key; see appendFunction.
func (c *call) keyOf(info *lang.FunctionInfo) string {
	key, ok := appendFunction(nil, c.Host, info, 0)
	if !ok {
		return ""
	}
	return string(key)
}

// appendFunction appends the bytes of the key of a function. The result is false if the function has no key: its variables
// are not known, can change, have values without bytes for a key, or refer to too many functions in turn.
func appendFunction(key []byte, h offloadjs.Host, info *lang.FunctionInfo, depth int) ([]byte, bool) {
	if !info.Known || depth > mostCaptured {
		return key, false
	}
	p := info.Position(0)
	key = append(append(key, p.File...), 0)
	key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(p.Line)), uint64(p.Column))
	key = append(append(key, info.Text...), 0)
	for i := range info.Captures {
		v := &info.Captures[i]
		switch {
		case v.State == lang.Undeclared:
			continue
		case v.State != lang.Bound || len(v.Assigned) > 0:
			return key, false
		}
		part, ok := appendConstant(key, h, v.Value)
		if !ok && v.Function != nil {
			part, ok = appendFunction(append(key, 'f'), h, v.Function, depth+1)
		}
		if key = part; !ok {
			return key, false
		}
	}
	return key, true
}

// appendConstant appends the bytes that stand for a captured number, boolean or element type, or for a name of the kernel
// language. It returns false for any other value.
func appendConstant(key []byte, h offloadjs.Host, v goja.Value) ([]byte, bool) {
	if goja.IsNumber(v) {
		return binary.LittleEndian.AppendUint64(append(key, 'n'), math.Float64bits(v.ToFloat())), true
	}
	o, ok := v.(*goja.Object)
	if !ok {
		if x, ok := internals.Export(v).(bool); ok {
			return append(key, 'b', map[bool]byte{true: 1}[x]), true
		}
		return key, false
	}
	if n, ok := h.LanguageName(o); ok {
		return append(key, 'l', byte(n)), true
	}
	if t, ok := h.Type(o); ok && t.Record == nil {
		return append(key, 't', byte(t.Scalar)), true
	}
	return key, false
}

// result returns a new buffer as a value of the script, or err if it is not nil. While commands are recorded, c.results gets the
// value.
func (c *call) result(a array.Array, err error) (goja.Value, error) {
	if err != nil {
		return nil, err
	}
	v := c.Object(offloadjs.Elements{Buffer: a.Buffer, Elem: a.Elem}, c.unlabelled)
	if c.recording {
		c.results = append(c.results, result{value: v, array: a})
	}
	return v, nil
}

// value returns a promise of the only element of an array, or err if it is not nil. It frees the array. A 64-bit integer is a
// Number if narrow is set.
func (c *call) value(a array.Array, err error, narrow bool) (goja.Value, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = a.Free() }() // the read holds the memory
	v, err := readValue(c.Host, c.op, c.Run.Queue, a, narrow)
	if c.recording {
		c.results = append(c.results, result{v, a, true, narrow})
	}
	return v, err
}

// readValue returns a promise of the only element of an array. A 64-bit integer is a Number if narrow is set.
func readValue(h offloadjs.Host, op string, q *session.Queue, a array.Array, narrow bool) (goja.Value, error) {
	return h.Read(op, q, offloadjs.Elements{Buffer: a.Buffer, Elem: a.Elem}, func(data []byte) (goja.Value, error) {
		v := h.Value(a.Elem, data)
		if n, ok := internals.Export(v).(*big.Int); ok && narrow {
			x, _ := new(big.Float).SetInt(n).Float64()
			return h.Engine().VM().ToValue(x), nil
		}
		return v, nil
	})
}

// read returns a promise of the result of finish for the only element of an array.
func (c *call) read(a array.Array, finish func(v goja.Value) (goja.Value, error)) (goja.Value, error) {
	c.results = append(c.results, result{}) // the value depends on more than the element
	return c.Read(c.op, c.Run.Queue, offloadjs.Elements{Buffer: a.Buffer, Elem: a.Elem}, func(data []byte) (goja.Value, error) {
		c.resume()
		return finish(c.Host.Value(a.Elem, data))
	})
}

// resume makes the rest of a call that has awaited a value run under the context that runs now: that of the call may have ended.
func (c *call) resume() { c.Run.Context = c.Engine().Running() }

// pair returns an object with two buffers.
func (c *call) pair(first string, a array.Array, second string, b array.Array) (goja.Value, error) {
	o := c.Engine().VM().NewObject()
	for i, x := range []array.Array{a, b} {
		v, err := c.result(x, nil)
		if err == nil {
			err = o.Set([]string{first, second}[i], v)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}
