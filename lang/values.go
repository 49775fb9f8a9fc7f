package lang

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// valued is a context that also has the values of another one.
type valued struct {
	context.Context
	values context.Context
}

// Value implements [context.Context]. Values of v.Context come first. Package context finds the context that it cancels with by a
// private key, so this must be v.Context, not the call's.
func (v valued) Value(key any) any {
	if own := v.Context.Value(key); own != nil {
		return own
	}
	return v.values.Value(key)
}

// WithValues returns ctx with the values of the running call's context, or ctx itself between calls. It is safe for concurrent
// use.
func (e *Engine) WithValues(ctx context.Context) context.Context {
	if now := e.running.values.Load(); now != nil {
		return valued{ctx, *now}
	}
	return ctx
}

// textValue converts a value to a string as the language does. The conversion of an object may run code of the script, and
// throw. A symbol is a TypeError.
func (e *Engine) textValue(v goja.Value) (goja.Value, error) {
	if _, isObject := v.(*goja.Object); isObject {
		return e.intrinsics.text(goja.Undefined(), v)
	}
	if _, symbol := v.(*goja.Symbol); symbol {
		return nil, &diag.Diagnostic{ID: "exception", Name: "TypeError", Message: "Cannot convert a Symbol value to a string"}
	}
	return v.ToString(), nil
}
