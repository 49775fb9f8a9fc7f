// Package disk reads the files of scripts: those of the machine, or of a file system of the program, such as an embed.FS.
package disk

import (
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrLeaveOut is an error of a policy for writes. With it, functions of the module 'fs' leave out what they would write or remove, and
// succeed.
var ErrLeaveOut = errors.New("no files are written now")

// Files reads files by absolute paths in the machine's form. The zero value reads the files of the machine.
type Files struct {
	tree fs.FS
}

// Of returns the files of a tree, whose root has the path [Root]. A nil tree stands for the machine's files.
func Of(tree fs.FS) Files { return Files{tree} }

// Root is the absolute path of the root of a tree.
const Root = string(filepath.Separator)

// Own reports whether the files are those of a tree, not the machine's.
func (f Files) Own() bool { return f.tree != nil }

// name returns the name in the tree of a path. No path leads out of the tree.
func name(path string) string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	path = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(Root+path)), "/")
	if path == "" {
		return "."
	}
	return path
}

// Stat describes a file.
func (f Files) Stat(path string) (fs.FileInfo, error) {
	if f.tree == nil {
		return os.Stat(path)
	}
	return fs.Stat(f.tree, name(path))
}

// Open opens a file for reading.
func (f Files) Open(path string) (fs.File, error) {
	if f.tree == nil {
		return os.Open(path)
	}
	return f.tree.Open(name(path))
}

// ReadFile returns the contents of a file.
func (f Files) ReadFile(path string) ([]byte, error) {
	if f.tree == nil {
		return os.ReadFile(path)
	}
	return fs.ReadFile(f.tree, name(path))
}

// ReadDir lists a directory in the order of names.
func (f Files) ReadDir(path string) ([]fs.DirEntry, error) {
	if f.tree == nil {
		return os.ReadDir(path)
	}
	return fs.ReadDir(f.tree, name(path))
}

// Version identifies the contents of a file; versions can be compared. The zero value is that of a file that is missing or
// cannot be read.
type Version struct {
	changed time.Time
	size    int64
	hash    uint64 // of the contents, where the file system tells no time
	inode   inode  // of the machine's files, where the system has them
}

// Empty reports whether the file exists and is empty. It returns false for a file without a time of modification.
func (v Version) Empty() bool { return v.size == 0 && !v.changed.IsZero() }

// Version returns the version of a file, or the zero Version if the file cannot be found or opened. It reads the contents of
// files without a time of modification.
func (f Files) Version(path string) Version {
	info, err := f.Stat(path)
	if err != nil {
		return Version{}
	}
	v := Version{changed: info.ModTime(), size: info.Size(), inode: inodeOf(info)}
	if !v.changed.IsZero() || info.IsDir() {
		return v
	}
	file, err := f.Open(path)
	if err != nil {
		return Version{}
	}
	defer file.Close()
	h := fnv.New64a()
	v.size, _ = io.Copy(h, file) // what can be read of a damaged file is its version
	v.hash = h.Sum64() | 1       // an empty file differs from a missing one
	return v
}

// Inside returns a policy function that allows the files in and below some directories. It takes paths with all links followed,
// and the links of the directories are followed, too. Without directories it allows no file. The empty path of a directory is an error,
// since it would mean the working directory.
func Inside(roots ...string) (func(path string) error, error) {
	real := make([]string, len(roots))
	for i, root := range roots {
		if root == "" {
			return nil, errors.New("the path of a directory is empty: write . for the working directory")
		}
		abs, err := filepath.Abs(root)
		if err != nil {
			return nil, err
		}
		if real[i], err = Real(abs); err != nil {
			return nil, err
		}
	}
	return func(path string) error {
		for _, root := range real {
			rel, err := filepath.Rel(root, path)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return nil
			}
		}
		return errors.New("only files below " + strings.Join(roots, ", ") + " are allowed")
	}, nil
}

// maxLinks is the maximum number of dangling links to follow.
const maxLinks = 40

// Real resolves all links in a path of the machine's files. The last elements of the path need not exist.
func Real(path string) (string, error) {
	for range maxLinks {
		real, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		if target, err := os.Readlink(path); err == nil { // a link to a file that does not exist yet
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			path = target
			continue
		}
		dir, err := Real(filepath.Dir(path))
		return filepath.Join(dir, filepath.Base(path)), err
	}
	return "", errors.New(path + ": too many links")
}
