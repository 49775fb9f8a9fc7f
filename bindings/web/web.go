// Package web implements the module 'web' with the parts of the web platform that scripts commonly expect. Its exports are
// globals.
package web

import (
	_ "embed"
	"fmt"
	"math/big"
	"reflect"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

//go:embed abort.js
var abortSource string

//go:embed clone.js
var cloneSource string

//go:embed url.js
var urlSource string

var globals = []string{
	"performance", "structuredClone", "AbortController", "AbortSignal", "DOMException", "TextEncoder", "TextDecoder",
	"URL", "URLSearchParams", "crypto", "btoa", "atob",
}

// Module returns the module 'web'. Its clock starts at this call.
func Module() bindings.Module {
	began := time.Now() // not at instantiation, which is lazy
	return bindings.Module{
		Module: lang.Module{Name: "web", Globals: globals, Instantiate: func(e *lang.Engine) (*goja.Object, error) {
			return instantiate(e, began)
		}},
		Help:    "Parts of the web platform: clocks, cloning, cancelling, text encodings, URLs, random numbers, base64.",
		Entries: entries,
	}
}

// web holds the module's state in one engine.
type web struct {
	*bindings.Exports
	began time.Time // the origin of the clock
	// cancelling evaluates abort.js on first use and returns its object.
	cancelling func() (*goja.Object, error)
}

func instantiate(e *lang.Engine, began time.Time) (*goja.Object, error) {
	w := &web{Exports: bindings.NewExports(e), began: began}
	w.cancelling = sync.OnceValues(w.abort)
	w.LazySet("performance", w.performance)
	w.LazySet("crypto", w.crypto)
	w.LazySet("structuredClone", w.structuredClone)
	w.group(w.cancelling, "AbortController", "AbortSignal", "DOMException")
	w.group(sync.OnceValues(w.url), "URL", "URLSearchParams")
	w.LazySet("TextEncoder", w.textEncoder)
	w.LazySet("TextDecoder", w.textDecoder)
	w.Add("btoa", w.btoa)
	w.Add("atob", w.atob)
	return w.Done()
}

// group exports names that share one lazy initialization.
func (w *web) group(load func() (*goja.Object, error), names ...string) {
	for _, name := range names {
		w.LazySet(name, func() (goja.Value, error) {
			made, err := load()
			if err != nil {
				return nil, err
			}
			return made.Get(name), nil
		})
	}
}

// script evaluates source, which is a function expression, and calls the function.
func (w *web) script(name, source string, args ...goja.Value) (goja.Value, error) {
	v, err := w.VM().RunScript("orepl:"+name, source)
	if err != nil {
		return nil, err
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("%s is no function", name)
	}
	return fn(nil, args...)
}

// abort returns the classes for cancellation and DOMException.
func (w *web) abort() (*goja.Object, error) {
	after := w.Func("after", func(call goja.FunctionCall) (goja.Value, error) {
		fn, _ := goja.AssertFunction(call.Argument(0))
		const most = float64(1<<53) / 1e6 // milliseconds
		t := w.Loop().After(time.Duration(min(call.Argument(1).ToFloat(), most)*float64(time.Millisecond)), func() error {
			_, err := fn(nil)
			return err
		})
		t.KeepAlive(false) // a pending timeout alone does not keep the script alive
		return nil, nil
	})
	v, err := w.script("web/abort.js", abortSource, after)
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}

// fail returns a DOMException as the error of a native function.
func (w *web) fail(name, hint, format string, args ...any) error {
	made, err := w.cancelling()
	if err != nil {
		return err
	}
	throw, _ := goja.AssertFunction(made.Get("fail"))
	vm := w.VM()
	_, err = throw(nil, vm.ToValue(fmt.Sprintf(format, args...)), vm.ToValue(name), vm.ToValue(hint))
	return err
}

func (w *web) structuredClone() (goja.Value, error) {
	made, err := w.cancelling()
	if err != nil {
		return nil, err
	}
	detach := w.Func("detach", func(call goja.FunctionCall) (goja.Value, error) {
		if b, ok := internals.Export(call.Argument(0)).(goja.ArrayBuffer); ok {
			b.Detach()
		}
		return nil, nil
	})
	v, err := w.script("web/clone.js", cloneSource, made.Get("fail"), made.Get("copy"), w.Func("kindOf", w.kindOf), detach, w.Func("structuredClone", tooDeep))
	if err != nil {
		return nil, err
	}
	clone, _ := goja.AssertFunction(v)
	return w.Func("structuredClone", func(call goja.FunctionCall) (goja.Value, error) {
		if len(call.Arguments) == 0 {
			return nil, &lang.ArgumentError{Func: "structuredClone", Name: "value", Detail: "is missing"}
		}
		return clone(nil, call.Arguments...)
	}), nil
}

// tooDeep returns the error for a value that is nested too deeply.
func tooDeep(call goja.FunctionCall) (goja.Value, error) {
	return nil, &diag.Diagnostic{ID: "stack-overflow", Name: "RangeError",
		Message: fmt.Sprintf("structuredClone: the value is nested more than %v deep", call.Argument(0)),
		Hint:    "keep long chains in an array, or copy them in a loop"}
}

// kindOf returns the class of an object, regardless of its prototype, and "primitive" for other values.
func (w *web) kindOf(call goja.FunctionCall) (goja.Value, error) {
	kind := "primitive"
	if o, ok := call.Argument(0).(*goja.Object); ok {
		kind = w.kind(o)
	}
	return w.VM().ToValue(kind), nil
}

func (w *web) kind(o *goja.Object) string {
	if _, ok := w.HostValue(o); ok {
		return fmt.Sprint(o.GetSymbol(goja.SymToStringTag))
	}
	class := o.ClassName()
	switch t := o.ExportType(); {
	case t == nil:
	case t == reflect.TypeFor[goja.Proxy]():
		return "Proxy"
	case t == reflect.TypeFor[*goja.Promise]():
		return "Promise"
	case t == reflect.TypeFor[goja.ArrayBuffer]():
		if o.Export().(goja.ArrayBuffer).Detached() {
			return "detached"
		}
		return "ArrayBuffer"
	case class == "Object" && t == reflect.TypeFor[*big.Int]():
		return "BigInt"
	case class == "Object" && t == reflect.TypeFor[[][2]any]():
		return "Map"
	case class == "Object" && t == reflect.TypeFor[[]any]():
		return "Set"
	case class == "Object" && t.Kind() == reflect.Slice:
		return "TypedArray"
	}
	return class
}

func (w *web) performance() (goja.Value, error) {
	p := bindings.NewExports(w.Engine)
	p.Add("now", func(goja.FunctionCall) (goja.Value, error) {
		return w.VM().ToValue(float64(time.Since(w.began).Nanoseconds()) / 1e6), nil
	})
	p.Set("timeOrigin", float64(w.began.UnixMicro())/1e3)
	return p.Done()
}
