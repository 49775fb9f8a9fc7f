// Package devices implements the devices of the module 'offload': their class, device(), devices() and platforms().
package devices

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/reach"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/inspect"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the script objects of the devices that an engine may use.
type Module struct {
	*script.Script
	reach   *reach.Devices
	class   *lang.Class[*session.Device]
	objects map[*session.Device]*goja.Object // one for each device
}

// New returns the devices of an engine. [Module.Define] defines their class.
func New(s *script.Script, r *reach.Devices) *Module {
	return &Module{Script: s, reach: r, objects: map[*session.Device]*goja.Object{}}
}

// Define defines the class of devices with the methods of other rooms, and with their property queue.
func (m *Module) Define(methods []lang.Method[*session.Device], queue lang.Field[*session.Device]) {
	m.class = lang.NewClass(m.Engine, lang.ClassSpec[*session.Device]{
		Name:    "Device",
		Methods: methods,
		Fields: []lang.Field[*session.Device]{
			script.Value(m.Script, "id", func(d *session.Device) any { return d.ID() }),
			script.Value(m.Script, "name", func(d *session.Device) any { return d.Info().Name }),
			script.Value(m.Script, "type", func(d *session.Device) any { return d.Info().Type.String() }),
			script.Value(m.Script, "vendor", func(d *session.Device) any { return d.Info().Vendor }),
			script.Value(m.Script, "arch", func(d *session.Device) any { return d.Info().Arch }),
			script.Value(m.Script, "platform", func(d *session.Device) any { return d.Platform().Name }),
			script.Value(m.Script, "computeUnits", func(d *session.Device) any { return d.Info().ComputeUnits }),
			script.Field(m.Script, "limits", func(d *session.Device) (goja.Value, error) { return m.limits(d), nil }),
			script.Field(m.Script, "features", func(d *session.Device) (goja.Value, error) { return m.features(d), nil }),
			script.Field(m.Script, "memory", func(d *session.Device) (goja.Value, error) { return m.memory(d), nil }),
			queue,
		},
		Inspect: func(d *session.Device, _ inspect.Options) string { return inspectDevice(d) },
		Row:     deviceRow,
		JSON:    m.deviceJSON,
	})
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor()}
}

// Find implements device(id | [ids] | device | undefined).
func (m *Module) Find(call goja.FunctionCall) (goja.Value, error) {
	id := ""
	if v := call.Argument(0); !goja.IsUndefined(v) {
		if m.Of(v) != nil {
			return v, nil
		}
		if list, ok := v.(*goja.Object); ok && list.ClassName() == "Array" {
			d, err := m.First(list)
			if err != nil {
				return nil, err
			}
			return m.ObjectOf(d), nil
		}
		s, ok := element.Exported(v).(string)
		if !ok {
			return nil, noDeviceID(v)
		}
		id = s
	}
	d, err := m.reach.Device(m.Engine.Running(), id)
	if err != nil {
		return nil, err
	}
	return m.ObjectOf(d), nil
}

func noDeviceID(v goja.Value) error {
	return contract.Errorf(contract.InvalidArgument, "device", "expected a device's id, not %s", convert.Describe(v)).
		WithHint("write device('cpu'), device('gpu'), device(['gpu', 'cpu']) or device()")
}

// First returns the first available device of a list of ids. It warns of unavailable devices earlier in the list. Wrong
// arguments and the end of the script end the search.
func (m *Module) First(ids *goja.Object) (*session.Device, error) {
	n := int(ids.Get("length").ToInteger())
	if n == 0 {
		return nil, contract.Errorf(contract.InvalidArgument, "device", "the list of ids is empty").WithHint("write device() for the best device")
	}
	var failed []string // the errors of unavailable devices
	for i := range n {
		v := ids.Get(strconv.Itoa(i))
		if v == nil {
			v = goja.Undefined()
		}
		id, ok := element.Exported(v).(string)
		if !ok {
			return nil, noDeviceID(v)
		}
		d, err := m.reach.Device(m.Engine.Running(), id)
		if err == nil {
			if len(failed) > 0 {
				m.Engine.Warn(fmt.Sprintf("%s is used: %s", d.ID(), strings.Join(failed, "; ")), "")
			}
			return d, nil
		}
		if code := contract.CodeOf(err); code == contract.Cancelled || code == contract.InvalidArgument {
			return nil, err
		}
		failed = append(failed, fmt.Sprintf("%s is not available: %v", id, err))
	}
	return nil, contract.Errorf(contract.NotFound, "device", "no device of the list is available: %s", strings.Join(failed, "; ")).
		WithHint("add 'cpu' to the list")
}

// List implements devices(), which returns all devices, best first. It warns of configured ones that are unavailable.
func (m *Module) List(goja.FunctionCall) (goja.Value, error) {
	var list []any
	for _, d := range m.reach.Devices(m.Engine.Running()) {
		list = append(list, m.ObjectOf(d))
	}
	m.WarnUnreached()
	return m.VM.NewArray(list...), nil
}

// WarnUnreached warns of configured devices that are unavailable.
func (m *Module) WarnUnreached() {
	for _, missing := range m.reach.Unreached() {
		reason, hint := missing.Err.Error(), ""
		var e *contract.Error
		if errors.As(missing.Err, &e) {
			bare := *e
			bare.Op, bare.Device = "", "" // redundant with the id
			reason, hint = bare.Message(), e.Hint
		}
		m.Engine.Warn(fmt.Sprintf("%s is not available: %s", missing.Name, reason), hint)
	}
}

// Platforms implements platforms(), which returns every plugin with its version, or the error that disabled it.
func (m *Module) Platforms(goja.FunctionCall) (goja.Value, error) {
	var list []any
	for _, p := range m.reach.Platforms(m.Engine.Running()) {
		o := m.VM.NewObject()
		_ = o.Set("name", p.Plugin) // cannot fail on a new plain object
		_ = o.Set("available", p.Opened)
		if p.Err != nil {
			_ = o.Set("reason", p.Err.Error())
		} else {
			_ = o.Set("vendor", p.Info.Vendor)
			_ = o.Set("version", p.Info.Version)
		}
		list = append(list, o)
	}
	return m.VM.NewArray(list...), nil
}

// facts returns a plain object of names and values, which alternate in pairs.
func (m *Module) facts(pairs ...any) goja.Value {
	o := m.VM.NewObject()
	for i := 0; i+1 < len(pairs); i += 2 {
		v := pairs[i+1]
		if list, ok := v.([]int); ok {
			items := make([]any, len(list))
			for j, n := range list {
				items[j] = n
			}
			v = m.VM.NewArray(items...)
		}
		_ = o.Set(pairs[i].(string), v) // cannot fail on a new plain object
	}
	return o
}

func (m *Module) limits(d *session.Device) goja.Value {
	l := d.Info().Limits
	return m.facts("allocationBytes", l.AllocationBytes, "sharedBytes", l.SharedBytes, "groupItems", l.GroupItems,
		"groupSize", l.GroupSize[:], "groups", l.Groups[:], "subgroupSizes", l.SubgroupSizes)
}

func (m *Module) features(d *session.Device) goja.Value {
	f := d.Info().Features
	return m.facts("exact", f.Exact, "f16", f.F16, "f64", f.F64, "atomics64", f.Atomics64, "floatAtomics", f.FloatAtomic,
		"unified", f.Unified, "subgroups", f.Subgroups)
}

func (m *Module) memory(d *session.Device) goja.Value {
	u := d.Memory()
	return m.facts("total", u.Total, "allocated", u.Allocated, "peak", u.Peak)
}

func inspectDevice(d *session.Device) string {
	info := d.Info()
	return fmt.Sprintf("Device %s: %s, %s, %d compute units, %s", d.ID(), info.Name, info.Arch, info.ComputeUnits, script.Bytes(info.MemoryBytes))
}

func deviceRow(d *session.Device) [][2]string {
	info := d.Info()
	return [][2]string{{"id", d.ID()}, {"type", info.Type.String()}, {"name", info.Name}, {"arch", info.Arch},
		{"computeUnits", fmt.Sprint(info.ComputeUnits)}, {"memory", script.Bytes(info.MemoryBytes)}}
}

// deviceJSON returns what JSON.stringify writes for a device: its columns in a table.
func (m *Module) deviceJSON(d *session.Device) (goja.Value, error) {
	o := m.VM.NewObject()
	for _, column := range deviceRow(d) {
		_ = o.Set(column[0], column[1]) // cannot fail on a new object
	}
	return o, nil
}

func (m *Module) Of(v goja.Value) *session.Device { d, _ := m.class.Of(v); return d }

func (m *Module) ObjectOf(d *session.Device) *goja.Object {
	o := m.objects[d]
	if o == nil {
		o = m.class.New(d)
		m.objects[d] = o
		if notice := d.Info().Notice; notice != "" {
			m.Engine.Warn(d.ID()+": "+notice, "")
		}
	}
	return o
}
