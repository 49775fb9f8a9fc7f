package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// A namespace is the exports behind the object of "import * as".
type namespace struct {
	module *module
	cells  map[string]*cell
}

// cell returns the cell of an exported name, and nil for other keys.
func (n *namespace) cell(key goja.Value) *cell {
	if _, ok := key.(*goja.Symbol); ok || n == nil {
		return nil
	}
	return n.cells[key.String()]
}

// namespaceAt returns the namespace that is the first argument of a call, or nil.
func namespaceAt(e *Engine, c goja.FunctionCall) *namespace {
	o, _ := c.Argument(0).(*goja.Object)
	n, _ := e.reveal(o, e.objects.hiddenSymbol).(*namespace)
	return n
}

// describe returns the attributes of an export: a property that can be written, but not by scripts.
func describe(e *Engine, n *namespace, name string, c *cell) *goja.Object {
	if c.value == nil {
		e.Throw(e.uninitialized(name, n.module.unit.Name))
	}
	o := e.vm.NewObject()
	for _, p := range []struct {
		name  string
		value goja.Value
	}{{"value", c.value}, {"writable", e.vm.ToValue(true)}, {"enumerable", e.vm.ToValue(true)}, {"configurable", e.vm.ToValue(false)}} {
		_ = o.Set(p.name, p.value)
	}
	return o
}

// permits reports whether a descriptor leaves an export as it is.
func permits(e *Engine, n *namespace, name string, c *cell, descriptor goja.Value) bool {
	is := describe(e, n, name, c)
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
	return o.Get("get") == nil && o.Get("set") == nil && (v == nil || v.SameAs(c.value))
}

// reflectNamespaces makes the functions that read and define properties show exports as the language defines them. The first
// namespace of an engine calls it.
func reflectNamespaces(e *Engine) {
	if e.esm.namespaces {
		return
	}
	e.esm.namespaces = true
	type function = func(goja.FunctionCall) goja.Value
	wrap := func(holder, name string, around func(c goja.FunctionCall, n *namespace, fn function) goja.Value) {
		o, _ := e.vm.GlobalObject().Get(holder).(*goja.Object)
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
			if n := namespaceAt(e, c); n != nil {
				return around(c, n, fn)
			}
			return fn(c)
		}
	}
	for _, holder := range []string{"Object", "Reflect"} {
		wrap(holder, "getOwnPropertyDescriptor", func(c goja.FunctionCall, n *namespace, fn function) goja.Value {
			if cell := n.cell(c.Argument(1)); cell != nil {
				return describe(e, n, c.Argument(1).String(), cell)
			}
			return fn(c)
		})
		wrap(holder, "defineProperty", func(c goja.FunctionCall, n *namespace, fn function) goja.Value {
			cell := n.cell(c.Argument(1))
			if cell == nil {
				return fn(c)
			}
			ok := permits(e, n, c.Argument(1).String(), cell, c.Argument(2))
			if holder == "Reflect" {
				return e.vm.ToValue(ok)
			}
			if !ok {
				panic(e.vm.NewTypeError("Cannot redefine property: " + c.Argument(1).String()))
			}
			return c.Argument(0)
		})
	}
	wrap("Object", "getOwnPropertyDescriptors", func(c goja.FunctionCall, n *namespace, fn function) goja.Value {
		all, ok := fn(c).(*goja.Object)
		for name, cell := range n.cells {
			if ok {
				_ = all.Set(name, describe(e, n, name, cell))
			}
		}
		return all
	})
	wrap("Object", "isFrozen", func(c goja.FunctionCall, n *namespace, fn function) goja.Value {
		for name, cell := range n.cells {
			describe(e, n, name, cell)
			return e.vm.ToValue(false)
		}
		return fn(c)
	})
	wrap("Object", "freeze", func(c goja.FunctionCall, n *namespace, fn function) goja.Value {
		for name := range n.cells {
			panic(e.vm.NewTypeError("Cannot redefine property: " + name))
		}
		return fn(c)
	})
}
