package convert

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/later"
)

func indexText(i int) string { return strconv.Itoa(i) }

func isFunction(v goja.Value) bool {
	_, callable := goja.AssertFunction(v)
	return callable
}

// kindName describes the script values that a Go type accepts.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return "an integer"
	case reflect.Slice:
		return "an array"
	case reflect.Array:
		return fmt.Sprintf("an array of %d elements", t.Len())
	case reflect.Pointer:
		if t == typeBigInt {
			return "an integer"
		}
		return kindName(t.Elem())
	}
	if reflect.PointerTo(t).Implements(typeText) {
		return "a string"
	}
	return "an object"
}

// classes maps exported Go types to the names of built-in classes. Scripts cannot forge the Go type.
var classes = later.Value[map[reflect.Type]string]{Make: func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[*goja.Promise]():    "a promise (is an await missing?)",
		reflect.TypeFor[goja.ArrayBuffer](): "an ArrayBuffer",
		reflect.TypeFor[[][2]any]():         "a Map",
		reflect.TypeFor[time.Time]():        "a Date",
		reflect.TypeFor[[]int8]():           "an Int8Array",
		reflect.TypeFor[[]uint8]():          "a Uint8Array",
		reflect.TypeFor[[]int16]():          "an Int16Array",
		reflect.TypeFor[[]uint16]():         "a Uint16Array",
		reflect.TypeFor[[]int32]():          "an Int32Array",
		reflect.TypeFor[[]uint32]():         "a Uint32Array",
		reflect.TypeFor[[]int64]():          "a BigInt64Array",
		reflect.TypeFor[[]uint64]():         "a BigUint64Array",
		reflect.TypeFor[[]float32]():        "a Float32Array",
		reflect.TypeFor[[]float64]():        "a Float64Array",
	}
}}

// Describe returns a phrase for a script's value in an error message. It runs no code of the script.
func Describe(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if o, ok := v.(*goja.Object); ok {
		class, known := classes.Get()[o.ExportType()]
		switch {
		case known:
			return class
		case isFunction(v):
			return "a function"
		case o.ClassName() == "Array":
			return "an array"
		case isSet(o):
			return "a Set"
		case o.ClassName() != "Object":
			return article(o.ClassName())
		}
		return "an object"
	}
	if _, ok := v.(*goja.Symbol); ok {
		return "a symbol"
	}
	switch x := Primitive(v).(type) {
	case string:
		return fmt.Sprintf("the string %q", shortened(x))
	case *big.Int:
		return shortened(x.String()) + "n"
	}
	return v.String()
}

func article(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// shortened returns a string of more than 40 characters as its first 40 and "…", and other strings unchanged.
func shortened(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// Primitive returns the Go value of a string, number, boolean or BigInt, and nil for other values. It does not export objects,
// because a deep export copies everything reachable and runs getters.
func Primitive(v goja.Value) any {
	switch v := v.(type) {
	case nil, *goja.Object, *goja.Symbol:
		return nil
	default:
		return internals.Export(v)
	}
}
