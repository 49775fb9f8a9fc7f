package lang

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/loop"
)

// Run runs a text as a module and returns its exports. It returns at the first failure, or when no timer is set and no
// operation is pending, including work of modules (see [Engine.OnQuiet]). name appears in error positions; relative imports
// start from its directory. The error is a [diag.Diagnostic], an [ExitError] if the script called exit, or that of
// writing buffered lines.
func (e *Engine) Run(ctx context.Context, name, text string) (*goja.Object, error) {
	return e.main(ctx, func() (*esm.Module, error) { return e.esm.graph.LoadCall(e.Path(name), name, text) }, true)
}

// RunFile is Run for a file: JavaScript, or TypeScript if its name ends in .ts or .mts. Each call reads and runs the file again;
// imported modules are evaluated once per engine.
func (e *Engine) RunFile(ctx context.Context, path string) (*goja.Object, error) {
	return e.main(ctx, func() (*esm.Module, error) {
		e.esm.script = e.Path(path)
		return e.esm.graph.LoadFile(path, "module", true)
	}, true)
}

// Import loads a file, or a builtin module by its bare name, and returns its exports. It returns when the module is evaluated;
// its timers and operations continue when the engine next runs.
func (e *Engine) Import(ctx context.Context, specifier string) (*goja.Object, error) {
	return e.main(ctx, func() (*esm.Module, error) {
		if !esm.IsPath(specifier) && e.esm.builtins[specifier] == nil {
			return e.esm.graph.LoadFile(specifier, "", false)
		}
		return e.esm.graph.Load(specifier, "", nil)
	}, false)
}

// main evaluates the module that load returns, and returns its exports. With untilQuiet the module is the main one, and the
// function main also waits until the call's work has ended.
func (e *Engine) main(ctx context.Context, load func() (*esm.Module, error), untilQuiet bool) (exports *goja.Object, err error) {
	err = e.call(ctx, func(ctx context.Context) (err error) {
		var m *esm.Module
		done := false
		var failed error
		defer func() {
			if m != nil {
				e.esm.graph.Drop(m)
			}
		}()
		defer e.post(func() error {
			var err error
			if m, err = load(); err != nil {
				failed = err
				return nil
			}
			e.esm.entry, m.Main = m, untilQuiet
			if failed = e.esm.graph.Link(m); failed != nil {
				return nil
			}
			return e.esm.graph.Job(func() { e.esm.graph.Evaluate(m, func(err error) { failed, done = err, true }) })
		})()
		// A failure ends the run immediately, regardless of pending work.
		err = e.loop.RunUntil(ctx, func() bool { return failed != nil || done })
		if err == nil && failed == nil && untilQuiet {
			if err = e.loop.Run(ctx); err == nil {
				failed = e.waitElsewhere()
			}
		}
		if err != nil && err != loop.ErrStalled {
			return cmp.Or(failed, err) // an interrupt's error has the position
		}
		if failed != nil {
			return failed
		}
		if !done {
			return errNeverSettles
		}
		exports = e.esm.graph.Namespace(m)
		return nil
	})
	return exports, err
}

// waitElsewhere waits for the call's work outside the loop and returns the first error.
func (e *Engine) waitElsewhere() error {
	for _, wait := range e.hooks.quiet {
		if err := wait(e.running.scope); err != nil {
			return err
		}
	}
	return nil
}

var errNeverSettles = diag.New("never-settles", "the script awaits a promise that can no longer settle").
	WithHint("is resolve ever called?")

// atAwait returns d with the position of the await at which the running module waits. If d has a position or there is no such
// await, it returns d.
func (e *Engine) atAwait(d *diag.Diagnostic) *diag.Diagnostic {
	if d.Position.IsValid() || e.esm.entry == nil {
		return d
	}
	if p := e.esm.entry.AwaitPlace(); p.IsValid() {
		located := *d
		e.place(&located, p, 1)
		return &located
	}
	return d
}

// Eval runs a prompt line and returns the value of its last expression, awaited if the line awaits. Declarations are global and
// may be repeated. Timers and operations that are left when Eval returns continue in [Engine.Serve] or the next call. Their errors go to
// Options.OnError. name appears in error positions.
func (e *Engine) Eval(ctx context.Context, name, text string) (goja.Value, error) {
	return e.result(ctx, func(settle func(goja.Value, error)) error {
		return e.line(name, text, settle, func(m *esm.Module) {
			v, err := e.esm.graph.Call(m)
			if err != nil || !m.Unit.Async {
				settle(v, err)
				return
			}
			e.settleWith(v, settle)
		})
	})
}

// Prepare compiles a prompt line and evaluates its imports. It returns a script function that runs the line without compiling
// it again.
func (e *Engine) Prepare(ctx context.Context, name, text string) (goja.Value, error) {
	return e.result(ctx, func(settle func(goja.Value, error)) error {
		return e.line(name, text, settle, func(m *esm.Module) { settle(e.esm.graph.Bind(m)) })
	})
}

// line compiles a prompt line, evaluates its imports, and then calls run. An error of these steps is the result.
func (e *Engine) line(name, text string, settle func(goja.Value, error), run func(*esm.Module)) error {
	m, err := e.promptUnit(name, text)
	if err != nil {
		settle(nil, err)
		return nil
	}
	e.esm.entry = m
	return e.esm.graph.EvaluateImports(m, func(err error) {
		if err != nil {
			settle(nil, err)
			return
		}
		run(m)
	})
}

// result runs work as a call and waits until work, or a callback of it, settles the result.
func (e *Engine) result(ctx context.Context, work func(settle func(goja.Value, error)) error) (result goja.Value, err error) {
	err = e.call(ctx, func(ctx context.Context) error {
		done := false
		var failed error
		over := false // a promise may settle in a later call
		defer func() { over = true }()
		settle := func(v goja.Value, err error) {
			if !over {
				result, failed, done = v, err, true
			}
		}
		defer e.post(func() error { return work(settle) })()
		err := e.loop.RunUntil(ctx, func() bool { return done })
		if err == loop.ErrStalled {
			err = errNeverSettles
		}
		return cmp.Or(failed, err)
	})
	return result, err
}

// settleWith settles a result when a promise settles, with its value or its exception.
func (e *Engine) settleWith(promise goja.Value, settle func(goja.Value, error)) {
	e.when(promise,
		func(v goja.Value) error { settle(v, nil); return nil },
		func(reason goja.Value) error { settle(nil, e.exceptionOf(reason)); return nil })
}

// Serve runs timers and finished operations until the context is cancelled, for a prompt that waits for input. The limits do
// not apply. Errors go to Options.OnError. The cancellation interrupts running script code, unless a callback of [Engine.Post]
// cancels the context.
func (e *Engine) Serve(ctx context.Context) {
	if err := e.turn.take(ctx); err != nil {
		if err == errReentrant {
			e.opts.OnError(err)
		}
		return
	}
	defer e.turn.giveBack()
	ctx, stop := e.begin(ctx, Limits{})
	defer stop()
	e.limit.share.Run(func() { e.loop.Serve(ctx, e.Report) })
	e.limit.unwinder.Unwind()
}

// Do runs fn on the loop's goroutine under the engine's limits, for Go programs that call script functions. Promises created by
// fn continue when the engine next runs; see [Engine.Await].
func (e *Engine) Do(ctx context.Context, fn func(vm *goja.Runtime) error) error {
	_, err := e.result(ctx, func(settle func(goja.Value, error)) error {
		settle(nil, e.protect(func() error { return fn(e.vm) }))
		return nil
	})
	return err
}

// Await runs fn like Do and waits for the promise that fn returns. Any other value is the result itself. The error has the code
// never-settles if nothing is left to run that could settle the promise.
func (e *Engine) Await(ctx context.Context, fn func(vm *goja.Runtime) (goja.Value, error)) (goja.Value, error) {
	return e.result(ctx, func(settle func(goja.Value, error)) error {
		var v goja.Value
		err := e.protect(func() (err error) { v, err = fn(e.vm); return err })
		if err != nil || !IsPromise(v) {
			settle(v, err)
			return nil
		}
		e.settleWith(v, settle)
		return nil
	})
}

// IsPromise reports whether v is a promise.
func IsPromise(v goja.Value) bool {
	_, ok := exportPromise(v)
	return ok
}

func exportPromise(v goja.Value) (*goja.Promise, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() != typePromise {
		return nil, false
	}
	p, ok := o.Export().(*goja.Promise)
	return p, ok
}

// call runs body as a call of the engine, with the script lock, the context and the limits, and diagnoses errors.
func (e *Engine) call(ctx context.Context, body func(context.Context) error) (failed error) {
	if err := e.turn.take(ctx); err != nil {
		return Ended(err)
	}
	defer e.turn.giveBack()
	defer func() {
		if err := e.Flush(); failed == nil {
			failed = err
		}
	}()
	if e.ctx.Err() != nil {
		return errClosed
	}
	e.limit.iterations, e.esm.entry, e.running.scope = 0, nil, &loop.Scope{}
	defer func() { e.running.scope = nil }()
	outer := ctx
	ctx, stop := e.begin(ctx, e.opts.Limits)
	returned := false
	defer func() {
		if !returned { // a function of the program ended the goroutine, as FailNow of package testing does
			e.limit.unwinder.Unwind()
			e.running.exit = nil
			e.abandon(errLeft)
			stop()
		}
	}()
	var err error
	e.limit.share.Run(func() { err = body(ctx) })
	returned = true
	cause := context.Cause(ctx)
	if _, cut := ended(err); cut || cause != nil || e.running.exit != nil {
		e.limit.unwinder.Unwind()
	}
	if err == errNeverSettles {
		if ring := e.esm.graph.AnyRing(); ring != nil {
			err = e.atAwait(ring)
		}
	}
	if end := cmp.Or(cause, e.running.exit); end != nil {
		e.drop(end)
	} else if _, cut := ended(err); err != nil && (cut || !e.opts.Prompt) {
		e.abandon(err)
	}
	if err != nil && cause == nil && e.running.exit == nil && err != errNeverSettles {
		err = e.Diagnose(err)
		cause = context.Cause(ctx)
	}
	stop()
	switch {
	case e.running.exit != nil:
		err, e.running.exit = e.running.exit, nil
		return err
	case err == nil:
		return nil
	case cause != nil:
		if outer.Err() != nil && sameError(cause, context.Cause(outer)) {
			cause = causeOf(outer)
		}
		d := e.cutShort(err, cause)
		// the inner diagnostic has the exact position, unless it is the cause, whose position is that of other work
		if known, ok := find[*diag.Diagnostic](err); ok && !d.Position.IsValid() && !errors.Is(cause, known) {
			d.Position, d.Excerpt = known.Position, known.Excerpt
		}
		return e.atAwait(d)
	case err == errNeverSettles:
		return e.atAwait(errNeverSettles)
	}
	return err
}

// sameError reports whether a and b, which are not nil, are the same error value. Values that cannot be compared, such as a
// [diag.List], are the same if they are deeply equal.
func sameError(a, b error) bool {
	if reflect.ValueOf(a).Comparable() {
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

// post queues the work of a call and returns a function that abandons the work. A call that fails first must abandon it,
// because the work would write to the caller's variables in a later call.
func (e *Engine) post(fn func() error) (abandon func()) {
	abandoned := false
	e.loop.PostFor(e.running.scope, func() error {
		if abandoned {
			return nil
		}
		return fn()
	})
	return func() { abandoned = true }
}

// protect runs Go code that may call script code, such as a getter. It returns exceptions, interrupts and stack overflows as
// errors. Other panics pass through it.
func (e *Engine) protect(fn func() error) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			err = x
		case *goja.StackOverflowError:
			err = x
		default:
			panic(x)
		}
	}()
	if ex := e.vm.Try(func() { err = fn() }); ex != nil {
		return ex
	}
	return err
}

// begin starts a call and its supervision under the limits. It returns the call's context, which is also cancelled when the
// engine closes, and a function that ends the call and its supervision.
func (e *Engine) begin(ctx context.Context, l Limits) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	closed := context.AfterFunc(e.ctx, func() { cancel(context.Cause(e.ctx)) })
	ctx, stop := e.limit.watch(ctx, l, e.limit.share, e.opts.OnOverdue)
	e.running.now = ctx
	e.running.values.Store(&ctx)
	e.limit.deadline, _ = ctx.Deadline()
	if end := time.Now().Add(l.Time); l.Time > 0 && (e.limit.deadline.IsZero() || end.Before(e.limit.deadline)) {
		e.limit.deadline = end
	}
	return ctx, func() {
		e.running.now, e.limit.deadline = nil, time.Time{}
		e.running.values.Store(nil)
		stop()
		closed()
		cancel(nil)
	}
}
