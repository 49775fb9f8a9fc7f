package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/offload"
)

// Device returns a device by id, such as "cpu", "cuda:0" or "mpi:2/cuda:0". A prefix of whole parts, such as "mpi:2", selects the
// first matching device. "gpu" selects the best GPU of this machine, and "" the best device of all. Plugins that cannot match are
// not opened. Errors: NotFound with the available devices and plugins, or the reason why the plugin or the device is missing.
func (s *Session) Device(ctx context.Context, id string) (*Device, error) {
	switch id {
	case "":
		if d := s.first.Load(); d != nil && !d.IsLost() {
			return d, nil
		}
		d, err := s.best(ctx, "", 0, func(*Device) bool { return true })
		if err == nil {
			s.first.Store(d)
		}
		return d, err
	case "gpu":
		return s.best(ctx, id, offload.ClassIntegratedGPU, func(d *Device) bool { return d.Info().Type == offload.GPU })
	}
	name, _, _ := strings.Cut(id, ":")
	for _, p := range s.platforms {
		if p.plugin.Name() != name {
			continue
		}
		devices, err := p.open(ctx)
		if err != nil {
			return nil, unavailable(id, err)
		}
		for i, d := range devices {
			_, named := d.raw.(offload.Named)
			if id == d.id || !named && id == fmt.Sprintf("%s:%d", name, i) {
				return d, nil
			}
		}
		for _, d := range devices {
			if rest, ok := strings.CutPrefix(d.id, id); ok && (rest == "" || rest[0] == ':' || rest[0] == '/') {
				return d, nil
			}
		}
		if id == name && len(devices) > 0 {
			return devices[0], nil
		}
		for _, m := range p.missing {
			if rest, ok := strings.CutPrefix(id, name+":"+m.Name); ok && (rest == "" || rest[0] == '/') {
				return nil, unavailable(id, m.Err)
			}
		}
	}
	return nil, s.unknownDevice(ctx, id)
}

// DeviceFor returns the best device that can load the library. It tries devices of opened plugins first, then opens the others,
// best class first. The error is the first one of a device that an image fits, else the first refusal, or NotFound without devices.
func (s *Session) DeviceFor(ctx context.Context, l *Library) (*Device, error) {
	var first error
	try := func(devices []*Device) *Device {
		for _, d := range devices {
			_, err := l.Symbols(ctx, d)
			if err == nil {
				return d
			}
			if first == nil || offload.CodeOf(first) == offload.Unsupported && offload.CodeOf(err) != offload.Unsupported {
				first = err
			}
		}
		return nil
	}
	var opened []*Device
	var closed []*platform
	for _, p := range s.platforms {
		if st, tried := p.status(); tried {
			opened = append(opened, st.Devices...)
		} else {
			closed = append(closed, p)
		}
	}
	slices.SortStableFunc(opened, byClass)
	if d := try(opened); d != nil {
		return d, nil
	}
	slices.SortStableFunc(closed, byMaxClass)
	for _, p := range closed {
		devices, _ := p.open(ctx)
		if d := try(devices); d != nil {
			return d, nil
		}
	}
	if first == nil {
		first = offload.Errorf(offload.NotFound, "load", "there is no device").On("", l.Label())
	}
	return nil, first
}

func byMaxClass(a, b *platform) int { return cmp.Compare(b.maxClass(), a.maxClass()) }

// best returns the suitable device of the highest class that is not lost, or an error for id if there is none. It does not open
// plugins whose devices cannot reach the class least, or exceed that of the best device so far. A plugin with wrong options is
// an error.
func (s *Session) best(ctx context.Context, id string, least int, suitable func(*Device) bool) (*Device, error) {
	platforms := slices.Clone(s.platforms)
	slices.SortStableFunc(platforms, byMaxClass)
	var best *Device
	for _, p := range platforms {
		if p.maxClass() < least || best != nil && best.Info().Class >= p.maxClass() {
			break
		}
		devices, err := p.open(ctx)
		if offload.CodeOf(err) == offload.InvalidArgument { // wrong options are not hidden by another device
			return nil, err
		}
		for _, d := range devices {
			if suitable(d) && !d.IsLost() && (best == nil || byClass(d, best) < 0) {
				best = d
			}
		}
		if err := contextError(ctx, "find device"); err != nil {
			return nil, err
		}
	}
	if best == nil {
		return nil, s.unknownDevice(ctx, id)
	}
	return best, nil
}

func byClass(a, b *Device) int { return cmp.Compare(b.Info().Class, a.Info().Class) }

func unavailable(id string, cause error) error {
	e := &offload.Error{Code: offload.CodeOf(cause), Op: "find device", Device: id, Err: cause}
	if e.Code == "" {
		e.Code = offload.NotFound
	}
	var inner *offload.Error
	if errors.As(cause, &inner) {
		e.Hint = inner.Hint
	}
	return e
}

func (s *Session) unknownDevice(ctx context.Context, id string) error {
	if err := contextError(ctx, "find device"); err != nil {
		return err
	}
	var ids, missing, hints, closed, plugins []string
	for _, p := range s.platforms {
		p, tried := p.status()
		if !tried {
			closed = append(closed, p.Plugin)
			continue
		}
		for _, d := range p.Devices {
			ids, plugins = append(ids, d.id), append(plugins, p.Plugin)
		}
		if p.Err == nil {
			continue
		}
		var e *offload.Error
		reason := p.Err.Error()
		if errors.As(p.Err, &e) {
			bare := *e
			bare.Op, bare.Device = "", "" // the message already has the plugin's name
			reason = bare.Message()
			if e.Hint != "" {
				hints = append(hints, e.Hint)
			}
		}
		plugins, missing = append(plugins, p.Plugin), append(missing, fmt.Sprintf("%s is not available: %s", p.Plugin, reason))
	}
	e := offload.Errorf(offload.NotFound, "find device", "there is no device %q", id)
	switch {
	case id == "":
		e.Detail = "there is no device"
	case id == "gpu":
		e.Detail = "there is no GPU"
	}
	if len(ids) == 0 && len(missing) > 0 { // the reason for missing devices is the error
		e.Detail += "; " + strings.Join(missing, "; ")
		e.Hint = strings.Join(hints, "; ")
		return e
	}
	if plugin, _, _ := strings.Cut(id, ":"); s.unready[plugin] != "" {
		e.Hint = s.unready[plugin]
		return e
	}
	if small := strings.ToLower(id); small != id && slices.ContainsFunc(s.platforms, func(p *platform) bool {
		name, _, _ := strings.Cut(small, ":")
		return p.plugin.Name() == name
	}) {
		e.Hint = fmt.Sprintf("ids are in small letters: %q", small)
		return e
	}
	hint := spelling.List(id, ids, "devices")
	if len(ids) == 0 && len(closed) > 0 { // some plugins are closed
		hint = "device() returns the best one, devices() lists all"
	}
	if near := spelling.Nearest(id, append(plugins, append(closed, "gpu")...)); near != "" && !strings.HasPrefix(hint, "did you mean") {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	if id == "gpu" { // no similar name is suggested
		hint = "device() returns the best one"
		if len(ids) > 0 {
			hint = spelling.List("", ids, "devices") + "; " + hint
		}
	}
	if len(closed) > 0 && id != "gpu" {
		hint += "; plugins that were not asked: " + strings.Join(closed, ", ")
	}
	if len(missing) > 0 {
		hint += "; " + strings.Join(append(missing, hints...), "; ")
	}
	e.Hint = hint
	return e
}
