package image

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file atomically: after a crash the path has the old contents or the new ones. It keeps an existing
// file's mode, owner and extended attributes, and follows a symbolic link. Errors: NotFound and HostIO.
func ReplaceFile(path string, data []byte) error {
	return replaceFile(path, "", func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
}

// replaceFile writes a temporary file beside path and renames it. The attributes are those of path, or of source if path does
// not exist.
func replaceFile(path, source string, write func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			err = fileError("write", path, err)
		}
	}()
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if info = nil; source != "" {
			info, _ = os.Stat(source) // on failure, the mode is that of new files
		}
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // a device, such as /dev/stdout
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	default:
		source = target
	}
	dir := filepath.Dir(target)
	f, err := os.CreateTemp(dir, "."+filepath.Base(target)+".*")
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_ = f.Close() // the first error takes precedence
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if info == nil {
		err = f.Chmod(0o666 &^ umask())
	} else {
		err = copyAttributes(f, source, info)
	}
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	done = true
	return syncFolder(dir)
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
// copies unchanged parts.
func (f *File) Rewrite(path string, e *Edit) error {
	r, err := os.Open(f.Path)
	if err != nil {
		return fileError("read", f.Path, err)
	}
	defer r.Close()
	return replaceFile(path, f.Path, func(w *os.File) error {
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
}
