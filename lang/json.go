package lang

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf16"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/builtins"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/source"
)

// JSON returns a value of the script as JSON, within the engine's limits. Typed arrays become arrays, and BigInts become
// decimal strings. Functions, symbols and undefined are omitted; in arrays and at the top level they become null.
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

// Stringify calls the original JSON.stringify with the engine's bounds, even if the script replaced it. It must be called on
// the loop's goroutine.
func (e *Engine) Stringify(args ...goja.Value) (goja.Value, error) {
	return e.intrinsics.stringify(nil, args...)
}

// jsonValue returns a BigInt as a decimal string, a typed array as an array, and other values unchanged.
func (e *Engine) jsonValue(v goja.Value) goja.Value {
	if goja.IsBigInt(v) {
		return e.vm.ToValue(v.String())
	}
	if o, ok := v.(*goja.Object); ok && internals.IsTypedArray(o) {
		list, err := e.intrinsics.arrayFrom(nil, o)
		if err != nil {
			e.Throw(err)
		}
		return list
	}
	return v
}

// ParseJSON parses JSON, which must be UTF-8. An error of the text has the code syntax and the position in it, in a file
// called name. An error of a limit is returned as it is. ParseJSON must be called on the loop's goroutine.
func (e *Engine) ParseJSON(name string, data []byte) (goja.Value, error) {
	if d := source.CheckEncoding(name, string(data)); d != nil {
		return nil, d
	}
	v, err := e.intrinsics.parse(nil, e.vm.ToValue(string(data)))
	if err == nil {
		return v, nil
	}
	var problem *builtins.JSONError
	if !errors.As(e.Unthrown(err), &problem) {
		if cause, yes := ended(err); yes {
			return nil, cause
		}
		return nil, err
	}
	text := string(data)
	at, units := len(text), 0
	for i, c := range text {
		if units >= problem.Offset {
			at = i
			break
		}
		units += utf16.RuneLen(c)
	}
	pos := diag.PositionAt(name, text, at)
	return nil, &diag.Diagnostic{
		ID: "syntax", Name: "SyntaxError", Message: "this is no JSON: " + problem.Message, Hint: problem.Hint, Cause: err,
		Position: pos, Excerpt: diag.Excerpted(text, pos, 1),
	}
}
