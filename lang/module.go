package lang

import (
	"fmt"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
)

// Module is a builtin module, which scripts import by a bare name such as 'fs'.
type Module struct {
	Name string
	// Instantiate creates the module for one engine, on the loop's goroutine, when a script first uses it. The exports are the
	// object's own enumerable properties. The default export is the property "default", or the object itself if that is
	// missing.
	Instantiate func(*Engine) (*goja.Object, error)
	// Source returns the module's code, as an alternative to Instantiate. Its diagnostics name the file Name.js. It may import
	// only builtin modules and must not await.
	Source func() string
	// Globals are the exports that are also global variables in every script.
	Globals []string
	// PromptGlobals are the exports that are also global variables at a prompt. The module's own name stands for its default
	// export.
	PromptGlobals []string
	// Names returns the exports known before instantiation, for hints about names that a script uses without an import.
	Names func() []string
}

// Importable reports whether scripts can import the module; otherwise it only documents names.
func (m *Module) Importable() bool { return m.Instantiate != nil || m.Source != nil }

// A builtin is a Module in one engine.
type builtin struct {
	Module
	exports *goja.Object
	err     error
	busy    bool
}

func (e *Engine) addModule(m Module) error {
	if m.Name == "" || (m.Instantiate == nil) == (m.Source == nil) {
		return diag.New("invalid-argument", "a module needs a name, and a function Instantiate or a source")
	}
	if e.esm.builtins[m.Name] != nil {
		return diag.New("invalid-argument", "two modules are named %q", m.Name)
	}
	e.esm.builtins[m.Name] = &builtin{Module: m}
	globals := m.Globals
	if e.opts.Prompt {
		globals = append(slices.Clip(globals), m.PromptGlobals...)
	}
	for _, name := range globals {
		if err := e.Lazy(e.vm.GlobalObject(), name, func() (goja.Value, error) { return e.builtinExport(m.Name, name) }); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) builtinExport(module, name string) (goja.Value, error) {
	exports, err := e.Require(module)
	if err != nil {
		return nil, err
	}
	if v := exports.Get(name); v != nil {
		return v, nil
	}
	if name == module {
		return exports.Get("default"), nil
	}
	return nil, fmt.Errorf("module %q has no export %q", module, name)
}

// Require returns the exports of a builtin module. It instantiates the module at the first call; if that fails, later calls
// return the same error. An unknown name is an error, and so is a module that requires itself while it is instantiated. Require must be
// called on the loop's goroutine.
func (e *Engine) Require(name string) (*goja.Object, error) {
	b := e.esm.builtins[name]
	if b == nil {
		return nil, e.unknownModule(name)
	}
	if b.exports != nil || b.err != nil {
		return b.exports, b.err
	}
	if b.busy {
		return nil, fmt.Errorf("module %q needs itself", name)
	}
	b.busy = true
	if b.Source != nil {
		b.exports, b.err = e.evaluateBuiltin(b)
	} else {
		b.exports, b.err = b.Instantiate(e)
	}
	b.busy = false
	if b.err == nil && b.Source == nil && b.exports.Get("default") == nil { // the object is also the namespace that import() returns
		b.err = b.exports.DefineDataProperty("default", b.exports, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
	if b.err != nil {
		b.err = fmt.Errorf("module %q: %w", name, b.err)
	}
	return b.exports, b.err
}

// evaluateBuiltin runs the source of a module and returns its namespace.
func (e *Engine) evaluateBuiltin(b *builtin) (*goja.Object, error) {
	m, err := e.esm.graph.LoadBuiltin(b.Name)
	if err != nil {
		return nil, err
	}
	if err := e.esm.graph.Link(m); err != nil {
		return nil, err
	}
	var failed error
	if err := e.esm.graph.Job(func() { e.esm.graph.Evaluate(m, func(err error) { failed = err }) }); err != nil {
		return nil, err
	}
	return e.esm.graph.Namespace(m), failed
}

// Stand makes exports the builtin module of a name. It may replace a module that no script has used yet; for a used one it
// returns an error. It defines the property default of exports if it is missing. Stand must be called on the loop's goroutine.
func (e *Engine) Stand(name string, exports *goja.Object) error {
	if b := e.esm.builtins[name]; b != nil && (b.exports != nil || b.err != nil || b.busy) {
		return diag.New("invalid-argument", "the module %q is in use", name).WithHint("replace it before a script imports it")
	}
	b := &builtin{Module: Module{Name: name}, exports: exports}
	if exports.Get("default") == nil {
		if err := exports.DefineDataProperty("default", exports, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
			return err
		}
	}
	e.esm.builtins[name] = b
	return nil
}

// ModuleNames returns the sorted names of the builtin modules.
func (e *Engine) ModuleNames() []string {
	names := make([]string, 0, len(e.esm.builtins))
	for name := range e.esm.builtins {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (e *Engine) unknownModule(name string) error {
	d := diag.New("not-found", "there is no module %q", name)
	if hint := e.explainer.Module(name); hint != "" {
		return d.WithHint("%s", hint)
	}
	if near := spelling.Nearest(name, e.ModuleNames()); near != "" {
		return d.WithHint("did you mean %q? a file needs a path that begins with ./ or ../ or /", near)
	}
	return d.WithHint("a file needs a path that begins with ./ or ../ or /; bundle a package of npm into a file first")
}

// Lazy defines an enumerable property whose value is computed at the first read. An error is thrown, and the next read computes
// again. An assignment replaces the property.
func (e *Engine) Lazy(o *goja.Object, name string, value func() (goja.Value, error)) error {
	define := func(v goja.Value) {
		_ = o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
	}
	get := e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		return e.guarded(func() (goja.Value, error) {
			v, err := value()
			if err == nil {
				define(v)
			}
			return v, err
		})
	})
	set := e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		define(c.Argument(0))
		return goja.Undefined()
	})
	return o.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_TRUE)
}
