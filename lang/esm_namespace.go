package lang

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/namespace"
)

// namedExports are the exports behind the object of "import * as".
type namedExports struct {
	engine *Engine
	module *module
	cells  map[string]*cell
	names  []string // sorted
}

// Names implements [namespace.Exports].
func (n *namedExports) Names() []string { return n.names }

// Value implements [namespace.Exports].
func (n *namedExports) Value(name string) goja.Value {
	c := n.cells[name]
	if c.value == nil {
		n.engine.Throw(uninitialized(name, n.module.unit.Name))
	}
	return c.value
}

// namespaceOf returns the object of "import * as". Scripts cannot change it, and its properties follow the exports. A constant
// export is a data property; others have getters.
func (e *Engine) namespaceOf(m *module) *goja.Object {
	if m.builtin != nil {
		return m.builtin
	}
	if m.namespace != nil {
		return m.namespace
	}
	ns := e.vm.CreateObject(nil)
	m.namespace = ns
	if !e.esm.namespaces {
		e.esm.namespaces = true
		namespace.Reflect(e.vm, func(o *goja.Object) (namespace.Exports, bool) {
			n, ok := e.reveal(o, e.objects.hiddenSymbol).(*namedExports)
			return n, ok
		})
	}
	n := &namedExports{engine: e, module: m, cells: map[string]*cell{}}
	_ = ns.DefineDataPropertySymbol(e.objects.hiddenSymbol, e.hide(n), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	_ = ns.DefineDataPropertySymbol(goja.SymToStringTag, e.vm.ToValue("Module"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	for _, name := range e.exportNames(m, nil) {
		c, err := e.exportOf(m, name, nil)
		if err != nil {
			continue // a re-export of a missing name is reported at its declaration
		}
		n.cells[name] = c
		e.expose(ns, name, m, c)
	}
	n.names = slices.Sorted(maps.Keys(n.cells))
	if _, err := e.intrinsics.preventExtensions(nil, ns); err != nil {
		e.Throw(err) // unreachable for a plain object
	}
	return ns
}

// expose defines the property of a namespace for an export.
func (e *Engine) expose(ns *goja.Object, name string, m *module, c *cell) {
	final := func() {
		_ = ns.DefineDataProperty(name, c.value, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	if c.value != nil && !c.changes {
		final()
		return
	}
	getter := e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if c.value == nil {
			panic(e.ErrorValue(uninitialized(name, m.unit.Name)))
		}
		return c.value
	}).(*goja.Object)
	_ = getter.DefineDataPropertySymbol(e.objects.hiddenSymbol, e.hide(c), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	replaced := goja.FLAG_FALSE
	if !c.changes {
		replaced = goja.FLAG_TRUE
		c.once = then(c.once, final)
	}
	_ = ns.DefineAccessorProperty(name, getter, nil, replaced, goja.FLAG_TRUE)
}

// live returns the value behind a namespace getter, so that it prints like a data property.
func (e *Engine) live(getter *goja.Object) (goja.Value, bool) {
	c, ok := e.reveal(getter, e.objects.hiddenSymbol).(*cell)
	if !ok || c.value == nil {
		return nil, false
	}
	return c.value, true
}

// then returns a function that calls first, which may be nil, and then second.
func then(first, second func()) func() {
	if first == nil {
		return second
	}
	return func() { first(); second() }
}
