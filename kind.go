package orepl

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// Kind is the type of a script's value, finer than typeof for objects.
type Kind string

// The kinds of values.
const (
	KindUndefined   Kind = "undefined"
	KindNull        Kind = "null"
	KindBoolean     Kind = "boolean"
	KindNumber      Kind = "number"
	KindBigInt      Kind = "bigint"
	KindString      Kind = "string"
	KindSymbol      Kind = "symbol"
	KindFunction    Kind = "function" // classes too
	KindArray       Kind = "array"
	KindTypedArray  Kind = "typed array" // such as a Float32Array
	KindArrayBuffer Kind = "array buffer"
	KindMap         Kind = "map"
	KindSet         Kind = "set"
	KindDate        Kind = "date"
	KindRegExp      Kind = "regular expression"
	KindError       Kind = "error"
	KindPromise     Kind = "promise"
	KindObject      Kind = "object" // any other object, such as the exports of a module
)

// Kind returns the value's kind, without running code of the script. The error is that of a context or engine that has ended,
// or of a value that no engine returned.
func (v *Value) Kind(ctx context.Context) (kind Kind, err error) {
	err = v.do(ctx, func(*goja.Runtime) error {
		kind = Kind(convert.Kind(v.value))
		return nil
	})
	return kind, err
}

// Keys returns the names of the properties that [Value.Get] takes, in the order of Object.keys: those of an object, the exports of
// a module, or the indices of an array. A value without properties is an error, and so is a typed array, which [Value.Decode]
// copies whole.
func (v *Value) Keys(ctx context.Context) (keys []string, err error) {
	err = v.do(ctx, func(*goja.Runtime) error {
		o, ok := v.value.(*goja.Object)
		switch {
		case !ok:
			return diag.New("invalid-argument", "%s has no properties", v.engine.InspectValue(v.value, inspect.Options{}))
		case Kind(convert.Kind(o)) == KindTypedArray:
			return diag.New("invalid-argument", "a typed array has elements, whose indices are no keys").WithHint("decode it to a slice")
		}
		keys = o.Keys()
		return nil
	})
	return keys, err
}
