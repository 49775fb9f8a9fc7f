package element

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Layout returns an object with the byte offsets of a record's fields.
func Layout(vm *goja.Runtime, r *ir.Record) goja.Value {
	o := vm.NewObject()
	for i := range r.Fields {
		_ = o.Set(r.Fields[i].Name, r.Fields[i].Offset) // cannot fail on a new plain object
	}
	return o
}
