package esm

import (
	"cmp"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Module evaluation follows ECMA-262: imports run before their importers, in source order, and each module runs once. A module
// with top-level await delays only its importers.

// A traversal visits the transitive imports of a module and detects cycles.
type traversal struct {
	graph *Graph
	stack []*Module
	index int
}

// Evaluate runs a module after its imports, once, and then calls then with the error of the module or of an import, or nil. It
// must run in a job; see [Graph.Job].
func (g *Graph) Evaluate(m *Module, then func(error)) {
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
	t := &traversal{graph: g}
	if err := t.visit(m); err != nil {
		for _, open := range t.stack {
			open.finish(err)
		}
		then(err)
		return
	}
	if m.state == evaluated { // without an await, or failed before its first one
		then(m.err)
		return
	}
	m.waiters = append(m.waiters, then)
}

// visit evaluates a module after its imports, as far as possible without waiting.
func (t *traversal) visit(m *Module) error {
	if m.state == evaluating || m.state == evaluated {
		return m.err
	}
	m.state, m.began = evaluating, t.graph.loop.Scope()
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
	if m.pendingAsync > 0 || m.Unit.Async {
		t.graph.turns++
		m.asyncOrder = t.graph.turns
		if m.pendingAsync == 0 {
			t.graph.execute(m)
		}
	} else if err := t.graph.executeSync(m); err != nil {
		return err
	}
	if m.dfsAncestorIndex != m.dfsIndex {
		return nil
	}
	for { // m is the root of its cycle, or in no cycle
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
func (m *Module) finish(err error) {
	m.state, m.err, m.asyncOrder, m.generator, m.awaited = evaluated, err, 0, nil, nil
	waiters := m.waiters
	m.waiters = nil
	for _, then := range waiters {
		then(err)
	}
}

// executeSync runs the code of a module without top-level await.
func (g *Graph) executeSync(m *Module) error {
	_, _, err := g.advance(m, g.next, nil)
	m.generator = nil
	return err
}

// execute runs the code of a module with top-level await up to its first await. Later jobs run the rest, as in [Graph.resume]. An error
// ends the module's evaluation.
func (g *Graph) execute(m *Module) {
	awaited, more := g.resume(m, g.next, nil)
	if !more {
		return
	}
	await := g.vm.ToValue(func(goja.FunctionCall) goja.Value {
		v := awaited
		awaited = nil
		return v
	})
	resume := g.vm.ToValue(func(c goja.FunctionCall) goja.Value {
		method := g.next
		if c.Argument(1).ToBoolean() {
			method = g.throw
		}
		awaited, more = g.resume(m, method, c.Argument(0))
		return g.vm.ToValue(more)
	})
	if g.drive == nil {
		f, err := g.run("", driver)
		if err != nil {
			m.fail(err)
			return
		}
		g.drive, _ = goja.AssertFunction(f)
	}
	if _, err := g.drive(nil, await, resume); err != nil {
		m.fail(err)
	}
}

// driver is the text of an asynchronous function. It awaits the value that awaited returns and passes the result to resume,
// until resume returns false. It awaits as the interpreter does, without functions and promises of its own for each await.
const driver = `(async (awaited, resume) => {
	for (let more = true; more;) {
		let value, failed = false
		try { value = await awaited() } catch (reason) { value = reason; failed = true }
		more = resume(value, failed)
	}
})`

// resume starts a module, or continues it with the result of its await. It returns what the module awaits next. If the module ends or
// fails instead, resume ends its evaluation and returns false.
func (g *Graph) resume(m *Module, method goja.Callable, v goja.Value) (awaited goja.Value, more bool) {
	at := m.awaits
	done, awaited, err := g.advance(m, method, v)
	switch {
	case err != nil && at >= 0 && at == m.awaits: // no other await intervened
		m.fail(&AwaitedError{err, m.Unit.Position(at)})
	case err != nil:
		m.fail(err)
	case done:
		g.fulfil(m)
	default:
		return awaited, true
	}
	return nil, false
}

// An AwaitedError is an error that ended a module after a top-level await, whose position the interpreter's stack lacks.
type AwaitedError struct {
	error
	Place diag.Position // of the await
}

// Unwrap returns the error without the position.
func (a *AwaitedError) Unwrap() error { return a.error }

// advance runs a module to its next await, by resuming its generator with v. It returns the awaited value, done at the
// module's end, or the error that the module throws.
func (g *Graph) advance(m *Module, method goja.Callable, v goja.Value) (done bool, awaited goja.Value, err error) {
	result, err := method(m.generator, v)
	if err != nil {
		return false, nil, err
	}
	o := result.(*goja.Object)
	return o.Get("done").ToBoolean(), o.Get("value"), nil
}

// fulfil ends the evaluation of an asynchronous module and runs the importers that wait for nothing else.
func (g *Graph) fulfil(m *Module) {
	if m.state == evaluated { // failed through another of its imports
		return
	}
	m.finish(nil)
	ready := m.released(nil)
	m.asyncParents = nil
	slices.SortFunc(ready, func(a, b *Module) int { return cmp.Compare(a.asyncOrder, b.asyncOrder) })
	for _, next := range ready {
		switch {
		case next.state == evaluated:
		case next.Unit.Async:
			g.execute(next)
		default:
			if err := g.executeSync(next); err != nil {
				next.fail(err)
			} else {
				next.finish(nil)
				next.asyncParents = nil
			}
		}
	}
}

// released appends to list the modules that become ready to run when m finishes, and returns the result. The importers of m stay
// known, since m may be in the list itself, and fail when it runs.
func (m *Module) released(list []*Module) []*Module {
	for _, p := range m.asyncParents {
		if slices.Contains(list, p) || p.cycleRoot != nil && p.cycleRoot.err != nil {
			continue
		}
		if p.pendingAsync--; p.pendingAsync == 0 {
			list = append(list, p)
			if !p.Unit.Async {
				list = p.released(list)
			}
		}
	}
	return list
}

// fail ends the evaluation of a module and of its waiting importers with an error.
func (m *Module) fail(err error) {
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

// Job runs fn as one job: reactions of promises run after fn, not between its calls of the script. It returns the exception
// that fn throws, or the error of an interrupt.
func (g *Graph) Job(fn func()) error {
	_, err := g.call(nil, g.vm.ToValue(func(goja.FunctionCall) goja.Value {
		fn()
		return goja.Undefined()
	}))
	return err
}

// importing starts import(specifier) in a module and returns its promise.
func (g *Graph) importing(m *Module, specifier, kind string) goja.Value {
	p, resolve, reject := g.vm.NewPromise()
	promise := g.vm.ToValue(p)
	dep, err := g.Load(specifier, kind, m)
	if err == nil {
		err = g.Link(dep)
	}
	if err != nil {
		_ = reject(g.host.Rejection(err)) // cannot fail: the promise is new
		return promise
	}
	m.imported = append(m.imported, pendingImport{promise, dep})
	settled := func() {
		m.imported = slices.DeleteFunc(m.imported, func(i pendingImport) bool { return i.promise == promise })
	}
	begin := func(goja.Value) error {
		return g.Job(func() {
			g.Evaluate(dep, func(err error) {
				settled()
				if err != nil {
					_ = reject(g.host.Rejection(err))
					return
				}
				_ = resolve(g.Namespace(dep))
			})
		})
	}
	// Evaluation starts after the running code, never while a module of the same cycle is being evaluated.
	g.host.When(g.host.Resolved(goja.Undefined()), begin, begin)
	return promise
}

// A pendingImport is an import(…) whose module is not yet evaluated.
type pendingImport struct {
	promise goja.Value
	module  *Module
}

// EvaluateImports evaluates the imports of a prompt line in a job of its own, and then calls then. Without imports it calls then
// immediately.
func (g *Graph) EvaluateImports(m *Module, then func(error)) error {
	if len(m.deps) == 0 {
		then(nil)
		return nil
	}
	return g.Job(func() { g.evaluateFrom(m.deps, then) })
}

func (g *Graph) evaluateFrom(deps []*Module, then func(error)) {
	if len(deps) == 0 {
		then(nil)
		return
	}
	g.Evaluate(deps[0], func(err error) {
		if err != nil {
			then(err)
			return
		}
		g.evaluateFrom(deps[1:], then)
	})
}
