package portable

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// keptUnused is the number of compiled images that a cache keeps without users.
const keptUnused = 64

// Cache holds a plugin's results of compilation by the content of the image: equal images are compiled once. A result without users
// stays until [keptUnused] newer ones have none either.
type Cache[T any] struct {
	compile func(ctx context.Context, img *offload.Image) (T, error)

	mu      sync.Mutex
	entries map[[sha256.Size]byte]*Cached[T]
	unused  []*Cached[T] // oldest first
}

// Cached is the result for an image.
type Cached[T any] struct {
	Value T // set by [Cache.Get]

	hash  [sha256.Size]byte
	users int           // guarded by the cache
	busy  chan struct{} // full while a goroutine compiles it
	done  bool          // guarded by busy
}

// NewCache returns a cache of the results of compile. A compilation that fails is tried again for the next user.
func NewCache[T any](compile func(ctx context.Context, img *offload.Image) (T, error)) *Cache[T] {
	return &Cache[T]{compile: compile, entries: map[[sha256.Size]byte]*Cached[T]{}}
}

// Get returns the result for an image, and counts a user until [Cache.Put]. A caller that waits for another's compilation
// stops when ctx ends, and the compilation continues.
func (c *Cache[T]) Get(ctx context.Context, img *offload.Image) (*Cached[T], error) {
	e := c.use(img.Digest())
	select {
	case e.busy <- struct{}{}:
		defer func() { <-e.busy }()
	case <-ctx.Done():
		c.Put(e)
		return nil, Cancelled(ctx, img)
	}
	if e.done {
		return e, nil
	}
	value, err := c.compile(ctx, img)
	if err != nil {
		c.Put(e)
		return nil, err
	}
	e.Value, e.done = value, true
	return e, nil
}

// use returns the entry of a content with one more user.
func (c *Cache[T]) use(hash [sha256.Size]byte) *Cached[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[hash]
	if e == nil {
		e = &Cached[T]{hash: hash, busy: make(chan struct{}, 1)}
		c.entries[hash] = e
	}
	e.users++
	c.unused = slices.DeleteFunc(c.unused, func(o *Cached[T]) bool { return o == e })
	return e
}

// Put ends a use.
func (c *Cache[T]) Put(e *Cached[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.users--; e.users > 0 {
		return
	}
	c.unused = append(c.unused, e)
	if len(c.unused) > keptUnused {
		delete(c.entries, c.unused[0].hash)
		c.unused = slices.Delete(c.unused, 0, 1)
	}
}

// Cancelled returns the error of a load whose context ended.
func Cancelled(ctx context.Context, img *offload.Image) error {
	e := offload.Errorf(offload.Cancelled, "load", "").On("", img.Label)
	e.Err = context.Cause(ctx)
	return e
}
