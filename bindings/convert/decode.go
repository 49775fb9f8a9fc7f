package convert

import (
	"encoding"
	"math"
	"math/big"
	"reflect"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/spelling"
)

var (
	typeValue    = reflect.TypeFor[goja.Value]()
	typeBigInt   = reflect.TypeFor[*big.Int]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeTime     = reflect.TypeFor[time.Time]()
	typeText     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// maxDepth bounds nesting: a value of the script may contain itself.
const maxDepth = 100

var errDestination = &Error{Message: "the destination must be a pointer that is not nil", Advice: "pass its address, as in &config"}

// Decode stores a value of the script in what dst points to. Nothing is shared with the script afterwards. The error is
// an [*Error]. Call it on the engine's goroutine.
func Decode(vm *goja.Runtime, v goja.Value, dst any) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errDestination
	}
	return (&decoder{vm: vm}).run(v, target.Elem())
}

// DecodeModule is Decode for the exports of a module: those that a struct has no field for are left alone, unless they
// look like a misspelt field that is not exported.
func DecodeModule(vm *goja.Runtime, exports goja.Value, dst any) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errDestination
	}
	return (&decoder{vm: vm, module: true}).run(exports, target.Elem())
}

type decoder struct {
	vm     *goja.Runtime
	depth  int
	module bool // the value is a module's exports
}

// run decodes, and turns what a getter of the script throws, or an interrupt of it, into an error: a function of the
// interpreter's gives both.
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
	case t.Kind() == reflect.Pointer:
		if missing {
			dst.SetZero()
			return nil
		}
		if dst.IsNil() {
			dst.Set(reflect.New(t.Elem()))
		}
		return d.value(v, dst.Elem(), at)
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		if missing {
			dst.SetZero()
			return nil
		}
		x, err := d.anything(v, at)
		if err == nil && x != nil {
			dst.Set(reflect.ValueOf(x))
		}
		return err
	case missing:
		return at.fail("expected %s, not %s", kindName(t), Describe(v))
	case t == typeDuration:
		return d.duration(v, dst, at)
	case t == typeTime:
		if v.ExportType() == typeTime {
			dst.Set(reflect.ValueOf(v.Export()))
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
	return at.fail("expected %s, not %s", kindName(t), Describe(v))
}

// integer gives a Number that is an integer, or a BigInt.
func (d *decoder) integer(v goja.Value, t reflect.Type, at *path) (*big.Int, *Error) {
	switch x := Primitive(v).(type) {
	case int64:
		return big.NewInt(x), nil
	case float64:
		if x == math.Trunc(x) && !math.IsInf(x, 0) {
			n, _ := new(big.Float).SetFloat64(x).Int(nil)
			return n, nil
		}
	case *big.Int:
		return x, nil
	}
	return nil, at.fail("expected %s, not %s", kindName(t), Describe(v))
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

// duration takes a text such as "1.5s", or a number of milliseconds as timers do.
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
			dst.SetInt(int64(ms * float64(time.Millisecond)))
			return nil
		}
	}
	return at.fail("expected a duration such as '1.5s' or a number of milliseconds, not %s", Describe(v))
}

func (d *decoder) text(v goja.Value, dst reflect.Value, at *path) *Error {
	s, ok := Primitive(v).(string)
	if !ok {
		return at.fail("expected a string, not %s", Describe(v))
	}
	if err := dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
		return at.fail("%v", err)
	}
	return nil
}

// list takes an array or a typed array.
func (d *decoder) list(v goja.Value, dst reflect.Value, at *path) *Error {
	o, ok := v.(*goja.Object)
	if !ok {
		return at.fail("expected %s, not %s", kindName(dst.Type()), Describe(v))
	}
	n := 0
	switch {
	case o.ClassName() == "Array":
		n = int(o.Get("length").ToInteger())
	case isTyped(o.ExportType()):
		bulk := reflect.ValueOf(o.Export())
		if n = bulk.Len(); dst.Kind() == reflect.Slice && bulk.Type().Elem() == dst.Type().Elem() {
			dst.Set(reflect.AppendSlice(reflect.MakeSlice(dst.Type(), 0, n), bulk))
			return nil
		}
	default: // any object may claim any length
		return at.fail("expected %s, not %s", kindName(dst.Type()), Describe(v))
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
		if v == nil { // an array may be as long as it likes without elements
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

func (d *decoder) mapping(v goja.Value, dst reflect.Value, at *path) *Error {
	o, err := d.object(v, dst.Type(), at)
	if err != nil {
		return err
	}
	if dst.Type().Key().Kind() != reflect.String {
		return at.fail("a Go map must have strings as keys, not %s", dst.Type().Key())
	}
	made := reflect.MakeMap(dst.Type())
	for _, key := range o.Keys() {
		element := reflect.New(dst.Type().Elem()).Elem()
		if err := d.value(o.Get(key), element, &path{at, key}); err != nil {
			return err
		}
		made.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), element)
	}
	dst.Set(made)
	return nil
}

func (d *decoder) structure(v goja.Value, dst reflect.Value, at *path) *Error {
	o, err := d.object(v, dst.Type(), at)
	if err != nil {
		return err
	}
	fields := fieldsOf(dst.Type())
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
		if d.module && at == nil && (near == "" || given(o, near)) {
			continue // a module may export more than the program asks for
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
			if f.required {
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
			return err
		}
	}
	return nil
}

// given reports whether an object has a property.
func given(o *goja.Object, name string) bool {
	v := o.Get(name)
	return v != nil && !goja.IsUndefined(v)
}

// object takes an object with properties of its own.
func (d *decoder) object(v goja.Value, t reflect.Type, at *path) (*goja.Object, *Error) {
	o, ok := v.(*goja.Object)
	if !ok || isFunction(v) || o.ClassName() == "Array" {
		return nil, at.fail("expected %s, not %s", kindName(t), Describe(v))
	}
	return o, nil
}
