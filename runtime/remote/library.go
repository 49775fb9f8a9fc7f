package remote

import (
	"context"
	"errors"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// servedLibrary is a library that the client registered, and the platforms with which it is registered.
type servedLibrary struct {
	number   uint64
	library  *offload.Library
	notified []offload.LibraryHooks
}

func (s *server) registerLibrary(m *protocol.RegisterLibrary) error {
	lib := &offload.Library{Label: m.Label, Entries: m.Entries, Requires: m.Requires}
	for i := range m.Images {
		img, err := s.image(&m.Images[i])
		if err != nil {
			return err
		}
		lib.Images = append(lib.Images, img)
	}
	return s.answer(m.Request, func(ctx context.Context, _ *protocol.Reply) error {
		l := &servedLibrary{number: m.Library, library: lib}
		for _, p := range s.platforms {
			hooks, ok := p.(offload.LibraryHooks)
			if !ok {
				continue
			}
			if err := hooks.RegisterLibrary(ctx, lib); err != nil {
				return errors.Join(err, l.unregister(context.Background())) // no platform keeps a registration
			}
			l.notified = append(l.notified, hooks)
		}
		s.mu.Lock()
		taken := slices.ContainsFunc(s.libraries, func(o *servedLibrary) bool { return o.number == m.Library })
		if !taken {
			s.libraries = append(s.libraries, l)
		}
		s.mu.Unlock()
		if taken {
			return errors.Join(offload.Errorf(offload.InvalidArgument, "register", "the number %d is taken", m.Library), l.unregister(ctx))
		}
		return nil
	})
}

func (s *server) unregisterLibrary(m *protocol.UnregisterLibrary) error {
	return s.answer(m.Request, func(ctx context.Context, _ *protocol.Reply) error {
		s.mu.Lock()
		i := slices.IndexFunc(s.libraries, func(l *servedLibrary) bool { return l.number == m.Library })
		if i < 0 {
			s.mu.Unlock()
			return offload.Errorf(offload.NotFound, "unregister", "library %d is not registered", m.Library)
		}
		l := s.libraries[i]
		s.libraries = slices.Delete(s.libraries, i, i+1)
		s.mu.Unlock()
		return l.unregister(ctx)
	})
}

// unregister calls the platforms' hooks for the end of the library, in reverse order. It joins their errors.
func (l *servedLibrary) unregister(ctx context.Context) error {
	var failures []error
	for _, hooks := range slices.Backward(l.notified) {
		failures = append(failures, hooks.UnregisterLibrary(ctx, l.library))
	}
	return errors.Join(failures...)
}
