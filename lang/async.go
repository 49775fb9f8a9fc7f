package lang

import (
	"context"
	"errors"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/loop"
)

var typePromise = reflect.TypeFor[*goja.Promise]()

// Async runs work on another goroutine and returns a promise of its result. label is for [loop.Loop.Pending]. work must not
// use values of the script. The function that work returns creates the result on the loop's goroutine; without such a function
// the result is undefined. An error of either rejects the promise as [Settler.Reject] does. The context has the values of the
// running call's context. It is cancelled when the calling script fails or is cancelled, when the engine closes, and after
// work has returned.
func (e *Engine) Async(label string, work func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	return e.AsyncUntil(nil, label, work)
}

// AsyncUntil is Async with a signal, which may be nil. If s aborts, the context is cancelled. After work has returned, the promise is
// rejected with the signal's reason. If s has aborted before, work does not run, and the promise is rejected immediately.
func (e *Engine) AsyncUntil(s *Signal, label string, work func(context.Context) (func() (goja.Value, error), error)) goja.Value {
	return e.operate(s, label, func(ctx context.Context, _ *Settler) (func() (goja.Value, error), error) { return work(ctx) })
}

// mostPosted is the maximum number of queued callbacks per operation.
const mostPosted = 64

// Stream is AsyncUntil for work that passes intermediate results to the script. post queues a callback for the loop's goroutine, which
// treats an error of the callback like that of a timer's callback. While 64 callbacks of the operation wait, post blocks. It returns the
// context's cause if the context is cancelled meanwhile. A callback of an operation that has ended is dropped. post is safe for concurrent
// use.
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

// operate runs work on its own goroutine and settles the promise that it returns with the result. The promise is rejected if
// work panics or ends its goroutine. If s has aborted before, the promise is rejected and work does not run.
func (e *Engine) operate(s *Signal, label string, work func(context.Context, *Settler) (func() (goja.Value, error), error)) goja.Value {
	if s != nil && s.aborted() {
		return e.rejectedWith(s.reason())
	}
	promise, settle := e.Promise(label)
	ctx, cancel := context.WithCancelCause(e.WithValues(e.ctx))
	settle.pending.OnCancel(func(cause error) { cancel(cause) })
	if s != nil {
		forget, err := s.until(settle, cancel)
		if err != nil { // the signal's listener was added by the script
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
		e.limit.share.Run(func() { finish, err = work(ctx, settle) })
	}()
	return promise
}

// A Settler settles a promise, once, from any goroutine.
type Settler struct {
	engine          *Engine
	pending         *loop.Pending
	place           diag.Position // position of the operation's call in the script
	resolve, reject func(any) error
	settled         func()     // called before the promise is settled; may be nil
	aborted         goja.Value // reason of the signal that aborted the operation, or nil; written on the loop's goroutine
}

// Promise returns a new promise and its settler. Run and RunFile wait until the promise is settled, unless they fail first. label is for
// [loop.Loop.Pending].
func (e *Engine) Promise(label string) (goja.Value, *Settler) {
	p, resolve, reject := e.vm.NewPromise()
	return e.vm.ToValue(p), &Settler{engine: e, pending: e.loop.Hold(label), place: e.Caller(), resolve: resolve, reject: reject}
}

// Resolve resolves the promise with the result of value, which runs on the loop's goroutine. If value is nil, the promise is
// resolved with undefined; a nil result becomes null. An error of value rejects the promise as [Settler.Reject] does. If the operation's
// signal has aborted, value does not run, and the promise is rejected with the signal's reason.
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
			return s.reject(s.engine.rejection(s.located(err)))
		}
		return s.resolve(v)
	})
}

// Reject rejects the promise with what the script threw if err is or wraps its exception, otherwise with an Error created from
// err. If the operation's signal has aborted, the reason is the signal's.
func (s *Settler) Reject(err error) {
	s.pending.Resolve(func() error {
		if s.ended() {
			return s.reject(s.aborted)
		}
		return s.reject(s.engine.rejection(s.located(err)))
	})
}

// ended detaches the signal and reports whether the signal aborted the operation.
func (s *Settler) ended() bool {
	if s.settled != nil {
		s.settled()
	}
	return s.aborted != nil
}

// located returns err with the position of the operation's call if err has none, because the script's stack is empty when an
// operation fails. An exception of the script, and an error that only wraps a diagnostic, are returned unchanged.
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

// A placedError is an operation's error with the position of the operation's start.
type placedError struct {
	error
	place diag.Position
}

func (p *placedError) Unwrap() error { return p.error }

// OnCancel sets the function that the engine calls when it cancels the wait for the promise. See [loop.Pending.OnCancel].
func (s *Settler) OnCancel(fn func(cause error)) { s.pending.OnCancel(fn) }

// Resolved returns a promise that is resolved with v.
func (e *Engine) Resolved(v goja.Value) goja.Value {
	p, resolve, _ := e.vm.NewPromise()
	_ = resolve(v)
	return e.vm.ToValue(p)
}

// Rejected returns a promise that is rejected: with what the script threw if err is or wraps its exception, otherwise with an
// Error created from err.
func (e *Engine) Rejected(err error) goja.Value {
	return e.rejectedWith(e.rejection(err))
}

// Promised wraps a native function that returns a promise. All errors, including argument errors, reject the promise, so that
// the script's catch handles them. Only the interruption of the script is returned.
func (e *Engine) Promised(fn NativeFunc) NativeFunc {
	return func(call goja.FunctionCall) (v goja.Value, err error) {
		// Reading an argument can run a getter that throws.
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

// Settled calls done on the loop's goroutine when the promise v has settled: with nil, or with the exception of a rejection. If
// v is not a promise, Settled calls done(nil) immediately.
func (e *Engine) Settled(v goja.Value, done func(error)) {
	if o, ok := v.(*goja.Object); !ok || o.ExportType() != typePromise {
		done(nil)
		return
	}
	e.when(v, func(goja.Value) error { done(nil); return nil }, func(reason goja.Value) error { done(e.exceptionOf(reason)); return nil })
}

// when registers native callbacks for the fulfilment and the rejection of a promise. An error of a callback, or of the
// registration, becomes the error of a callback of the loop.
func (e *Engine) when(promise goja.Value, fulfilled, rejected func(goja.Value) error) {
	native := func(fn func(goja.Value) error) goja.Value {
		return e.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			if err := fn(c.Argument(0)); err != nil {
				e.loop.PostFor(e.loop.Scope(), func() error { return err })
			}
			return goja.Undefined() // a nil Value would be invalid as a reaction's result
		})
	}
	if _, err := e.intrinsics.then(promise, native(fulfilled), native(rejected)); err != nil {
		e.loop.PostFor(e.loop.Scope(), func() error { return err })
	}
}

// trackRejection records p if op says that p was rejected without a handler, and removes it if a handler was attached later.
func (e *Engine) trackRejection(p *goja.Promise, op goja.PromiseRejectionOperation) {
	if op == goja.PromiseRejectionReject {
		r := rejection{promise: p, scope: e.loop.Scope()}
		if _, isObject := p.Result().(*goja.Object); !isObject { // a primitive holds no stack trace
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

// reportRejection removes the first rejection without a handler and returns it as an error, or returns nil. It runs after each
// turn, when the microtask queue is empty.
func (e *Engine) reportRejection() error {
	if len(e.report.rejected) == 0 {
		return nil
	}
	r := e.report.rejected[0]
	e.report.rejected = e.report.rejected[1:]
	if len(e.report.rejected) > 0 { // the next rejection is reported in its own turn
		e.loop.Post(func() error { return nil })
	}
	return &unhandledRejection{e.exceptionOf(r.promise.Result()), r.place, r.scope}
}

// unhandledRejection is the exception of a rejected promise that has no handler.
type unhandledRejection struct {
	exception error
	place     diag.Position // position of the rejection, if the exception has none
	scope     *loop.Scope   // scope that owns the promise
}

// A rejection is a rejected promise without a handler.
type rejection struct {
	promise *goja.Promise
	place   diag.Position
	scope   *loop.Scope
}

func (u *unhandledRejection) Error() string { return "unhandled rejection: " + u.exception.Error() }
func (u *unhandledRejection) Unwrap() error { return u.exception }

// exceptionOf returns the exception of throwing v. For an Error it has the stack of the Error's creation.
func (e *Engine) exceptionOf(v goja.Value) error {
	if ex := e.vm.Try(func() { panic(v) }); ex != nil {
		return ex
	}
	return nil
}

// Microtask queues a function of the script as a microtask. An exception of the function is treated like that of a timer's
// callback.
func (e *Engine) Microtask(fn *goja.Object) error {
	if e.caught == nil {
		// A native reaction would run the following microtasks before it returns; a reaction written in script does not.
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

// callOf returns a Go function that calls v, which must be a function; for other values it returns nil.
func callOf(v goja.Value) goja.Callable {
	fn, _ := goja.AssertFunction(v)
	return fn
}
