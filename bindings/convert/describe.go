package convert

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"

	"github.com/dop251/goja"
)

func indexText(i int) string { return strconv.Itoa(i) }

func isFunction(v goja.Value) bool {
	_, callable := goja.AssertFunction(v)
	return callable
}

// kindName says what a script must give for a Go type.
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
	return "an object"
}

// describe names a value in an error.
func describe(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	if o, ok := v.(*goja.Object); ok {
		switch {
		case isFunction(v):
			return "a function"
		case o.ClassName() == "Array":
			return "an array"
		}
		return "an object"
	}
	switch x := v.Export().(type) {
	case string:
		if len(x) > 40 {
			x = x[:40] + "…"
		}
		return fmt.Sprintf("the string %q", x)
	case *big.Int:
		return x.String() + "n"
	}
	return v.String()
}
