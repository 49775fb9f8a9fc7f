package offloadjs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// findDevice implements device(id?).
func (m *instance) findDevice(call goja.FunctionCall) (goja.Value, error) {
	id := ""
	if v := call.Argument(0); !goja.IsUndefined(v) {
		if m.asDevice(v) != nil {
			return v, nil
		}
		if list, ok := v.(*goja.Object); ok && list.ClassName() == "Array" {
			d, err := m.firstDevice(list)
			if err != nil {
				return nil, err
			}
			return m.deviceObject(d), nil
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
	return m.deviceObject(d), nil
}

func noDeviceID(v goja.Value) error {
	return contract.Errorf(contract.InvalidArgument, "device", "expected a device's id, not %s", convert.Describe(v)).
		WithHint("write device('cpu'), device('gpu'), device(['gpu', 'cpu']) or device()")
}

// firstDevice returns the first available device of a list of ids. It warns of unavailable devices earlier in the list.
func (m *instance) firstDevice(ids *goja.Object) (*session.Device, error) {
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

// listDevices implements devices(), which returns all devices, best first.
func (m *instance) listDevices(goja.FunctionCall) (goja.Value, error) {
	var list []any
	for _, d := range m.reach.Devices(m.Engine.Running()) {
		list = append(list, m.deviceObject(d))
	}
	m.warnUnreached()
	return m.VM.NewArray(list...), nil
}

// warnUnreached warns of configured devices that are unavailable.
func (m *instance) warnUnreached() {
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

// platforms implements platforms(), which returns every plugin with its version, or the error that disabled it.
func (m *instance) platforms(goja.FunctionCall) (goja.Value, error) {
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

// live implements live(), which returns the objects that have not been freed.
func (m *instance) live(goja.FunctionCall) (goja.Value, error) {
	var list []any
	for _, obj := range m.env.session.Live() {
		if m.opts.OwnQueues && obj.Owner != m.quota.owner { // another engine's
			continue
		}
		o := m.VM.NewObject()
		_ = o.Set("kind", obj.Kind) // cannot fail on a new plain object
		_ = o.Set("label", obj.Label)
		_ = o.Set("device", obj.Device)
		_ = o.Set("bytes", obj.Bytes)
		_ = o.Set("at", obj.Pos.String())
		list = append(list, o)
	}
	return m.VM.NewArray(list...), nil
}

// facts returns a plain object of names and values, which alternate in pairs.
func (m *instance) facts(pairs ...any) goja.Value {
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

func (m *instance) limits(d *session.Device) goja.Value {
	l := d.Info().Limits
	return m.facts("allocationBytes", l.AllocationBytes, "sharedBytes", l.SharedBytes, "groupItems", l.GroupItems,
		"groupSize", l.GroupSize[:], "groups", l.Groups[:], "subgroupSizes", l.SubgroupSizes)
}

func (m *instance) features(d *session.Device) goja.Value {
	f := d.Info().Features
	return m.facts("exact", f.Exact, "f16", f.F16, "f64", f.F64, "atomics64", f.Atomics64, "floatAtomics", f.FloatAtomic,
		"unified", f.Unified, "subgroups", f.Subgroups)
}

func (m *instance) memory(d *session.Device) goja.Value {
	u := d.Memory()
	return m.facts("total", u.Total, "allocated", u.Allocated, "peak", u.Peak)
}

func inspectDevice(d *session.Device) string {
	info := d.Info()
	return fmt.Sprintf("Device %s: %s, %s, %d compute units, %s", d.ID(), info.Name, info.Arch, info.ComputeUnits, bytesText(info.MemoryBytes))
}

// bytesText formats a number of bytes with a binary unit.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
