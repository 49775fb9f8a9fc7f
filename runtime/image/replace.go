package image

import (
	"io"
	"os"

	"github.com/orepl/orepl/runtime/atomicfile"
)

// ReplaceFile is [atomicfile.Write] with errors of package offload: NotFound and HostIO.
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
// copies unchanged parts.
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
