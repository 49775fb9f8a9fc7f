package opencl_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/tests/ondevice"
)

// TestProgramsFromCache runs kernels after compilation, from cached binaries, and from binaries that the driver rejects.
func TestProgramsFromCache(t *testing.T) {
	dir := t.TempDir()
	seeds := []uint64{0, 77004}
	run := func(how string) (files []string) {
		t.Helper()
		r, err := ondevice.Open(t.Context(), available(t, opencl.Options{CacheDir: dir}))
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range seeds {
			if diff, err := r.Compare(t.Context(), randomCase(seed)); err != nil || diff != "" {
				t.Errorf("%s, seed %d: %.1000s %v", how, seed, diff, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		files, _ = filepath.Glob(filepath.Join(dir, "*"))
		return files
	}
	files := run("compiled")
	if len(files) < len(seeds) {
		t.Skipf("the driver has binaries of %d of %d programs", len(files), len(seeds))
	}
	if again := run("from binaries"); len(again) != len(files) {
		t.Errorf("%d binaries became %d", len(files), len(again))
	}
	for _, f := range files {
		binary := []byte("no program")
		digest := sha256.Sum256(binary)
		data := append(append([]byte("orepl-cl1\n"), digest[:]...), binary...)
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range run("from no binaries") {
		if info, err := os.Stat(f); err != nil || info.Size() < 1000 {
			t.Errorf("the binary was not written again: %v", err)
		}
	}
}
