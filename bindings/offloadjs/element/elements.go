// Package element defines the element types of buffers in scripts, and converts between values of a script and the bytes of
// elements.
package element

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Type is an element type: a scalar such as f32, or a record declared by struct().
type Type struct {
	Elem ir.Elem
}

// Contract returns the element type for the runtime, which treats records as opaque bytes.
func (t Type) Contract() contract.Type {
	if t.Elem.Record != nil {
		return contract.Opaque
	}
	c, _ := contract.ParseType(t.Elem.Scalar.String())
	return c
}

// Size returns the number of bytes of an element.
func (t Type) Size() int { return t.Elem.Size() }

// String returns the name of the type.
func (t Type) String() string { return t.Elem.String() }

// ScalarTypes lists the scalar types that the module exports.
var ScalarTypes = []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64}

// Buffer is a buffer with the type of its elements.
type Buffer struct {
	*session.Buffer
	Elem ir.Elem
}

// ArrayClass returns the class of the typed array for a scalar type. Reads widen f16 and bf16 and store bool as a byte.
func ArrayClass(t ir.Type) string {
	switch t {
	case ir.I8:
		return "Int8Array"
	case ir.U8, ir.Bool:
		return "Uint8Array"
	case ir.I16:
		return "Int16Array"
	case ir.U16:
		return "Uint16Array"
	case ir.I32:
		return "Int32Array"
	case ir.U32:
		return "Uint32Array"
	case ir.I64:
		return "BigInt64Array"
	case ir.U64:
		return "BigUint64Array"
	case ir.F64:
		return "Float64Array"
	}
	return "Float32Array"
}

// ArrayTypes maps the classes of typed arrays to element types.
var ArrayTypes = map[string]ir.Type{
	"Int8Array": ir.I8, "Uint8Array": ir.U8, "Uint8ClampedArray": ir.U8, "Int16Array": ir.I16, "Uint16Array": ir.U16,
	"Int32Array": ir.I32, "Uint32Array": ir.U32, "BigInt64Array": ir.I64, "BigUint64Array": ir.U64,
	"Float32Array": ir.F32, "Float64Array": ir.F64,
}

// TypedArray returns a typed array's memory, without a copy, and its element type. It returns false for other values.
func TypedArray(v goja.Value) (data []byte, t ir.Type, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject {
		return nil, ir.Void, false
	}
	t, ok = ArrayTypes[o.ClassName()]
	if !ok { // goja reports the class Object for typed arrays, so read the tag
		tag := o.GetSymbol(goja.SymToStringTag)
		if tag == nil {
			return nil, ir.Void, false
		}
		if t, ok = ArrayTypes[tag.String()]; !ok {
			return nil, ir.Void, false
		}
	}
	buffer, ok := Exported(o.Get("buffer")).(goja.ArrayBuffer) // a script can forge the tag, but not these
	if !ok {
		return nil, ir.Void, false
	}
	offset, okOffset := Exported(o.Get("byteOffset")).(int64)
	length, okLength := Exported(o.Get("byteLength")).(int64)
	bytes := buffer.Bytes()
	if !okOffset || !okLength || offset < 0 || length < 0 || offset > int64(len(bytes)) || length > int64(len(bytes))-offset {
		return nil, ir.Void, false
	}
	return bytes[offset : offset+length : offset+length], t, true
}

// ToBytes returns the elements of v in the memory layout of t. It accepts arrays and other objects with a length, typed arrays
// and ArrayBuffers. The result shares memory with v if the layouts match, except for a typed array of bytes that become
// booleans.
func ToBytes(vm *goja.Runtime, t Type, v goja.Value) ([]byte, error) {
	if data, from, ok := TypedArray(v); ok {
		if t.Elem.Record == nil && (from == t.Elem.Scalar || (from == ir.U8 && t.Elem.Scalar == ir.Bool)) {
			if t.Elem.Scalar == ir.Bool {
				return normalised(data), nil
			}
			return data, nil
		}
		if t.Elem.Record != nil && from == ir.U8 {
			if len(data)%t.Size() != 0 {
				return nil, fmt.Errorf("%d bytes are not a whole number of %s, each of %d bytes", len(data), t, t.Size())
			}
			return data, nil
		}
	}
	if data, ok := Exported(v).(goja.ArrayBuffer); ok {
		bytes := data.Bytes()
		if len(bytes)%t.Size() != 0 {
			return nil, fmt.Errorf("%d bytes are not a whole number of %s, each of %d bytes", len(bytes), t, t.Size())
		}
		return bytes, nil
	}
	o, ok := v.(*goja.Object)
	if !ok || o.Get("length") == nil {
		return nil, fmt.Errorf("expected a typed array or an array of %s, not %s", t, convert.Describe(v))
	}
	n := int(o.Get("length").ToInteger())
	out := make([]byte, 0, min(max(n, 0), TrustedLength)*min(t.Size(), TrustedLength))
	for i := range n {
		e := o.Get(strconv.Itoa(i))
		if e == nil {
			return nil, fmt.Errorf("element %d is missing", i)
		}
		var err error
		if out, err = Append(out, t.Elem, e); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return out, nil
}

// TrustedLength is the maximum number of elements for which memory is allocated by an object's length, which is untrusted.
const TrustedLength = 1 << 12

// normalised returns a copy with every nonzero byte replaced by 1.
func normalised(data []byte) []byte {
	out := make([]byte, len(data))
	for i, b := range data {
		if b != 0 {
			out[i] = 1
		}
	}
	return out
}

// Append appends the bytes of v as an element of type e. A record takes an object with all of its fields.
func Append(out []byte, e ir.Elem, v goja.Value) ([]byte, error) {
	if e.Record == nil {
		return appendScalar(out, e.Scalar, v)
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("expected an object with the fields of %s, not %s", e, convert.Describe(v))
	}
	start := len(out)
	for i := range e.Record.Fields {
		f := &e.Record.Fields[i]
		out = append(out, make([]byte, start+f.Offset-len(out))...)
		field := o.Get(f.Name)
		if field == nil {
			return nil, fmt.Errorf("field %s of %s is missing", f.Name, e)
		}
		var err error
		if out, err = appendField(out, f.Elem, f.Dims, field); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return append(out, make([]byte, start+e.Size()-len(out))...), nil
}

func appendField(out []byte, e ir.Elem, dims []int, v goja.Value) ([]byte, error) {
	if len(dims) == 0 {
		return Append(out, e, v)
	}
	o, ok := v.(*goja.Object)
	what := "numbers"
	switch {
	case len(dims) > 1:
		what = "arrays"
	case e.Record != nil:
		what = "records"
	case e.Scalar == ir.Bool:
		what = "booleans"
	}
	if !ok || o.Get("length") == nil {
		return nil, fmt.Errorf("expected an array of %d %s, not %s", dims[0], what, convert.Describe(v))
	}
	if n := o.Get("length").ToInteger(); n != int64(dims[0]) {
		return nil, fmt.Errorf("expected an array of %d %s, not of %d", dims[0], what, n)
	}
	for i := range dims[0] {
		var err error
		if out, err = appendField(out, e, dims[1:], o.Get(fmt.Sprint(i))); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return out, nil
}

func appendScalar(out []byte, t ir.Type, v goja.Value) ([]byte, error) {
	bits, err := Bits(t, v)
	if err != nil {
		return nil, err
	}
	switch t.Size() {
	case 1:
		return append(out, byte(bits)), nil
	case 2:
		return binary.LittleEndian.AppendUint16(out, uint16(bits)), nil
	case 4:
		return binary.LittleEndian.AppendUint32(out, uint32(bits)), nil
	}
	return binary.LittleEndian.AppendUint64(out, bits), nil
}

// Bits converts a Number, BigInt or boolean to the bits of an element. Numbers are rounded to a float type; for an integer type
// a fractional value or one out of range is an error. Only i64 and u64 take a BigInt. bool takes booleans and nothing else, and
// no other type takes them. A nil value is an error.
func Bits(t ir.Type, v goja.Value) (uint64, error) {
	if v == nil {
		return 0, fmt.Errorf("expected a value of %s, but nothing was given", t)
	}
	switch x := Exported(v).(type) {
	case bool:
		if t != ir.Bool {
			return 0, fmt.Errorf("expected a value of %s, not a boolean", t)
		}
		if x {
			return 1, nil
		}
		return 0, nil
	case *big.Int:
		if t != ir.I64 && t != ir.U64 {
			return 0, fmt.Errorf("expected a value of %s, not a BigInt", t)
		}
		return BigBits(t, x)
	case int64:
		if t.IsFloat() {
			return scalar.Round(t, float64(x)), nil
		}
		if t == ir.Bool {
			return 0, fmt.Errorf("expected true or false, not %d", x)
		}
		return BigBits(t, big.NewInt(x))
	case float64:
		switch {
		case t.IsFloat():
			return scalar.Round(t, x), nil
		case t == ir.Bool:
			return 0, fmt.Errorf("expected true or false, not %s", scalar.Text(x))
		case x != math.Trunc(x) || math.IsInf(x, 0):
			return 0, fmt.Errorf("%s is no integer, and the type is %s", scalar.Text(x), t)
		}
		n, _ := big.NewFloat(x).Int(nil)
		return BigBits(t, n)
	}
	return 0, fmt.Errorf("expected a value of %s, not %s", t, convert.Describe(v))
}

// BigBits converts an integer to the bits of an integer type. It returns an error for a value out of range.
func BigBits(t ir.Type, n *big.Int) (uint64, error) {
	width := uint(8 * t.Size())
	lo, hi := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), width)
	if t.IsSigned() {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	if n.Cmp(lo) < 0 || n.Cmp(hi) >= 0 {
		return 0, fmt.Errorf("%v is outside the range of %s", n, t)
	}
	if n.Sign() < 0 {
		return uint64(n.Int64()) & (1<<width - 1), nil
	}
	return n.Uint64(), nil
}

// FromBytes converts elements to a typed array, or records to an array of objects. The typed array shares memory with data
// unless the type needs widening.
func FromBytes(vm *goja.Runtime, t Type, data []byte) (goja.Value, error) {
	if t.Elem.Record != nil {
		n := len(data) / t.Size()
		items := make([]any, n)
		for i := range n {
			items[i] = recordValue(vm, t.Elem.Record, data[i*t.Size():])
		}
		return vm.NewArray(items...), nil
	}
	switch t.Elem.Scalar {
	case ir.F16, ir.BF16:
		wide := make([]byte, 2*len(data))
		for i := 0; i+1 < len(data); i += 2 {
			binary.LittleEndian.PutUint32(wide[2*i:], Widened(t.Elem.Scalar, data[i:]))
		}
		data = wide
	}
	return vm.New(vm.Get(ArrayClass(t.Elem.Scalar)), vm.ToValue(vm.NewArrayBuffer(data)))
}

// Widened returns the f32 bits of an f16 or bf16.
func Widened(t ir.Type, data []byte) uint32 {
	return uint32(scalar.Load(t, uint64(binary.LittleEndian.Uint16(data))))
}

func recordValue(vm *goja.Runtime, r *ir.Record, data []byte) goja.Value {
	o := vm.NewObject()
	for i := range r.Fields {
		f := &r.Fields[i]
		_ = internals.Define(o, f.Name, FieldValue(vm, f.Elem, f.Dims, data[f.Offset:])) // cannot fail on a new plain object
	}
	return o
}

// FieldValue converts the bytes of an element, or of an array with extents dims, to a script value.
func FieldValue(vm *goja.Runtime, e ir.Elem, dims []int, data []byte) goja.Value {
	if len(dims) > 0 {
		size := e.Size()
		for _, d := range dims[1:] {
			size *= d
		}
		items := make([]any, dims[0])
		for i := range items {
			items[i] = FieldValue(vm, e, dims[1:], data[i*size:])
		}
		return vm.NewArray(items...)
	}
	if e.Record != nil {
		return recordValue(vm, e.Record, data)
	}
	return ScalarValue(vm, e.Scalar, data)
}

// ScalarValue converts one element to a script value.
func ScalarValue(vm *goja.Runtime, t ir.Type, data []byte) goja.Value {
	switch t {
	case ir.Bool:
		return vm.ToValue(data[0] != 0)
	case ir.I8:
		return vm.ToValue(int8(data[0]))
	case ir.U8:
		return vm.ToValue(data[0])
	case ir.I16:
		return vm.ToValue(int16(binary.LittleEndian.Uint16(data)))
	case ir.U16:
		return vm.ToValue(binary.LittleEndian.Uint16(data))
	case ir.I32:
		return vm.ToValue(int32(binary.LittleEndian.Uint32(data)))
	case ir.U32:
		return vm.ToValue(binary.LittleEndian.Uint32(data))
	case ir.I64:
		return vm.ToValue(big.NewInt(int64(binary.LittleEndian.Uint64(data))))
	case ir.U64:
		return vm.ToValue(new(big.Int).SetUint64(binary.LittleEndian.Uint64(data)))
	case ir.F16, ir.BF16:
		return vm.ToValue(math.Float32frombits(Widened(t, data)))
	case ir.F32:
		return vm.ToValue(math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return vm.ToValue(math.Float64frombits(binary.LittleEndian.Uint64(data)))
}

// ContentsHint returns advice on valid contents for a buffer of an element type.
func ContentsHint(t Type) string {
	switch {
	case t.Elem.Record != nil:
		return "give objects with a property for each field"
	case t.Elem.Scalar == ir.Bool:
		return "give true or false"
	case t.Elem.Scalar.IsFloat():
		return "give numbers: a typed array, or an array of numbers; a promise must be awaited"
	}
	return fmt.Sprintf("give integers in the range of %s: round them first, or use a buffer of f32", t)
}
