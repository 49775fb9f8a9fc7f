package image_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/image"
)

// TestListLargeProgram lists the images of a program of 1 GiB, most of which is a hole of the file system: only the
// tables and the containers are read.
func TestListLargeProgram(t *testing.T) {
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
	best, least := time.Hour, int64(size)
	for range 5 {
		before, touchedBefore, start := allocated(), touched(t), time.Now()
		f, err := image.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lib, err := f.Read("f")
		if err != nil || len(lib.Images) != 2 {
			t.Fatalf("%d images, %v", len(lib.Images), err)
		}
		best, least = min(best, time.Since(start)), min(least, touched(t)-touchedBefore)
		if n := allocated() - before; n > 1<<20 {
			t.Errorf("%d bytes were allocated", n)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%v, %d bytes", best, least)
	if least > size/100 {
		t.Errorf("listing took %v and touched %d bytes", best, least)
	}
}

// touched returns the number of bytes that the process has read by system calls, and 4 KiB for each page fault.
func touched(t *testing.T) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	var read int64
	if data, err := os.ReadFile("/proc/self/io"); err == nil { // not every kernel counts them
		_, _ = fmt.Sscanf(string(data), "rchar: %d", &read)
	}
	return read + (use.Minflt+use.Majflt)<<12
}
