package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestWriteThatFails checks that a failed write leaves the old file, and no temporary file.
func TestWriteThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	err := Replace(path, "", func(f *os.File) error {
		if _, err := f.WriteString("ne"); err != nil {
			return err
		}
		if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
			t.Errorf("while it is written: %q, %v", old, err)
		}
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "old" {
		t.Errorf("after it: %q, %v", data, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("left: %v, %v", list, err)
	}
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if data, _ := os.ReadFile(path); err != nil || string(data) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q with mode %v, %v", data, info.Mode(), err)
	}
	if err := Write(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist: %v", err)
	}
}
