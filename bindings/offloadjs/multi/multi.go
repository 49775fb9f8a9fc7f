// Package multi implements the exports of the module 'offload' for several devices: pools and collective operations.
package multi

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/session"
)

// Host is the part of the module that holds devices, queues and buffers.
type Host interface {
	Reach() *reach.Devices
	// Owner returns the number under which the session knows the engine as the owner of objects.
	Owner() uint64
	// Elements returns the buffer of a script's value.
	Elements(v goja.Value) (element.Buffer, bool)
	// Device returns the device of a script's value, or nil. FindDevice also accepts ids.
	Device(v goja.Value) *session.Device
	FindDevice(v goja.Value) (*session.Device, error)
	// WarnUnreached warns of configured devices that are unavailable.
	WarnUnreached()
	// DeviceObject and QueueObject return the objects of the script.
	DeviceObject(d *session.Device) *goja.Object
	QueueObject(q *session.Queue) *goja.Object
	// DefaultQueue returns the queue of commands that name none.
	DefaultQueue(d *session.Device) (*session.Queue, error)
	// Queue returns the queue of a script's value, or the default queue of a device, with room for commands.
	Queue(op string, v goja.Value, d *session.Device) (*session.Queue, error)
	CloseQueue(q *session.Queue) error
	// NewBuffer allocates a buffer, and Launch launches a kernel, within the engine's limits.
	NewBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error)
	Launch(q *session.Queue, c *session.Call) error
	// Library registers a module of kernels until the engine closes.
	Library(label string, m *ir.Module) (*session.Library, error)
}

// Module implements the exports in one engine.
type Module struct {
	*script.Script
	host    Host
	pool    *lang.Class[*poolObject]
	joining joining

	reducers map[reduction]*session.Library // those that allReduce has used
}

// New returns the exports for the devices of a host.
func New(s *script.Script, host Host) *Module {
	m := &Module{Script: s, host: host, reducers: map[reduction]*session.Library{}}
	m.pool = m.poolClass()
	return m
}

// Exports calls set for each export, other than the function pool.
func (m *Module) Exports(set func(name string, v *goja.Object) error) error {
	object, class := m.newCollective()
	for _, e := range []struct {
		name  string
		value *goja.Object
	}{{"Pool", m.pool.Constructor()}, {"Collective", class.Constructor()}, {"collective", object}} {
		if err := set(e.name, e.value); err != nil {
			return err
		}
	}
	return nil
}
