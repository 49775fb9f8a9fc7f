package convert

import (
	"math/big"

	"github.com/dop251/goja"
)

// Kind returns the name of what a script's value is. It is that of typeof, or for objects "array", "typed array", "array buffer",
// "map", "set", "date", "regular expression", "error", "promise", "null" and else "object". It must run on the engine's goroutine.
func Kind(v goja.Value) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "undefined"
	case goja.IsNull(v):
		return "null"
	}
	o, isObject := v.(*goja.Object)
	if !isObject {
		switch Primitive(v).(type) {
		case bool:
			return "boolean"
		case string:
			return "string"
		case *big.Int:
			return "bigint"
		case nil:
			return "symbol"
		}
		return "number"
	}
	if isFunction(v) {
		return "function"
	}
	switch t := o.ExportType(); {
	case t == typeMap:
		return "map"
	case t == typeArrayBuffer:
		return "array buffer"
	case t == typeTime:
		return "date"
	case t == typePromise:
		return "promise"
	case o.ClassName() == "Array":
		return "array"
	case isSet(o):
		return "set"
	case isTyped(t):
		return "typed array"
	case o.ClassName() == "RegExp":
		return "regular expression"
	case o.ClassName() == "Error":
		return "error"
	}
	return "object"
}
