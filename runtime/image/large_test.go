package image_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/image"
)

// TestListLargeProgram lists the images of a program of 1 GiB, most of which is a hole of the file system: only the
// tables and the containers are read.
func TestListLargeProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	bundle, err := image.WriteBundle(1, entries[:2])
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 30
	data := elfFile(3, 62, []section{
		{name: 1, kind: 0x6fff4c0b, flags: 2, data: bundle},
		{kind: 3, data: []byte("\x00.llvm.offloading\x00")},
	})
	path := filepath.Join(t.TempDir(), "program")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	// The section headers move to the end of the file, as linkers place them behind everything else.
	heads := data[len(data)-3*64:]
	if _, err := f.WriteAt(heads, size-int64(len(heads))); err != nil {
		t.Fatal(err)
	}
	le.PutUint64(data[40:], uint64(size-len(heads)))
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	best := time.Hour
	for range 5 {
		before, start := allocated(), time.Now()
		f, err := image.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lib, err := f.Read("f")
		if err != nil || len(lib.Images) != 2 {
			t.Fatalf("%d images, %v", len(lib.Images), err)
		}
		best = min(best, time.Since(start))
		if n := allocated() - before; n > 1<<20 {
			t.Errorf("%d bytes were allocated", n)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%v", best)
	if best > 50*time.Millisecond {
		t.Errorf("listing took %v, more than 50 ms", best)
	}
}
