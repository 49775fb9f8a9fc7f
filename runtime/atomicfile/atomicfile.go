// Package atomicfile writes regular files as a whole or not at all.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a regular file atomically: after a crash the path has the old contents or the new ones. It keeps an existing file's mode
// and, on Linux, its owner and the extended attributes that it may set. If the owner cannot be kept, Write fails. It follows a
// symbolic link to an existing file, and replaces other links. A device or a pipe, such as /dev/stdout, is written in place.
func Write(path string, data []byte) error {
	return Replace(path, "", func(w *os.File) error {
		_, err := w.Write(data)
		return err
	})
}

// Replace is like [Write], but the function write writes the contents. The attributes are those of path, or of source if path does not
// exist.
func Replace(path, source string, write func(*os.File) error) error {
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
