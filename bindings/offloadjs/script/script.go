// Package script holds an engine with what the parts of the module 'offload' share: methods whose errors become diagnostics,
// options, positions, and objects.
package script

import (
	"context"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/source"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Script is an engine with the functions that the parts of the module share.
type Script struct {
	Engine    *lang.Engine
	VM        *goja.Runtime
	Options   *option.Reader
	variables map[diag.Position]string // results of Variable
	next      map[diag.Position]string // results of Next
}

// New returns the script of an engine.
func New(e *lang.Engine) *Script {
	return &Script{Engine: e, VM: e.VM(), Options: option.NewReader(e)}
}

// Method returns a method that converts errors to diagnostics.
func Method[T any](s *Script, name string, fn func(T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	return lang.Method[T]{Name: name, Call: func(self T, call goja.FunctionCall) (goja.Value, error) {
		v, err := fn(self, call)
		return v, s.Explain(err)
	}}
}

// Promised returns a method that returns a promise. Every error rejects the promise.
func Promised[T any](s *Script, name string, fn func(T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	explained := Method(s, name, fn).Call
	return lang.Method[T]{Name: name, Call: func(self T, call goja.FunctionCall) (goja.Value, error) {
		return s.Engine.Promised(func(call goja.FunctionCall) (goja.Value, error) { return explained(self, call) })(call)
	}}
}

// Chained returns a method whose implementation also receives the script's receiver, so that it can return that object.
func Chained[T any](s *Script, name string, fn func(goja.Value, T, goja.FunctionCall) (goja.Value, error)) lang.Method[T] {
	return Method(s, name, func(self T, call goja.FunctionCall) (goja.Value, error) { return fn(call.This, self, call) })
}

// Field returns a computed property that converts errors to diagnostics.
func Field[T any](s *Script, name string, get func(T) (goja.Value, error)) lang.Field[T] {
	return lang.Field[T]{Name: name, Get: func(self T) (goja.Value, error) {
		v, err := get(self)
		return v, s.Explain(err)
	}}
}

// Value returns a computed property with a Go value.
func Value[T any](s *Script, name string, get func(T) any) lang.Field[T] {
	return lang.Field[T]{Name: name, Get: func(self T) (goja.Value, error) { return s.VM.ToValue(get(self)), nil }}
}

// Function returns a native function that converts errors to diagnostics.
func (s *Script) Function(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object {
	return s.Engine.Func(name, s.Explained(fn))
}

// Explained returns fn with its errors converted to diagnostics.
func (s *Script) Explained(fn lang.NativeFunc) lang.NativeFunc {
	return func(call goja.FunctionCall) (goja.Value, error) {
		v, err := fn(call)
		return v, s.Explain(err)
	}
}

// Pair is a name, which is a string, and a value, for [Script.Object].
type Pair [2]any

// Object returns a plain object with properties in order.
func (s *Script) Object(properties ...Pair) *goja.Object {
	o := s.VM.NewObject()
	for _, p := range properties {
		_ = o.Set(p[0].(string), p[1]) // cannot fail on a new plain object
	}
	return o
}

// Explain converts an error to a diagnostic; see [Explain]. It returns nil for nil.
func (s *Script) Explain(err error) error {
	if err == nil {
		return nil
	}
	return Explain(s.Engine, err)
}

// Async is [lang.Engine.AsyncUntil] with errors converted to diagnostics on the loop's goroutine.
func (s *Script) Async(until *lang.Signal, label string, work func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	return s.Engine.AsyncUntil(until, label, func(ctx context.Context) (func() (goja.Value, error), error) {
		finish, err := work(ctx)
		if err != nil {
			return func() (goja.Value, error) { return nil, s.Explain(err) }, nil
		}
		return finish, nil
	})
}

// Caller returns the script position of the current call.
func (s *Script) Caller() contract.Position {
	p := s.Engine.Caller()
	return contract.Position{File: p.File, Line: p.Line, Col: p.Column}
}

// maxVariables limits the cached names of variables, and those of methods.
const maxVariables = 1000

// Variable returns the variable or property that a call's value is assigned to, or "".
func (s *Script) Variable(at contract.Position) string {
	p := Position(at)
	return s.text(&s.variables, p, source.Assigned)
}

// Next returns the method that the script calls on a call's value, or "" if other code may see the value.
func (s *Script) Next(at contract.Position) string {
	return s.text(&s.next, Position(at), source.Chained)
}

// text returns what find finds around a position in its source text, and caches it.
func (s *Script) text(cache *map[diag.Position]string, p diag.Position, find func(text string, line, column int) string) string {
	name, known := (*cache)[p]
	if known || !p.IsValid() {
		return name
	}
	if text, ok := s.Engine.SourceText(p.File); ok {
		name = find(text, p.Line, p.Column)
	}
	if *cache == nil || len(*cache) == maxVariables {
		*cache = map[diag.Position]string{}
	}
	(*cache)[p] = name
	return name
}

// InspectValue formats a value in one level of depth, for messages.
func (s *Script) InspectValue(v goja.Value) string {
	return s.Engine.InspectValue(v, inspect.Options{Depth: 1})
}

// Ints returns an array of numbers.
func (s *Script) Ints(list []int) goja.Value {
	items := make([]any, len(list))
	for i, n := range list {
		items[i] = n
	}
	return s.VM.NewArray(items...)
}
