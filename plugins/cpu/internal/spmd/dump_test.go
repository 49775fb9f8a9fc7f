package spmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/passes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestDump checks the files that a dump has: the function after each pass.
func TestDump(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	o := plan.Options{Features: vcode.AVX2.Features, Gang: 1, Dump: dir}
	p, err := Compile(saxpy(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.code(p.spec(), nil); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(filepath.Join(dir, "saxpy.avx2.gang1.00-lowered.txt"))
	if err != nil || !strings.Contains(string(first), "{k") || !strings.Contains(string(first), "loop {") {
		t.Errorf("the function before the passes has no mask or loop: %v\n%s", err, first)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*-*.txt"))
	if want := len(passes.Names()); len(files) != want { // all passes except cse, and the function before them
		t.Errorf("%d files, want %d: %q", len(files), want, files)
	}
	expanded, err := os.ReadFile(filepath.Join(dir, "saxpy.avx2.gang1.01-expand.txt"))
	if err != nil || strings.Contains(string(expanded), "{k") {
		t.Errorf("the expanded function has masks: %v\n%s", err, expanded)
	}
}

// TestDumpFails checks the error for a folder that cannot be created.
func TestDumpFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Compile(saxpy(), plan.Options{Features: vcode.AVX512.Features, Gang: 1, Dump: filepath.Join(file, "dir")})
	if err == nil {
		_, err = p.code(p.spec(), nil)
	}
	if err == nil || !strings.Contains(err.Error(), "dump") {
		t.Errorf("error %v", err)
	}
}
