package disk

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Texts is a file system of texts in memory: names with slashes, such as "filters/blur.js", and contents. Its files have no time
// of modification. It must not change while it is read.
type Texts map[string]string

// Open implements [fs.FS].
func (t Texts) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if text, ok := t[name]; ok {
		return &openText{entry{path.Base(name), int64(len(text)), 0o444}, strings.NewReader(text)}, nil
	}
	below := name + "/"
	if name == "." {
		below = ""
	}
	dir := &openDir{entry: entry{name: path.Base(name), mode: fs.ModeDir | 0o555}}
	for other, text := range t {
		rest, ok := strings.CutPrefix(other, below)
		if !ok || !fs.ValidPath(other) {
			continue
		}
		if first, _, deep := strings.Cut(rest, "/"); deep {
			dir.list = append(dir.list, entry{name: first, mode: fs.ModeDir | 0o555})
		} else {
			dir.list = append(dir.list, entry{rest, int64(len(text)), 0o444})
		}
	}
	if len(dir.list) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	slices.SortFunc(dir.list, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	dir.list = slices.Compact(dir.list)
	return dir, nil
}

// entry describes a text or a directory.
type entry struct {
	name string
	size int64
	mode fs.FileMode
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) Mode() fs.FileMode          { return e.mode }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Stat() (fs.FileInfo, error) { return e, nil }
func (e entry) Close() error               { return nil }
func (e entry) String() string             { return fs.FormatDirEntry(e) }

// openText is an opened file whose contents are a text in memory.
type openText struct {
	entry
	*strings.Reader
}

func (o *openText) Size() int64 { return o.entry.size }

// openDir is an opened directory.
type openDir struct {
	entry
	list []entry // not yet read
}

func (o *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.name, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (o *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(o.list)
	} else if len(o.list) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(o.list))
	entries := make([]fs.DirEntry, n)
	for i := range entries {
		entries[i] = o.list[i]
	}
	o.list = o.list[n:]
	return entries, nil
}
