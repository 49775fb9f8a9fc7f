package esm

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/orepl/orepl/lang/source"
)

// A Cache holds imported files as first read, and their compiled programs, so that several engines run the same texts. It also
// holds what their scripts read of files while they load. It is safe for concurrent use. It does not bypass policies.
type Cache struct {
	mu    sync.Mutex
	files map[string][]byte // contents by path
	first map[string]answer // first answers of [First]
	found map[string]string // extensions by path without extension
	units map[unitKey]*source.Unit
	links sync.Map // paths with symbolic links by which files were read, and paths of files that were not found
}

// answer is the result of an operation on files.
type answer struct {
	value any
	err   error
}

type unitKey struct {
	name, text string
	options    source.Options
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{files: map[string][]byte{}, first: map[string]answer{}, found: map[string]string{}, units: map[unitKey]*source.Unit{}}
}

// read returns a file's content as of its first read, which must not be changed. A failed read is not kept. read, Link, extension,
// setExtension and Compile accept a nil cache, which caches nothing.
func (c *Cache) read(path string, read func(string) ([]byte, error)) ([]byte, error) {
	if c == nil {
		return read(path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if data, ok := c.files[path]; ok {
		return data, nil
	}
	data, err := read(path)
	if err == nil {
		c.files[path] = data
	}
	return data, err
}

// First does an operation on files once for each key: the operation's name, a space and a path. Later calls return the first
// result, also if it is an error; callers must not change it. If keep returns false after the operation, the next call does it again.
// do and keep must not use c, which is locked.
func First[T any](c *Cache, key string, do func() (T, error), keep func() bool) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a, ok := c.first[key]; ok {
		value, _ := a.value.(T)
		return value, a.err
	}
	value, err := do()
	if keep() {
		c.first[key] = answer{value, err}
	}
	return value, err
}

// Link records a path with symbolic links by which a file was read, or the path of a file that was not found.
func (c *Cache) Link(path string) {
	if c == nil {
		return
	}
	c.links.Store(path, true)
}

// Files returns the sorted paths of the files that engines have read or looked for.
func (c *Cache) Files() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]bool{}
	for path := range c.links.Range {
		all[path.(string)] = true
	}
	for path := range c.files {
		all[path] = true
	}
	for key := range c.first {
		if _, path, ok := strings.Cut(key, " "); ok {
			all[path] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Snapshot is the contents of files that scripts read while they loaded, for a cache in another process.
type Snapshot struct {
	Files map[string][]byte // imported files
	Read  map[string][]byte // results of [First] that are bytes, by key
	Found map[string]string // extensions by path without extension
	Names []string          // of all files, as [Cache.Files] returns them
}

// Snapshot returns the cached contents, which must not be changed. Failed operations and results other than bytes are left out.
func (c *Cache) Snapshot() *Snapshot {
	names := c.Files()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &Snapshot{Files: maps.Clone(c.files), Read: map[string][]byte{}, Found: maps.Clone(c.found), Names: names}
	for key, a := range c.first {
		if data, ok := a.value.([]byte); ok && a.err == nil {
			s.Read[key] = data
		}
	}
	return s
}

// Restore adds the contents of another cache, which replace earlier ones. It ignores s.Names.
func (c *Cache) Restore(s *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(c.files, s.Files)
	maps.Copy(c.found, s.Found)
	for key, data := range s.Read {
		c.first[key] = answer{value: data}
	}
}

// extension returns the extension with which a path was found before, or false if it was not.
func (c *Cache) extension(path string) (string, bool) {
	if c == nil {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ext, ok := c.found[path]
	return ext, ok
}

func (c *Cache) setExtension(path, ext string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found[path] = ext
}

// Compile compiles a text once for each combination of name, text and options. After an error the next call compiles again.
func (c *Cache) Compile(name, text string, o source.Options) (*source.Unit, error) {
	if c == nil {
		return source.Compile(name, text, o)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := unitKey{name, text, o}
	if u := c.units[key]; u != nil {
		return u, nil
	}
	u, err := source.Compile(name, text, o)
	if err == nil {
		c.units[key] = u
	}
	return u, err
}
