// Package registry keeps libraries of images and finds, for each device, the image that fits it best.
//
// A library lives through nested steps: the registry takes its images, every platform that wants to know is told
// ([offload.LibraryHooks]), images are checked and loaded on first use, programs are unloaded, the platforms are told
// again, and the registry lets go. Platforms may come before or after libraries.
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

	mu        sync.Mutex // held while libraries and platforms are paired, so that hooks come in order
	platforms []*platform
	libraries []*Library
}

type platform struct {
	name    string
	raw     offload.Platform
	devices []offload.Device
	ids     []string
}

// New makes an empty registry. log gets the failures of hooks.
func New(log *slog.Logger) *Registry { return &Registry{log: log} }

// AddPlatform offers all libraries, present and later ones, to a platform. ids are the names of its devices, in order.
func (r *Registry) AddPlatform(ctx context.Context, name string, raw offload.Platform, ids []string) {
	p := &platform{name: name, raw: raw, devices: raw.Devices(), ids: ids}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.platforms = append(r.platforms, p)
	for _, l := range r.libraries {
		l.attach(ctx, p)
	}
}

// RemovePlatform unloads what was loaded on the platform's devices and takes the libraries back from it. Commands that
// use them must have finished.
func (r *Registry) RemovePlatform(ctx context.Context, raw offload.Platform) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for i, p := range r.platforms {
		if p.raw != raw {
			continue
		}
		for _, l := range slices.Backward(r.libraries) {
			errs = append(errs, l.detach(ctx, p))
		}
		r.platforms = slices.Delete(r.platforms, i, i+1)
		break
	}
	return errors.Join(errs...)
}

// Register makes a library of images and tells the platforms. A platform that refuses it is reported to the log, and
// gives that failure when one of its devices needs the library.
func (r *Registry) Register(ctx context.Context, label string, images []*offload.Image) (*Library, error) {
	if len(images) == 0 {
		return nil, &offload.Error{Code: offload.InvalidArgument, Op: "register", Label: label, Detail: "there are no images"}
	}
	l := &Library{
		registry: r,
		lib:      offload.Library{Label: label, Images: images},
		attached: make(map[*platform]error),
		slots:    make(map[offload.Device]*slot),
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.platforms {
		l.attach(ctx, p)
	}
	r.libraries = append(r.libraries, l)
	return l, nil
}

// unregister ends a library's use on all platforms, last one first.
func (r *Registry) unregister(ctx context.Context, l *Library) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.libraries, l)
	if i < 0 {
		return nil
	}
	var errs []error
	for _, p := range slices.Backward(r.platforms) {
		errs = append(errs, l.detach(ctx, p))
	}
	r.libraries = slices.Delete(r.libraries, i, i+1)
	return errors.Join(errs...)
}

func (r *Registry) snapshot() []*platform {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.platforms)
}
