package image_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

func compressed(t testing.TB, c image.Compression, entries []image.BundleEntry) []byte {
	t.Helper()
	data, err := image.WriteCompressed(c, entries)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var compressions = map[string]image.Compression{"uncompressed": image.Uncompressed, "zlib": image.Zlib, "zstd": image.Zstd}

func TestVersion3(t *testing.T) {
	for name, c := range compressions {
		t.Run(name, func(t *testing.T) {
			data := compressed(t, c, entries)
			if got, err := image.ReadBundle("b", data); err != nil || !sameEntries(got, entries) {
				t.Fatalf("%+v, %v", got, err)
			}
			if !bytes.Equal(compressed(t, c, entries), data) {
				t.Error("equal entries yield other bytes")
			}
			if v, size := le.Uint32(data[4:]), le.Uint64(data[8:]); v != 3 || len(data)%8 != 0 || size > uint64(len(data)) || size+8 <= uint64(len(data)) {
				t.Errorf("version %d, %d bytes of %d", v, size, len(data))
			}
			plain := compressed(t, image.Uncompressed, entries)
			if inflated := le.Uint64(data[32:]); c != image.Uncompressed && inflated != uint64(len(plain)) {
				t.Errorf("%d bytes uncompressed, want %d", inflated, len(plain))
			}
			// Containers of all kinds may follow one another.
			all := bytes.Clone(data)
			for _, other := range compressions {
				all = append(all, compressed(t, other, entries)...)
			}
			if got, err := image.ReadBundle("b", all); err != nil || len(got) != 4*len(entries) || !sameEntries(got[9:], entries) {
				t.Errorf("concatenated: %d entries, %v", len(got), err)
			}
			for cut := 1; cut < int(le.Uint64(data[8:])); cut += 7 {
				if _, err := image.ReadBundle("b", data[:cut]); offload.CodeOf(err) != offload.InvalidBinary {
					t.Fatalf("truncated to %d: %v", cut, err)
				}
			}
			if c == image.Uncompressed {
				return
			}
			for claim, want := range map[uint64]string{1 << 60: "may have", uint64(len(plain)) + 1: "but there are", uint64(len(plain)) - 50: "longer"} {
				bad := bytes.Clone(data)
				le.PutUint64(bad[32:], claim)
				if _, err := image.ReadBundle("b", bad); offload.CodeOf(err) != offload.InvalidBinary || !strings.Contains(err.Error(), want) {
					t.Errorf("a container that claims %d bytes: %v", claim, err)
				}
			}
			body := bytes.Clone(data)
			le.PutUint64(body[32:], uint64(len(plain)-40)) // the size without the header, as some writers have it
			if got, err := image.ReadBundle("b", body); err != nil || !sameEntries(got, entries) {
				t.Errorf("the size of the body: %v", err)
			}
			bad := bytes.Clone(data)
			bad[40+len(bad[40:])/2] ^= 0x10
			if _, err := image.ReadBundle("b", bad); offload.CodeOf(err) != offload.InvalidBinary {
				t.Errorf("a damaged stream: %v", err)
			}
		})
	}
	if _, err := image.WriteCompressed(9, entries); offload.CodeOf(err) != offload.InvalidArgument {
		t.Errorf("an unknown compression: %v", err)
	}
}

// TestAgainstZstd exchanges streams with the reference implementation in both directions.
func TestAgainstZstd(t *testing.T) {
	zstd := tool(t, "zstd")
	dir := t.TempDir()
	big := append(entries[:3:3], image.BundleEntry{Strings: map[string]string{}, Data: bytes.Repeat([]byte(ptx), 10_000)})
	plain, ours := compressed(t, image.Uncompressed, big), compressed(t, image.Zstd, big)
	for _, level := range []string{"-1", "-9", "-19", "--ultra -22 --long=27", "-3 --no-check"} {
		write(t, dir, "body", plain[40:])
		args := append(strings.Fields(level), "-q", "-f", "body", "-o", "body.zst")
		run(t, dir, zstd, args...)
		data := append(bytes.Clone(plain[:40]), read(t, dir+"/body.zst")...)
		le.PutUint64(data[8:], uint64(len(data)))
		le.PutUint64(data[32:], uint64(len(plain)))
		if got, err := image.ReadBundle("b", data); err != nil || !sameEntries(got, big) {
			t.Errorf("level %s: %v", level, err)
		}
	}
	write(t, dir, "ours.zst", ours[40:le.Uint64(ours[8:])])
	if got := run(t, dir, zstd, "-q", "-d", "-c", "ours.zst"); !bytes.Equal(got, plain[40:]) {
		t.Errorf("zstd reads %d bytes, want %d", len(got), len(plain)-40)
	}
}
