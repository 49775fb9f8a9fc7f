package lang

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/source"
)

// modules holds the modules of the engine and the declarations of the prompt.
type modules struct {
	graph       *esm.Graph
	builtins    map[string]*builtin
	promptCells map[string]promptBinding
	lowered     *goja.Object // the functions that lowered code calls, once needed
	evals       *textCompiler
	script      string      // file of the last RunFile
	entry       *esm.Module // module that the running call evaluates, or nil
	loaded      atomic.Bool // see EndLoading
}

// moduleHost implements [esm.Host].
type moduleHost struct{ *Engine }

func (h moduleHost) Rejection(err error) goja.Value { return h.rejection(err) }

func (h moduleHost) Place(d *diag.Diagnostic, p diag.Position, width int) { h.place(d, p, width) }

func (h moduleHost) Cut(err error) bool {
	_, cut := ended(err)
	return cut
}

func (h moduleHost) When(promise goja.Value, fulfilled, rejected func(goja.Value) error) {
	h.when(promise, fulfilled, rejected)
}

func (h moduleHost) Promising(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object {
	return h.Func(name, h.Promised(fn))
}

func (h moduleHost) Text(v goja.Value) (goja.Value, error) { return h.textValue(v) }

func (h moduleHost) Hide(v any) goja.Value { return h.hide(v) }

func (h moduleHost) Reveal(v goja.Value) any { return hidden(v) }

func (h moduleHost) Attach(o *goja.Object, v any) {
	_ = o.DefineDataPropertySymbol(h.objects.hiddenSymbol, h.hide(v), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
}

func (h moduleHost) Attached(o *goja.Object) any { return h.reveal(o, h.objects.hiddenSymbol) }

func (h moduleHost) Implementations() []goja.Value { return h.intrinsics.list() }

func (h moduleHost) Step(c goja.FunctionCall) goja.Value { return h.step(c) }

func (h moduleHost) Stat(path string) (fs.FileInfo, error) { return h.opts.Disk().Stat(path) }

func (h moduleHost) ReadModule(name, path string) ([]byte, error) {
	data, err := h.readFile(h.Running(), path)
	if err != nil {
		return nil, FileError("import", name, err)
	}
	return data, nil
}

func (h moduleHost) Compile(name, text string, isCall bool, o source.Options) (*source.Unit, error) {
	h.report.sources.Set(name, text, isCall)
	h.builtins.Want(text)
	if _, err := h.intrinsics.operators.Want(text); err != nil {
		return nil, err
	}
	return UntilCallEnds(h.Engine, func() (*source.Unit, error) { return h.opts.Cache.Compile(name, text, o) })
}

func (h moduleHost) Source(name string) (text func() string, known bool) {
	b := h.esm.builtins[name]
	if b == nil {
		return nil, false
	}
	return b.Source, true
}

func (h moduleHost) UnknownModule(name string) error { return h.unknownModule(name) }

func (h moduleHost) Elsewhere(exports *goja.Object, name string) string {
	return h.explainer.Elsewhere(exports, name)
}

// explainedHost implements [explain.Known].
type explainedHost struct{ *Engine }

func (h explainedHost) Imports(file, name string) bool { return h.esm.graph.Imports(file, name) }

func (h explainedHost) Module(name string) (exports *goja.Object, declared func() []string, known bool) {
	b := h.esm.builtins[name]
	if b == nil {
		return nil, nil, false
	}
	return b.exports, b.Names, true
}

// Lowered returns the functions that code lowered by package desugar calls. It makes them at the first call, and throws if that
// fails.
func (h moduleHost) Lowered() goja.Value {
	if h.esm.lowered == nil {
		runtime, generators, err := desugar.New(h.vm, h.intrinsics.lowered, func(err, earlier goja.Value) goja.Value { return suppressedError(h.vm, err, earlier) })
		if err == nil {
			err = h.esm.evals.asyncGeneratorFunction(generators)
		}
		if err != nil {
			h.Throw(err)
		}
		h.esm.lowered = runtime
	}
	return h.esm.lowered
}

// suppressedError returns a SuppressedError for the error of a disposal that failed after an earlier error.
func suppressedError(vm *goja.Runtime, err, earlier goja.Value) goja.Value {
	if class, ok := vm.GlobalObject().Get("SuppressedError").(*goja.Object); ok {
		if v, failed := vm.New(class, err, earlier, vm.ToValue("An error was suppressed during disposal")); failed == nil {
			return v
		}
	}
	v := vm.NewGoError(errors.New("an error was suppressed during disposal"))
	_ = v.Set("name", "SuppressedError")
	_ = v.Set("error", err)
	_ = v.Set("suppressed", earlier)
	return v
}

// promptUnit compiles a prompt line and records its declarations. It returns an error if the line assigns a constant.
func (e *Engine) promptUnit(name, text string) (*esm.Module, error) {
	m, err := e.esm.graph.LoadLine(name, text)
	if err != nil {
		return nil, err
	}
	if err := e.checkConstants(m.Unit); err != nil {
		return nil, err
	}
	e.noteDeclarations(m.Unit)
	return m, nil
}

// checkConstants returns an error if a prompt line assigns a constant, its own or one of an earlier line. The constants of a prompt are
// globals, which the interpreter would change.
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

// AsLoaded returns the result of do, an operation on files. key is the operation's name, a space and a path. Before
// [Engine.EndLoading], engines that share a cache call do once for each key. They all get its result, also an error, and must not
// change it. If the engine's call ends during do, the result is not kept. do must not call AsLoaded, since the cache is locked.
// Without a cache, and after EndLoading, each call calls do.
func AsLoaded[T any](e *Engine, key string, do func() (T, error)) (T, error) {
	if e.opts.Cache == nil || e.esm.loaded.Load() {
		return do()
	}
	return esm.First(e.opts.Cache, key, do, func() bool { return e.Running().Err() == nil }) // a call that has ended may have cut it short
}

// EndLoading ends the engine's reuse of what engines with the same cache read of files. Imported modules remain as first read.
func (e *Engine) EndLoading() { e.esm.loaded.Store(true) }
