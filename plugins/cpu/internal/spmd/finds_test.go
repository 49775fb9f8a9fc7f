package spmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TestFinds compiles kernels of random tests that once had no lowering. behind.ir has a block that always leaves a loop,
// with unreachable code after it.
func TestFinds(t *testing.T) {
	files, err := filepath.Glob("testdata/finds/*.ir")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		k := parse(t, string(text))
		for _, machine := range []*vcode.Target{&vcode.AVX512, &vcode.AVX2} {
			for _, gang := range []int{1, 2, 4} {
				p, err := Compile(k, plan.Options{Features: machine.Features, Gang: gang})
				if err == nil {
					_, err = p.List(p.Listed(), func(int) string { return "" })
				}
				if err != nil {
					t.Errorf("%s, %s, %d registers: %v", path, machine.Name, gang, err)
				}
			}
		}
	}
}
