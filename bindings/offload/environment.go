package offload

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Environment is what the engines of a process share: the session, and the kernels of scripts that were registered.
type Environment struct {
	session *session.Session

	mu        sync.Mutex
	libraries map[[sha256.Size]byte]*session.Library
}

// NewEnvironment makes the environment of a session, which stays the caller's to close.
func NewEnvironment(s *session.Session) *Environment {
	return &Environment{session: s, libraries: map[[sha256.Size]byte]*session.Library{}}
}

// Session is the environment's session.
func (e *Environment) Session() *session.Session { return e.session }

// libraryOf registers a kernel's module, once for equal modules.
func (e *Environment) libraryOf(ctx context.Context, label string, m *ir.Module) (*session.Library, error) {
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(data)
	e.mu.Lock()
	defer e.mu.Unlock()
	if lib := e.libraries[key]; lib != nil {
		return lib, nil
	}
	lib, err := e.session.RegisterImages(ctx, label, contract.Position{}, &contract.Image{Kind: contract.ImageIR, Label: label, Data: data})
	if err != nil {
		return nil, err
	}
	e.libraries[key] = lib
	return lib, nil
}

// Close unregisters the kernels of scripts.
func (e *Environment) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var first error
	for key, lib := range e.libraries {
		if err := lib.Unregister(ctx); err != nil && first == nil {
			first = err
		}
		delete(e.libraries, key)
	}
	return first
}
