// Package built keeps the compiled kernels of array operations, with their libraries.
package built

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Kernel is a compiled kernel with its library.
type Kernel struct {
	*kernel.Compiled
	Library *session.Library
	Safe    bool // launches need no checks
	hash    [sha256.Size]byte
	used    uint64 // time of the last use, in operations
	dropped bool   // the library is or will be unregistered
}

// Most is the maximum number of different kernels in a cache.
const Most = 1024

// Cache holds compiled kernels by their keys and by the contents of their modules.
type Cache struct {
	mu     sync.Mutex
	byKey  map[string]*Kernel
	byHash map[[sha256.Size]byte]*Kernel
	clock  uint64
}

// Lookup returns the kernel with a key, or nil.
func (c *Cache) Lookup(key string) *Kernel {
	if key == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byKey[key]
	if k != nil {
		c.clock++
		k.used = c.clock
	}
	return k
}

// Add registers a compiled kernel and returns it, or an equal one that the cache has. [Cache.Lookup] finds it by the key,
// unless that is empty.
func (c *Cache) Add(ctx context.Context, s *session.Session, key string, code *kernel.Compiled, safe bool) (*Kernel, error) {
	data, err := code.Module.MarshalBinary()
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byHash[hash]
	if k == nil {
		lib, err := s.RegisterUnlisted(ctx, code.Kernel.Name, &offload.Image{Kind: offload.ImageIR, Label: code.Kernel.Name, Data: data})
		if err != nil {
			return nil, err
		}
		k = &Kernel{Compiled: code, Library: lib, Safe: safe, hash: hash}
		c.makeRoom(s)
		if c.byHash == nil {
			c.byHash, c.byKey = map[[sha256.Size]byte]*Kernel{}, map[string]*Kernel{}
		}
		c.byHash[hash] = k
	}
	c.clock++
	k.used = c.clock
	if key != "" {
		c.byKey[key] = k
	}
	return k, nil
}

// Keep marks kernels as used, and reports whether their libraries are registered.
func (c *Cache) Keep(list []*Kernel) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	for _, k := range list {
		if k.used = c.clock; k.dropped {
			return false
		}
	}
	return true
}

// makeRoom drops the half of a full cache that was not used for the longest time.
func (c *Cache) makeRoom(s *session.Session) {
	if len(c.byHash) < Most && len(c.byKey) < 4*Most {
		return
	}
	times := make([]uint64, 0, len(c.byHash))
	for _, k := range c.byHash {
		times = append(times, k.used)
	}
	slices.Sort(times)
	limit := times[len(times)/2]
	for hash, k := range c.byHash {
		if k.used >= limit {
			continue
		}
		delete(c.byHash, hash)
		k.dropped = true
		go func() {
			if err := k.Library.Unregister(context.Background()); err != nil && offload.CodeOf(err) != offload.Closed {
				s.Logger().Error("the library of an array operation could not be unregistered", "library", k.Library.Label(), "error", err)
			}
		}()
	}
	for key, k := range c.byKey {
		if k.used < limit {
			delete(c.byKey, key)
		}
	}
}
