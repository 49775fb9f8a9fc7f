package offloadjs

import (
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/buffers"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/manual"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Extension adds members to the classes of devices and buffers, and exports to the module. Another package implements them.
type Extension struct {
	// Buffer and Device return the methods. They are called again for each engine, and for the documentation.
	Buffer func() []BufferMethod
	Device func() []DeviceMethod
	// Entries documents the names that Exports returns.
	Entries func() []bindings.Entry
	// Exports returns further exports of the module, for one engine.
	Exports func(h Host) map[string]goja.Value
	// Types holds the declarations that the signatures refer to.
	Types string
}

// BufferMethod is a method of buffers with its documentation. If it is promised, every error rejects its promise.
type BufferMethod struct {
	bindings.Entry
	Promised bool
	Call     func(h Host, b Elements, call goja.FunctionCall) (goja.Value, error)
}

// DeviceMethod is a method of devices with its documentation.
type DeviceMethod struct {
	bindings.Entry
	Call func(h Host, d *session.Device, call goja.FunctionCall) (goja.Value, error)
}

// Elements is a buffer of a script with the type of its elements.
type Elements = element.Buffer

// all returns the result of a function that an extension may lack, or nil without the function.
func all[T any](list func() []T) []T {
	if list == nil {
		return nil
	}
	return list()
}

// bufferMethods returns the methods that extensions add to buffers.
func (m *instance) bufferMethods() (list []lang.Method[*buffers.Buffer]) {
	for _, x := range m.opts.Extensions {
		for _, e := range all(x.Buffer) {
			call := func(b *buffers.Buffer, call goja.FunctionCall) (goja.Value, error) {
				return e.Call(Host{m}, Elements{Buffer: b.Buffer, Elem: b.Elem.Elem}, call)
			}
			if e.Promised {
				list = append(list, script.Promised(m.Script, e.Name, call))
			} else {
				list = append(list, script.Method(m.Script, e.Name, call))
			}
		}
	}
	return list
}

// deviceMethods returns the methods that extensions add to devices.
func (m *instance) deviceMethods() (list []lang.Method[*session.Device]) {
	for _, x := range m.opts.Extensions {
		for _, e := range all(x.Device) {
			list = append(list, script.Method(m.Script, e.Name, func(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
				return e.Call(Host{m}, d, call)
			}))
		}
	}
	return list
}

// extended adds the documentation of extensions to the entries.
func extended(list []bindings.Entry, extensions []Extension) []bindings.Entry {
	for _, x := range extensions {
		list = append(list, all(x.Entries)...)
	}
	for i := range list {
		members := slices.Clip(list[i].Members) // which others may share
		for _, x := range extensions {
			switch list[i].Name {
			case "Buffer":
				for _, e := range all(x.Buffer) {
					members = append(members, e.Entry)
				}
			case "Device":
				for _, e := range all(x.Device) {
					members = append(members, e.Entry)
				}
			}
		}
		list[i].Members = members
	}
	return list
}

// declarations returns the text of the type declarations of the module and of its extensions.
func declarations(extensions []Extension) string {
	list := []string{manual.Types}
	for _, x := range extensions {
		list = append(list, x.Types)
	}
	return strings.Join(list, "")
}

// Host is the module's state in one engine, for extensions. Its methods must be called on the loop's goroutine.
type Host struct{ m *instance }

// HostOf returns the host of a buffer of a script, or false if the value is no buffer.
func HostOf(e *lang.Engine, v goja.Value) (Host, bool) {
	host, _ := e.HostValue(v)
	b, ok := host.(*buffers.Buffer)
	if !ok {
		return Host{}, false
	}
	return Host{b.Home().(*instance)}, true
}

// Engine returns the engine.
func (h Host) Engine() *lang.Engine { return h.m.Engine }

// Session returns the session.
func (h Host) Session() *session.Session { return h.m.session }

// Reach returns the devices that the engine may use.
func (h Host) Reach() *reach.Devices { return h.m.reach }

// Elements returns the buffer of a script's value with the type of its elements, or false if the value is no buffer.
func (h Host) Elements(v goja.Value) (Elements, bool) {
	b := h.m.buffers.Of(v)
	if b == nil {
		return Elements{}, false
	}
	return Elements{Buffer: b.Buffer, Elem: b.Elem.Elem}, true
}

// Object returns a script's object for a buffer. unlabelled states that the label is the name of a variable.
func (h Host) Object(b Elements, unlabelled bool) goja.Value {
	return h.m.buffers.ObjectOf(b.Buffer, element.Type{Elem: b.Elem}, unlabelled)
}

// Type returns the element type that a script's value stands for, or false if it is none.
func (h Host) Type(v goja.Value) (ir.Elem, bool) {
	t, ok := h.m.types.Of(v)
	return t.Elem, ok
}

// ForeignType returns the element type for its own name, for that of a typed array, or for that in another language. It
// returns false for other names.
func (h Host) ForeignType(name string) (ir.Type, bool) { return types.ForeignType(name) }

// Queue returns the queue of v, the option queue, or the default queue of a device if v is nil. It waits until the queue has room for
// commands.
func (h Host) Queue(op string, v goja.Value, d *session.Device) (*session.Queue, error) {
	return h.m.queues.Choose(op, v, nil, d)
}

// Source returns a function of the script for the kernel compiler, and a description of the function.
func (h Host) Source(fn goja.Value) (*kernel.Source, *lang.FunctionInfo, error) {
	return h.m.capture.Source(fn)
}

// NewBuffer allocates a buffer within the engine's limits.
func (h Host) NewBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) {
	return h.m.buffers.Allocate(d, opts)
}

// Event returns a script's object for an event.
func (h Host) Event(ev *session.Event) goja.Value { return h.m.queues.EventObject(ev) }

// MayBlock returns an error for a blocking call that could be a deadlock: while a queue waits for a function of the script, or a
// service's handler runs.
func (h Host) MayBlock(op string) error { return h.m.queues.MayBlock(op) }

// Enter waits for space in a queue that gets commands, and counts the launches among them within the engine's limits.
func (h Host) Enter(q *session.Queue, launches int) error {
	if err := h.m.queues.Count(q, launches); err != nil {
		return err
	}
	return h.m.queues.WaitForSpace(q)
}

// Launch launches a kernel within the engine's limits.
func (h Host) Launch(q *session.Queue, c *session.Call) error { return h.m.queues.Submit(q, c) }

// Read returns a promise of the result of finish for the elements of a buffer, once the commands so far have completed.
func (h Host) Read(op string, q *session.Queue, b Elements, finish func(data []byte) (goja.Value, error)) (goja.Value, error) {
	data, err := h.m.buffers.HostMemory(b.Buffer, element.Type{Elem: b.Elem}, b.Len())
	if err != nil {
		return nil, err
	}
	if err := h.m.queues.WaitForSpace(q); err != nil {
		return nil, err
	}
	if err := q.Read(data, b.Buffer, 0); err != nil {
		return nil, err
	}
	return h.m.queues.After(q, nil, op, func() (goja.Value, error) {
		v, err := finish(data)
		return v, h.m.Explain(err)
	})
}

// Value returns the element at the start of data as a value of the script.
func (h Host) Value(e ir.Elem, data []byte) goja.Value {
	return element.FieldValue(h.m.VM, e, nil, data)
}

// Bits converts a value of the script to the bits of a scalar type.
func (h Host) Bits(t ir.Type, v goja.Value) (uint64, error) { return element.Bits(t, v) }

// Extents converts a script's number or array of numbers to extents.
func (h Host) Extents(v goja.Value) ([]int, error) { return element.Extents(v) }

// Explain converts an error to a diagnostic.
func (h Host) Explain(err error) error { return h.m.Explain(err) }

// Position returns the position of the script's call, and the variable that its value is assigned to, or "".
func (h Host) Position() (at contract.Position, variable string) {
	at = h.m.Caller()
	return at, h.m.Variable(at)
}

// Caller returns the position of the script's call.
func (h Host) Caller() contract.Position { return h.m.Caller() }

// Around returns the variable that the value of the call at a position is assigned to. It also returns the method that the
// script calls on the value. The method is "" if other code may see the value.
func (h Host) Around(at contract.Position) (variable, next string) {
	return h.m.Variable(at), h.m.Next(at)
}

// Local returns the state of an extension in the engine, which the first call for a key makes.
func (h Host) Local(key any, first func() any) any {
	v, ok := h.m.locals[key]
	if !ok {
		if h.m.locals == nil {
			h.m.locals = map[any]any{}
		}
		v = first()
		h.m.locals[key] = v
	}
	return v
}

// LanguageName returns the number of a global object that the kernel language also defines, or false for other objects.
func (h Host) LanguageName(o *goja.Object) (number int, ok bool) {
	return h.m.capture.LanguageName(o)
}

// TypedArray returns a typed array's memory, without a copy, and its element type, or false for other values.
func (h Host) TypedArray(v goja.Value) (data []byte, t ir.Type, ok bool) {
	return element.TypedArray(v)
}

// Owner returns the number under which the session knows the engine as the owner of objects.
func (h Host) Owner() uint64 { return h.m.queues.Owner() }

// Device returns the device of a script's value, or nil.
func (h Host) Device(v goja.Value) *session.Device { return h.m.devices.Of(v) }

// FindDevice returns a device by its object, its id or a list of ids; undefined is the best device.
func (h Host) FindDevice(v goja.Value) (*session.Device, error) {
	found, err := h.m.devices.Find(goja.FunctionCall{Arguments: []goja.Value{v}})
	if err != nil {
		return nil, err
	}
	return h.m.devices.Of(found), nil
}

// WarnUnreached warns of configured devices that are unavailable.
func (h Host) WarnUnreached() { h.m.devices.WarnUnreached() }

// DeviceObject returns the script's object of a device.
func (h Host) DeviceObject(d *session.Device) *goja.Object { return h.m.devices.ObjectOf(d) }

// QueueObject returns the script's object of a queue.
func (h Host) QueueObject(q *session.Queue) *goja.Object { return h.m.queues.ObjectOf(q) }

// DefaultQueue returns a device's default queue, which runs the commands that name no queue.
func (h Host) DefaultQueue(d *session.Device) (*session.Queue, error) { return h.m.queues.DefaultOf(d) }

// CloseQueue blocks until the commands of a queue have completed, and closes the queue. A default queue is an error and stays open.
func (h Host) CloseQueue(q *session.Queue) error { return h.m.queues.Close(q) }

// Library registers a module of kernels until the engine closes.
func (h Host) Library(label string, mod *ir.Module) (*session.Library, error) {
	return h.m.kernels.Register(label, mod)
}
