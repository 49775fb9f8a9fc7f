package lang

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/source"
)

// callUnit calls the compiled function of a unit: it runs a prompt line, or creates the generator of a module.
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
	if m.path == "" { // a prompt line
		this = e.vm.GlobalObject()
	}
	return fn(this, e.unitParameters(m)...)
}

// boundUnit returns the function of a prompt line, bound to its parameters.
func (e *Engine) boundUnit(m *module) (goja.Value, error) {
	fn, err := e.vm.RunProgram(m.unit.Program)
	if err != nil {
		return nil, err
	}
	return e.intrinsics.bind(fn, append([]goja.Value{e.vm.GlobalObject()}, e.unitParameters(m)...)...)
}

// unitParameters returns the functions that rewritten code calls, in the order of package source's parameters.
func (e *Engine) unitParameters(m *module) []goja.Value {
	lowered := goja.Undefined()
	if m.unit.Lowered {
		lowered = e.loweredRuntime()
	}
	return []goja.Value{
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value { return e.mark(m, c) }),
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value { return e.markAll(m, c) }),
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
			m.awaits, m.awaited = int(c.Argument(1).ToInteger()), c.Argument(0)
			if err := e.ring(m); err != nil {
				e.Throw(err)
			}
			return c.Argument(0)
		}),
		e.esm.unset,
		e.vm.ToValue(func(c goja.FunctionCall) goja.Value { panic(e.tooEarly(m, int(c.Argument(0).ToInteger()))) }),
		e.vm.ToValue(func(goja.FunctionCall) goja.Value {
			e.Throw(&diag.Diagnostic{ID: "exception", Name: "ReferenceError", Message: "arguments is not defined",
				Hint: "a module has no arguments; those of the script are process.argv, or args of module 'offload'"})
			return nil
		}),
		e.intrinsics.power, e.intrinsics.powerOf, e.intrinsics.shift, e.intrinsics.times, e.intrinsics.spread, e.intrinsics.evalText,
		lowered,
	}
}

// loweredRuntime returns the functions that lowered code calls.
func (e *Engine) loweredRuntime() goja.Value {
	if e.esm.lowered == nil {
		runtime, generators, err := desugar.New(e.vm, e.intrinsics.lowered, e.suppressedError)
		if err == nil {
			err = e.esm.evals.asyncGeneratorFunction(generators)
		}
		if err != nil {
			e.Throw(err)
		}
		e.esm.lowered = runtime
	}
	return e.esm.lowered
}

// suppressedError returns the error of a disposal that failed after an earlier error.
func (e *Engine) suppressedError(err, earlier goja.Value) goja.Value {
	if class, ok := e.vm.GlobalObject().Get("SuppressedError").(*goja.Object); ok {
		if v, failed := e.vm.New(class, err, earlier, e.vm.ToValue("An error was suppressed during disposal")); failed == nil {
			return v
		}
	}
	v := e.vm.NewGoError(errors.New("an error was suppressed during disposal"))
	_ = v.Set("name", "SuppressedError")
	_ = v.Set("error", err)
	_ = v.Set("suppressed", earlier)
	return v
}

// tooEarly returns the error for the use of an import before its declaration has run.
func (e *Engine) tooEarly(m *module, index int) goja.Value {
	l := m.unit.Links[index]
	return e.ErrorValue(uninitialized(l.Local, m.unit.Imports[l.Import].From))
}

func uninitialized(name, from string) error {
	return &diag.Diagnostic{ID: "exception", Name: "ReferenceError", Message: fmt.Sprintf("Cannot access '%s' before initialization", name),
		Hint: fmt.Sprintf("%q is part of a ring of imports, and its code comes later: use the name in functions that are called later, or move what both need into a file of its own", from)}
}

// mark implements mark(function, index), which records the site of a function's creation. It runs for every function creation;
// setting a symbol costs half of defining a hidden property. With an index alone it returns that site.
func (e *Engine) mark(m *module, c goja.FunctionCall) goja.Value {
	if len(c.Arguments) == 1 {
		return e.siteValue(m, c.Argument(0))
	}
	if o, ok := c.Argument(0).(*goja.Object); ok {
		_ = o.SetSymbol(e.esm.markSymbol, e.siteValue(m, c.Argument(1)))
	}
	return c.Argument(0)
}

// markAll implements markAll(object, key, index, …), which records the sites of the functions in an object literal.
func (e *Engine) markAll(m *module, c goja.FunctionCall) goja.Value {
	o, ok := c.Argument(0).(*goja.Object)
	if !ok {
		return c.Argument(0)
	}
	for i := 1; i+1 < len(c.Arguments); i += 2 {
		if f, ok := o.Get(c.Arguments[i].String()).(*goja.Object); ok {
			_ = f.SetSymbol(e.esm.markSymbol, e.siteValue(m, c.Arguments[i+1]))
		}
	}
	return o
}

// siteValue returns the mark of a function: its site, which functions keep alive, or the thunk that returns it.
func (e *Engine) siteValue(m *module, mark goja.Value) goja.Value {
	if _, isThunk := mark.(*goja.Object); isThunk {
		return mark
	}
	n := mark.ToInteger()
	if n < 0 || n >= int64(len(m.sites)) {
		return goja.Undefined()
	}
	if m.sites[n] == nil {
		m.sites[n] = e.hide(&siteRecord{m.unit.Sites[n], m})
	}
	return m.sites[n]
}

// link sets the values of a module's imports now and after each change.
func (e *Engine) link(m *module, setter goja.Value) {
	set, ok := goja.AssertFunction(setter)
	if !ok {
		return
	}
	m.setImport = func(i int, v goja.Value) {
		if _, err := set(nil, e.vm.ToValue(i), v); err != nil {
			e.Throw(err)
		}
	}
	for i, l := range m.unit.Links {
		c, err := e.exportOf(m.deps[l.Import], l.Name, nil)
		if err != nil {
			e.Throw(err)
		}
		if m.path == "" { // a global outlives the prompt line that imports it
			e.esm.imported[l.Local] = m
		}
		c.importedBy(m, i)
	}
}

func (m *module) export(index, v goja.Value) {
	if c := m.cells[m.unit.Exports[index.ToInteger()].Name]; c != nil {
		c.set(v)
	}
}

// update implements update(result, index, thunk, …), which exports the thunks' values and returns the result.
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

// dynamicImport returns a module's function for import(…), with import.meta.
func (e *Engine) dynamicImport(m *module) goja.Value {
	f := e.Func("import", e.Promised(func(c goja.FunctionCall) (goja.Value, error) {
		kind := ""
		if o, ok := c.Argument(1).(*goja.Object); ok {
			if with, ok := o.Get("with").(*goja.Object); ok && with.Get("type") != nil {
				kind = with.Get("type").String()
			}
		}
		specifier, err := e.textValue(c.Argument(0))
		if err != nil {
			return nil, err
		}
		return e.importing(m, specifier.String(), kind), nil
	}))
	_ = e.Lazy(f, "meta", func() (goja.Value, error) {
		meta := e.vm.NewObject()
		path := m.path
		if path == "" {
			path = filepath.Join(e.opts.Dir, m.unit.Name)
		}
		set := func(name, value string) { _ = meta.Set(name, value) }
		set("url", fileURL(path))
		set("filename", path)
		set("dirname", filepath.Dir(path))
		_ = meta.Set("main", m.main)
		return meta, nil
	})
	return f
}

// textValue converts a value to text as the language does, which may run and throw.
func (e *Engine) textValue(v goja.Value) (goja.Value, error) {
	if _, isObject := v.(*goja.Object); isObject {
		return e.intrinsics.text(goja.Undefined(), v)
	}
	if _, symbol := v.(*goja.Symbol); symbol {
		return nil, &diag.Diagnostic{ID: "exception", Name: "TypeError", Message: "Cannot convert a Symbol value to a string"}
	}
	return v.ToString(), nil
}

// promptUnit compiles a prompt line.
func (e *Engine) promptUnit(name, text string) (*module, error) {
	m, err := e.compile("", name, text, true, source.Options{Kind: source.Prompt})
	if err != nil {
		return nil, err
	}
	if err := e.loadImports(m); err != nil {
		return nil, err
	}
	if err := e.connect(m); err != nil {
		return nil, err
	}
	if err := e.checkConstants(m.unit); err != nil {
		return nil, err
	}
	e.noteDeclarations(m.unit)
	return m, nil
}

// checkConstants returns an error if a prompt line assigns a constant, which is a global that the interpreter would change.
func (e *Engine) checkConstants(u *source.Unit) error {
	for _, w := range u.Writes {
		if !w.Own && e.esm.promptCells[w.Name].kind != source.KindConst {
			continue
		}
		d := &diag.Diagnostic{ID: "exception", Name: "TypeError", Message: w.Name + " is a constant and cannot be assigned",
			Hint: fmt.Sprintf("declare it again, with let %s = … if it is to change", w.Name)}
		e.place(d, u.Position(w.Offset), 1)
		return d
	}
	return nil
}
