package esm

import (
	"maps"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/namespace"
)

// namedExports are the exports behind the object of "import * as".
type namedExports struct {
	graph  *Graph
	module *Module
	cells  map[string]*cell
	names  []string // sorted
}

// Names implements [namespace.Exports].
func (n *namedExports) Names() []string { return n.names }

// Value implements [namespace.Exports].
func (n *namedExports) Value(name string) goja.Value {
	c := n.cells[name]
	if c.value == nil {
		n.graph.host.Throw(uninitialized(name, n.module.Unit.Name))
	}
	return c.value
}

// Namespace returns the object of "import * as". Scripts cannot change it, and its properties follow the exports. A constant
// export is a data property once it has its value; others have getters. For a builtin written in Go it is the object of its exports.
func (g *Graph) Namespace(m *Module) *goja.Object {
	if m.builtin != nil {
		return m.builtin
	}
	if m.namespace != nil {
		return m.namespace
	}
	ns := g.vm.CreateObject(nil)
	m.namespace = ns
	if !g.namespaces {
		g.namespaces = true
		namespace.Reflect(g.vm, func(o *goja.Object) (namespace.Exports, bool) {
			n, ok := g.host.Attached(o).(*namedExports)
			return n, ok
		})
	}
	n := &namedExports{graph: g, module: m, cells: map[string]*cell{}}
	g.host.Attach(ns, n)
	_ = ns.DefineDataPropertySymbol(goja.SymToStringTag, g.vm.ToValue("Module"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	for _, name := range g.exportNames(m, nil) {
		c, err := g.exportOf(m, name, nil)
		if err != nil {
			continue // a re-export of a missing name is reported at its declaration
		}
		n.cells[name] = c
		g.expose(ns, name, m, c)
	}
	n.names = slices.Sorted(maps.Keys(n.cells))
	if _, err := g.preventExtensions(nil, ns); err != nil {
		g.host.Throw(err) // unreachable for a plain object
	}
	return ns
}

// expose defines the property of a namespace for an export.
func (g *Graph) expose(ns *goja.Object, name string, m *Module, c *cell) {
	final := func() {
		_ = ns.DefineDataProperty(name, c.value, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_TRUE)
	}
	if c.value != nil && !c.changes {
		final()
		return
	}
	getter := g.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if c.value == nil {
			panic(g.host.ErrorValue(uninitialized(name, m.Unit.Name)))
		}
		return c.value
	}).(*goja.Object)
	g.host.Attach(getter, c)
	replaced := goja.FLAG_FALSE
	if !c.changes {
		replaced = goja.FLAG_TRUE
		c.once = then(c.once, final)
	}
	_ = ns.DefineAccessorProperty(name, getter, nil, replaced, goja.FLAG_TRUE)
}

// Live returns the value behind a namespace getter, so that it prints like a data property. It returns false for other
// functions, and before the variable has a value.
func (g *Graph) Live(getter *goja.Object) (goja.Value, bool) {
	c, ok := g.host.Attached(getter).(*cell)
	if !ok || c.value == nil {
		return nil, false
	}
	return c.value, true
}

// Locate returns the position of a value in a module's text: of the initializer of an export, or of what steps lead to in it.
// Steps are properties (strings) and elements (ints). If the text lacks the value of a step, as where the module computes it,
// the result is the position of the value before. It is the zero position if exports is no namespace, or the text has no
// initializer of the export.
func (g *Graph) Locate(exports *goja.Object, export string, steps []any) diag.Position {
	if n, ok := g.host.Attached(exports).(*namedExports); ok && n.module.Unit != nil {
		return n.module.Unit.Locate(export, steps)
	}
	return diag.Position{}
}

// then returns a function that calls first, which may be nil, and then second.
func then(first, second func()) func() {
	if first == nil {
		return second
	}
	return func() { first(); second() }
}
