package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// platform is a plugin and, once opened, its devices.
type platform struct {
	session *Session
	plugin  offload.Plugin

	mu      sync.Mutex
	tried   bool // open has opened the plugin or failed; fields below are valid
	raw     offload.Platform
	parts   []offload.Platform // of a platform that grows
	devices []*Device
	missing []offload.Missing
	err     error // the error of opening it
}

// PlatformStatus is the state of a plugin.
type PlatformStatus struct {
	Plugin  string
	Opened  bool
	Info    offload.PlatformInfo // if opened
	Devices []*Device            // if opened
	Missing []offload.Missing    // if opened: devices that could not be reached
	Err     error                // the error of opening it
}

// open opens the plugin at the first call. It returns the devices, with those that have joined since. It keeps a failure for
// later calls, unless ctx caused it.
func (p *platform) open(ctx context.Context) ([]*Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried {
		p.grow(ctx)
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
	if partial, ok := raw.(offload.Partial); ok {
		p.missing = partial.Missing()
	}
	p.add(ctx, raw)
	p.grow(ctx)
	return p.devices, nil
}

// add adds the devices of the platform, or of a part that has joined it.
func (p *platform) add(ctx context.Context, raw offload.Platform) {
	ids := make([]string, 0, len(raw.Devices()))
	for i, dev := range raw.Devices() {
		d := newDevice(p, p.deviceID(i, dev, len(raw.Devices())), dev)
		if notice := d.Info().Notice; notice != "" {
			p.session.log.Warn("a device is not as expected", "device", d.id, "notice", notice)
		}
		p.devices = append(p.devices, d)
		ids = append(ids, d.id)
	}
	p.session.registry.AddPlatform(ctx, p.plugin.Name(), raw, ids)
}

// grow adds the parts that have joined the platform.
func (p *platform) grow(ctx context.Context) {
	g, ok := p.raw.(offload.Growing)
	if !ok || p.session.closed.Load() {
		return
	}
	parts, _ := g.Joined()
	for _, part := range parts[len(p.parts):] {
		p.add(ctx, part)
	}
	p.parts = parts
}

// opened returns the devices, if the plugin was opened.
func (p *platform) opened() []*Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.devices
}

// deviceID returns "plugin:name" for a device with a name of its own, else "plugin:ordinal". The id is the plugin's name alone
// if that is also the name of the device's type, and the plugin has no other device.
func (p *platform) deviceID(i int, dev offload.Device, n int) string {
	name := p.plugin.Name()
	if d, ok := dev.(offload.Named); ok {
		return name + ":" + d.Named()
	}
	if n == 1 && name == dev.Info().Type.String() {
		return name
	}
	return fmt.Sprintf("%s:%d", name, i)
}

// maxClass returns the best class that a device of the plugin can have, ClassGPU if the plugin does not state it.
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
	var hooks []error
	for _, part := range append(slices.Clone(p.parts), p.raw) {
		hooks = append(hooks, p.session.registry.RemovePlatform(ctx, part))
	}
	return errors.Join(append(hooks, p.raw.Close())...)
}

// status returns the plugin's state without opening it; tried reports whether it was opened or failed to open.
func (p *platform) status() (st PlatformStatus, tried bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st = PlatformStatus{Plugin: p.plugin.Name(), Opened: p.raw != nil, Devices: p.devices, Missing: p.missing, Err: p.err}
	if st.Opened {
		st.Info = p.raw.Info()
	}
	return st, p.tried
}

// opened returns the platforms that have been opened.
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

// Opened returns the devices of the plugins that are open.
func (s *Session) Opened() (list []*Device) {
	for _, p := range s.platforms {
		list = append(list, p.opened()...)
	}
	return list
}

// Joining returns the devices of plugins to which further ones may join. For each such plugin it returns a channel that is closed
// when the next device has joined.
func (s *Session) Joining(ctx context.Context) (list []*Device, more []<-chan struct{}) {
	for _, p := range s.opened() {
		if g, ok := p.raw.(offload.Growing); ok {
			_, next := g.Joined() // before open, which adds what has joined by then
			devices, _ := p.open(ctx)
			list, more = append(list, devices...), append(more, next)
		}
	}
	return list, more
}

// Devices opens all plugins and returns their devices, best first. It ignores plugins that fail to open.
func (s *Session) Devices(ctx context.Context) []*Device {
	var list []*Device
	for _, p := range s.platforms {
		devices, _ := p.open(ctx)
		list = append(list, devices...)
	}
	slices.SortStableFunc(list, byClass)
	return list
}

// Platforms opens all plugins, or only those of a list that is not nil, and returns their states.
func (s *Session) Platforms(ctx context.Context, only ...string) []PlatformStatus {
	some := slices.DeleteFunc(slices.Clone(s.platforms), func(p *platform) bool { return only != nil && !slices.Contains(only, p.plugin.Name()) })
	list := make([]PlatformStatus, len(some))
	for i, p := range some {
		_, err := p.open(ctx)
		list[i], _ = p.status()
		list[i].Err = err
	}
	return list
}

// Unreached returns the unavailable devices that options name, with the reasons. It also returns the plugins that failed to open: every
// one if all is set, else those that need configuration. It opens none.
func (s *Session) Unreached(all bool) (list []offload.Missing) {
	for _, p := range s.platforms {
		_, configured := p.plugin.(offload.Unconfigured)
		st, _ := p.status()
		if (all || configured) && st.Err != nil {
			list = append(list, offload.Missing{Name: st.Plugin, Err: st.Err})
		}
		for _, m := range st.Missing {
			list = append(list, offload.Missing{Name: st.Plugin + ":" + m.Name, Err: m.Err})
		}
	}
	return list
}
