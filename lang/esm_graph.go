package lang

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Module evaluation follows ECMA-262: imports run before their importers, in source order, and each module runs once. A module
// with top-level await delays only its importers.

// A traversal visits the transitive imports of a module and detects cycles.
type traversal struct {
	engine *Engine
	stack  []*module
	index  int
}

// evaluate runs a module after its imports, once, and then calls then. It must run in a job; see [Engine.job].
func (e *Engine) evaluate(m *module, then func(error)) {
	if m.state == evaluating || m.state == evaluated {
		if m.cycleRoot != nil {
			m = m.cycleRoot
		}
		if m.state == evaluated {
			then(m.err)
		} else {
			m.waiters = append(m.waiters, then)
		}
		return
	}
	t := &traversal{engine: e}
	if err := t.visit(m); err != nil {
		for _, open := range t.stack {
			open.finish(err)
		}
		then(err)
		return
	}
	if m.state == evaluated { // may have failed before its first await
		then(m.err)
		return
	}
	m.waiters = append(m.waiters, then)
}

// visit evaluates a module after its imports, as far as possible without waiting.
func (t *traversal) visit(m *module) error {
	if m.state == evaluating || m.state == evaluated {
		return m.err
	}
	m.state, m.began = evaluating, t.engine.loop.Scope()
	m.dfsIndex, m.dfsAncestorIndex = t.index, t.index
	t.index++
	t.stack = append(t.stack, m)
	for _, dep := range m.deps {
		if err := t.visit(dep); err != nil {
			return err
		}
		if slices.Contains(t.stack, dep) {
			m.dfsAncestorIndex = min(m.dfsAncestorIndex, dep.dfsAncestorIndex)
		} else if dep.cycleRoot != nil {
			dep = dep.cycleRoot
			if dep.err != nil {
				return dep.err
			}
		}
		if dep.asyncOrder > 0 {
			m.pendingAsync++
			dep.asyncParents = append(dep.asyncParents, m)
		}
	}
	if m.pendingAsync > 0 || m.unit.Async {
		t.engine.esm.turns++
		m.asyncOrder = t.engine.esm.turns
		if m.pendingAsync == 0 {
			t.engine.execute(m)
		}
	} else if err := t.engine.executeSync(m); err != nil {
		return err
	}
	if m.dfsAncestorIndex != m.dfsIndex {
		return nil
	}
	for { // m is the root of a cycle, or has none
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		last.cycleRoot = m
		if last.asyncOrder == 0 {
			last.state = evaluated
		}
		if last == m {
			return nil
		}
	}
}

// finish ends a module's evaluation and calls the waiting functions.
func (m *module) finish(err error) {
	m.state, m.err, m.asyncOrder, m.generator, m.awaited = evaluated, err, 0, nil, nil
	waiters := m.waiters
	m.waiters = nil
	for _, then := range waiters {
		then(err)
	}
}

// executeSync runs the code of a module without top-level await.
func (e *Engine) executeSync(m *module) error {
	_, _, err := e.advance(m, e.intrinsics.next, nil)
	m.generator = nil
	return err
}

// execute runs the code of a module that has top-level await or asynchronous imports.
func (e *Engine) execute(m *module) { e.resume(m, e.intrinsics.next, nil) }

// resume continues a module with the result of its await.
func (e *Engine) resume(m *module, method goja.Callable, v goja.Value) {
	at := m.awaits
	done, awaited, err := e.advance(m, method, v)
	switch {
	case err != nil && at >= 0 && at == m.awaits: // no other await intervened
		m.fail(&awaitedError{err, m.unit.Position(at)})
	case err != nil:
		m.fail(err)
	case done:
		e.fulfil(m)
	default:
		e.when(e.promiseOf(awaited),
			func(v goja.Value) error { return e.job(func() { e.resume(m, e.intrinsics.next, v) }) },
			func(reason goja.Value) error { return e.job(func() { e.resume(m, e.intrinsics.throw, reason) }) })
	}
}

// An awaitedError is an error that ended a module after a top-level await, whose position the interpreter's stack lacks.
type awaitedError struct {
	error
	place diag.Position
}

func (a *awaitedError) Unwrap() error { return a.error }

// diagnoseAwaited adds the position of the await below the calls that led to an error, or in their place.
func (e *Engine) diagnoseAwaited(a *awaitedError) *diag.Diagnostic {
	d := *e.diagnosedAt(a.error, a.place)
	if !slices.ContainsFunc(d.Stack, func(f diag.Frame) bool { return f.Position.File == a.place.File && f.Function == "" }) {
		d.Stack = append(slices.Clip(d.Stack), diag.Frame{Position: a.place})
	}
	return &d
}

// advance runs a module to its next await.
func (e *Engine) advance(m *module, method goja.Callable, v goja.Value) (done bool, awaited goja.Value, err error) {
	result, err := method(m.generator, v)
	if err != nil {
		return false, nil, err
	}
	o := result.(*goja.Object)
	return o.Get("done").ToBoolean(), o.Get("value"), nil
}

func (e *Engine) promiseOf(v goja.Value) goja.Value {
	if _, isPromise := exportPromise(v); isPromise {
		return v
	}
	return e.Resolved(v)
}

// fulfil ends the evaluation of an asynchronous module and runs the importers that wait for nothing else.
func (e *Engine) fulfil(m *module) {
	if m.state == evaluated { // failed through another of its imports
		return
	}
	m.finish(nil)
	ready := m.released(nil)
	slices.SortFunc(ready, func(a, b *module) int { return cmp.Compare(a.asyncOrder, b.asyncOrder) })
	for _, next := range ready {
		switch {
		case next.state == evaluated:
		case next.unit.Async:
			e.execute(next)
		default:
			if err := e.executeSync(next); err != nil {
				next.fail(err)
			} else {
				next.finish(nil)
			}
		}
	}
}

// released appends the modules that became ready to run when m finished.
func (m *module) released(list []*module) []*module {
	for _, p := range m.asyncParents {
		if slices.Contains(list, p) || p.cycleRoot != nil && p.cycleRoot.err != nil {
			continue
		}
		if p.pendingAsync--; p.pendingAsync == 0 {
			list = append(list, p)
			if !p.unit.Async {
				list = p.released(list)
			}
		}
	}
	m.asyncParents = nil
	return list
}

// fail ends the evaluation of a module and of its waiting importers with an error.
func (m *module) fail(err error) {
	if m.state == evaluated {
		return
	}
	parents := m.asyncParents
	m.asyncParents = nil
	m.finish(err)
	for _, p := range parents {
		p.fail(err)
	}
}

// job runs fn as one job: reactions of promises run after fn, not between its calls of the script. It returns an interrupt's
// error or the value of a panic of fn.
func (e *Engine) job(fn func()) error {
	_, err := e.intrinsics.call(nil, e.vm.ToValue(func(goja.FunctionCall) goja.Value {
		fn()
		return goja.Undefined()
	}))
	return err
}

// connect links a module and its transitive imports. It resolves the imports and creates each module's functions, so that
// modules of a cycle can call them before their code has run.
func (e *Engine) connect(m *module) error {
	return (&traversal{engine: e}).connect(m)
}

func (t *traversal) connect(m *module) error {
	if m.unit == nil || m.connected {
		return nil
	}
	m.connected = true
	m.dfsIndex, m.dfsAncestorIndex = t.index, t.index
	t.index++
	t.stack = append(t.stack, m)
	for _, dep := range m.deps {
		if err := t.connect(dep); err != nil {
			return err
		}
		if slices.Contains(t.stack, dep) {
			m.dfsAncestorIndex = min(m.dfsAncestorIndex, dep.dfsAncestorIndex)
		}
	}
	if m.dfsAncestorIndex != m.dfsIndex {
		return nil
	}
	at := slices.Index(t.stack, m)
	ring := t.stack[at:]
	t.stack = t.stack[:at]
	for _, member := range ring {
		if err := t.engine.checkLinks(member); err != nil {
			t.engine.forget(member)
			return err
		}
		if len(ring) > 1 || slices.Contains(member.deps, member) {
			if err := t.engine.checkUses(member); err != nil {
				return err
			}
		}
	}
	for _, member := range ring {
		if member.path == "" { // a prompt line
			continue
		}
		if err := t.engine.instantiate(member); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks reports imports that do not exist.
func (e *Engine) checkLinks(m *module) error {
	for _, l := range m.unit.Links {
		if _, err := e.exportOf(m.deps[l.Import], l.Name, nil); err != nil {
			return e.linkError(m, l.Import, l.Offset, err)
		}
	}
	for _, x := range m.unit.Exports {
		if x.Import >= 0 && x.ImportName != "*" {
			if _, err := e.exportOf(m, x.Name, nil); err != nil {
				return e.linkError(m, x.Import, x.Offset, err)
			}
		}
	}
	return nil
}

// linkError ends a module with the SyntaxError of an import or re-export that does not exist.
func (e *Engine) linkError(m *module, from, offset int, err error) error {
	located := *e.Diagnose(e.importError(m, offset, 1, fmt.Errorf("%q %w", m.unit.Imports[from].From, err)))
	located.Name = "SyntaxError"
	m.err, m.state = &located, evaluated
	return &located
}

// checkUses recompiles a module of a cycle, so that reading an uninitialized import is an error.
func (e *Engine) checkUses(m *module) error {
	o := e.sourceOptions(m.unit.Name)
	o.CheckImports = true
	unit, err := e.opts.Cache.compile(m.unit.Name, m.unit.Original, o)
	if err != nil {
		return err
	}
	m.adopt(unit)
	return nil
}

// instantiate creates a module's functions and links its imports, without running other code of the module.
func (e *Engine) instantiate(m *module) error {
	return e.job(func() {
		v, err := e.callUnit(m)
		if err == nil {
			m.generator = v
			_, _, err = e.advance(m, e.intrinsics.next, nil)
		}
		if err != nil {
			e.Throw(err)
		}
	})
}

// importing starts import(specifier) in a module and returns its promise.
func (e *Engine) importing(m *module, specifier, kind string) goja.Value {
	p, resolve, reject := e.vm.NewPromise()
	promise := e.vm.ToValue(p)
	dep, err := e.load(specifier, kind, m)
	if err == nil {
		err = e.connect(dep)
	}
	if err != nil {
		_ = reject(e.rejection(err)) // cannot fail: the promise is new
		return promise
	}
	m.imported = append(m.imported, pendingImport{promise, dep})
	settled := func() {
		m.imported = slices.DeleteFunc(m.imported, func(i pendingImport) bool { return i.promise == promise })
	}
	begin := func(goja.Value) error {
		return e.job(func() {
			e.evaluate(dep, func(err error) {
				settled()
				if err != nil {
					_ = reject(e.rejection(err))
					return
				}
				_ = resolve(e.namespaceOf(dep))
			})
		})
	}
	// Evaluation starts after the running code, never while a module of the same cycle is being evaluated.
	e.when(e.Resolved(goja.Undefined()), begin, begin)
	return promise
}

// A pendingImport is an import(…) whose module is not yet evaluated.
type pendingImport struct {
	promise goja.Value
	module  *module
}

// ring returns an error if m would wait for itself: a top-level await on an import of a module that waits for m. ECMA-262
// allows this deadlock.
func (e *Engine) ring(m *module) error {
	if way := m.wayTo(m, false, nil, map[*module]bool{}); way != nil {
		return ringError(way)
	}
	return nil
}

func ringError(way []*module) *diag.Diagnostic {
	names := make([]string, len(way))
	for i, w := range way {
		names[i] = filepath.Base(w.unit.Name)
	}
	d := diag.New("import-ring", "this await would never end: %s wait for each other", strings.Join(names, " → "))
	if len(names) == 2 {
		d.Message = fmt.Sprintf("this await would never end: %s waits for itself", names[0])
	}
	d.Name = "Error"
	return d.WithHint("import without await where the module is needed, as in import('./file.js').then(…), or move what both need into a file of its own")
}

// anyRing returns a diagnostic if a cycle of imports may be the reason why the running call deadlocks. The promise of an import
// may be hidden behind other awaited promises.
func (e *Engine) anyRing() *diag.Diagnostic {
	for _, key := range slices.Sorted(maps.Keys(e.esm.files)) {
		if m := e.esm.files[key]; m.state == evaluating {
			if way := m.wayTo(m, true, nil, map[*module]bool{}); way != nil {
				return ringError(way)
			}
		}
	}
	return nil
}

// wayTo returns the path of awaited modules from m to a module, both included, or nil.
func (m *module) wayTo(to *module, maybe bool, way []*module, visited map[*module]bool) []*module {
	way = append(way, m)
	next := func(dep *module) []*module {
		if dep == to {
			return append(way, dep)
		}
		if dep.unit == nil || dep.state == evaluated || visited[dep] {
			return nil
		}
		visited[dep] = true
		return dep.wayTo(to, maybe, way, visited)
	}
	for _, i := range m.imported {
		if maybe || m.awaited != nil && i.promise.SameAs(m.awaited) {
			if found := next(i.module); found != nil {
				return found
			}
		}
	}
	if m != to { // the static imports of m were resolved before its code ran
		for _, dep := range m.deps {
			if found := next(dep); found != nil {
				return found
			}
		}
	}
	return nil
}
