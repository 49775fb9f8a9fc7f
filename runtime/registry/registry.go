// Package registry keeps libraries of images and finds, for each device, the image that fits it best.
//
// The life of a library is nested. The registry takes its images and tells platforms with [offload.LibraryHooks]. Images are
// checked and loaded on first use. At the end the programs are unloaded, the platforms are told again, and the registry
// drops the library. Platforms may be added before or after libraries.
//
// # Design
//
// A plugin's hook for a library is called again only after a cancellation, since a refusal is an answer.
package registry

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// Registry holds libraries and platforms.
type Registry struct {
	log *slog.Logger

	mu        sync.Mutex // guards the lists; released before any call of a plugin
	platforms []*platform
	libraries []*Library
}

type platform struct {
	name    string
	raw     offload.Platform
	devices []offload.Device
	ids     []string
}

// New returns an empty registry. log receives the failures of hooks.
func New(log *slog.Logger) *Registry { return &Registry{log: log} }

// AddPlatform announces all libraries, present and later ones, to a platform. ids are the names of its devices, in order.
func (r *Registry) AddPlatform(ctx context.Context, name string, raw offload.Platform, ids []string) {
	p := &platform{name: name, raw: raw, devices: raw.Devices(), ids: ids}
	r.mu.Lock()
	r.platforms = append(r.platforms, p)
	var attachments []*attachment
	for _, l := range r.libraries {
		attachments = append(attachments, l.pair(p))
	}
	r.mu.Unlock()
	announce(ctx, attachments)
}

// RemovePlatform unloads the libraries from the platform's devices in the reverse order of registration, and calls the
// platform's hook for each. Commands that use the libraries must have finished. A platform that was not added is ignored.
func (r *Registry) RemovePlatform(ctx context.Context, raw offload.Platform) error {
	r.mu.Lock()
	i := slices.IndexFunc(r.platforms, func(p *platform) bool { return p.raw == raw })
	if i < 0 {
		r.mu.Unlock()
		return nil
	}
	p := r.platforms[i]
	r.platforms = slices.Delete(r.platforms, i, i+1)
	libraries := slices.Clone(r.libraries)
	r.mu.Unlock()
	var errs []error
	for _, l := range slices.Backward(libraries) {
		if a := l.take(p); a != nil {
			errs = append(errs, a.end(ctx))
		}
	}
	return errors.Join(errs...)
}

// Register adds a library and announces it to the platforms. A platform's refusal is logged, and returned by each Load on its
// devices. Errors: InvalidArgument without images.
func (r *Registry) Register(ctx context.Context, lib offload.Library) (*Library, error) {
	if len(lib.Images) == 0 {
		return nil, &offload.Error{Code: offload.InvalidArgument, Op: "register", Label: lib.Label, Detail: "there are no images"}
	}
	l := &Library{registry: r, lib: lib, slots: make(map[offload.Device]*slot)}
	r.mu.Lock()
	r.libraries = append(r.libraries, l)
	var attachments []*attachment
	for _, p := range r.platforms {
		attachments = append(attachments, l.pair(p))
	}
	r.mu.Unlock()
	announce(ctx, attachments)
	return l, nil
}

// announce calls the hooks in order. Their failures are logged and kept by the attachments.
func announce(ctx context.Context, attachments []*attachment) {
	for _, a := range attachments {
		if a != nil {
			_ = a.announce(ctx)
		}
	}
}

// forget removes a library from the list.
func (r *Registry) forget(l *Library) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.libraries = slices.DeleteFunc(r.libraries, func(o *Library) bool { return o == l })
}
