package convert

import (
	"encoding"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/spelling"
)

var (
	typeValue    = reflect.TypeFor[goja.Value]()
	typeBigInt   = reflect.TypeFor[*big.Int]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeTime     = reflect.TypeFor[time.Time]()
	typeText     = reflect.TypeFor[encoding.TextUnmarshaler]()

	typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()
)

// maxDepth limits nesting, because a script's value can be cyclic.
const maxDepth = 100

var errDestination = &Error{Message: "the destination must be a pointer that is not nil", Advice: "pass its address, as in &config"}

// Decode copies a script's value to the variable that dst points to. The copy shares no memory with the script, but a
// destination of type [goja.Value] receives the value itself. An error of the conversion is an [*Error]. Decode must run on the
// engine's goroutine.
func Decode(vm *goja.Runtime, v goja.Value, dst any) error {
	return (&decoder{vm: vm}).decode(v, dst)
}

// DecodeModule is Decode for the exports of a module. It ignores exports without a field. But an export whose name resembles a
// field that the module does not export is an error.
func DecodeModule(vm *goja.Runtime, exports goja.Value, dst any) error {
	return (&decoder{vm: vm, module: true}).decode(exports, dst)
}

// DecodeSome is DecodeModule without errors for missing properties: other sources may have the values.
func DecodeSome(vm *goja.Runtime, exports goja.Value, dst any) error {
	return (&decoder{vm: vm, module: true, some: true}).decode(exports, dst)
}

// DecodeApart is Decode for a destination whose pointers others hold. It replaces them by pointers to copies.
func DecodeApart(vm *goja.Runtime, v goja.Value, dst any) error {
	return (&decoder{vm: vm, apart: true}).decode(v, dst)
}

// DecodeExactly is Decode that keeps undefined apart from null: a variable of type any receives [Undefined] for it.
func DecodeExactly(vm *goja.Runtime, v goja.Value, dst any) error {
	return (&decoder{vm: vm, exact: true}).decode(v, dst)
}

// Undefined stands for the value undefined.
type Undefined struct{}

// String returns "undefined".
func (Undefined) String() string { return "undefined" }

type decoder struct {
	vm     *goja.Runtime
	depth  int
	module bool // the value is a module's exports object
	some   bool // properties may be missing
	apart  bool // pointers in the destination are replaced: others may hold them
	exact  bool // undefined is not null
	during bool // the value is used only during a call of the script, so a function may be called
}

// decode decodes a value to the variable that dst points to.
func (d *decoder) decode(v goja.Value, dst any) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errDestination
	}
	return d.run(v, target.Elem())
}

// run decodes a value within a call of the interpreter, which returns exceptions and interrupts of getters as errors.
func (d *decoder) run(v goja.Value, dst reflect.Value) (err error) {
	body, _ := goja.AssertFunction(d.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if failed := d.value(v, dst, nil); failed != nil {
			err = failed
		}
		return goja.Undefined()
	}))
	if _, thrown := body(nil); thrown != nil {
		return thrown
	}
	return err
}

func (d *decoder) value(v goja.Value, dst reflect.Value, at *path) *Error {
	if d.depth++; d.depth > maxDepth {
		return at.fail("the value is nested more than %d deep; does it contain itself?", maxDepth)
	}
	defer func() { d.depth-- }()
	t := dst.Type()
	if t == typeValue {
		dst.Set(reflect.ValueOf(&v).Elem())
		return nil
	}
	missing := v == nil || goja.IsUndefined(v) || goja.IsNull(v)
	switch {
	case t == typeBigInt && !missing:
		return d.bigInt(v, dst, at)
	case t == typeBigInt.Elem() && !missing:
		n := reflect.New(typeBigInt).Elem()
		err := d.bigInt(v, n, at)
		if err == nil {
			dst.Set(n.Elem())
		}
		return err
	case t.Kind() == reflect.Pointer:
		if missing {
			dst.SetZero()
			return nil
		}
		if dst.IsNil() {
			dst.Set(reflect.New(t.Elem()))
		} else if d.apart {
			own := reflect.New(t.Elem())
			own.Elem().Set(dst.Elem()) // properties may be missing
			dst.Set(own)
		}
		return d.value(v, dst.Elem(), at)
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return d.untyped(v, dst, at)
	case missing:
		return at.misfit(t, v)
	case t == typeDuration:
		return d.duration(v, dst, at)
	case t == typeTime:
		if v.ExportType() == typeTime {
			date, ok := v.Export().(time.Time)
			if !ok { // as of new Date(NaN)
				return at.fail("the date is invalid")
			}
			dst.Set(reflect.ValueOf(date))
			return nil
		}
	}
	if reflect.PointerTo(t).Implements(typeText) {
		return d.text(v, dst, at)
	}
	switch t.Kind() {
	case reflect.Bool:
		if x, ok := Primitive(v).(bool); ok {
			dst.SetBool(x)
			return nil
		}
	case reflect.String:
		if x, ok := Primitive(v).(string); ok {
			dst.SetString(x)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		switch x := Primitive(v).(type) {
		case int64:
			dst.SetFloat(float64(x))
			return nil
		case float64:
			if dst.OverflowFloat(x) {
				return at.fail("%v is outside the range of %s", x, t)
			}
			dst.SetFloat(x)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return d.signed(v, dst, at)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return d.unsigned(v, dst, at)
	case reflect.Slice, reflect.Array:
		return d.list(v, dst, at)
	case reflect.Map:
		return d.mapping(v, dst, at)
	case reflect.Struct:
		return d.structure(v, dst, at)
	default:
		return at.fail("a Go value of type %s cannot hold a value of a script", t)
	}
	return at.misfit(t, v)
}

// maxExact is the largest integer n such that a Number represents n and n+1 exactly (Number.MAX_SAFE_INTEGER).
const maxExact = 1<<53 - 1

// integer converts an integral Number or a BigInt. It rejects other values, and Numbers beyond maxExact, which may have
// been rounded.
func (d *decoder) integer(v goja.Value, t reflect.Type, at *path) (*big.Int, *Error) {
	switch x := Primitive(v).(type) {
	case int64:
		if x >= -maxExact && x <= maxExact {
			return big.NewInt(x), nil
		}
		return nil, at.inexact(float64(x))
	case float64:
		switch {
		case x != math.Trunc(x) || math.IsInf(x, 0):
		case math.Abs(x) > maxExact:
			return nil, at.inexact(x)
		default:
			return big.NewInt(int64(x)), nil
		}
	case *big.Int:
		return x, nil
	}
	return nil, at.misfit(t, v)
}

func (p *path) inexact(x float64) *Error {
	e := p.fail("%v is beyond the integers that a Number holds exactly", x)
	e.Advice = "write a BigInt: digits and n, as in 9007199254740993n"
	return e
}

func (d *decoder) signed(v goja.Value, dst reflect.Value, at *path) *Error {
	n, err := d.integer(v, dst.Type(), at)
	if err != nil {
		return err
	}
	if !n.IsInt64() || dst.OverflowInt(n.Int64()) {
		return at.fail("%s is outside the range of %s", n, dst.Type())
	}
	dst.SetInt(n.Int64())
	return nil
}

func (d *decoder) unsigned(v goja.Value, dst reflect.Value, at *path) *Error {
	n, err := d.integer(v, dst.Type(), at)
	if err != nil {
		return err
	}
	if !n.IsUint64() || dst.OverflowUint(n.Uint64()) {
		return at.fail("%s is outside the range of %s", n, dst.Type())
	}
	dst.SetUint(n.Uint64())
	return nil
}

func (d *decoder) bigInt(v goja.Value, dst reflect.Value, at *path) *Error {
	n, err := d.integer(v, dst.Type(), at)
	if err != nil {
		return err
	}
	dst.Set(reflect.ValueOf(new(big.Int).Set(n)))
	return nil
}

// duration accepts a string such as "1.5s", or a number of milliseconds.
func (d *decoder) duration(v goja.Value, dst reflect.Value, at *path) *Error {
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	switch x := Primitive(v).(type) {
	case string:
		parsed, err := time.ParseDuration(x)
		if err != nil {
			e := at.fail("%q is no duration", x)
			e.Advice = "write '1.5s', '200ms', or a number of milliseconds"
			return e
		}
		dst.SetInt(int64(parsed))
		return nil
	case int64, float64:
		if ms := v.ToFloat(); math.Abs(ms) < most {
			dst.SetInt(int64(math.Round(ms * float64(time.Millisecond)))) // 1.001 ms are 1000999.9999999999 ns
			return nil
		}
	}
	return at.fail("expected a duration such as '1.5s' or a number of milliseconds, not %s", Describe(v))
}

func (d *decoder) text(v goja.Value, dst reflect.Value, at *path) *Error {
	s, ok := Primitive(v).(string)
	if !ok && IsSecret(dst.Type()) {
		return at.hidden(dst.Type())
	}
	if !ok {
		return at.fail("expected a string, not %s", Describe(v))
	}
	if err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		if dst.Type() == typeTime { // whose texts are for programmers
			return at.fail("expected a Date or a time such as '2020-01-02T15:04:05Z', not %s", Describe(v))
		}
		return at.fail("%v", err)
	}
	return nil
}

// untyped decodes a value to a variable of type any.
func (d *decoder) untyped(v goja.Value, dst reflect.Value, at *path) *Error {
	switch {
	case v != nil && goja.IsNull(v), !d.exact && (v == nil || goja.IsUndefined(v)):
		dst.SetZero()
		return nil
	case v == nil || goja.IsUndefined(v):
		dst.Set(reflect.ValueOf(Undefined{}))
		return nil
	}
	x, err := d.anything(v, at)
	if err == nil && x != nil {
		dst.Set(reflect.ValueOf(x))
	}
	return err
}

// list accepts an array, a typed array or a Set, and for a []byte also an ArrayBuffer.
func (d *decoder) list(v goja.Value, dst reflect.Value, at *path) *Error {
	o, ok := v.(*goja.Object)
	if !ok {
		return at.misfit(dst.Type(), v)
	}
	n := 0
	switch {
	case o.ClassName() == "Array":
		n = int(o.Get("length").ToInteger())
	case isSet(o):
		return d.list(d.array(o), dst, at)
	case o.ExportType() == typeArrayBuffer && dst.Type() == typeBytes:
		dst.SetBytes(slices.Clone(o.Export().(goja.ArrayBuffer).Bytes()))
		return nil
	case isTyped(o.ExportType()):
		bulk := reflect.ValueOf(internals.Export(o))
		if n = bulk.Len(); dst.Kind() == reflect.Slice && bulk.Type().Elem() == dst.Type().Elem() {
			dst.Set(reflect.AppendSlice(reflect.MakeSlice(dst.Type(), 0, n), bulk))
			return nil
		}
	default: // an array-like object's length is untrusted
		return at.misfit(dst.Type(), v)
	}
	if dst.Kind() == reflect.Array {
		if n != dst.Len() {
			return at.fail("expected %d elements, not %d", dst.Len(), n)
		}
	} else {
		dst.Set(reflect.MakeSlice(dst.Type(), 0, 0))
	}
	for i := range n {
		item := &path{at, i}
		v := o.Get(indexText(i))
		if v == nil { // a hole of a sparse array
			return item.fail("the array has no element here")
		}
		if dst.Kind() == reflect.Array {
			if err := d.value(v, dst.Index(i), item); err != nil {
				return err
			}
			continue
		}
		element := reflect.New(dst.Type().Elem()).Elem()
		if err := d.value(v, element, item); err != nil {
			return err
		}
		dst.Set(reflect.Append(dst, element))
	}
	return nil
}

// array returns an array of the elements of a Map or Set.
func (d *decoder) array(o *goja.Object) *goja.Object {
	var list []any
	d.vm.ForOf(o, func(v goja.Value) bool {
		list = append(list, v)
		return true
	})
	return d.vm.NewArray(list...)
}

// mapping accepts a Map, or an object as a map with string keys.
func (d *decoder) mapping(v goja.Value, dst reflect.Value, at *path) *Error {
	t := dst.Type()
	made := reflect.MakeMap(t)
	put := func(key reflect.Value, v goja.Value, step any) *Error {
		element := reflect.New(t.Elem()).Elem()
		if err := d.value(v, element, &path{at, step}); err != nil {
			return err
		}
		made.SetMapIndex(key, element)
		return nil
	}
	if o, ok := v.(*goja.Object); ok && o.ExportType() == typeMap {
		var failed *Error
		d.vm.ForOf(o, func(entry goja.Value) bool {
			pair, ok := entry.(*goja.Object)
			if !ok {
				return true // unreachable for entries of a Map; only a script's own iterator yields other values
			}
			name := pair.Get("0")
			key := reflect.New(t.Key()).Elem()
			if failed = d.value(name, key, at); failed != nil {
				failed.Message = "a key of the Map: " + failed.Message
				return false
			}
			if !key.Comparable() {
				failed = at.fail("a key of the Map is %s, which no Go map has", Describe(name))
				return false
			}
			step := any(Describe(name))
			if text, ok := Primitive(name).(string); ok {
				step = text
			}
			failed = put(key, pair.Get("1"), step)
			return failed == nil
		})
		dst.Set(made)
		return failed
	}
	o, err := d.object(v, t, at)
	if err != nil {
		return err
	}
	if t.Key().Kind() != reflect.String {
		return at.fail("a Go map must have strings as keys, not %s", t.Key())
	}
	for _, name := range o.Keys() {
		key, wrong := Key(name, t.Key())
		if wrong != nil {
			return (&path{at, name}).fail("the name does not fit: %v", wrong)
		}
		if err := put(key, o.Get(name), name); err != nil {
			return err
		}
	}
	dst.Set(made)
	return nil
}

// Key returns the key of a Go map for a name. A key type with the method UnmarshalText reads the name, and may refuse it. The kind of
// other key types must be string.
func Key(name string, t reflect.Type) (reflect.Value, error) {
	key := reflect.New(t)
	if text, ok := key.Interface().(encoding.TextUnmarshaler); ok {
		err := text.UnmarshalText([]byte(name))
		return key.Elem(), err
	}
	return reflect.ValueOf(name).Convert(t), nil
}

func (d *decoder) structure(v goja.Value, dst reflect.Value, at *path) *Error {
	o, err := d.object(v, dst.Type(), at)
	if err != nil {
		return err
	}
	fields := fieldsOf(dst.Type())
	if name := twice(fields); name != "" {
		return at.doubled(dst.Type(), name)
	}
	known := make(map[string]bool, len(fields))
	names := make([]string, len(fields))
	for i, f := range fields {
		known[f.name], names[i] = true, f.name
	}
	for _, key := range o.Keys() {
		if known[key] {
			continue
		}
		near := spelling.Nearest(key, names)
		if d.module && at == nil && (near == "" || defines(o, near)) {
			continue // extra exports of a module are allowed
		}
		e := (&path{at, key}).fail("there is no field for it")
		switch {
		case near != "":
			e.Advice = "did you mean " + near + "?"
		case len(names) == 0:
			e.Advice = "leave it out"
		default:
			e.Advice = "the fields are " + strings.Join(names, ", ")
		}
		return e
	}
	for _, f := range fields {
		p := o.Get(f.name)
		if p == nil || goja.IsUndefined(p) {
			if f.required && !d.some {
				e := (&path{at, f.name}).fail("is missing")
				e.Advice = "write " + f.name + ": …"
				if d.module && at == nil {
					e.Advice = "write: export const " + f.name + " = …"
				}
				return e
			}
			continue
		}
		if err := d.value(p, dst.FieldByIndex(f.index), &path{at, f.name}); err != nil {
			if f.secret {
				err = (&path{at, f.name}).hidden(f.typ)
			}
			return err
		}
	}
	return nil
}

// doubled returns the error of a struct type with two fields of one name.
func (p *path) doubled(t reflect.Type, name string) *Error {
	return p.fail("two fields of %s have the name %q", t, name).advised("rename one by a tag orepl:\"name\"")
}

// misfit returns the error of a value that is not of a type's kind. It does not show what may be secret.
func (p *path) misfit(t reflect.Type, v goja.Value) *Error {
	if HoldsSecret(t) {
		return p.hidden(t)
	}
	return p.fail("expected %s, not %s", kindName(t), Describe(v))
}

// hidden returns the error of a secret that does not fit.
func (p *path) hidden(t reflect.Type) *Error {
	e := p.fail("expected %s; the value is secret and not shown", kindName(t))
	e.Secret = true
	return e
}

// defines reports whether an object has a defined property.
func defines(o *goja.Object, name string) bool {
	v := o.Get(name)
	return v != nil && !goja.IsUndefined(v)
}

// object accepts plain objects. It rejects instances of built-in classes, whose contents are not properties.
func (d *decoder) object(v goja.Value, t reflect.Type, at *path) (*goja.Object, *Error) {
	o, ok := v.(*goja.Object)
	if !ok || isFunction(v) || !isPlain(o) {
		e := at.misfit(t, v)
		if ok && o.ExportType() == typeMap {
			e.Advice = "write Object.fromEntries(map)"
		}
		return nil, e
	}
	if tag := opaque(o); tag != "" {
		return nil, at.fail("expected %s, not %s", kindName(t), article(tag))
	}
	return o, nil
}

// isPlain reports whether an object's class stores its contents in properties.
func isPlain(o *goja.Object) bool {
	switch o.ClassName() {
	case "Object", "Error", "Arguments":
		return o.ExportType() == typeObject
	}
	return false
}

// opaque returns the class of an object that resembles a plain one but has internal state, or "".
func opaque(o *goja.Object) string {
	tag := o.GetSymbol(goja.SymToStringTag)
	if tag == nil {
		return ""
	}
	switch name := tag.String(); name {
	case "DataView", "WeakMap", "WeakSet", "WeakRef", "Generator", "Map Iterator", "Set Iterator", "Array Iterator":
		return name
	}
	return ""
}

func isSet(o *goja.Object) bool { return o.ExportType() == typeList && o.ClassName() != "Array" }
