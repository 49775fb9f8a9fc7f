package convert

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

var (
	typeObject = reflect.TypeFor[map[string]any]()
	typeMap    = reflect.TypeFor[[][2]any]()
	typeList   = reflect.TypeFor[[]any]()

	typePromise = reflect.TypeFor[*goja.Promise]()
	typeProxy   = reflect.TypeFor[goja.Proxy]()
)

// anything converts a script's value to a Go value of its natural type. The result is an int64 or float64, a string, a bool or
// a *big.Int. An array or Set becomes a []any, a Map a map[any]any, and any other object a map[string]any. That of an Error also has
// its name and message. A typed array or ArrayBuffer is copied and a Date becomes a [time.Time]. A function becomes a Go function only
// as an argument of a call that the script waits for. goja's Export is unsuitable, because it does not limit nesting and shares
// memory with the script.
func (d *decoder) anything(v goja.Value, at *path) (any, *Error) {
	o, ok := v.(*goja.Object)
	if _, isSymbol := v.(*goja.Symbol); isSymbol {
		return nil, at.fail("a symbol has no value in Go")
	}
	if !ok {
		if x, ok := Primitive(v).(*big.Int); ok {
			return new(big.Int).Set(x), nil
		}
		return Primitive(v), nil
	}
	switch t := o.ExportType(); {
	case isFunction(v):
		if !d.during {
			e := at.fail("a function cannot be stored in a Go value of any type, because it would run beside its script")
			e.Advice = "get it with Value.Get, and call it with Value.Call"
			return nil, e
		}
		return internals.Export(o), nil
	case o.ClassName() == "Array", isSet(o):
		return d.elements(o, at)
	case t == typeMap:
		var made map[any]any
		err := d.mapping(o, reflect.ValueOf(&made).Elem(), at)
		return made, err
	case isPlain(o):
		if tag := opaque(o); tag != "" {
			return nil, at.fail("%s has no value in Go", article(tag))
		}
		return d.properties(o, at)
	case isTyped(t): // copied, since the script owns the memory
		shared := reflect.ValueOf(internals.Export(o))
		return reflect.AppendSlice(reflect.MakeSlice(t, 0, shared.Len()), shared).Interface(), nil
	case t == typeArrayBuffer:
		return slices.Clone(o.Export().(goja.ArrayBuffer).Bytes()), nil
	case t == typeProxy: // whose target and handler it would show
		return nil, at.fail("a proxy has no value in Go")
	case t == typeObject, t == typePromise: // an opaque object, such as a RegExp
		return nil, at.fail("%s has no value in Go", Describe(v))
	default: // a Date or a wrapped Go value
		x := internals.Export(o)
		if x == nil && t == typeTime {
			return nil, at.fail("the date is invalid")
		}
		return x, nil
	}
}

// isTyped reports whether t is the Go type that a typed array is exported as.
func isTyped(t reflect.Type) bool {
	return t != nil && t.Kind() == reflect.Slice && t != typeList && t != typeMap
}

func (d *decoder) elements(o *goja.Object, at *path) (any, *Error) {
	var list []any
	err := d.list(o, reflect.ValueOf(&list).Elem(), at)
	return list, err
}

func (d *decoder) properties(o *goja.Object, at *path) (any, *Error) {
	made := make(map[string]any)
	keys := o.Keys()
	if o.ClassName() == "Error" { // these are not enumerable
		keys = append(keys, "name", "message")
	}
	for _, key := range keys {
		var x any
		if err := d.value(o.Get(key), reflect.ValueOf(&x).Elem(), &path{at, key}); err != nil {
			return nil, err
		}
		made[key] = x
	}
	return made, nil
}
