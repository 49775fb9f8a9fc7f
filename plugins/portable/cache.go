package portable

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
)

// keptUnused is the maximum number of unused compiled images in a cache.
const keptUnused = 64

// Cache maps images by content to a plugin's compilation results, so that equal images are compiled once. An unused result
// stays until [keptUnused] newer ones are unused, too.
type Cache[T any] struct {
	compile func(ctx context.Context, img *offload.Image) (T, error)

	mu      sync.Mutex
	entries map[[sha256.Size]byte]*Cached[T]
	unused  []*Cached[T] // oldest first
}

// Cached is the compilation result of an image.
type Cached[T any] struct {
	Value T // set by [Cache.Get]

	hash  [sha256.Size]byte
	users int           // guarded by the cache
	busy  chan struct{} // full while a goroutine compiles the image
	done  bool          // Value is set; guarded by busy
}

// NewCache returns a cache of results of compile. The next user repeats a failed compilation.
func NewCache[T any](compile func(ctx context.Context, img *offload.Image) (T, error)) *Cache[T] {
	return &Cache[T]{compile: compile, entries: map[[sha256.Size]byte]*Cached[T]{}}
}

// Get returns the result for an image and counts a user until [Cache.Put]. With an error it counts none. If ctx ends during
// another caller's compilation, Get returns the error of [Cancelled], and the compilation continues.
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

// use returns the entry of a digest, which it makes if there is none, and adds a user.
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

// Put removes a user that [Cache.Get] has counted.
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
func Cancelled(ctx context.Context, img *offload.Image) *offload.Error {
	e := offload.Errorf(offload.Cancelled, "load", "").On("", img.Label)
	e.Err = context.Cause(ctx)
	return e
}
