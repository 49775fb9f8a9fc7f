package service

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/loop"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// wait identifies a wait of ServeUntilDone.
type wait struct {
	queue *session.Queue
	scope *loop.Scope
}

// request is a kernel's pending call of a service.
type request struct {
	service   *service
	queue     *session.Queue
	message   contract.Message
	args      []contract.Scalar
	result    ir.Type
	start     time.Time
	answer    chan answer // has capacity 1
	abandoned atomic.Bool // the kernel no longer waits for the answer
	done      atomic.Bool // the handler has completed
}

type answer struct {
	bits uint64
	err  error
}

// requestQueue holds the pending requests of kernels. The script's goroutine takes them, either on the event loop or while it
// blocks on a queue.
type requestQueue struct {
	mu      sync.Mutex
	list    []*request
	posted  bool          // serveRequests is queued on the event loop
	more    chan struct{} // receives after put, for a script that blocks on a queue
	notFull *sync.Cond
}

func newRequestQueue() requestQueue { return requestQueue{more: make(chan struct{}, 1)} }

// put adds a request. A one-way call blocks while mostOneWay requests are pending; it returns an error if ctx or the engine ends before
// there is room.
func (b *requestQueue) put(ctx context.Context, r *Registry, q *request) error {
	b.mu.Lock()
	if b.notFull == nil {
		b.notFull = sync.NewCond(&b.mu)
	}
	if q.service.oneWay && len(b.list) >= mostOneWay {
		closed := r.Engine.Context()
		wake := func() { b.mu.Lock(); b.notFull.Broadcast(); b.mu.Unlock() }
		defer context.AfterFunc(ctx, wake)()
		defer context.AfterFunc(closed, wake)()
		for len(b.list) >= mostOneWay && ctx.Err() == nil && closed.Err() == nil {
			b.notFull.Wait()
		}
		if err := cmp.Or(context.Cause(ctx), context.Cause(closed)); err != nil {
			b.mu.Unlock()
			return err
		}
	}
	b.list = append(b.list, q)
	post := !b.posted
	b.posted = true
	b.mu.Unlock()
	if post {
		r.Engine.Post(func() error { r.serveRequests(); return nil })
	}
	select {
	case b.more <- struct{}{}:
	default:
	}
	return nil
}

// takeAll removes and returns all requests.
func (b *requestQueue) takeAll() []*request {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list, b.posted = nil, false
	if b.notFull != nil {
		b.notFull.Broadcast()
	}
	return list
}

// putBack inserts requests at the head.
func (b *requestQueue) putBack(list []*request) {
	if len(list) == 0 {
		return
	}
	b.mu.Lock()
	b.list = append(list, b.list...)
	b.mu.Unlock()
}

// serveRequests runs the handlers of the pending requests. It runs on the script's goroutine.
func (r *Registry) serveRequests() {
	list := r.requests.takeAll()
	defer func() { r.requests.putBack(list) }() // the requests after a panic
	for len(list) > 0 {
		q := list[0]
		list = list[1:]
		if !q.abandoned.Load() {
			r.handle(q)
		}
	}
}

// HasHandlers reports whether the script has ever declared a service.
func (r *Registry) HasHandlers() bool { return r.scripted.Load() }

// WaitServing runs work and returns its error. If the script has declared services, work runs on another goroutine, and requests
// are served meanwhile.
func (r *Registry) WaitServing(work func() error) error {
	if !r.HasHandlers() {
		return work()
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	for {
		select {
		case err := <-done:
			r.serveRequests() // one-way calls may remain
			return err
		case <-r.requests.more:
			r.serveRequests()
		}
	}
}

// ServeUntilDone keeps the event loop alive until a queue's commands complete, because their kernels call services. The launches
// of one scope on one queue share a goroutine, since each completed command wakes every waiter of the queue.
func (r *Registry) ServeUntilDone(q *session.Queue) {
	key := wait{q, r.Engine.Loop().Scope()}
	r.settling.Lock()
	_, waits := r.settling.more[key]
	if r.settling.more == nil {
		r.settling.more = map[wait]bool{}
	}
	r.settling.more[key] = waits // the goroutine waits once more
	r.settling.Unlock()
	if waits {
		return
	}
	pending := r.Engine.Hold("a kernel that calls services, on " + q.Label())
	ctx, stop := context.WithCancel(r.Engine.Context())
	pending.OnCancel(func(error) { stop() })
	go func() {
		defer stop()
		for repeat := true; repeat; {
			_ = q.Settle(ctx) // the next sync reports a failure of the kernel
			r.settling.Lock()
			repeat = r.settling.more[key] && ctx.Err() == nil
			if r.settling.more[key] = false; !repeat {
				delete(r.settling.more, key)
			}
			r.settling.Unlock()
		}
		pending.Resolve(nil)
	}()
}

// handle runs a request's handler and sends the answer once the result is known. A one-way request has no answer: its service's
// first failure is reported, and later ones are only counted.
func (r *Registry) handle(q *request) {
	s := q.service
	finish := func(bits uint64, err error) {
		q.done.Store(true)
		s.recordTime(q.start)
		if err != nil && s.oneWay {
			if s.failures.Add(1) == 1 { // later failures are only counted
				r.Engine.Report(r.Explain(err))
			}
			return
		}
		q.answer <- answer{bits, err}
	}
	answered := false
	defer func() {
		if !answered { // the engine reports the panic
			finish(0, contract.Errorf(contract.BackendFailure, "call", "the handler of the service %s panicked", s.name))
		}
	}()
	args := make([]goja.Value, 0, len(q.args)+1)
	for i, a := range q.args {
		v, err := r.valueOf(a.Bits, fromContract(a.Type), s.args[i])
		if err != nil {
			answered = true
			finish(0, contract.Errorf(contract.InvalidArgument, "call", "argument %d of the service %s: %v", i+1, s.name, err))
			return
		}
		args = append(args, v)
	}
	var stopped *contract.Error
	if s.takesCall {
		args = append(args, r.callObject(q, &stopped))
	}
	v, err := r.callHandler(q, args)
	answered = true
	resolve := func(v goja.Value, err error) {
		switch {
		case stopped != nil:
			finish(0, stopped)
		case err != nil && s.oneWay:
			finish(0, err) // reported like an exception of a timer
		case err != nil:
			finish(0, r.handlerError(s, err))
		case s.result == ir.Void:
			finish(0, nil)
		default:
			bits, err := bitsOf(v, s.result, q.result)
			if err != nil {
				err = contract.Errorf(contract.InvalidArgument, "call", "the handler of the service %s returned a wrong value: %v", s.name, err)
			}
			finish(bits, err)
		}
	}
	if err != nil {
		resolve(nil, err)
		return
	}
	promise, ok := element.Promise(v)
	if !ok {
		resolve(v, nil)
		return
	}
	r.Engine.Settled(v, func(err error) { resolve(promise.Result(), err) })
}

// callHandler runs the handler of a request and returns its result. It makes a promise of an object that is none, such as an event.
// During the call, [Registry.MayBlock] refuses to block the script, since the calling kernel may wait.
func (r *Registry) callHandler(q *request, args []goja.Value) (goja.Value, error) {
	r.handlers++
	before := r.handling
	r.handling = q
	defer func() { r.handlers--; r.handling = before }()
	v, err := q.service.fn(goja.Undefined(), args...)
	if _, isObject := v.(*goja.Object); err == nil && isObject {
		if _, isPromise := element.Promise(v); !isPromise { // a thenable other than a promise, such as an event
			v = r.Engine.Resolved(v)
		}
	}
	return v, err
}

// handlings preserves the current request across awaits of a handler. It implements [goja.AsyncContextTracker].
type handlings struct{ r *Registry }

// Grab implements [goja.AsyncContextTracker].
func (h handlings) Grab() any { return h.r.handling }

// Resumed implements [goja.AsyncContextTracker].
func (h handlings) Resumed(v any) { h.r.handling, _ = v.(*request) }

// Exited implements [goja.AsyncContextTracker].
func (h handlings) Exited() { h.r.handling = nil }

// callObject returns the last argument of a handler, which describes the calling work-item and can stop its launch.
func (r *Registry) callObject(q *request, stopped **contract.Error) goja.Value {
	item := r.VM.NewArray(q.message.Item[0], q.message.Item[1], q.message.Item[2])
	return r.Object(
		script.Pair{"kernel", q.message.Kernel},
		script.Pair{"device", q.message.Device},
		script.Pair{"item", item},
		script.Pair{"at", q.message.Pos.String()},
		script.Pair{"stop", r.Function("stop", func(call goja.FunctionCall) (goja.Value, error) {
			reason := "the script stopped the kernel"
			if q.service.oneWay {
				return nil, contract.Errorf(contract.InvalidArgument, "rpc", "the one-way service %s cannot stop the kernel, which has gone on", q.service.name).
					WithHint("leave out oneWay, so that the kernel waits for the handler")
			}
			if v := call.Argument(0); !goja.IsUndefined(v) {
				reason = v.String()
			}
			*stopped = contract.Errorf(contract.Cancelled, "call", "%s", reason)
			return goja.Undefined(), nil
		})},
	)
}

// handlerError returns the error of a launch whose handler threw, with the script's stack.
func (r *Registry) handlerError(s *service, err error) error {
	d := r.Engine.Diagnose(err)
	thrown := d.Message
	if d.Name != "" {
		thrown = d.Name + ": " + thrown
	}
	return &contract.Error{Code: contract.BackendFailure, Op: "call", Detail: "the service " + s.name + " threw " + thrown, Err: d}
}

// MayBlock returns an error for a blocking call while a handler runs. It could be a deadlock, since a kernel waits for the handler
// unless its service is one-way.
func (r *Registry) MayBlock(op string) error {
	if r.handlers == 0 {
		return nil
	}
	return contract.Errorf(contract.InvalidArgument, op, "the handler of a service waits for a device, and the kernel that called it waits for the handler").
		WithHint("read before the launch, or hand the values to the kernel")
}

// MayAwait returns an error if a service handler awaits an event or queue that depends on the calling kernel. This would be a
// deadlock, because the kernel waits for the handler.
func (r *Registry) MayAwait(op string, q *session.Queue, what interface{ Needs(*session.Queue) bool }) error {
	h := r.handling
	if h == nil || h.service.oneWay || h.done.Load() || !what.Needs(h.queue) {
		return nil
	}
	if q != h.queue {
		return contract.Errorf(contract.InvalidArgument, op, "the handler of the service %s awaits a command that waits for the kernel that called it, and the kernel waits for the handler", h.service.name).
			On(q.Device().ID(), q.Label()).WithHint("use a buffer that the kernel does not use, or hand the values to the kernel")
	}
	return contract.Errorf(contract.InvalidArgument, op, "the handler of the service %s awaits the queue of the kernel that called it, and the kernel waits for the handler", h.service.name).
		On(q.Device().ID(), q.Label()).WithHint("use another queue, device.createQueue(), or hand the values to the kernel")
}
