package lang

import (
	"context"
	"errors"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
)

var (
	typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()
	typePromise     = reflect.TypeFor[*goja.Promise]()
)

// Async starts work on another goroutine and returns the promise of its result. work must not touch values of the
// script. The function that it returns makes the result on the loop's goroutine, and may be nil for undefined. The
// context ends when the call that began it fails or is cancelled, or the engine closes.
func (e *Engine) Async(label string, work func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	return e.AsyncUntil(nil, label, work)
}

// AsyncUntil is Async for work that a signal ends too, unless it is nil: then the promise is rejected with the signal's
// reason.
func (e *Engine) AsyncUntil(s *Signal, label string, work func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	return e.operate(s, label, func(ctx context.Context, _ *Settler) (func() (goja.Value, error), error) { return work(ctx) })
}

// mostPosted is the maximum number of callbacks of an operation that wait for the script.
const mostPosted = 64

// Stream is AsyncUntil for work that has something for the script before it ends. post queues a callback on the loop's
// goroutine, and blocks while too many callbacks are queued. It fails when the context ends. Any goroutine may call it.
func (e *Engine) Stream(s *Signal, label string, work func(ctx context.Context, post func(func() error) error) (func() (goja.Value, error), error)) goja.Value {
	return e.operate(s, label, func(ctx context.Context, settle *Settler) (func() (goja.Value, error), error) {
		waiting := make(chan struct{}, mostPosted)
		return work(ctx, func(fn func() error) error {
			select {
			case waiting <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			settle.pending.Post(func() error {
				<-waiting
				return fn()
			})
			return nil
		})
	})
}

var errLeft = diag.New("internal", "internal error: a function of the program ended its goroutine").
	WithHint("it called runtime.Goexit, as t.FailNow does: return an error instead")

// operate runs work on a goroutine of its own and settles a promise with its result, also if work panics.
func (e *Engine) operate(s *Signal, label string, work func(context.Context, *Settler) (func() (goja.Value, error), error)) goja.Value {
	if s != nil && s.aborted() {
		return e.rejectedWith(s.reason())
	}
	promise, settle := e.Promise(label)
	ctx, cancel := context.WithCancelCause(e.ctx)
	settle.pending.OnCancel(func(cause error) { cancel(cause) })
	if s != nil {
		forget, err := s.until(settle, cancel)
		if err != nil { // a listener of the script's own making
			cancel(err)
			settle.Reject(err)
			return promise
		}
		settle.settled = forget
	}
	scope := e.loop.Scope()
	e.objects.operations.begin(scope)
	go func() {
		defer e.objects.operations.end(scope)
		defer cancel(nil)
		err := error(errLeft)
		var finish func() (goja.Value, error)
		defer func() {
			if x := recover(); x != nil {
				err = diag.New("internal", "internal error: %v", x)
			}
			if err != nil {
				settle.Reject(err)
				return
			}
			settle.Resolve(finish)
		}()
		finish, err = work(ctx, settle)
	}()
	return promise
}

// A Settler settles a promise, once, from any goroutine.
type Settler struct {
	engine          *Engine
	pending         *loop.Pending
	place           diag.Position // of the operation's call in the script
	resolve, reject func(any) error
	settled         func()     // is called before the promise is settled, if it is not nil
	aborted         goja.Value // why a signal ended the operation, or nil; set on the loop's goroutine
}

// Promise makes a promise that the engine waits for.
func (e *Engine) Promise(label string) (goja.Value, *Settler) {
	p, resolve, reject := e.vm.NewPromise()
	return e.vm.ToValue(p), &Settler{engine: e, pending: e.loop.Hold(label), place: e.Caller(), resolve: resolve, reject: reject}
}

// Resolve fulfils the promise with the result of value, on the loop's goroutine; nil makes undefined.
func (s *Settler) Resolve(value func() (goja.Value, error)) {
	s.pending.Resolve(func() error {
		if s.ended() {
			return s.reject(s.aborted)
		}
		if value == nil {
			return s.resolve(goja.Undefined())
		}
		v, err := value()
		if err != nil {
			return s.reject(s.engine.ErrorValue(s.located(err)))
		}
		return s.resolve(v)
	})
}

// Reject rejects the promise with the Error made from err.
func (s *Settler) Reject(err error) {
	s.pending.Resolve(func() error {
		if s.ended() {
			return s.reject(s.aborted)
		}
		return s.reject(s.engine.ErrorValue(s.located(err)))
	})
}

// ended forgets the signal, and reports whether it ended the operation.
func (s *Settler) ended() bool {
	if s.settled != nil {
		s.settled()
	}
	return s.aborted != nil
}

// located returns an error with the position where the operation began, if err has none. When an operation fails, no
// call of the script is on the stack.
func (s *Settler) located(err error) error {
	if !s.place.IsValid() || thrown(err) != nil {
		return err
	}
	var d *diag.Diagnostic
	if !errors.As(err, &d) {
		return &placedError{err, s.place}
	}
	if error(d) != err || d.Position.IsValid() {
		return err
	}
	located := *d
	s.engine.place(&located, s.place, 1)
	return &located
}

// A placedError is an error of an operation that began at a place in the script.
type placedError struct {
	error
	place diag.Position
}

func (p *placedError) Unwrap() error { return p.error }

// OnCancel sets a function that the engine calls if it stops waiting.
func (s *Settler) OnCancel(fn func(cause error)) { s.pending.OnCancel(fn) }

// Resolved returns a promise that is fulfilled already.
func (e *Engine) Resolved(v goja.Value) goja.Value {
	p, resolve, _ := e.vm.NewPromise()
	_ = resolve(v)
	return e.vm.ToValue(p)
}

// Rejected returns a promise that is rejected already.
func (e *Engine) Rejected(err error) goja.Value {
	if v := thrown(err); v != nil {
		return e.rejectedWith(v)
	}
	return e.rejectedWith(e.ErrorValue(err))
}

// Promised wraps a native function that returns a promise: every error, also of a wrong argument, rejects the promise,
// so that a script's catch sees it.
func (e *Engine) Promised(fn NativeFunc) NativeFunc {
	return func(call goja.FunctionCall) (v goja.Value, err error) {
		// Exceptions thrown meanwhile, for instance by a getter of an option.
		if x := e.vm.Try(func() { v, err = fn(call) }); x != nil {
			return e.rejectedWith(x.Value()), nil
		}
		var interrupted *goja.InterruptedError
		if err == nil || errors.As(err, &interrupted) {
			return v, err
		}
		return e.Rejected(err), nil
	}
}

func (e *Engine) rejectedWith(reason goja.Value) goja.Value {
	p, _, reject := e.vm.NewPromise()
	_ = reject(reason)
	return e.vm.ToValue(p)
}

// Handled marks a promise as handled: its rejection is not reported.
func (e *Engine) Handled(promise goja.Value) {
	e.when(promise, func(goja.Value) error { return nil }, func(goja.Value) error { return nil })
}

// Settled calls done on the loop's goroutine when a value has settled, with the error of a rejected promise; at once
// if the value is no promise.
func (e *Engine) Settled(v goja.Value, done func(error)) {
	if o, ok := v.(*goja.Object); !ok || o.ExportType() != typePromise {
		done(nil)
		return
	}
	e.when(v, func(goja.Value) error { done(nil); return nil }, func(reason goja.Value) error { done(e.exceptionOf(reason)); return nil })
}

// when calls one of two functions when a promise settles.
func (e *Engine) when(promise goja.Value, fulfilled, rejected func(goja.Value) error) {
	native := func(fn func(goja.Value) error) goja.Value {
		return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if err := fn(c.Argument(0)); err != nil {
				e.loop.PostFor(e.loop.Scope(), func() error { return err })
			}
			return goja.Undefined() // nil is no value for a promise
		})
	}
	if _, err := e.intrinsics.then(promise, native(fulfilled), native(rejected)); err != nil {
		e.loop.PostFor(e.loop.Scope(), func() error { return err })
	}
}

// trackRejection keeps the rejected promises that have no handler yet.
func (e *Engine) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		r := rejection{promise: p, scope: e.loop.Scope()}
		if _, isObject := p.Result().(*goja.Object); !isObject { // it does not know where it was made
			r.place = e.Caller()
		}
		e.report.rejected = append(e.report.rejected, r)
		return
	}
	for i, r := range e.report.rejected {
		if r.promise == p {
			e.report.rejected = append(e.report.rejected[:i], e.report.rejected[i+1:]...)
			return
		}
	}
}

// reportRejection runs after every turn, when all jobs of promises have run: a rejection without a handler is final
// then.
func (e *Engine) reportRejection() error {
	if len(e.report.rejected) == 0 {
		return nil
	}
	r := e.report.rejected[0]
	e.report.rejected = e.report.rejected[1:]
	if len(e.report.rejected) > 0 { // the next one has a turn of its own
		e.loop.Post(func() error { return nil })
	}
	return &unhandledRejection{e.exceptionOf(r.promise.Result()), r.place, r.scope}
}

// unhandledRejection is the exception of a promise without a handler.
type unhandledRejection struct {
	exception error
	place     diag.Position // of the rejection, if the exception knows none
	scope     *loop.Scope   // whose it is
}

// A rejection is a promise that was rejected and has no handler.
type rejection struct {
	promise *goja.Promise
	place   diag.Position
	scope   *loop.Scope
}

func (u *unhandledRejection) Error() string { return "unhandled rejection: " + u.exception.Error() }
func (u *unhandledRejection) Unwrap() error { return u.exception }

// exceptionOf turns a thrown value into an exception with the stack of where it was made.
func (e *Engine) exceptionOf(v goja.Value) error {
	if ex := e.vm.Try(func() { panic(v) }); ex != nil {
		return ex
	}
	return nil
}

// Microtask calls a function of the script when the running code ends, before any timer. An error ends the run.
func (e *Engine) Microtask(fn *goja.Object) error {
	if e.caught == nil {
		// A reaction that is native would run the microtasks behind it before it ends: one in script does not.
		wrap, err := e.vm.RunScript("orepl:microtask.js", "(report => fn => () => { try { fn() } catch (error) { report(error) } })")
		if err != nil {
			return err
		}
		report := e.Func("report", func(c goja.FunctionCall) (goja.Value, error) {
			err := e.exceptionOf(c.Argument(0))
			e.loop.PostFor(e.loop.Scope(), func() error { return err })
			return nil, nil
		})
		made, err := callOf(wrap)(nil, report)
		if err != nil {
			return err
		}
		e.caught = callOf(made)
	}
	safe, err := e.caught(nil, fn)
	if err != nil {
		return err
	}
	_, err = e.intrinsics.then(e.Resolved(goja.Undefined()), safe)
	return err
}

// callOf is how Go calls a function of the engine's own.
func callOf(v goja.Value) goja.Callable {
	fn, _ := goja.AssertFunction(v)
	return fn
}
