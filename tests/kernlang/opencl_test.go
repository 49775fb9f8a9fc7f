package kernlang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
)

// TestRulesOnOpenCL runs the kernels of TestRules on the first OpenCL device, too, which may refuse only what it has no
// feature for.
func TestRulesOnOpenCL(t *testing.T) {
	runner, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := runner.OnDevice(opencl.New(opencl.Options{})); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	files, _ := filepath.Glob("testdata/*/*.js")
	n, step := 0, 1
	if testing.Short() {
		step = 12
	}
	for _, file := range files {
		for i, r := range readRules(t, file) {
			if i%step != 0 {
				continue
			}
			n++
			if err := r.check(runner); err != nil {
				t.Errorf("%s:%d: %s\n%v", r.file, r.line, r.title, err)
			}
		}
	}
	t.Logf("%d kernels, %d refused for a missing feature", n, runner.refused)
}
