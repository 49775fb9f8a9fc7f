package bindings

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// Exports collects the exports of a module.
type Exports struct {
	*lang.Engine
	Object *goja.Object
	err    error
}

// NewExports begins an empty module.
func NewExports(e *lang.Engine) *Exports {
	return &Exports{Engine: e, Object: e.VM().NewObject()}
}

// Add exports a function.
func (x *Exports) Add(name string, fn lang.NativeFunc) { x.Set(name, x.Func(name, fn)) }

// AddAsync exports a function that returns a promise: an error rejects it.
func (x *Exports) AddAsync(name string, fn lang.NativeFunc) { x.Add(name, x.Promised(fn)) }

// Set exports a value.
func (x *Exports) Set(name string, v any) {
	if err := x.Object.Set(name, v); err != nil && x.err == nil {
		x.err = err
	}
}

// LazySet exports a value that is made when it is first used.
func (x *Exports) LazySet(name string, value func() (goja.Value, error)) {
	if err := x.Lazy(x.Object, name, value); err != nil && x.err == nil {
		x.err = err
	}
}

// Done returns the module's object.
func (x *Exports) Done() (*goja.Object, error) { return x.Object, x.err }
