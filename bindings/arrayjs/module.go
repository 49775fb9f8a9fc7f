package arrayjs

import (
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang"
)

// Module returns the module 'array': functions of several arrays.
func Module(ops *array.Ops) bindings.Module {
	list := sync.OnceValue(functions)
	return bindings.Module{
		Module: lang.Module{Name: "array", Instantiate: func(e *lang.Engine) (*goja.Object, error) {
			x := bindings.NewExports(e)
			for _, f := range list() {
				x.Add(f.Name, f.native(ops, e))
			}
			x.Add("explain", explain(e))
			return x.Done()
		}},
		Help:  "Functions that take several arrays, and a report on array operations. An array is a buffer, and most operations are methods of buffers. Methods of devices create arrays: see docs/arrays.md.",
		Types: "type Buffer<T = any, R extends number = any> = import('offload').Buffer<T, R>\ntype ArrayOptions = import('offload').ArrayOptions\ntype MapOptions = import('offload').MapOptions",
		Entries: func() (entries []bindings.Entry) {
			for _, f := range list() {
				entries = append(entries, f.Entry)
			}
			return append(entries, explainEntry())
		},
	}
}
