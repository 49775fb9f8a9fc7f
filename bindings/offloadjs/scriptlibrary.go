package offloadjs

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"

	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// scriptLibrary is the registered module of a script's kernel. Engines that compile equal modules share it. It is unregistered
// once every user has closed its engine or dropped the kernel.
type scriptLibrary struct {
	*session.Library
	key   [sha256.Size]byte
	users int // guarded by Environment.mu
}

// acquire registers a kernel's module, or returns the library of an equal module. Each acquire needs a release.
func (e *Environment) acquire(ctx context.Context, label string, m *ir.Module) (*scriptLibrary, error) {
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(data)
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.libraries[key]
	if l == nil {
		lib, err := e.session.RegisterUnlisted(ctx, label, &contract.Image{Kind: contract.ImageIR, Label: label, Data: data})
		if err != nil {
			return nil, err
		}
		l = &scriptLibrary{Library: lib, key: key}
		e.libraries[key] = l
	}
	l.users++
	return l, nil
}

// release drops one use. The last release unregisters the library once its launches have finished.
func (e *Environment) release(l *scriptLibrary) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	delete(e.libraries, l.key)
	go func() {
		err := l.Unregister(context.Background())
		if err != nil && contract.CodeOf(err) != contract.Closed { // Closed means that the session has ended
			e.session.Logger().Error("the library of a script's kernel could not be unregistered", "library", l.Label(), "error", err)
		}
	}()
}

// use acquires the library of a specialization. The use ends when the engine closes or s is garbage-collected.
func (m *instance) use(s *specialization, name string) error {
	lib, err := m.env.acquire(m.Engine.Running(), name, s.Module)
	if err != nil {
		return err
	}
	s.library = lib.Library
	m.used.add(lib)
	runtime.AddCleanup(s, m.used.drop, lib)
	return nil
}

// usedLibraries counts an engine's uses of script libraries. Garbage collection drops uses on a separate goroutine.
type usedLibraries struct {
	env *Environment

	mu   sync.Mutex
	uses map[*scriptLibrary]int
}

func (u *usedLibraries) add(l *scriptLibrary) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.uses[l]++
}

// drop releases one use, unless close has released all.
func (u *usedLibraries) drop(l *scriptLibrary) {
	u.mu.Lock()
	n := u.uses[l]
	if n == 1 {
		delete(u.uses, l)
	} else if n > 1 {
		u.uses[l]--
	}
	u.mu.Unlock()
	if n > 0 {
		u.env.release(l)
	}
}

// close releases all uses.
func (u *usedLibraries) close() {
	u.mu.Lock()
	uses := u.uses
	u.uses = map[*scriptLibrary]int{}
	u.mu.Unlock()
	for l, n := range uses {
		for range n {
			u.env.release(l)
		}
	}
}
