package convert

import (
	"reflect"

	"github.com/dop251/goja"
)

var (
	typeObject = reflect.TypeFor[map[string]any]()
	typeMap    = reflect.TypeFor[[][2]any]()
	typeList   = reflect.TypeFor[[]any]()
)

// anything gives the Go value that stands for a value of the script where the destination takes any: an int64 or float64,
// a string, bool or *big.Int, a []any, a map[string]any, a slice of a typed array's elements, a [time.Time], or a function that
// calls the script's. The interpreter's own export has no bound on depth.
func (d *decoder) anything(v goja.Value, at *path) (any, *Error) {
	o, ok := v.(*goja.Object)
	if !ok {
		return Primitive(v), nil
	}
	switch t := o.ExportType(); {
	case isFunction(v):
		return o.Export(), nil
	case o.ClassName() == "Array":
		return d.elements(o, at)
	case t == typeList, t == typeMap:
		e := at.fail("a Map or Set cannot be converted")
		e.Advice = "write [...set] for an array, Object.fromEntries(map) for an object"
		return nil, e
	case t == typeObject:
		return d.properties(o, at)
	case isTyped(t): // its memory belongs to the script
		shared := reflect.ValueOf(o.Export())
		return reflect.AppendSlice(reflect.MakeSlice(t, 0, shared.Len()), shared).Interface(), nil
	default:
		return o.Export(), nil
	}
}

// isTyped tells the types of typed arrays.
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
	for _, key := range o.Keys() {
		var x any
		if err := d.value(o.Get(key), reflect.ValueOf(&x).Elem(), &path{at, key}); err != nil {
			return nil, err
		}
		made[key] = x
	}
	return made, nil
}
