// Package queues implements the queues and events of the module 'offload', and limits and settles the commands of one engine.
//
// # Design
//
// Events are light objects of the interpreter, as buffers and bound launches are. They are cheap to make and slow to read;
// devices, queues and kernels are made once and read often.
package queues

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/loop"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the queues that an engine uses, and what its limits count of their commands.
type Module struct {
	*script.Script
	reach   *reach.Devices
	devices *devices.Module
	rpc     *service.Registry
	owner   uint64 // owner of the engine's objects in the session
	own     bool   // the engine has default queues of its own

	class   *lang.Class[*session.Queue]
	event   *lang.Class[*session.Event]
	objects map[*session.Queue]*goja.Object

	defaults map[*session.Device]*session.Queue // default queues of this engine
	prints   map[*session.Device]*session.Queue // queues of PrintOf
	uses     map[*session.Queue]*loop.Scope     // the last user of each queue
	lastUse  use
	promises *goja.Object // the prototype of promises of elements

	launched   uint64
	hosts      int        // host functions that wait for the event loop
	thenMethod goja.Value // the method then of events; nil until first use
	rehearsing bool       // launches are counted, and start nothing
}

// Config configures the queues of an engine.
type Config struct {
	Reach   *reach.Devices
	Devices *devices.Module
	RPC     *service.Registry
	Owner   uint64 // owner of the engine's objects in the session
	Own     bool   // the engine gets default queues of its own
}

// New returns the queues of an engine. Their commands settle with its calls, and its own queues close with it. [Module.Define]
// defines their classes.
func New(s *script.Script, c Config) *Module {
	m := &Module{
		Script: s, reach: c.Reach, devices: c.Devices, rpc: c.RPC, owner: c.Owner, own: c.Own,
		objects: map[*session.Queue]*goja.Object{},
		uses:    map[*session.Queue]*loop.Scope{},
	}
	s.Engine.OnFailure(m.abandon)
	s.Engine.OnQuiet(m.settle)
	s.Engine.OnClose(m.closeQueues)
	return m
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor(), m.event.Constructor()}
}

// Choose returns the queue of an operation like [Module.Chosen], and waits until the queue has room for commands.
func (m *Module) Choose(op string, queue, device goja.Value, fallback *session.Device) (*session.Queue, error) {
	q, err := m.Chosen(op, queue, device, fallback)
	if err != nil {
		return nil, err
	}
	return q, m.WaitForSpace(q)
}

// Chosen returns the queue of an operation. It is the argument queue, or the default queue of a device. The device is the
// argument device, or else fallback, which is that of the operation's buffers; if both are nil, the best one.
func (m *Module) Chosen(op string, queue, device goja.Value, fallback *session.Device) (*session.Queue, error) {
	if queue != nil {
		q := m.Of(queue)
		if q == nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "queue must be a queue, not %s", convert.Describe(queue))
		}
		return q, nil
	}
	d := fallback
	if device != nil {
		if d = m.devices.Of(device); d == nil {
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
	return m.DefaultOf(d)
}

// create implements device.createQueue({label, hazards}?).
func (m *Module) create(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("create queue", call.Argument(0), "label", "hazards")
	opts := session.QueueOptions{Label: o.Text("label"), Pos: m.Caller(), Owner: m.owner}
	opts.NoHazards = o.OneOf("hazards", "auto", "off") == "off"
	if o.Err != nil {
		return nil, o.Err
	}
	q, err := d.NewQueue(opts)
	if err != nil {
		return nil, err
	}
	return m.ObjectOf(q), nil
}

// host implements queue.host(fn). It runs fn on the event loop, in order with the queue's commands. The queue waits for fn and
// for the promise that fn returns.
func (m *Module) host(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	fn, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, "host", "expected a function, not %s", convert.Describe(call.Argument(0))).
			On(q.Device().ID(), q.Label())
	}
	if err := m.WaitForSpace(q); err != nil {
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
	return m.EventAfter(q, "")
}

// MayBlock returns an error for a blocking call that could be a deadlock: while a queue waits for a function of the script, or a
// service's handler runs.
func (m *Module) MayBlock(op string) error {
	if err := m.rpc.MayBlock(op); err != nil {
		return err
	}
	if m.hosts == 0 {
		return nil
	}
	return contract.Errorf(contract.InvalidArgument, op, "a queue waits for a host function of this script, which cannot run while the script waits").
		WithHint("use the asynchronous form: await queue.sync(), await buffer.read()")
}

// After returns a promise of the result of finish, once the commands so far have completed. An abort of the signal cancels
// these commands.
func (m *Module) After(q *session.Queue, s *lang.Signal, label string, finish func() (goja.Value, error)) (goja.Value, error) {
	if err := m.rpc.MayAwait(label, q, q); err != nil {
		return nil, err
	}
	ev, err := q.Record("")
	if err != nil {
		return nil, err
	}
	v := m.Async(s, label, func(ctx context.Context) (func() (goja.Value, error), error) {
		return finish, ev.Sync(ctx)
	})
	promise := v.(*goja.Object)
	proto, err := m.elementPromises(promise)
	if err != nil {
		return nil, err
	}
	return v, promise.SetPrototype(proto)
}

// EventAfter returns an event that completes after the commands so far.
func (m *Module) EventAfter(q *session.Queue, label string) (goja.Value, error) {
	ev, err := q.Record(label)
	if err != nil {
		return nil, err
	}
	return m.EventObject(ev), nil
}

// thenOf implements the property event.then. An await reads the property synchronously but calls the method later, so MayAwait
// is checked on the read.
func (m *Module) thenOf(ev *session.Event) (goja.Value, error) {
	if err := m.rpc.MayAwait("event", ev.Queue(), ev); err != nil {
		return nil, err
	}
	if m.thenMethod == nil {
		m.thenMethod = m.Function("then", func(call goja.FunctionCall) (goja.Value, error) {
			ev, ok := m.event.Of(call.This)
			if !ok {
				return nil, contract.Errorf(contract.InvalidArgument, "event", "then is a method of events")
			}
			return m.then(ev, call)
		})
	}
	return m.thenMethod, nil
}

// then implements event.then(fulfilled, rejected), which makes an event awaitable.
func (m *Module) then(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	promise := m.Async(nil, "event", func(ctx context.Context) (func() (goja.Value, error), error) {
		return nil, ev.Sync(ctx)
	}).(*goja.Object)
	then, _ := goja.AssertFunction(promise.Get("then"))
	return then(promise, call.Arguments...)
}

// catch implements event.catch(rejected) as event.then(undefined, rejected).
func (m *Module) catch(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	if err := m.rpc.MayAwait("event", ev.Queue(), ev); err != nil {
		return nil, err
	}
	return m.then(ev, goja.FunctionCall{This: call.This, Arguments: []goja.Value{goja.Undefined(), call.Argument(0)}})
}

// elapsedSince implements event.elapsedSince(earlier), in nanoseconds of the device's clock.
func (m *Module) elapsedSince(ev *session.Event, call goja.FunctionCall) (goja.Value, error) {
	earlier, ok := m.event.Of(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidEvent, "elapsed time", "expected an event, not %s", convert.Describe(call.Argument(0)))
	}
	d, err := ev.Since(earlier)
	if err != nil {
		return nil, err
	}
	return m.VM.ToValue(d.Nanoseconds()), nil
}

// sync implements queue.sync({signal}?), which returns a promise that the commands so far have completed.
func (m *Module) sync(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
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
func (m *Module) record(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("record", call.Argument(0), "label")
	label := o.Text("label")
	if o.Err != nil {
		return nil, script.WithLabel(o.Err, q.Label())
	}
	if err := m.WaitForSpace(q); err != nil {
		return nil, err
	}
	return m.EventAfter(q, label)
}

// Close implements queue.close(), which blocks until the commands have completed. It returns an error for a default queue, which stays
// open.
func (m *Module) Close(q *session.Queue) error {
	if err := m.MayBlock("close"); err != nil {
		return err
	}
	if err := m.checkNotDefault(q); err != nil {
		return err
	}
	err := q.Close(m.Engine.Running())
	if contract.CodeOf(err) != contract.InvalidQueue { // a default queue stays open
		delete(m.objects, q)
		delete(m.uses, q)
		m.rpc.Forget(q)
	}
	return err
}

func (m *Module) wait(q *session.Queue, call goja.FunctionCall) (goja.Value, error) {
	ev, ok := m.event.Of(call.Argument(0))
	if !ok {
		return nil, contract.Errorf(contract.InvalidEvent, "wait", "expected an event, not %s", convert.Describe(call.Argument(0))).
			On(q.Device().ID(), q.Label())
	}
	if err := m.WaitForSpace(q); err != nil {
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

func queueRow(q *session.Queue) [][2]string {
	return [][2]string{{"label", q.Label()}, {"device", q.Device().ID()}, {"idle", fmt.Sprint(q.Idle())}}
}

func (m *Module) Of(v goja.Value) *session.Queue { q, _ := m.class.Of(v); return q }

func (m *Module) ObjectOf(q *session.Queue) *goja.Object {
	o := m.objects[q]
	if o == nil {
		o = m.class.New(q)
		m.objects[q] = o
	}
	return o
}

// Define defines the classes of queues and events. launch is the method of queues that launches a kernel.
func (m *Module) Define(launch lang.Method[*session.Queue]) {
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*session.Queue]{
		Name: "Queue",
		Methods: []lang.Method[*session.Queue]{
			launch,
			script.Method(m.Script, "record", m.record),
			script.Method(m.Script, "wait", m.wait),
			script.Method(m.Script, "host", m.host),
			script.Method(m.Script, "query", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return m.VM.ToValue(q.Idle()), nil }),
			script.Promised(m.Script, "sync", m.sync),
			script.Method(m.Script, "close", func(q *session.Queue, _ goja.FunctionCall) (goja.Value, error) { return nil, m.Close(q) }),
		},
		Fields: []lang.Field[*session.Queue]{
			script.Value(m.Script, "label", func(q *session.Queue) any { return q.Label() }),
			script.Field(m.Script, "device", func(q *session.Queue) (goja.Value, error) { return m.devices.ObjectOf(q.Device()), nil }),
		},
		Inspect: func(q *session.Queue, _ inspect.Options) string { return inspectQueue(q) },
		Row:     queueRow,
		JSON:    script.WithoutJSON[*session.Queue]("Queue", "write what identifies it, such as its label"),
		Dispose: func(q *session.Queue) error { return m.Explain(m.Close(q)) },
	})
	m.event = lang.NewClass(m.Engine, lang.ClassSpec[*session.Event]{
		Name:  "Event",
		Light: true, // events are created by every launch
		Methods: []lang.Method[*session.Event]{
			script.Method(m.Script, "elapsedSince", m.elapsedSince),
			script.Method(m.Script, "catch", m.catch),
		},
		Fields: []lang.Field[*session.Event]{
			{Name: "then", Hidden: true, Get: func(ev *session.Event) (goja.Value, error) {
				v, err := m.thenOf(ev)
				return v, m.Explain(err)
			}},
			script.Value(m.Script, "done", func(ev *session.Event) any { return ev.Done() }),
			script.Field(m.Script, "queue", func(ev *session.Event) (goja.Value, error) { return m.ObjectOf(ev.Queue()), nil }),
		},
		Inspect: func(ev *session.Event, _ inspect.Options) string { return inspectEvent(ev) },
	})
}

// DeviceMethods returns the methods of devices that make queues.
func (m *Module) DeviceMethods() []lang.Method[*session.Device] {
	return []lang.Method[*session.Device]{script.Method(m.Script, "createQueue", m.create)}
}

// DeviceField returns the property queue of devices.
func (m *Module) DeviceField() lang.Field[*session.Device] {
	return script.Field(m.Script, "queue", func(d *session.Device) (goja.Value, error) {
		q, err := m.DefaultOf(d)
		if err != nil {
			return nil, err
		}
		return m.ObjectOf(q), nil
	})
}

// EventObject returns a new script object of an event.
func (m *Module) EventObject(ev *session.Event) goja.Value { return m.event.New(ev) }

// Waiting reports whether a queue waits for a function of the script.
func (m *Module) Waiting() bool { return m.hosts > 0 }

// Owner returns the number under which the session knows the engine as the owner of objects.
func (m *Module) Owner() uint64 { return m.owner }

// Restart begins to count launches for the engine's limit anew.
func (m *Module) Restart() { m.launched = 0 }

// Rehearse begins or ends a rehearsal: launches count towards the engine's limit, but run no kernel.
func (m *Module) Rehearse(on bool) { m.rehearsing = on }
