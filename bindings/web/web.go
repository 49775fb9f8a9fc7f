// Package web implements the module imported as 'web': the parts of the web platform that scripts expect anywhere. Its
// exports are global.
package web

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
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

// Module is the module.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "web", Globals: globals, Instantiate: instantiate},
		Help:    "Parts of the web platform: clocks, cloning, cancelling, text encodings, URLs, random numbers, base64.",
		Entries: entries,
	}
}

// web is the state of one engine's module.
type web struct {
	*bindings.Exports
}

func instantiate(e *lang.Engine) (*goja.Object, error) {
	w := &web{bindings.NewExports(e)}
	w.LazySet("performance", w.performance)
	w.LazySet("crypto", w.crypto)
	w.LazySet("structuredClone", w.structuredClone)
	w.group(w.abort, "AbortController", "AbortSignal", "DOMException")
	w.group(w.url, "URL", "URLSearchParams")
	w.LazySet("TextEncoder", w.textEncoder)
	w.LazySet("TextDecoder", w.textDecoder)
	w.Add("btoa", w.btoa)
	w.Add("atob", w.atob)
	return w.Done()
}

// group exports names that one piece of script makes together.
func (w *web) group(load func() (*goja.Object, error), names ...string) {
	var made *goja.Object
	for _, name := range names {
		w.LazySet(name, func() (goja.Value, error) {
			if made == nil {
				o, err := load()
				if err != nil {
					return nil, err
				}
				made = o
			}
			return made.Get(name), nil
		})
	}
}

// script runs a piece of script that is a function, with arguments.
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

func (w *web) abort() (*goja.Object, error) {
	after := w.Func("setTimeout", func(call goja.FunctionCall) (goja.Value, error) {
		fn, _ := goja.AssertFunction(call.Argument(0))
		w.Loop().After(time.Duration(call.Argument(1).ToFloat()*float64(time.Millisecond)), func() error {
			_, err := fn(nil)
			return err
		})
		return nil, nil
	})
	v, err := w.script("web/abort.js", abortSource, after)
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}

func (w *web) structuredClone() (goja.Value, error) {
	v, err := w.script("web/clone.js", cloneSource, w.Object.Get("DOMException"))
	if err != nil {
		return nil, err
	}
	clone, _ := goja.AssertFunction(v)
	return w.Func("structuredClone", func(call goja.FunctionCall) (goja.Value, error) {
		return clone(nil, call.Argument(0))
	}), nil
}

func (w *web) performance() (goja.Value, error) {
	began := time.Now()
	p := bindings.NewExports(w.Engine)
	p.Add("now", func(goja.FunctionCall) (goja.Value, error) {
		return w.VM().ToValue(float64(time.Since(began).Nanoseconds()) / 1e6), nil
	})
	p.Set("timeOrigin", float64(began.UnixMicro())/1e3)
	return p.Done()
}
