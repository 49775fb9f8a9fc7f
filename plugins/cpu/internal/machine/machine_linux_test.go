package machine

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadHere(t *testing.T) {
	info := Read()
	if info.MemoryBytes < 64<<20 {
		t.Errorf("%d bytes of memory", info.MemoryBytes)
	}
	if runtime.GOARCH == "amd64" && (info.Model == "" || info.Vendor == "") {
		t.Errorf("model %q of %q", info.Model, info.Vendor)
	}
	if n := Cores(); n < 1 || n > runtime.NumCPU() {
		t.Errorf("%d cores", n)
	}
	if a := Arch(); runtime.GOARCH == "amd64" && !strings.HasPrefix(a, "x86-64") {
		t.Errorf("architecture %q", a)
	}
}

func TestProcessor(t *testing.T) {
	model, vendor, mhz := processor([]byte("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD  EPYC 9\ncpu MHz\t\t: 2499.998\n\n" +
		"processor\t: 1\nmodel name\t: other\n"))
	if model != "AMD EPYC 9" || vendor != "AuthenticAMD" || mhz != 2500 {
		t.Errorf("got %q %q %d", model, vendor, mhz)
	}
}

// TestBeginning reads files that are shorter and longer than the buffer, and one that is missing.
func TestBeginning(t *testing.T) {
	path := write(t, t.TempDir()+"/text", "0123456789")
	var buffer [16]byte
	for _, n := range []int{1, 9, 10, 11, 16} {
		if got, want := string(beginning(path, buffer[:n])), "0123456789"[:min(n, 10)]; got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	if got := beginning(path+"s", buffer[:]); len(got) > 0 {
		t.Errorf("of no file: %q", got)
	}
}

func TestMemoryLimits(t *testing.T) {
	dir := t.TempDir()
	meminfo := write(t, dir+"/meminfo", "MemTotal:        1024 kB\nMemFree:  1 kB\n")
	for _, c := range []struct {
		name, self, limit, value string
		want                     int64
	}{
		{"no limit", "0::/a\n", "a/memory.max", "max\n", 1 << 20},
		{"version 2", "0::/b\n", "b/memory.max", "4096\n", 4096},
		{"version 1", "3:cpu:/\n8:hugetlb,memory:/c\n", "memory/c/memory.limit_in_bytes", "8192\n", 8192},
		{"version 1 without a limit", "8:memory:/d\n", "memory/d/memory.limit_in_bytes", "9223372036854771712\n", 1 << 20},
		{"no file", "0::/e\n", "unrelated", "1\n", 1 << 20},
	} {
		self := write(t, dir+"/self", c.self)
		write(t, filepath.Join(dir, "groups", c.limit), c.value)
		if got := memory(meminfo, self, dir+"/groups"); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

func TestCaches(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"level": "2\n", "type": "Unified\n", "size": "1024K\n", "coherency_line_size": "64\n", "shared_cpu_list": "0-3,8\n"} {
		write(t, dir+"/index2/"+name, text)
	}
	want := []Cache{{Level: 2, Type: "unified", Bytes: 1 << 20, LineBytes: 64, Cores: 5}}
	if got := caches(dir); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
