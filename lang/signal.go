package lang

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// A Signal is an AbortSignal of the script, which cancels operations. It must be used on the loop's goroutine.
type Signal struct {
	engine              *Engine
	object              *goja.Object
	subscribe, withdraw goja.Callable // addEventListener, removeEventListener
}

// Signal reads a function's option "signal". It returns nil for undefined, and an error for a value that lacks the methods or
// the state of an AbortSignal.
func (e *Engine) Signal(v goja.Value) (*Signal, error) {
	if v == nil || goja.IsUndefined(v) {
		return nil, nil
	}
	if o, ok := v.(*goja.Object); ok {
		subscribe, listens := goja.AssertFunction(o.Get("addEventListener"))
		withdraw, forgets := goja.AssertFunction(o.Get("removeEventListener"))
		aborted := o.Get("aborted")
		if listens && forgets && aborted != nil && aborted.ExportType() == reflect.TypeFor[bool]() {
			return &Signal{e, o, subscribe, withdraw}, nil
		}
	}
	return nil, &diag.Diagnostic{ID: "invalid-argument", Name: "TypeError",
		Message: fmt.Sprintf("signal must be an AbortSignal, not %s", e.InspectValue(v, inspect.Options{Depth: 1, Passive: true})),
		Hint:    "write signal: controller.signal, or signal: AbortSignal.timeout(1000)"}
}

func (s *Signal) aborted() bool { return s.object.Get("aborted").ToBoolean() }

// reason returns the rejection reason for an operation that the signal ended.
func (s *Signal) reason() goja.Value {
	if r := s.object.Get("reason"); r != nil {
		return r
	}
	return goja.Undefined()
}

var errAborted = errors.New("the operation was aborted")

// until lets an abort of the signal call cancel, and returns a function that detaches the signal. The promise is rejected after
// the operation has ended, so that the script can reuse its resources.
func (s *Signal) until(settle *Settler, cancel func(error)) (forget func(), err error) {
	event := s.engine.vm.ToValue("abort")
	listener := s.engine.Func("abort", func(goja.FunctionCall) (goja.Value, error) {
		settle.aborted = s.reason()
		cancel(errAborted)
		return nil, nil
	})
	_, err = s.subscribe(s.object, event, listener)
	return func() { _, _ = s.withdraw(s.object, event, listener) }, err
}
