package bundler_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image/bundler"
)

func TestParseID(t *testing.T) {
	for text, want := range map[string]bundler.ID{
		"host-x86_64-unknown-linux-gnu-":                 {"host", "x86_64-unknown-linux-gnu", ""},
		"host-x86_64-unknown-linux--":                    {"host", "x86_64-unknown-linux", ""},
		"host-x86_64-unknown-linux":                      {"host", "x86_64-unknown-linux", ""},
		"openmp-x86_64-pc-linux-gnu":                     {"openmp", "x86_64-pc-linux-gnu", ""},
		"openmp-amdgcn-amd-amdhsa-gfx906":                {"openmp", "amdgcn-amd-amdhsa", "gfx906"},
		"hip-amdgcn-amd-amdhsa--gfx906":                  {"hip", "amdgcn-amd-amdhsa", "gfx906"},
		"hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-":         {"hipv4", "amdgcn-amd-amdhsa", "gfx90a:xnack-"},
		"hipv4-amdgcn-amd-amdhsa-unknown-gfx908:xnack+":  {"hipv4", "amdgcn-amd-amdhsa", "gfx908:xnack+"},
		"hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:xnack+": {"hipv4", "amdgcn-amd-amdhsa", "gfx9-4-generic:xnack+"},
		"cuda-nvptx64-nvidia-cuda-sm_70":                 {"cuda", "nvptx64-nvidia-cuda", "sm_70"},
		"cuda-nvptx64-nvidia-cuda--sm_90a":               {"cuda", "nvptx64-nvidia-cuda", "sm_90a"},
		"":                                               {},
		"-":                                              {},
	} {
		if got := bundler.ParseID(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// tool returns the path of LLVM's bundler. Without it the test fails on CI and is skipped elsewhere.
func tool(t testing.TB) string {
	t.Helper()
	const name = "clang-offload-bundler-19"
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", name)
	}
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// ids are the identifiers of the bundles of the tests. The tool adds the final dash.
var ids = []string{"host-x86_64-unknown-linux-gnu-", "hip-amdgcn-amd-amdhsa--gfx906", "hip-amdgcn-amd-amdhsa--gfx90a:xnack+", "openmp-aarch64-unknown-linux-gnu-"}

// bundle has the tool bundle contents in a format, and returns the file.
func bundle(t testing.TB, kind string, contents [][]byte, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	targets := strings.ReplaceAll(strings.Join(ids[:len(contents)], ",")+",", "-,", ",")
	args := append([]string{"-type=" + kind, "-targets=" + strings.TrimSuffix(targets, ","), "-output=" + filepath.Join(dir, "b."+kind)}, flags...)
	for i, data := range contents {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-input="+file)
	}
	if out, err := exec.Command(tool(t), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "b."+kind)
}

// unbundle returns what the tool extracts from a file for an identifier.
func unbundle(t testing.TB, kind, file, id string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if text, err := exec.Command(tool(t), "-unbundle", "-type="+kind, "-targets="+strings.TrimSuffix(id, "-"), "-input="+file, "-output="+out).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", id, err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// contents are four files, which a bundle holds.
func contents(kind string) [][]byte {
	switch kind {
	case "s":
		return [][]byte{[]byte("nop\n"), []byte("s_endpgm"), {}, []byte("\n\nret\n# __CLANG\n\n")}
	case "ll":
		return [][]byte{[]byte("define void @f() { ret void }\n"), []byte("; first\r\n"), []byte("\n"), []byte("@x = global i32 1")}
	}
	return [][]byte{[]byte("BC\xc0\xdehost"), []byte("BC\xc0\xdeone"), bytes.Repeat([]byte("BC\xc0\xdetwo\x00"), 999), {}}
}

func TestTextOfTool(t *testing.T) {
	for _, kind := range []string{"s", "ll", "i", "ii", "d", "hipi"} {
		want := contents("ll")
		if kind == "s" || kind == "d" { // comments begin with #
			want = contents("s")
		}
		file := bundle(t, kind, want)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := bundler.ReadText(data)
		if err != nil || len(got) != len(want) || !bundler.IsText(data) {
			t.Errorf("%s: %d entries, %v", kind, len(got), err)
			continue
		}
		end := 0
		compared := kind == "s" || kind == "ll"
		for i, e := range got {
			if e.ID != ids[i] || !bytes.Equal(e.Data, want[i]) || compared && !bytes.Equal(e.Data, unbundle(t, kind, file, e.ID)) {
				t.Errorf("%s: %s has %q, want %q", kind, e.ID, e.Data, want[i])
			}
			if e.Start < end || e.End <= e.Start {
				t.Errorf("%s: %s lies at %d to %d, behind %d", kind, e.ID, e.Start, e.End, end)
			}
			end = e.End
		}
		// Without an entry the tool reads the others.
		for i := 1; i < len(got) && compared; i++ {
			cut := append(bytes.Clone(data[:got[i].Start]), data[got[i].End:]...)
			if err := os.WriteFile(file, cut, 0o644); err != nil {
				t.Fatal(err)
			}
			for j := range got {
				if j != i && !bytes.Equal(unbundle(t, kind, file, ids[j]), want[j]) {
					t.Errorf("%s without %s: %s differs", kind, ids[i], ids[j])
				}
			}
		}
	}
}

func TestBinaryOfTool(t *testing.T) {
	for _, align := range []int{1, 4096} {
		want := contents("bc")
		file := bundle(t, "bc", want, fmt.Sprintf("-bundle-align=%d", align))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := bundler.ReadBinary(data)
		if err != nil || b.Size != len(data) && align == 1 || b.Align() != align || len(b.Entries) != len(want) {
			t.Fatalf("%d entries of alignment %d in %d bytes of %d: %v", len(b.Entries), b.Align(), b.Size, len(data), err)
		}
		for i, e := range b.Entries {
			if e.ID != ids[i] || !bytes.Equal(e.Data, want[i]) || !bytes.Equal(e.Data, unbundle(t, "bc", file, e.ID)) {
				t.Errorf("%s has %q, want %q", e.ID, e.Data, want[i])
			}
		}
		// Our writer makes the same bytes, for each number of entries.
		for n := range want {
			theirs, err := os.ReadFile(bundle(t, "bc", want[:n+1], fmt.Sprintf("-bundle-align=%d", align)))
			if err != nil {
				t.Fatal(err)
			}
			if ours := bundler.WriteBinary(b.Entries[:n+1], align); !bytes.Equal(ours, theirs) {
				t.Errorf("alignment %d, %d entries: we write %d bytes, LLVM %d", align, n+1, len(ours), len(theirs))
			}
		}
	}
}

func TestCompressedOfTool(t *testing.T) {
	want := contents("bc")
	file := bundle(t, "bc", want, "-compress")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := bundler.ReadFrame(data)
	if err != nil || f.Size != len(data) {
		t.Fatalf("%+v, %v", f, err)
	}
	plain, err := f.Inflate(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(plain, bundler.WriteBinary(entriesOf(want), 1)) {
		t.Errorf("%d bytes differ from the bundle", len(plain))
	}
	// LLVM 19 reads versions 1 and 2; version 3 has wider fields.
	for _, method := range []int{0, 1} {
		for version := 1; version <= 3; version++ {
			ours, err := bundler.Frame{Version: version, Method: method}.Deflate(plain)
			if err != nil {
				t.Fatal(err)
			}
			again, err := bundler.ReadFrame(ours)
			if err != nil || again.Version != version || again.Method != method || again.Inflated != uint64(len(plain)) {
				t.Fatalf("version %d, method %d: %+v, %v", version, method, again, err)
			}
			if back, err := again.Inflate(append(ours, 0, 0, 0)); err != nil || !bytes.Equal(back, plain) {
				t.Errorf("version %d, method %d: %d bytes, %v", version, method, len(back), err)
			}
			if version == 3 {
				continue
			}
			if err := os.WriteFile(file, ours, 0o644); err != nil {
				t.Fatal(err)
			}
			for i, id := range ids {
				if got := unbundle(t, "bc", file, id); !bytes.Equal(got, want[i]) {
					t.Errorf("version %d, method %d, %s: LLVM reads %d bytes, want %d", version, method, id, len(got), len(want[i]))
				}
			}
		}
	}
}

// entriesOf returns entries with the contents.
func entriesOf(contents [][]byte) (list []bundler.Entry) {
	for i, data := range contents {
		list = append(list, bundler.Entry{ID: ids[i], Data: data})
	}
	return list
}

func TestDamaged(t *testing.T) {
	le := binary.LittleEndian
	good := bundler.WriteBinary(entriesOf(contents("bc")), 1)
	frame, err := bundler.Frame{Version: 2, Method: 1}.Deflate(good)
	if err != nil {
		t.Fatal(err)
	}
	set := func(data []byte, at int, v uint64) []byte {
		out := bytes.Clone(data)
		le.PutUint64(out[at:], v)
		return out
	}
	read := func(data []byte) error {
		switch {
		case bundler.IsCompressed(data):
			f, err := bundler.ReadFrame(data)
			if err == nil {
				_, err = f.Inflate(data)
			}
			return err
		case bundler.IsText(data):
			_, err := bundler.ReadText(data)
			return err
		}
		_, err := bundler.ReadBinary(data)
		return err
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{good[:30], "truncated"},
		{set(good, 24, 1<<40), "entries in"},
		{set(good, 24, 99), "identifier"},
		{set(good, 32, 1<<63), "beyond the end"},
		{set(good, 40, 1<<63), "beyond the end"},
		{set(good, 32, 3), "overlap the table"},
		{set(good, 48, 1<<50), "an identifier of"},
		{frame[:10], "truncated"},
		{set(frame, 4, 9), "version 9"},
		{append(append([]byte("CCOB\x02\x00\x07\x00"), frame[8:]...), 0), "method 7"},
		{set(frame, 16, 1), "hash"},
		{frame[:len(frame)-4], "says"},
		{[]byte("\n# __CLANG_OFFLOAD_BUNDLE____START__ host-x\nnop\n"), "no end"},
		{[]byte("# __CLANG_OFFLOAD_BUNDLE____START__ "), "no identifier"},
		{[]byte("# __CLANG_OFFLOAD_BUNDLE____START__ a\n\n# __CLANG_OFFLOAD_BUNDLE____END__ b\n"), "marked \"b\""},
	} {
		if err := read(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.data, err, c.want)
		}
	}
}

func FuzzBundle(f *testing.F) {
	plain := bundler.WriteBinary(entriesOf(contents("bc")), 1)
	f.Add(plain)
	f.Add(bundler.WriteBinary(entriesOf(contents("s")), 4096))
	for version := 1; version <= 3; version++ {
		data, err := bundler.Frame{Version: version, Method: version % 2}.Deflate(plain)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("\n; __CLANG_OFFLOAD_BUNDLE____START__ a-b\nx\n\n; __CLANG_OFFLOAD_BUNDLE____END__ a-b\n\n; __CLANG_OFFLOAD_BUNDLE____START__ c-d\n\n; __CLANG_OFFLOAD_BUNDLE____END__ c-d\n"))
	f.Add([]byte("CCOB\x01\x00\x01\x00\x4b\x01\x00\x00CCOB\x00\x00\x00\x00\x28\xb5\x2f\xfd")) // the magic as the hash
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := bundler.ReadFrame(data); err == nil && h.Inflated <= 1<<20 {
			if out, err := h.Inflate(data[:h.End(data)]); err == nil && uint64(len(out)) != h.Inflated {
				t.Errorf("%d bytes, want %d", len(out), h.Inflated)
			}
		}
		if b, err := bundler.ReadBinary(data); err == nil {
			out := bundler.WriteBinary(b.Entries, b.Align())
			if again, err := bundler.ReadBinary(out); len(b.Entries)*4096+len(data) > len(out) && (err != nil || len(again.Entries) != len(b.Entries)) {
				t.Errorf("written again: %d entries of %d, %v", len(again.Entries), len(b.Entries), err)
			}
		}
		list, err := bundler.ReadText(data)
		end := 0
		for _, e := range list {
			if e.Start < end || e.End < e.Start || e.End > len(data) {
				t.Errorf("%q lies at %d to %d, behind %d", e.ID, e.Start, e.End, end)
			}
			end = e.End
		}
		if err == nil && bundler.IsText(data) != (len(list) > 0) {
			t.Errorf("%d entries", len(list))
		}
	})
}
