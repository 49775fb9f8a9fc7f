package bindings

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// Exports builds a module's exports object and records the first error.
type Exports struct {
	*lang.Engine
	Object *goja.Object
	err    error
}

// NewExports returns an empty exports object.
func NewExports(e *lang.Engine) *Exports {
	return &Exports{Engine: e, Object: e.VM().NewObject()}
}

// Add exports a function.
func (x *Exports) Add(name string, fn lang.NativeFunc) { x.Set(name, x.Func(name, fn)) }

// AddAsync exports a function that returns a promise. An error of fn rejects the promise.
func (x *Exports) AddAsync(name string, fn lang.NativeFunc) { x.Add(name, x.Promised(fn)) }

// Set exports a value.
func (x *Exports) Set(name string, v any) {
	if err := x.Object.Set(name, v); err != nil && x.err == nil {
		x.err = err
	}
}

// LazySet exports a value that is computed on first access.
func (x *Exports) LazySet(name string, value func() (goja.Value, error)) {
	if err := x.Lazy(x.Object, name, value); err != nil && x.err == nil {
		x.err = err
	}
}

// Done returns the exports object, or the first error.
func (x *Exports) Done() (*goja.Object, error) { return x.Object, x.err }
