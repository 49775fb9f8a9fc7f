// Package traps copies the arguments that handlers of proxies for functions receive. The interpreter passes to the traps apply and
// construct an array whose elements are its stack, which the next calls overwrite.
package traps

import (
	"strconv"

	"github.com/dop251/goja"
)

// Handler returns an object that behaves as a proxy's handler like handler, and copies the arguments of calls. throw throws the
// error of a trap.
func Handler(vm *goja.Runtime, handler *goja.Object, throw func(error)) *goja.Object {
	return vm.NewDynamicObject(&traps{vm: vm, handler: handler, throw: throw, made: map[string]trap{}})
}

type traps struct {
	vm      *goja.Runtime
	handler *goja.Object
	throw   func(error)
	made    map[string]trap
}

// A trap is a method of the handler and the function that calls it with the handler as this.
type trap struct{ method, call goja.Value }

// Get implements [goja.DynamicObject]: the interpreter reads a trap at each operation.
func (t *traps) Get(key string) goja.Value {
	v := t.handler.Get(key)
	method, ok := goja.AssertFunction(v)
	if !ok {
		return v
	}
	if known := t.made[key]; known.method != nil && known.method.SameAs(v) {
		return known.call
	}
	list := map[string]int{"apply": 2, "construct": 1}[key]
	call := t.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		args := append([]goja.Value(nil), c.Arguments...)
		if list > 0 && list < len(args) {
			args[list] = t.copied(args[list])
		}
		result, err := method(t.handler, args...)
		if err != nil {
			t.throw(err)
		}
		return result
	})
	t.made[key] = trap{v, call}
	return call
}

// copied returns an array with the elements of another, or v itself if it is no object.
func (t *traps) copied(v goja.Value) goja.Value {
	from, ok := v.(*goja.Object)
	if !ok {
		return v
	}
	n := int(from.Get("length").ToInteger())
	list := make([]any, n)
	for i := range list {
		list[i] = from.Get(strconv.Itoa(i))
	}
	return t.vm.NewArray(list...)
}

// Has, Set, Delete and Keys implement [goja.DynamicObject]; no operation on a proxy calls them.

func (t *traps) Has(key string) bool         { return t.handler.Get(key) != nil }
func (t *traps) Set(string, goja.Value) bool { return false }
func (t *traps) Delete(string) bool          { return false }
func (t *traps) Keys() []string              { return nil }
