package lang

import (
	"fmt"
	"path/filepath"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/source"
)

// evaluate runs a module behind everything that it imports, once, and calls then when that is done. It is in the style
// of callbacks because modules may await.
func (e *Engine) evaluate(m, parent *module, then func(error)) {
	switch m.state {
	case evaluated:
		then(m.err)
		return
	case evaluating:
		for p := parent; p != nil; p = p.parent {
			if p == m { // a circle: the importer goes first, and sees the exports when they come
				then(nil)
				return
			}
		}
		m.waiters = append(m.waiters, then)
		return
	}
	m.state, m.parent, m.began = evaluating, parent, e.loop.Scope()
	m.waiters = append(m.waiters, then)
	e.evaluateDeps(m, 0)
}

func (e *Engine) evaluateDeps(m *module, from int) {
	if from == len(m.deps) {
		e.execute(m)
		return
	}
	e.evaluate(m.deps[from], m, func(err error) {
		if err != nil {
			m.finish(err)
			return
		}
		e.evaluateDeps(m, from+1)
	})
}

func (m *module) finish(err error) {
	m.state, m.err = evaluated, err
	waiters := m.waiters
	m.waiters = nil
	for _, then := range waiters {
		then(err)
	}
}

// execute runs a module's own code.
func (e *Engine) execute(m *module) {
	v, err := e.callUnit(m)
	if err != nil {
		m.finish(err)
		return
	}
	if !m.unit.Async {
		m.finish(nil)
		return
	}
	e.when(v,
		func(goja.Value) error { m.finish(nil); return nil },
		func(reason goja.Value) error { m.finish(e.exceptionOf(reason)); return nil })
}

// callUnit calls the function that a unit compiles to.
func (e *Engine) callUnit(m *module) (goja.Value, error) {
	v, err := e.vm.RunProgram(m.unit.Program)
	if err != nil {
		return nil, err
	}
	fn, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fmt.Errorf("the program of %s is no function", m.unit.Name)
	}
	this := goja.Undefined()
	if m.path == "" { // a line of the prompt
		this = e.vm.GlobalObject()
	}
	return fn(this, e.unitParameters(m)...)
}

// unitParameters are the functions that rewritten code calls, in the order that the package source gives them.
func (e *Engine) unitParameters(m *module) []goja.Value {
	return []goja.Value{
		e.vm.ToValue(e.mark), e.vm.ToValue(e.markAll),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.scope, _ = goja.AssertFunction(c.Argument(0))
			return goja.Undefined()
		}),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			e.link(m, c.Argument(0))
			return goja.Undefined()
		}),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.export(c.Argument(0), c.Argument(1))
			return goja.Undefined()
		}),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value { return m.update(c) }),
		e.dynamicImport(m), e.vm.ToValue(e.step),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			m.awaits = int(c.Argument(1).ToInteger())
			return c.Argument(0)
		}),
	}
}

// mark (function, mark) notes where a function was made. It runs for every function that a script makes: setting a
// symbol costs half of what defining a hidden property does.
func (e *Engine) mark(c goja.FunctionCall) goja.Value {
	if o, ok := c.Argument(0).(*goja.Object); ok {
		_ = o.SetSymbol(e.markSymbol, c.Argument(1))
	}
	return c.Argument(0)
}

// markAll (object, key, mark, …) notes where the functions of an object literal were made.
func (e *Engine) markAll(c goja.FunctionCall) goja.Value {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return c.Argument(0)
	}
	for i := 1; i+1 < len(c.Arguments); i += 2 {
		if f, ok := o.Get(c.Arguments[i].String()).(*goja.Object); ok {
			_ = f.SetSymbol(e.markSymbol, c.Arguments[i+1])
		}
	}
	return o
}

// link gives a module's imports their values, now and whenever they change.
func (e *Engine) link(m *module, setter goja.Value) {
	set, ok := goja.AssertFunction(setter)
	if !ok {
		return
	}
	for i, l := range m.unit.Links {
		c, err := e.exportOf(m.deps[l.Import], l.Name, nil)
		if err != nil {
			e.Throw(err)
		}
		index := e.vm.ToValue(i)
		c.watch(func(v goja.Value) {
			if _, err := set(nil, index, v); err != nil {
				e.Throw(err)
			}
		})
	}
}

func (m *module) export(index, v goja.Value) {
	if c := m.cells[m.unit.Exports[index.ToInteger()].Name]; c != nil {
		c.set(v)
	}
}

// update (result, index, thunk, …) exports what the thunks give and passes the result on.
func (m *module) update(c goja.FunctionCall) goja.Value {
	for i := 1; i+1 < len(c.Arguments); i += 2 {
		if thunk, ok := goja.AssertFunction(c.Arguments[i+1]); ok {
			if v, err := thunk(nil); err == nil {
				m.export(c.Arguments[i], v)
			}
		}
	}
	return c.Argument(0)
}

// dynamicImport makes the function behind import(…) in one module, with import.meta.
func (e *Engine) dynamicImport(m *module) goja.Value {
	f := e.Func("import", func(c goja.FunctionCall) (goja.Value, error) {
		kind := ""
		if o, ok := c.Argument(1).(*goja.Object); ok {
			if with, ok := o.Get("with").(*goja.Object); ok && with.Get("type") != nil {
				kind = with.Get("type").String()
			}
		}
		p, resolve, reject := e.vm.NewPromise()
		dep, err := e.load(c.Argument(0).String(), kind, m)
		if err != nil {
			return e.vm.ToValue(p), reject(e.ErrorValue(err))
		}
		e.evaluate(dep, nil, func(err error) {
			if err != nil {
				_ = reject(e.ErrorValue(err))
				return
			}
			_ = resolve(e.namespaceOf(dep))
		})
		return e.vm.ToValue(p), nil
	})
	_ = e.Lazy(f, "meta", func() (goja.Value, error) {
		meta := e.vm.NewObject()
		path := m.path
		if path == "" {
			path = filepath.Join(e.opts.Dir, m.unit.Name)
		}
		set := func(name, value string) { _ = meta.Set(name, value) }
		set("url", "file://"+filepath.ToSlash(path))
		set("filename", path)
		set("dirname", filepath.Dir(path))
		_ = meta.Set("main", m.parent == nil)
		return meta, nil
	})
	return f
}

// promptUnit compiles a line of the prompt.
func (e *Engine) promptUnit(name, text string) (*module, error) {
	m, err := e.compile("", name, text, source.Options{Kind: source.Prompt})
	if err != nil {
		return nil, err
	}
	if err := e.loadImports(m); err != nil {
		return nil, err
	}
	e.noteDeclarations(m.unit)
	return m, nil
}
