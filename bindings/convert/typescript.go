package convert

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/orepl/orepl/lang/later"
)

var typeTextMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

// TypeScript returns the TypeScript type of a Go value's script equivalent.
func TypeScript(value any) string {
	if value == nil {
		return "null"
	}
	return typeScript(reflect.TypeOf(value), 0)
}

// Signature returns the TypeScript signature of a Go function, without a name. For a function that scripts cannot call it is that of
// any function.
func Signature(fn any, async bool) string {
	s, err := signatureOf("function", fn)
	if err != nil {
		return "(...args: any[]): any"
	}
	var params []string
	optional := len(s.params) // index of the first optional parameter
	for optional > 0 && s.params[optional-1].Kind() == reflect.Pointer && s.params[optional-1] != typeBigInt {
		optional--
	}
	for i, t := range s.params {
		mark := ""
		if i >= optional {
			mark, t = "?", t.Elem()
		}
		params = append(params, fmt.Sprintf("a%d%s: %s", i, mark, typeScript(t, 0)))
	}
	if s.last != nil {
		params = append(params, fmt.Sprintf("...rest: %s[]", typeScript(s.last, 0)))
	}
	result := "void"
	if s.result {
		result = typeScript(s.fn.Type().Out(0), 0)
	}
	if async {
		result = "Promise<" + result + ">"
	}
	return fmt.Sprintf("(%s): %s", strings.Join(params, ", "), result)
}

func typeScript(t reflect.Type, depth int) string {
	switch {
	case t == typeBigInt, t == typeBigInt.Elem():
		return "bigint"
	case t == typeDuration:
		return "number"
	case t == reflect.TypeFor[time.Time]():
		return "Date"
	case t == typeError:
		return "Error"
	case t.Implements(typeTextMarshaler), hasTextOfPointer(t):
		return "string"
	case depth > 4: // recursive types end here
		return "any"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "number"
	case reflect.Pointer:
		return typeScript(t.Elem(), depth+1) + " | null"
	case reflect.Slice, reflect.Array:
		if name := arrayNames.Get()[t.Elem().Kind()]; name != "" && t.Kind() == reflect.Slice && t.Elem().PkgPath() == "" {
			return name
		}
		return "(" + typeScript(t.Elem(), depth+1) + ")[]"
	case reflect.Map:
		return "Record<string, " + typeScript(t.Elem(), depth+1) + ">"
	case reflect.Struct:
		var fields []string
		for _, f := range fieldsOf(t) {
			fields = append(fields, f.name+": "+typeScript(f.typ, depth+1))
		}
		return "{ " + strings.Join(fields, "; ") + " }"
	case reflect.Func:
		return "(...args: any[]) => any"
	}
	return "any"
}

// arrayNames maps the element kinds of slices to typed arrays.
var arrayNames = later.Value[map[reflect.Kind]string]{Make: func() map[reflect.Kind]string {
	return map[reflect.Kind]string{
		reflect.Int8: "Int8Array", reflect.Uint8: "Uint8Array", reflect.Int16: "Int16Array", reflect.Uint16: "Uint16Array",
		reflect.Int32: "Int32Array", reflect.Uint32: "Uint32Array", reflect.Float32: "Float32Array", reflect.Float64: "Float64Array",
	}
}}
