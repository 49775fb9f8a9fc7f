package lang

import (
	"context"
	"encoding/json"

	"github.com/dop251/goja"
)

// JSON returns a value of the script as JSON, under the engine's limits. Typed arrays become arrays and BigInts strings
// of digits. Functions, symbols and undefined are left out, or null if the value itself is one.
func (e *Engine) JSON(ctx context.Context, v goja.Value) (json.RawMessage, error) {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return json.RawMessage("null"), nil
	}
	text := "null"
	err := e.Do(ctx, func(vm *goja.Runtime) error {
		out, err := e.intrinsics.stringify(nil, v, e.vm.ToValue(func(c goja.FunctionCall) goja.Value { return e.jsonValue(c.Argument(1)) }))
		if err == nil && !goja.IsUndefined(out) {
			text = out.String()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Stringify is JSON.stringify, with its bounds, whatever the script made of that name. Call it on the loop's goroutine.
func (e *Engine) Stringify(args ...goja.Value) (goja.Value, error) {
	return e.intrinsics.stringify(nil, args...)
}

// jsonValue replaces a value that JSON has no word for.
func (e *Engine) jsonValue(v goja.Value) goja.Value {
	if goja.IsBigInt(v) {
		return e.vm.ToValue(v.String())
	}
	if o, ok := v.(*goja.Object); ok && isTypedArray(o) {
		list, err := e.intrinsics.arrayFrom(nil, o)
		if err != nil {
			e.Throw(err)
		}
		return list
	}
	return v
}
