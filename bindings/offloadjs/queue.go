package offloadjs

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// queueFor returns the queue of an operation, with room for commands. It is the argument queue, or the default queue of a
// device. The device is the argument device, that of the operation's buffers, or else the best one.
func (m *instance) queueFor(op string, queue, device goja.Value, fallback *session.Device) (*session.Queue, error) {
	if queue != nil {
		q := m.asQueue(queue)
		if q == nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "queue must be a queue, not %s", convert.Describe(queue))
		}
		return q, m.waitForSpace(q)
	}
	d := fallback
	if device != nil {
		if d = m.asDevice(device); d == nil {
			id, ok := element.Exported(device).(string)
			if !ok {
				return nil, contract.Errorf(contract.InvalidArgument, op, "device must be a device or its id, not %s", convert.Describe(device))
			}
			var err error
			if d, err = m.reach.Device(m.Engine.Running(), id); err != nil {
				return nil, err
			}
		}
	}
	if d == nil {
		var err error
		if d, err = m.reach.Device(m.Engine.Running(), ""); err != nil {
			return nil, err
		}
	}
	q, err := m.defaultQueue(d)
	if err != nil {
		return nil, err
	}
	return q, m.waitForSpace(q)
}

// newQueue implements device.createQueue({label, hazards}?).
func (m *instance) newQueue(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("create queue", call.Argument(0), "label", "hazards")
	opts := session.QueueOptions{Label: o.Text("label"), Pos: m.Caller(), Owner: m.quota.owner}
	opts.NoHazards = o.OneOf("hazards", "auto", "off") == "off"
	if o.Err != nil {
		return nil, o.Err
	}
	q, err := d.NewQueue(opts)
	if err != nil {
		return nil, err
	}
	return m.queueObject(q), nil
}

// host implements queue.host(fn). It runs fn on the event loop, in order with the queue's commands. The queue waits for fn and
// for the promise that fn returns.
func (m *instance) host(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	fn, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, "host", "expected a function, not %s", convert.Describe(call.Argument(0))).
			On(q.Device().ID(), q.Label())
	}
	if err := m.waitForSpace(q); err != nil {
		return nil, err
	}
	// The operation is held until the function has returned. If the loop is cancelled earlier, OnCancel ends the queue's wait.
	// All code runs on the loop's goroutine except the callback of q.Host.
	pending := m.Engine.Hold("host function of " + q.Label())
	done := make(chan error, 1)
	var called atomic.Bool
	settled, settle := context.WithCancel(context.Background())
	m.hosts++
	ended := false
	end := func(err error) {
		if ended {
			return
		}
		ended = true
		settle()
		m.hosts--
		pending.Resolve(nil)
		done <- err
	}
	pending.OnCancel(func(cause error) { end(&contract.Error{Code: contract.Cancelled, Op: "host function", Err: cause}) })
	err := q.Host(func() error {
		called.Store(true)
		pending.Post(func() error {
			if ended {
				return nil
			}
			err := error(contract.Errorf(contract.BackendFailure, "host", "the function panicked"))
			defer func() {
				if err != nil {
					end(err)
				}
			}()
			var v goja.Value
			if v, err = fn(goja.Undefined()); err == nil {
				m.Engine.Settled(v, end)
			}
			return nil // the queue reports the error at the next sync
		})
		return <-done
	})
	if err != nil {
		end(err)
		return nil, err
	}
	go func() { // the queue does not call a function that a cancellation or the loss of the device dropped
		if q.Settle(settled) == nil && !called.Load() {
			pending.Post(func() error {
				end(contract.Errorf(contract.Cancelled, "host function", "the command was dropped"))
				return nil
			})
		}
	}()
	return m.eventAfter(q, "")
}

// mayBlock returns an error for a blocking call while a queue waits for a script function, which would be a deadlock.
func (m *instance) mayBlock(op string) error {
	if err := m.rpc.MayBlock(op); err != nil {
		return err
	}
	if m.hosts == 0 {
		return nil
	}
	return contract.Errorf(contract.InvalidArgument, op, "a queue waits for a host function of this script, which cannot run while the script waits").
		WithHint("use the asynchronous form: await queue.sync(), await buffer.read()")
}

// after returns a promise of the result of finish, once the commands so far have completed. An abort of the signal cancels
// these commands.
func (m *instance) after(q *session.Queue, s *lang.Signal, label string, finish func() (goja.Value, error)) (goja.Value, error) {
	if err := m.rpc.MayAwait(label, q, q); err != nil {
		return nil, err
	}
	ev, err := q.Record("")
	if err != nil {
		return nil, err
	}
	return m.Async(s, label, func(ctx context.Context) (func() (goja.Value, error), error) {
		return finish, ev.Sync(ctx)
	}), nil
}

// eventAfter returns an event that completes after the commands so far.
func (m *instance) eventAfter(q *session.Queue, label string) (goja.Value, error) {
	ev, err := q.Record(label)
	if err != nil {
		return nil, err
	}
	return m.classes.event.New(ev), nil
}

// thenOf implements the property event.then. An await reads the property synchronously but calls the method later, so mayAwait
// is checked on the read.
func (m *instance) thenOf(ev *session.Event) (goja.Value, error) {
	if err := m.rpc.MayAwait("event", ev.Queue(), ev); err != nil {
		return nil, err
	}
	if m.thenMethod == nil {
		m.thenMethod = m.Function("then", func(call goja.FunctionCall) (goja.Value, error) {
			ev, ok := m.classes.event.Of(call.This)
			if !ok {
				return nil, contract.Errorf(contract.InvalidArgument, "event", "then is a method of events")
			}
			return m.then(ev, call)
		})
	}
	return m.thenMethod, nil
}

// then implements event.then(fulfilled, rejected), which makes an event awaitable.
func (m *instance) then(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	promise := m.Async(nil, "event", func(ctx context.Context) (func() (goja.Value, error), error) {
		return nil, ev.Sync(ctx)
	}).(*goja.Object)
	then, _ := goja.AssertFunction(promise.Get("then"))
	return then(promise, call.Arguments...)
}

// catchEvent implements event.catch(rejected) as event.then(undefined, rejected).
func (m *instance) catchEvent(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	if err := m.rpc.MayAwait("event", ev.Queue(), ev); err != nil {
		return nil, err
	}
	return m.then(ev, goja.FunctionCall{This: call.This, Arguments: []goja.Value{goja.Undefined(), call.Argument(0)}})
}

// elapsedSince implements event.elapsedSince(earlier), in nanoseconds of the device's clock.
func (m *instance) elapsedSince(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	earlier, ok := m.classes.event.Of(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidEvent, "elapsed time", "expected an event, not %s", convert.Describe(call.Argument(0)))
	}
	d, err := ev.Since(earlier)
	if err != nil {
		return nil, err
	}
	return m.VM.ToValue(d.Nanoseconds()), nil
}

// syncQueue implements queue.sync({signal}?), which returns a promise that the commands so far have completed.
func (m *instance) syncQueue(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("sync", call.Argument(0), "signal")
	signal := o.Signal()
	if o.Err != nil {
		return nil, o.Err
	}
	if err := m.rpc.MayAwait("sync", q, q); err != nil {
		return nil, err
	}
	return m.Async(signal, "sync of "+q.Label(), func(ctx context.Context) (func() (goja.Value, error), error) {
		return nil, q.Sync(ctx)
	}), nil
}

// record implements queue.record({label}?).
func (m *instance) record(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("record", call.Argument(0), "label")
	label := o.Text("label")
	if o.Err != nil {
		return nil, script.WithLabel(o.Err, q.Label())
	}
	if err := m.waitForSpace(q); err != nil {
		return nil, err
	}
	return m.eventAfter(q, label)
}

// closeQueue implements queue.close(), which blocks until the commands have completed.
func (m *instance) closeQueue(q *session.Queue) error {
	if err := m.mayBlock("close"); err != nil {
		return err
	}
	if err := m.checkNotDefault(q); err != nil {
		return err
	}
	err := q.Close(m.Engine.Running())
	if contract.CodeOf(err) != contract.InvalidQueue { // a default queue stays open
		delete(m.queues, q)
		delete(m.uses, q)
		m.rpc.Forget(q)
	}
	return err
}

func (m *instance) waitEvent(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	ev, ok := m.classes.event.Of(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidEvent, "wait", "expected an event, not %s", convert.Describe(call.Argument(0))).
			On(q.Device().ID(), q.Label())
	}
	if err := m.waitForSpace(q); err != nil {
		return nil, err
	}
	return nil, q.Wait(ev)
}

func inspectQueue(q *session.Queue) string {
	return fmt.Sprintf("Queue %q on %s", q.Label(), q.Device().ID())
}

func inspectEvent(ev *session.Event) string {
	state := "pending"
	if ev.Done() {
		state = "reached"
		if err := ev.Failure(); err != nil {
			state = "failed: " + cmp.Or(string(contract.CodeOf(err)), err.Error())
		}
	}
	return fmt.Sprintf("Event (%s) of queue %q on %s", state, ev.Queue().Label(), ev.Queue().Device().ID())
}
