package image_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

// allocated returns the number of bytes that were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// sharedStrings returns a bundle of one entry with n strings whose values are the same bytes.
func sharedStrings(n, size int) []byte {
	le := binary.LittleEndian
	records := 32 + 40
	keys := records + 24*n
	text := keys + 4*n
	total := text + size
	out := append([]byte{}, 0x10, 0xFF, 0x10, 0xAD)
	out = le.AppendUint32(out, 2)
	for _, v := range []uint64{uint64(total), 32, 1, 0, uint64(records), uint64(n), uint64(text), 8} {
		out = le.AppendUint64(out, v)
	}
	for i := range n {
		for _, v := range []int{keys + 4*i, text, size} {
			out = le.AppendUint64(out, uint64(v))
		}
	}
	for i := range n {
		out = append(out, byte('a'+i%26), byte('a'+i/26%26), byte('a'+i/676%26), 0)
	}
	return append(out, bytes.Repeat([]byte{'x'}, size)...)
}

func TestHostileBundlesTakeLittleMemory(t *testing.T) {
	if _, err := image.ReadBundle("", sharedStrings(10, 100)); err != nil {
		t.Fatalf("the test's own bundle: %v", err)
	}
	zeros := []image.BundleEntry{{Data: make([]byte, 8<<20)}}
	claims := compressed(t, image.Zstd, entries)
	le.PutUint64(claims[32:], 16<<20)
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"strings that share their bytes", sharedStrings(10_000, 60<<10)},
		{"a long string", sharedStrings(1, 4<<20)},
		{"many strings", sharedStrings(70_000, 1)},
		{"many containers that zlib inflates", bytes.Repeat(compressed(t, image.Zlib, zeros), 40)},
		{"many containers that zstd inflates", bytes.Repeat(compressed(t, image.Zstd, zeros), 40)},
		{"a container that claims a size that it has not", bytes.Repeat(claims, 40)},
	} {
		before := allocated()
		_, err := image.ReadBundle(c.name, c.data)
		if n := allocated() - before; n > 200<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d", c.name, n, len(c.data))
		}
		if offload.CodeOf(err) != offload.InvalidBinary {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// bounded checks that f allocates no more than a multiple of data, which it reads: 256 times its size, and 128 MiB.
func bounded(t *testing.T, data []byte, f func()) {
	t.Helper()
	before := allocated()
	f()
	if n, most := allocated()-before, 256*min(1<<30, uint64(len(data)))+128<<20; n > most {
		t.Errorf("%d bytes were allocated for a file of %d", n, len(data))
	}
}

// checkRead reads data from memory and through a file: the results agree, and errors are InvalidBinary or Unsupported.
func checkRead(t *testing.T, data []byte) {
	t.Helper()
	lib, err := image.Read("fuzz", data)
	if code := offload.CodeOf(err); err != nil && code != offload.InvalidBinary && code != offload.Unsupported {
		t.Fatalf("code %q: %v", offload.CodeOf(err), err)
	}
	again, err2 := image.Reader{}.ReadAt("fuzz", bytes.NewReader(data), int64(len(data)))
	if (err == nil) != (err2 == nil) || len(lib.Images) != len(again.Images) || len(lib.Entries) != len(again.Entries) {
		t.Fatalf("from memory %v and %v; from a file %v and %v", labels(lib), err, labels(again), err2)
	}
	for i, img := range lib.Images {
		if img.Kind == "" && img.Unusable == nil || img.Label == "" || !bytes.Equal(img.Data, again.Images[i].Data) {
			t.Fatalf("image %d: %+v", i, img)
		}
	}
	// All images may have been dropped from an object or archive, which other commands say.
	if host := bytes.HasPrefix(data, []byte("\x7fELF")) || bytes.HasPrefix(data, []byte("!<")); err == nil && len(lib.Images) == 0 && (!host || image.Check(&lib) == nil) {
		t.Fatal("neither images nor an error")
	}
}
