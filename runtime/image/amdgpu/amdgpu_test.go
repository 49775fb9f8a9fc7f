package amdgpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/orepl/orepl/runtime/image/amdgpu"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"gfx906": "gfx906", "gfx90a:xnack+": "gfx90a:xnack+", "gfx90a:xnack+:sramecc-": "gfx90a:sramecc-:xnack+",
		"gfx908:sramecc+:xnack-": "gfx908:sramecc+:xnack-", "gfx9-4-generic:xnack+": "gfx9-4-generic:xnack+",
	} {
		id, err := amdgpu.Parse(text)
		if err != nil || id.String() != want || amdgpu.Canonical(text) != want {
			t.Errorf("%s: %s, %v", text, id, err)
		}
		if again, err := amdgpu.Parse(id.String()); err != nil || again != id {
			t.Errorf("%s again: %+v, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		"": "unknown", "gfx": "unknown", "sm_90": "unknown", "gfx90a:": "neither", "gfx90a:xnack": "neither", "gfx90a:foo+": "unknown",
		"gfx90a:xnack+:xnack-": "twice", "gfx1030:xnack+": "lacks", "gfx900:sramecc+": "lacks", "gfx90a::xnack+": "neither",
	} {
		if _, err := amdgpu.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		a, b                       string
		contradicts, runs, coexist bool // runs: a as code on b as a device
	}{
		{"gfx90a", "gfx90a", false, true, true},
		{"gfx90a", "gfx90a:xnack+", false, true, false},
		{"gfx90a:xnack+", "gfx90a", false, false, false},
		{"gfx90a:xnack+", "gfx90a:xnack-", true, false, true},
		{"gfx90a:xnack+", "gfx90a:sramecc-:xnack+", false, true, false},
		{"gfx90a:sramecc-", "gfx90a:xnack+", false, false, false},
		{"gfx906", "gfx908", true, false, true},
		{"gfx1030", "gfx1030", false, true, true},
	} {
		a, err1 := amdgpu.Parse(c.a)
		b, err2 := amdgpu.Parse(c.b)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if amdgpu.Contradicts(a, b) != c.contradicts || amdgpu.Contradicts(b, a) != c.contradicts || amdgpu.Runs(a, b) != c.runs ||
			amdgpu.Coexist(a, b) != c.coexist || amdgpu.Coexist(b, a) != c.coexist {
			t.Errorf("%s and %s: contradicts %v, runs %v, coexist %v", c.a, c.b, amdgpu.Contradicts(a, b), amdgpu.Runs(a, b), amdgpu.Coexist(a, b))
		}
	}
}

func TestOldFlags(t *testing.T) {
	for _, c := range []struct {
		flags uint32
		abi   byte
		want  string
	}{
		{0x12c, 1, "gfx900:xnack+"}, {0x2c, 1, "gfx900:xnack-"}, {0x33f, 1, "gfx90a:sramecc+:xnack+"}, {0x29, 1, "gfx802"},
		{0x2c, 0, ""}, {0xff, 3, ""}, {0, 3, ""}, {0x01000151, 4, "gfx9-generic"},
	} {
		if got := amdgpu.OfFlags(c.flags, c.abi).String(); got != c.want {
			t.Errorf("flags 0x%x, ABI %d: %s, want %s", c.flags, c.abi, got, c.want)
		}
	}
}

var (
	flagsLine = regexp.MustCompile(`Flags:\s+(0x[0-9A-Fa-f]+), (\S+?)(?:, (.*))?\n`)
	abiLine   = regexp.MustCompile(`ABI Version:\s+(\d+)`)
)

// TestFlagsOfClang compares the target IDs in the flags with what clang compiled for, and what llvm-readelf says.
func TestFlagsOfClang(t *testing.T) {
	for _, name := range []string{"clang-19", "llvm-readelf-19"} {
		if _, err := exec.LookPath(name); err != nil && os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", name)
		} else if err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "x.o")
	for _, target := range []string{"gfx700", "gfx801", "gfx803", "gfx900:xnack-", "gfx906", "gfx906:sramecc+:xnack-", "gfx90a:sramecc-:xnack+",
		"gfx942", "gfx1010:xnack+", "gfx1036", "gfx1103", "gfx1152", "gfx1201", "gfx10-1-generic", "gfx11-generic"} {
		cmd := exec.Command("clang-19", "-target", "amdgcn-amd-amdhsa", "-mcpu="+target, "-nogpulib", "-c", "-x", "c", "-", "-o", out)
		cmd.Stdin = strings.NewReader("int x;")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", target, err, text)
		}
		text, err := exec.Command("llvm-readelf-19", "-h", out).Output()
		if err != nil {
			t.Fatal(err)
		}
		m, abi := flagsLine.FindStringSubmatch(string(text)), abiLine.FindStringSubmatch(string(text))
		if m == nil || abi == nil {
			t.Fatalf("%s: %s", target, text)
		}
		flags, err := strconv.ParseUint(m[1], 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		version, err := strconv.Atoi(abi[1])
		if err != nil {
			t.Fatal(err)
		}
		id := amdgpu.OfFlags(uint32(flags), byte(version))
		want, err := amdgpu.Parse(target)
		if err != nil || id != want || id.Processor != m[2] {
			t.Errorf("%s: the flags %s say %+v, want %+v, %v; readelf says %s", target, m[1], id, want, err, m[2])
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gfx90a:sramecc-:xnack+")
	f.Add("gfx1030:xnack+")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := amdgpu.Parse(text)
		if err != nil {
			return
		}
		if again, err := amdgpu.Parse(id.String()); err != nil || again != id || len(id.String()) != len(text) {
			t.Errorf("%q: %v, then %v, %v", text, id, again, err)
		}
	})
}
