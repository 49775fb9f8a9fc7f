package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// platform is a plugin and, once opened, its devices.
type platform struct {
	session *Session
	plugin  offload.Plugin

	mu      sync.Mutex
	tried   bool
	raw     offload.Platform
	devices []*Device
	err     error // why it could not be opened
}

// PlatformStatus says what became of a plugin.
type PlatformStatus struct {
	Plugin  string
	Opened  bool
	Info    offload.PlatformInfo // if opened
	Devices []*Device            // if opened
	Err     error                // why it could not be opened
}

// open opens the plugin at the first call. A failure is remembered, unless it came from ctx.
func (p *platform) open(ctx context.Context) ([]*Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried {
		return p.devices, p.err
	}
	if err := contextError(ctx, "open"); err != nil {
		return nil, err
	}
	if p.session.closed.Load() {
		return nil, closedError("open", "session", "")
	}
	raw, err := p.plugin.Open(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	p.tried, p.err = true, err
	if err != nil {
		p.session.log.Debug("plugin not available", "plugin", p.plugin.Name(), "error", err)
		return nil, err
	}
	p.raw = raw
	ids := make([]string, 0, len(raw.Devices()))
	for i, dev := range raw.Devices() {
		d := newDevice(p, p.deviceID(i, dev, len(raw.Devices())), dev)
		p.devices = append(p.devices, d)
		ids = append(ids, d.id)
	}
	p.session.registry.AddPlatform(ctx, p.plugin.Name(), raw, ids)
	return p.devices, nil
}

// opened are the devices, if the plugin was opened.
func (p *platform) opened() []*Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.devices
}

// deviceID is "plugin:ordinal"; the only device of a plugin that is named after its type is "plugin".
func (p *platform) deviceID(i int, dev offload.Device, n int) string {
	name := p.plugin.Name()
	if n == 1 && name == dev.Info().Type.String() {
		return name
	}
	return fmt.Sprintf("%s:%d", name, i)
}

// maxClass is the best class that a device of the plugin can have.
func (p *platform) maxClass() int {
	if b, ok := p.plugin.(offload.ClassBounded); ok {
		return b.MaxClass()
	}
	return offload.ClassGPU
}

func (p *platform) close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.raw == nil {
		return nil
	}
	for _, d := range p.devices {
		d.freeAll()
	}
	hooks := p.session.registry.RemovePlatform(ctx, p.raw)
	return errors.Join(hooks, p.raw.Close())
}

// opened are the platforms that have been opened.
func (s *Session) opened() []*platform {
	var list []*platform
	for _, p := range s.platforms {
		p.mu.Lock()
		if p.raw != nil {
			list = append(list, p)
		}
		p.mu.Unlock()
	}
	return list
}

// Devices opens all plugins and returns their devices, best first.
func (s *Session) Devices(ctx context.Context) []*Device {
	var list []*Device
	for _, p := range s.platforms {
		devices, _ := p.open(ctx)
		list = append(list, devices...)
	}
	slices.SortStableFunc(list, byClass)
	return list
}

// Platforms opens all plugins and says what became of each.
func (s *Session) Platforms(ctx context.Context) []PlatformStatus {
	list := make([]PlatformStatus, len(s.platforms))
	for i, p := range s.platforms {
		devices, err := p.open(ctx)
		list[i] = PlatformStatus{Plugin: p.plugin.Name(), Opened: err == nil, Devices: devices, Err: err}
		if err == nil {
			list[i].Info = p.raw.Info()
		}
	}
	return list
}

// Device finds a device by id: "cpu", "cuda:0"; a plugin's name alone is its first device, "gpu" the best GPU and ""
// the best device of all. It opens only plugins that can matter. The error lists what there is.
func (s *Session) Device(ctx context.Context, id string) (*Device, error) {
	switch id {
	case "":
		if d := s.first.Load(); d != nil {
			return d, nil
		}
		d, err := s.best(ctx, "", func(*Device) bool { return true })
		if err == nil {
			s.first.Store(d)
		}
		return d, err
	case "gpu":
		return s.best(ctx, id, func(d *Device) bool { return d.Info().Type == offload.GPU })
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
			if id == d.id || id == fmt.Sprintf("%s:%d", name, i) || id == name && i == 0 {
				return d, nil
			}
		}
	}
	return nil, s.unknownDevice(ctx, id)
}

// best is the device of the highest class that is suitable. Plugins that cannot have a better one stay closed.
func (s *Session) best(ctx context.Context, id string, suitable func(*Device) bool) (*Device, error) {
	platforms := slices.Clone(s.platforms)
	slices.SortStableFunc(platforms, func(a, b *platform) int { return cmp.Compare(b.maxClass(), a.maxClass()) })
	var best *Device
	for _, p := range platforms {
		if best != nil && best.Info().Class >= p.maxClass() {
			break
		}
		devices, _ := p.open(ctx)
		for _, d := range devices {
			if suitable(d) && (best == nil || byClass(d, best) < 0) {
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
	var ids, missing, hints []string
	for _, p := range s.Platforms(ctx) {
		for _, d := range p.Devices {
			ids = append(ids, d.id)
		}
		if p.Err == nil {
			continue
		}
		var e *offload.Error
		reason := p.Err.Error()
		if errors.As(p.Err, &e) {
			bare := *e
			bare.Op, bare.Device = "", "" // the plugin's name says both
			reason = bare.Message()
			if e.Hint != "" {
				hints = append(hints, e.Hint)
			}
		}
		missing = append(missing, fmt.Sprintf("%s is not available: %s", p.Plugin, reason))
	}
	e := offload.Errorf(offload.NotFound, "find device", "there is no device %q", id)
	switch {
	case id == "":
		e.Detail = "there is no device"
	case id == "gpu":
		e.Detail = "there is no GPU"
	}
	if len(ids) == 0 && len(missing) > 0 { // why there is none is the error
		e.Detail += "; " + strings.Join(missing, "; ")
		e.Hint = strings.Join(hints, "; ")
		return e
	}
	hint := listHint(id, ids, "devices")
	if id == "gpu" { // no other name was meant
		hint = listHint("", ids, "devices") + "; device() gives the best one"
	}
	if len(missing) > 0 {
		hint += "; " + strings.Join(append(missing, hints...), "; ")
	}
	e.Hint = hint
	return e
}
