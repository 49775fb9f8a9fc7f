// Package library registers the modules of kernel IR that scripts' kernels are compiled to. Engines that compile equal modules
// share one registration.
package library

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/orepl/orepl/lang/kernel/ir"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Cache holds the registered modules of scripts' kernels, which the engines of a process share.
type Cache struct {
	session *session.Session

	mu        sync.Mutex
	libraries map[[sha256.Size]byte]*Shared
}

// NewCache returns an empty cache.
func NewCache(s *session.Session) *Cache {
	return &Cache{session: s, libraries: map[[sha256.Size]byte]*Shared{}}
}

// Shared is the registered module of a script's kernel. Engines that compile equal modules share it. It is unregistered
// once every user has closed its engine or dropped the kernel.
type Shared struct {
	*session.Library
	key   [sha256.Size]byte
	users int // guarded by Cache.mu
}

// Acquire registers a kernel's module, or returns the library of an equal module. The caller passes each result to [Uses.Add].
func (c *Cache) Acquire(ctx context.Context, label string, m *ir.Module) (*Shared, error) {
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.libraries[key]
	if l == nil {
		lib, err := c.session.RegisterUnlisted(ctx, label, &contract.Image{Kind: contract.ImageIR, Label: label, Data: data})
		if err != nil {
			return nil, err
		}
		l = &Shared{Library: lib, key: key}
		c.libraries[key] = l
	}
	l.users++
	return l, nil
}

// release drops one use. The last release unregisters the library once its launches have finished.
func (c *Cache) release(l *Shared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.users--; l.users > 0 {
		return
	}
	delete(c.libraries, l.key)
	go func() {
		err := l.Unregister(context.Background())
		if err != nil && contract.CodeOf(err) != contract.Closed { // Closed means that the session has ended
			c.session.Logger().Error("the library of a script's kernel could not be unregistered", "library", l.Label(), "error", err)
		}
	}()
}

// Uses counts an engine's uses of libraries. Garbage collection drops uses on a separate goroutine.
type Uses struct {
	cache *Cache

	mu   sync.Mutex
	uses map[*Shared]int
}

// NewUses returns the uses of libraries of c by a new engine; there are none yet.
func NewUses(c *Cache) *Uses {
	return &Uses{cache: c, uses: map[*Shared]int{}}
}

// Add records a use that Acquire began.
func (u *Uses) Add(l *Shared) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.uses[l]++
}

// Drop releases one use, unless Close has released all.
func (u *Uses) Drop(l *Shared) {
	u.mu.Lock()
	n := u.uses[l]
	if n == 1 {
		delete(u.uses, l)
	} else if n > 1 {
		u.uses[l]--
	}
	u.mu.Unlock()
	if n > 0 {
		u.cache.release(l)
	}
}

// Close releases all uses.
func (u *Uses) Close() {
	u.mu.Lock()
	uses := u.uses
	u.uses = map[*Shared]int{}
	u.mu.Unlock()
	for l, n := range uses {
		for range n {
			u.cache.release(l)
		}
	}
}
