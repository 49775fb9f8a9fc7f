package image

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"unsafe"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/atomicfile"
	"github.com/orepl/orepl/runtime/offload"
)

// File is an opened file. On Linux it is mapped, and its bytes are read on demand.
type File struct {
	Path  string
	Data  []byte
	info  os.FileInfo // at opening
	unmap func() error
}

// OpenFile maps a file into memory, or reads it on systems other than Linux. Its errors have the code NotFound or HostIO.
func OpenFile(path string) (*File, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fileError("read", path, err)
	}
	data, unmap, err := mapFile(f, info)
	if err != nil {
		return nil, fileError("read", path, err)
	}
	return &File{Path: path, Data: data, info: info, unmap: unmap}, nil
}

// checkRegular returns an error if path is not that of a regular file: reading a named pipe or a device may never end.
func checkRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileError("read", path, err)
	case info.IsDir():
		return offload.Errorf(offload.HostIO, "read", "it is a directory").On("", path)
	case !info.Mode().IsRegular():
		return offload.Errorf(offload.HostIO, "read", "it is no regular file").On("", path).WithHint("copy its contents to a file")
	}
	return nil
}

// Read parses the file as [Read] does, with the members of thin archives. The images share memory with the file until Close.
func (f *File) Read(label string) (lib offload.Library, err error) {
	err = f.Guard(func() error {
		lib, err = f.reader().Read(label, f.Data)
		return err
	})
	return lib, err
}

// reader returns a Reader that resolves members of thin archives relative to the file.
func (f *File) reader() Reader {
	return Reader{Resolve: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(f.Path), name)
		}
		if err := checkRegular(name); err != nil {
			return nil, err
		}
		return os.ReadFile(name)
	}}
}

// Guard calls fn, which reads the file's bytes. A page fault, as after truncation by another program, becomes a HostIO error.
// Faults at other addresses panic.
func (f *File) Guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if fault, ok := r.(interface{ Addr() uintptr }); !ok || !f.maps(fault.Addr()) {
			panic(r)
		}
		err = offload.Errorf(offload.HostIO, "read", "the file became shorter while it was read").On("", f.Path)
	}()
	return fn()
}

// maps reports whether an address lies in the mapping of the file.
func (f *File) maps(address uintptr) bool {
	first, page := uintptr(unsafe.Pointer(unsafe.SliceData(f.Data))), uintptr(os.Getpagesize())
	return len(f.Data) > 0 && address >= first && address-first < (uintptr(len(f.Data))+page-1)&^(page-1)
}

// unchanged returns an error if r is another file or was written since OpenFile.
func (f *File) unchanged(r *os.File) error {
	now, err := r.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(f.info, now) || now.Size() != int64(len(f.Data)) || !now.ModTime().Equal(f.info.ModTime()) {
		return errors.New("the file changed while it was read; run the command again")
	}
	return nil
}

// Close unmaps the file. Data must not be used afterwards.
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
	e := &offload.Error{Code: code, Op: op, Label: path, Err: err}
	if near := neighbour(path); code == offload.NotFound && near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e
}

// neighbour returns the path of a file in the same directory with a similar name, or "" if there is none.
func neighbour(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	if near := spelling.Nearest(filepath.Base(path), names); near != "" {
		return filepath.Join(filepath.Dir(path), near)
	}
	return ""
}

// ReplaceFile is like [atomicfile.Write], but returns errors of package offload, with the code NotFound or HostIO.
func ReplaceFile(path string, data []byte) error {
	if err := atomicfile.Write(path, data); err != nil {
		return fileError("write", path, err)
	}
	return nil
}

// copyRange copies n bytes at offset off of r to w.
func copyRange(w *os.File, r *os.File, off, n uint64) error {
	if n == 0 {
		return nil
	}
	if _, err := r.Seek(int64(off), io.SeekStart); err != nil {
		return err
	}
	copied, err := io.CopyN(w, r, int64(n)) // uses the kernel's copy if the file system supports it
	if err == nil && uint64(copied) != n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Rewrite applies an edit to the file and writes the result to path atomically, with the file's mode and owner. The kernel
// copies unchanged parts. Rewrite fails if the file has changed since OpenFile.
func (f *File) Rewrite(path string, e *Edit) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return fileError("read", f.Path, err)
	}
	defer r.Close()
	err = atomicfile.Replace(path, f.Path, func(w *os.File) error {
		if err := f.unchanged(r); err != nil {
			return err
		}
		at := uint64(0)
		for _, s := range e.splices {
			if err := copyRange(w, r, at, s.start-at); err != nil {
				return err
			}
			if _, err := w.Write(s.data); err != nil {
				return err
			}
			at = s.end
		}
		if err := copyRange(w, r, at, uint64(len(f.Data))-at); err != nil {
			return err
		}
		return f.unchanged(r)
	})
	if err != nil {
		return fileError("write", path, err)
	}
	return nil
}
