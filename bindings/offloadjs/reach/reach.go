// Package reach finds the devices that the scripts of an engine may use: those of the session that the engine's policy permits.
package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Devices are the devices that an engine may use.
type Devices struct {
	session *session.Session
	permit  func(id string) error // nil permits all
	plugins []string              // those that may be opened; nil: all
}

// New returns the devices of an engine.
func New(s *session.Session, e *lang.Engine) *Devices {
	policy := e.Options().Policy
	d := &Devices{session: s, permit: policy.Device, plugins: policy.Plugins}
	if d.plugins != nil {
		d.permit = d.ofPlugins(policy.Device)
	}
	return d
}

// ofPlugins returns a policy that also denies the devices of plugins that may not be opened.
func (d *Devices) ofPlugins(permit func(id string) error) func(id string) error {
	return func(id string) error {
		if permit != nil {
			if err := permit(id); err != nil {
				return err
			}
		}
		if !slices.Contains(d.plugins, pluginOf(id)) {
			return fmt.Errorf("its plugins are %s", strings.Join(d.plugins, ", "))
		}
		return nil
	}
}

// Device is [session.Session.Device] among the permitted devices. Errors: also PermissionDenied for a device that the policy denies.
func (d *Devices) Device(ctx context.Context, id string) (*session.Device, error) {
	if d.permit == nil {
		return d.session.Device(ctx, id)
	}
	if id != "" && id != "gpu" {
		found, err := d.named(ctx, id)
		if err != nil {
			return nil, err
		}
		return found, d.check(found.ID())
	}
	list, unavailable := d.all(ctx)
	var denied error
	for _, found := range list {
		switch err := d.check(found.ID()); {
		case found.IsLost() || id == "gpu" && found.Info().Type != contract.GPU:
		case err == nil:
			return found, nil
		case denied == nil:
			denied = err
		}
	}
	switch {
	case denied != nil:
		return nil, denied
	case unavailable != nil:
		return nil, unavailable
	case d.plugins != nil:
		return nil, contract.Errorf(contract.PermissionDenied, "find device", "the script may use no such device").
			WithHint("the program that runs this script decides which devices it may use")
	}
	return d.session.Device(ctx, id) // the error of a session without such devices
}

// named is [session.Session.Device], but opens no plugin that may not be opened.
func (d *Devices) named(ctx context.Context, id string) (*session.Device, error) {
	if d.plugins != nil && !slices.Contains(d.plugins, pluginOf(id)) {
		return nil, d.check(id)
	}
	return d.session.Device(ctx, id)
}

func pluginOf(id string) string {
	name, _, _ := strings.Cut(id, ":")
	return name
}

// all returns the devices of the plugins that may be opened, best first, and the error of the first such plugin without a device.
func (d *Devices) all(ctx context.Context) (list []*session.Device, missing error) {
	if d.plugins == nil {
		return d.session.Devices(ctx), nil
	}
	for _, name := range d.plugins {
		if _, err := d.session.Device(ctx, name); err != nil && missing == nil {
			missing = err
		}
	}
	for _, found := range d.session.Opened() {
		if slices.Contains(d.plugins, pluginOf(found.ID())) {
			list = append(list, found)
		}
	}
	slices.SortStableFunc(list, func(a, b *session.Device) int { return cmp.Compare(b.Info().Class, a.Info().Class) })
	return list, missing
}

func (d *Devices) check(id string) error {
	if err := d.permit(id); err != nil {
		return contract.Errorf(contract.PermissionDenied, "find device", "the script may not use the device %q: %v", id, err).
			WithHint("the program that runs this script decides which devices it may use")
	}
	return nil
}

// Permits reports whether the policy allows the device with an id.
func (d *Devices) Permits(id string) bool { return d.permit == nil || d.permit(id) == nil }

// Devices is [session.Session.Devices] without the devices that the policy denies.
func (d *Devices) Devices(ctx context.Context) []*session.Device {
	all, _ := d.all(ctx)
	if d.permit == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(found *session.Device) bool { return d.permit(found.ID()) != nil })
}

// Joining is [session.Session.Joining] without the devices that the policy denies.
func (d *Devices) Joining(ctx context.Context) ([]*session.Device, []<-chan struct{}) {
	all, more := d.session.Joining(ctx)
	if d.permit == nil {
		return all, more
	}
	return slices.DeleteFunc(all, func(found *session.Device) bool { return d.permit(found.ID()) != nil }), more
}

// DeviceFor is [session.Session.DeviceFor] among the permitted devices.
func (d *Devices) DeviceFor(ctx context.Context, l *session.Library) (*session.Device, error) {
	if d.permit == nil {
		return d.session.DeviceFor(ctx, l)
	}
	var first error
	for _, found := range d.Devices(ctx) {
		_, err := l.Symbols(ctx, found)
		if err == nil {
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = contract.Errorf(contract.NotFound, "load", "the script may use no device that loads the library").On("", l.Label())
	}
	return nil, first
}

// Platforms is [session.Session.Platforms] without plugins of which the policy permits no device.
func (d *Devices) Platforms(ctx context.Context) []session.PlatformStatus {
	all := d.session.Platforms(ctx, d.plugins...)
	if d.permit == nil {
		return all
	}
	return slices.DeleteFunc(all, func(p session.PlatformStatus) bool {
		return !slices.ContainsFunc(p.Devices, func(found *session.Device) bool { return d.permit(found.ID()) == nil })
	})
}

// Unreached is [session.Session.Unreached], and empty if a policy may deny devices.
func (d *Devices) Unreached() []contract.Missing {
	if d.permit != nil {
		return nil
	}
	return d.session.Unreached(false)
}

// All returns the devices that an id names, in order: all GPUs for "gpu", all devices of a plugin, or one. Those that are lost and
// those that the policy denies are in passed, with the reason.
func (d *Devices) All(ctx context.Context, id string) (usable []*session.Device, passed []contract.Missing, err error) {
	var all []*session.Device
	if id == "gpu" {
		all, _ = d.all(ctx)
		all = slices.DeleteFunc(all, func(found *session.Device) bool { return found.Info().Type != contract.GPU })
	}
	if len(all) == 0 {
		first, err := d.named(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		all = d.ofName(id, first)
	}
	for _, found := range all {
		if err := d.usable(found); err != nil {
			passed = append(passed, contract.Missing{Name: found.ID(), Err: err})
		} else {
			usable = append(usable, found)
		}
	}
	return usable, passed, nil
}

// ofName returns the devices that an id names. first is that of [session.Session.Device], whose plugin is open.
func (d *Devices) ofName(id string, first *session.Device) (all []*session.Device) {
	if first.ID() == id {
		return []*session.Device{first}
	}
	for _, found := range d.session.Opened() {
		if rest, ok := strings.CutPrefix(found.ID(), id); ok && (rest[0] == ':' || rest[0] == '/') {
			all = append(all, found)
		}
	}
	if !slices.Contains(all, first) {
		return []*session.Device{first}
	}
	return all
}

// usable returns why a device cannot be used, or nil.
func (d *Devices) usable(found *session.Device) error {
	if found.IsLost() {
		return errors.New("it is lost")
	}
	if d.permit != nil {
		if err := d.permit(found.ID()); err != nil {
			return fmt.Errorf("it is denied: %w", err)
		}
	}
	return nil
}

// Others returns the devices and plugins that were considered for the best device and not taken, with the reasons.
func (d *Devices) Others(best *session.Device) []contract.Missing {
	list := d.session.Unreached(true)
	for _, found := range d.session.Opened() {
		err := d.usable(found)
		switch {
		case found == best:
			continue
		case err != nil:
		case found.Info().Class < best.Info().Class:
			err = errors.New("it is of a lower class than " + best.ID())
		default:
			err = errors.New("it comes after " + best.ID())
		}
		list = append(list, contract.Missing{Name: found.ID(), Err: err})
	}
	return list
}
