package registry

import (
	"context"
	"fmt"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// attachment is the state of a library on a platform. Its lock is held while the platform's hooks run, so that a slow hook
// delays only callers that need this pair.
type attachment struct {
	library  *Library
	platform *platform
	slots    []*slot // one for each device of the platform

	lock      lock
	announced bool  // the hook has completed: err is final
	err       error // the hook's failure; before announced, the error of its last call
	gone      bool  // the platform or the library has ended
}

// pair attaches the library to a platform without calling it. It returns nil if the library has ended.
func (l *Library) pair(p *platform) *attachment {
	a := &attachment{library: l, platform: p, lock: newLock()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.attachments = append(l.attachments, a)
	for i, d := range p.devices {
		s := &slot{attachment: a, device: d, id: p.ids[i], lock: newLock(), chosen: -1}
		l.slots[d] = s
		a.slots = append(a.slots, s)
	}
	return a
}

// take removes the attachment to a platform from the library and returns it; nil if there is none.
func (l *Library) take(p *platform) *attachment {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.attachments, func(a *attachment) bool { return a.platform == p })
	if i < 0 {
		return nil
	}
	a := l.attachments[i]
	l.attachments = slices.Delete(l.attachments, i, i+1)
	for _, d := range p.devices {
		delete(l.slots, d)
	}
	return a
}

// announce calls the platform's hook for the library once and returns its failure. A hook that failed because ctx ended is
// called again by the next announce.
func (a *attachment) announce(ctx context.Context) error {
	label := a.library.lib.Label
	if cause := a.lock.acquire(ctx); cause != nil {
		return &offload.Error{Code: offload.Cancelled, Op: "register library", Label: label, Err: cause}
	}
	defer a.lock.release()
	if a.gone {
		return a.library.closedError("register library")
	}
	if a.announced {
		return a.err
	}
	a.err = nil
	if h, ok := a.platform.raw.(offload.LibraryHooks); ok {
		a.err = guard("register library", label, func() error { return h.RegisterLibrary(ctx, &a.library.lib) })
	}
	if a.err == nil {
		a.announced = true
		return nil
	}
	if a.announced = ctx.Err() == nil; !a.announced {
		a.err = &offload.Error{Code: offload.Cancelled, Op: "register library", Label: label, Err: a.err}
	}
	a.library.registry.log.Warn("a plugin refused a library", "plugin", a.platform.name, "library", label, "final", a.announced, "error", a.err)
	return a.err
}

// failure returns the error that keeps the library from the platform's devices, or nil.
func (a *attachment) failure() error {
	a.lock <- struct{}{}
	defer a.lock.release()
	if a.err == nil && !a.announced {
		return &offload.Error{Code: offload.Uninitialized, Op: "register library", Label: a.library.lib.Label,
			Detail: fmt.Sprintf("plugin %s has not been notified of the library yet", a.platform.name)}
	}
	return a.err
}

// end unloads the library from the platform's devices, in reverse order, and calls UnregisterLibrary if RegisterLibrary had
// succeeded. It returns the first failure. A second call waits for the first and does nothing.
func (a *attachment) end(ctx context.Context) error {
	a.lock <- struct{}{}
	defer a.lock.release()
	if a.gone {
		return nil
	}
	a.gone = true
	var first error
	for _, s := range slices.Backward(a.slots) {
		if err := s.unload(); err != nil && first == nil {
			first = err
		}
	}
	h, ok := a.platform.raw.(offload.LibraryHooks)
	if !ok || !a.announced || a.err != nil {
		return first
	}
	lib := &a.library.lib
	if err := guard("unregister library", lib.Label, func() error { return h.UnregisterLibrary(ctx, lib) }); err != nil {
		a.library.registry.log.Warn("a plugin failed to let a library go", "plugin", a.platform.name, "library", lib.Label, "error", err)
		if first == nil {
			first = err
		}
	}
	return first
}
