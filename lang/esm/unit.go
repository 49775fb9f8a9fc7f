package esm

import (
	"fmt"
	"path/filepath"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Call calls the compiled function of a module: it runs a prompt line, or creates the generator of a file.
func (g *Graph) Call(m *Module) (goja.Value, error) {
	v, err := g.vm.RunProgram(m.Unit.Program)
	if err != nil {
		return nil, err
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("the program of %s is no function", m.Unit.Name)
	}
	this := goja.Undefined()
	if m.path == "" { // a prompt line
		this = g.vm.GlobalObject()
	}
	return fn(this, g.unitParameters(m)...)
}

// Bind returns a function that runs a prompt line. The functions that rewritten code calls are bound to it as arguments.
func (g *Graph) Bind(m *Module) (goja.Value, error) {
	fn, err := g.vm.RunProgram(m.Unit.Program)
	if err != nil {
		return nil, err
	}
	return g.bind(fn, append([]goja.Value{g.vm.GlobalObject()}, g.unitParameters(m)...)...)
}

// unitParameters returns the arguments of a module's compiled function, mostly functions that rewritten code calls. They have
// the order of package source's parameters.
func (g *Graph) unitParameters(m *Module) []goja.Value {
	lowered := goja.Undefined()
	if m.Unit.Lowered {
		lowered = g.host.Lowered()
	}
	list := []goja.Value{
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value { return g.mark(m, c) }),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value { return g.markAll(m, c) }),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.scope, _ = goja.AssertFunction(c.Argument(0))
			return goja.Undefined()
		}),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			g.link(m, c.Argument(0))
			return goja.Undefined()
		}),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.export(c.Argument(0), c.Argument(1))
			return goja.Undefined()
		}),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value { return m.update(c) }),
		g.ImportFunction(m), g.vm.ToValue(g.host.Step),
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.awaits, m.awaited = int(c.Argument(1).ToInteger()), c.Argument(0)
			if err := g.ring(m); err != nil {
				g.host.Throw(err)
			}
			return c.Argument(0)
		}),
		g.unset,
		g.vm.ToValue(func(c goja.FunctionCall) goja.Value { panic(g.tooEarly(m, int(c.Argument(0).ToInteger()))) }),
		g.vm.ToValue(func(goja.FunctionCall) goja.Value {
			g.host.Throw(&diag.Diagnostic{ID: "exception", Name: "ReferenceError", Message: "arguments is not defined",
				Hint: "a module has no arguments; those of the script are process.argv, or args of module 'offload'"})
			return nil
		}),
	}
	return append(append(list, g.host.Implementations()...), lowered)
}

// tooEarly returns the error for the use of an import before its declaration has run.
func (g *Graph) tooEarly(m *Module, index int) goja.Value {
	l := m.Unit.Links[index]
	return g.host.ErrorValue(uninitialized(l.Local, m.Unit.Imports[l.Import].From))
}

func uninitialized(name, from string) error {
	return &diag.Diagnostic{ID: "exception", Name: "ReferenceError", Message: fmt.Sprintf("Cannot access '%s' before initialization", name),
		Hint: fmt.Sprintf("%q is part of a ring of imports, and its code comes later: use the name in functions that are called later, or move what both need into a file of its own", from)}
}

// mark implements mark(function, index), which records the site of a function's creation. It runs for every function creation;
// setting a symbol costs half of defining a hidden property. With an index alone it returns that site.
func (g *Graph) mark(m *Module, c goja.FunctionCall) goja.Value {
	if len(c.Arguments) == 1 {
		return g.siteValue(m, c.Argument(0))
	}
	if o, ok := c.Argument(0).(*goja.Object); ok {
		_ = o.SetSymbol(g.Mark, g.siteValue(m, c.Argument(1)))
	}
	return c.Argument(0)
}

// markAll implements markAll(object, key, index, …), which records the sites of the functions in an object literal.
func (g *Graph) markAll(m *Module, c goja.FunctionCall) goja.Value {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return c.Argument(0)
	}
	for i := 1; i+1 < len(c.Arguments); i += 2 {
		if f, ok := o.Get(c.Arguments[i].String()).(*goja.Object); ok {
			_ = f.SetSymbol(g.Mark, g.siteValue(m, c.Arguments[i+1]))
		}
	}
	return o
}

// siteValue returns the mark of a function: its site, which functions keep alive, or the thunk that returns it.
func (g *Graph) siteValue(m *Module, mark goja.Value) goja.Value {
	if _, isThunk := mark.(*goja.Object); isThunk {
		return mark
	}
	n := mark.ToInteger()
	if n < 0 || n >= int64(len(m.sites)) {
		return goja.Undefined()
	}
	if m.sites[n] == nil {
		m.sites[n] = g.host.Hide(&Site{m.Unit.Sites[n], m})
	}
	return m.sites[n]
}

// link sets the values of a module's imports now and after each change.
func (g *Graph) link(m *Module, setter goja.Value) {
	set, ok := goja.AssertFunction(setter)
	if !ok {
		return
	}
	m.setImport = func(i int, v goja.Value) {
		if _, err := set(nil, g.vm.ToValue(i), v); err != nil {
			g.host.Throw(err)
		}
	}
	for i, l := range m.Unit.Links {
		c, err := g.exportOf(m.deps[l.Import], l.Name, nil)
		if err != nil {
			g.host.Throw(err)
		}
		if m.path == "" { // a global outlives the prompt line that imports it
			g.imported[l.Local] = m
		}
		c.importedBy(m, i)
	}
}

func (m *Module) export(index, v goja.Value) {
	if c := m.cells[m.Unit.Exports[index.ToInteger()].Name]; c != nil {
		c.set(v)
	}
}

// update implements update(result, index, thunk, …), which exports the thunks' values and returns the result.
func (m *Module) update(c goja.FunctionCall) goja.Value {
	for i := 1; i+1 < len(c.Arguments); i += 2 {
		if thunk, ok := goja.AssertFunction(c.Arguments[i+1]); ok {
			if v, err := thunk(nil); err == nil {
				m.export(c.Arguments[i], v)
			}
		}
	}
	return c.Argument(0)
}

// ImportFunction returns a module's function for import(…), with import.meta.
func (g *Graph) ImportFunction(m *Module) goja.Value {
	f := g.host.Promising("import", func(c goja.FunctionCall) (goja.Value, error) {
		kind := ""
		if o, ok := c.Argument(1).(*goja.Object); ok {
			if with, ok := o.Get("with").(*goja.Object); ok && with.Get("type") != nil {
				kind = with.Get("type").String()
			}
		}
		specifier, err := g.host.Text(c.Argument(0))
		if err != nil {
			return nil, err
		}
		return g.importing(m, specifier.String(), kind), nil
	})
	_ = g.host.Lazy(f, "meta", func() (goja.Value, error) {
		meta := g.vm.NewObject()
		path := m.path
		if path == "" {
			path = filepath.Join(g.dir, m.Unit.Name)
		}
		set := func(name, value string) { _ = meta.Set(name, value) }
		set("url", fileURL(path))
		set("filename", path)
		set("dirname", filepath.Dir(path))
		_ = meta.Set("main", m.Main)
		return meta, nil
	})
	return f
}

// SiteOf returns the site of a function from its mark. The second result reads the local variables that the function
// captures, or is nil if there are none. Both are nil without a mark.
func (g *Graph) SiteOf(fn *goja.Object) (*Site, goja.Callable) {
	mark := fn.GetSymbol(g.Mark)
	if mark == nil {
		return nil, nil
	}
	thunk, ok := goja.AssertFunction(mark)
	if ok {
		var err error
		if mark, err = thunk(nil, g.vm.ToValue(-1)); err != nil {
			return nil, nil
		}
	}
	site, _ := g.host.Reveal(mark).(*Site)
	return site, thunk
}
