package opencl

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cache stores binaries of programs in files of a folder that processes share. A file is written under a temporary name and
// then renamed, so it is always complete. It starts with a magic number and a digest of the rest, which detects damage.
type cache struct {
	dir  string // "" disables the cache
	most int64  // maximum size of all files in bytes
}

const (
	cacheMark  = "orepl-cl1\n" // magic number at the start of a file
	cacheBytes = 256 << 20     // maximum size of all files
	staleAfter = time.Hour     // age at which temporary files of ended processes are removed
)

// newCache returns the cache in a folder. "" selects the user's cache folder; "off" disables the cache.
func newCache(dir string) *cache {
	switch dir {
	case "off":
		return &cache{}
	case "":
		user, err := os.UserCacheDir()
		if err != nil {
			return &cache{}
		}
		dir = filepath.Join(user, "orepl", "opencl")
	}
	return &cache{dir: dir, most: cacheBytes}
}

// cacheKey returns the file name for the inputs that determine a binary.
func cacheKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		n := sha256.Sum256([]byte(p))
		h.Write(n[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// get returns the binary with this key, or nil if the cache has none. It removes a damaged file.
func (c *cache) get(key string) []byte {
	if c.dir == "" {
		return nil
	}
	path := filepath.Join(c.dir, key)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	const head = len(cacheMark) + sha256.Size
	if len(data) > head && strings.HasPrefix(string(data[:len(cacheMark)]), cacheMark) {
		if digest := sha256.Sum256(data[head:]); bytes.Equal(digest[:], data[len(cacheMark):head]) {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // marks the file as recently used
			return data[head:]
		}
	}
	c.remove(key)
	return nil
}

// remove deletes a file of the cache.
func (c *cache) remove(key string) { _ = os.Remove(filepath.Join(c.dir, key)) }

// put stores a binary. It stores nothing in a cache without a folder, nor a binary that is larger than a quarter of the cache.
// Callers ignore the error: programs run without the cache.
func (c *cache) put(key string, binary []byte) error {
	if c.dir == "" || int64(len(binary)) > c.most/4 {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return err
	}
	digest := sha256.Sum256(binary)
	for _, part := range [][]byte{[]byte(cacheMark), digest[:], binary} {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, key))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return c.bound()
}

// bound removes abandoned temporary files. If the others exceed the size limit, it removes the least recently used ones down to
// three quarters of the limit.
func (c *cache) bound() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() { // another process removed it
			continue
		}
		if strings.HasPrefix(e.Name(), "new-") {
			if time.Since(info.ModTime()) > staleAfter {
				c.remove(e.Name())
			}
			continue
		}
		files, total = append(files, info), total+info.Size()
	}
	if total <= c.most {
		return nil
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, f := range files {
		if total <= c.most/4*3 {
			break
		}
		c.remove(f.Name())
		total -= f.Size()
	}
	return nil
}
