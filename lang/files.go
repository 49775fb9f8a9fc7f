package lang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/disk"
	"github.com/orepl/orepl/lang/heap"
	"github.com/orepl/orepl/lang/spelling"
)

// Inside returns a policy that permits only paths below the roots; see [disk.Inside].
func Inside(roots ...string) (func(path string) error, error) { return disk.Inside(roots...) }

// Reader returns a reader of a file at a path from [Engine.ReadPath]. Until [Engine.EndLoading], an engine with a cache reads
// the whole file at once, as [Engine.ReadFile] does. Otherwise the reader is the opened file.
func (e *Engine) Reader(ctx context.Context, path string) (io.ReadCloser, error) {
	if e.opts.Cache == nil || e.esm.loaded.Load() {
		return e.OpenFile(path)
	}
	data, err := e.ReadFile(ctx, path)
	return io.NopCloser(bytes.NewReader(data)), err
}

// OpenFile opens a file for reading at a path from [Engine.ReadPath]. It fails as [Options.CheckRegular] does. It is safe for
// concurrent use.
func (e *Engine) OpenFile(path string) (fs.File, error) {
	if err := e.opts.CheckRegular("read", path); err != nil {
		return nil, err
	}
	return e.opts.Disk().Open(path)
}

// CheckRegular returns an error that names op if the options limit time, memory or iterations, and an existing file is not regular.
// To open a pipe, or to read another such file, may block forever. It is safe for concurrent use.
func (o *Options) CheckRegular(op, path string) error {
	if !o.Limits.bounded() {
		return nil
	}
	if info, err := o.Disk().Stat(path); err != nil || info.Mode().IsRegular() {
		return nil // a missing file is the error of its opening
	}
	return &fs.PathError{Op: op, Path: path, Err: errors.New("is no regular file, and the engine has limits")}
}

// ReadFile reads the file at path, which it opens by [Engine.OpenFile]. Until [Engine.EndLoading], engines that share a cache read
// it once. ReadFile fails if the file is larger than the memory limit or the machine's free memory. It stops when the context is
// cancelled, even if the file is endless.
func (e *Engine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if e.opts.Cache == nil || e.esm.loaded.Load() {
		return e.readFile(ctx, path)
	}
	data, err := AsLoaded(e, "read "+path, func() ([]byte, error) { return e.readFile(ctx, path) })
	return slices.Clone(data), err
}

func (e *Engine) readFile(ctx context.Context, path string) ([]byte, error) {
	f, err := e.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return heap.ReadAll(ctx, f, size, e.opts.Limits.Memory)
}

// ReadError is [FileError] for a path that is read. If the file does not exist, the hint suggests a file with a similar name in
// the same directory.
func (e *Engine) ReadError(op, name, path string, err error) error {
	d := fileError(op, name, err)
	if errors.Is(err, fs.ErrNotExist) {
		if near := e.neighbour(path); near != "" {
			return d.WithHint("did you mean %s?", near)
		}
	}
	return d
}

// neighbour returns the name of a file in the same directory whose name resembles a missing path. It returns "" if there is none,
// if the directory cannot be read, or if the engine has a read policy.
func (e *Engine) neighbour(path string) string {
	if e.opts.Policy.Read != nil {
		return ""
	}
	entries, err := e.opts.Disk().ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = entries[i].Name()
	}
	return spelling.Nearest(filepath.Base(path), names)
}

// FileError describes a failed file operation. op is the operation, and name is the file name as the script wrote it. The code
// is not-found, permission-denied or io-error.
func FileError(op, name string, err error) error { return fileError(op, name, err) }

func fileError(op, name string, err error) *diag.Diagnostic {
	d := &diag.Diagnostic{ID: "io-error", Message: fmt.Sprintf("%s %s: %v", op, name, underlying(err)), Cause: err}
	if errors.Is(err, fs.ErrNotExist) {
		d.ID = "not-found"
		d.Message = fmt.Sprintf("%s %s: there is no such file", op, name)
		d.Hint = "a relative path begins at the working directory, which process.cwd() names"
		if op == "import" {
			d.Hint = "a path that begins with ./ or ../ begins at the file that imports"
		}
	} else if errors.Is(err, fs.ErrPermission) {
		d.ID = "permission-denied"
		d.Hint = "the user who runs this may not do that to the file"
	}
	return d
}

func underlying(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
