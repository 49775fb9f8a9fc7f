// Package namespace makes the functions of Object and Reflect show the exports behind "import * as" as ECMAScript defines them.
// They appear as writable properties, although scripts cannot write them. The interpreter keeps such a property as a getter or
// a constant.
package namespace

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// Exports are the exports of a module.
type Exports interface {
	// Names returns the sorted names.
	Names() []string
	// Value returns the value of a name in Names. It throws if the module has not set it yet.
	Value(name string) goja.Value
}

// reflection holds what the replaced functions need.
type reflection struct {
	vm *goja.Runtime
	of func(o *goja.Object) (Exports, bool)
}

type function = func(goja.FunctionCall) goja.Value

// Reflect replaces the functions of an interpreter that read and define properties. of returns the exports of an object, and false
// if it is no namespace.
func Reflect(vm *goja.Runtime, of func(o *goja.Object) (Exports, bool)) {
	r := reflection{vm, of}
	for _, holder := range []string{"Object", "Reflect"} {
		r.wrap(holder, "getOwnPropertyDescriptor", func(c goja.FunctionCall, x Exports, fn function) goja.Value {
			if name, ok := exported(x, c.Argument(1)); ok {
				return r.describe(x, name)
			}
			return fn(c)
		})
		r.wrap(holder, "defineProperty", func(c goja.FunctionCall, x Exports, fn function) goja.Value {
			name, ok := exported(x, c.Argument(1))
			if !ok {
				return fn(c)
			}
			ok = r.permits(x, name, c.Argument(2))
			if holder == "Reflect" {
				return vm.ToValue(ok)
			}
			if !ok {
				panic(vm.NewTypeError("Cannot redefine property: " + name))
			}
			return c.Argument(0)
		})
	}
	r.wrap("Object", "getOwnPropertyDescriptors", func(c goja.FunctionCall, x Exports, fn function) goja.Value {
		all, ok := fn(c).(*goja.Object)
		for _, name := range x.Names() {
			if ok {
				_ = all.Set(name, r.describe(x, name))
			}
		}
		return all
	})
	r.wrap("Object", "isFrozen", func(c goja.FunctionCall, x Exports, fn function) goja.Value {
		for _, name := range x.Names() {
			r.describe(x, name)
			return vm.ToValue(false)
		}
		return fn(c)
	})
	r.wrap("Object", "freeze", func(c goja.FunctionCall, x Exports, fn function) goja.Value {
		for _, name := range x.Names() {
			panic(vm.NewTypeError("Cannot redefine property: " + name))
		}
		return fn(c)
	})
}

// wrap replaces a function of a global object: calls whose first argument is a namespace go to around, which gets the original
// as fn.
func (r reflection) wrap(holder, name string, around func(c goja.FunctionCall, x Exports, fn function) goja.Value) {
	o, _ := r.vm.GlobalObject().Get(holder).(*goja.Object)
	if o == nil {
		return
	}
	method, _ := o.Get(name).(*goja.Object)
	native, ok := internals.NativeOf(method)
	if !ok {
		return
	}
	fn := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value {
		if o, ok := c.Argument(0).(*goja.Object); ok {
			if x, ok := r.of(o); ok {
				return around(c, x, fn)
			}
		}
		return fn(c)
	}
}

// exported returns the name of the export that a property key means, or false if there is none.
func exported(x Exports, key goja.Value) (name string, ok bool) {
	if _, isSymbol := key.(*goja.Symbol); isSymbol {
		return "", false
	}
	name = key.String()
	_, ok = slices.BinarySearch(x.Names(), name)
	return name, ok
}

// describe returns the property descriptor of an export.
func (r reflection) describe(x Exports, name string) *goja.Object {
	value, o := x.Value(name), r.vm.NewObject()
	for _, p := range []struct {
		name  string
		value goja.Value
	}{{"value", value}, {"writable", r.vm.ToValue(true)}, {"enumerable", r.vm.ToValue(true)}, {"configurable", r.vm.ToValue(false)}} {
		_ = o.Set(p.name, p.value)
	}
	return o
}

// permits reports whether a descriptor leaves an export as it is.
func (r reflection) permits(x Exports, name string, descriptor goja.Value) bool {
	is := r.describe(x, name)
	o, ok := descriptor.(*goja.Object)
	if !ok {
		return false
	}
	for _, want := range []string{"enumerable", "configurable", "writable"} {
		if v := o.Get(want); v != nil && v.ToBoolean() != is.Get(want).ToBoolean() {
			return false
		}
	}
	v := o.Get("value")
	return o.Get("get") == nil && o.Get("set") == nil && (v == nil || v.SameAs(is.Get("value")))
}
