package image

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/runtime/offload"
)

// readByte keeps the compiler from removing a read.
var readByte byte

// TestGuard reports faults in the file's pages as errors, and panics for faults elsewhere.
func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 3*os.Getpagesize()-1), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(f.Data) - 1} {
		err := f.Guard(func() error { readByte = f.Data[at]; return nil })
		if offload.CodeOf(err) != offload.HostIO {
			t.Errorf("byte %d: error %v", at, err)
		}
	}
	other, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(other)
	defer func() {
		if recover() == nil {
			t.Error("a fault outside of the file did not panic")
		}
	}()
	err = f.Guard(func() error { readByte = other[0]; return nil })
	t.Errorf("a fault outside of the file: error %v", err)
}
