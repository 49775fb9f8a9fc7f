package image

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/orepl/orepl/runtime/offload"
)

// File is a file whose bytes are read as they are needed.
type File struct {
	Path  string
	Data  []byte
	unmap func() error
}

// OpenFile maps a file into memory. Errors: NotFound and HostIO.
func OpenFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError("read", path, err)
	}
	if info.IsDir() {
		return nil, offload.Errorf(offload.HostIO, "read", "it is a directory").On("", path)
	}
	data, unmap, err := mapFile(f, info)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	return &File{Path: path, Data: data, unmap: unmap}, nil
}

// Read is [Read] of the file, with the members of thin archives. The images share memory with the file until it is closed.
func (f *File) Read(label string) (lib offload.Library, err error) {
	err = f.Guard(func() error {
		lib, err = f.reader().Read(label, f.Data)
		return err
	})
	return lib, err
}

// reader returns a reader that resolves members of thin archives beside the file.
func (f *File) reader() Reader {
	return Reader{Resolve: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(f.Path), name)
		}
		return os.ReadFile(name)
	}}
}

// Guard calls fn, which reads the file's bytes. A page that cannot be read, as another program truncated the file, is a
// HostIO error.
func (f *File) Guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if fault, ok := r.(interface{ Addr() uintptr }); !ok || fault.Addr() == 0 {
			panic(r)
		}
		err = offload.Errorf(offload.HostIO, "read", "the file became shorter while it was read").On("", f.Path)
	}()
	return fn()
}

// Close unmaps the file.
func (f *File) Close() error { return f.unmap() }

// fileError returns a failure of the file system as an error about a path.
func fileError(op, path string, err error) error {
	code := offload.HostIO
	if errors.Is(err, fs.ErrNotExist) {
		code = offload.NotFound
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return &offload.Error{Code: code, Op: op, Label: path, Err: err}
}
