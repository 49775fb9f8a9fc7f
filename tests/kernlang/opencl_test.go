package kernlang

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestRulesOnOpenCL also runs the kernels of TestRules on the first OpenCL device, which may reject only kernels that need
// missing features.
func TestRulesOnOpenCL(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 12
	}
	rulesOn(t, opencl.New(opencl.Options{}), nil, step)
}

// TestRulesOnCUDA also runs the kernels of TestRules on the first GPU, if OREPL_GPU is 1.
func TestRulesOnCUDA(t *testing.T) {
	if os.Getenv("OREPL_GPU") != "1" {
		t.Skip("OREPL_GPU=1 runs it on the first GPU")
	}
	rulesOn(t, cuda.New(cuda.Options{}), nil, 1)
}

// runnerOn returns a runner that also runs programs on the first device of a plugin.
func runnerOn(t *testing.T, plugin offload.Plugin) *Runner {
	runner, err := NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := runner.OnDevice(plugin); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return runner
}

// rulesOn also runs every step-th kernel of TestRules on the first device of a plugin. near is the local plugin that a
// worker serves, or nil: a difference that occurs there may also occur on the worker.
func rulesOn(t *testing.T, plugin, near offload.Plugin, step int) {
	runner := runnerOn(t, plugin)
	var local *Runner
	if near != nil {
		local = runnerOn(t, near)
	}
	files, _ := filepath.Glob("testdata/*/*.js")
	n, alike := 0, 0
	for _, file := range files {
		for i, r := range readRules(t, file) {
			if i%step != 0 {
				continue
			}
			n++
			err := r.check(runner)
			if err != nil && local != nil {
				if other := r.check(local); other != nil && other.Error() == err.Error() {
					alike++
					err = nil
				}
			}
			if err != nil {
				t.Errorf("%s:%d: %s\n%v", r.file, r.line, r.title, err)
			}
		}
	}
	t.Logf("%d kernels, %d refused for a missing feature, %d as on the device without a worker", n, runner.refused, alike)
}

// oclgrind is the driver of Oclgrind, which simulates a device and reports accesses out of bounds and races.
const oclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

// TestRulesOnOclgrind runs TestRulesOnOpenCL on Oclgrind. It must report no access out of bounds. It must report no race
// except volatile loads of words that atomics change, since OpenCL C 1.2 has no atomic load.
func TestRulesOnOclgrind(t *testing.T) {
	if _, err := os.Stat(oclgrind); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	vendors := t.TempDir()
	if err := os.WriteFile(filepath.Join(vendors, "oclgrind.icd"), []byte(oclgrind+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run=^TestRulesOnOpenCL$", "-test.v"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "OCL_ICD_VENDORS="+vendors+"/", "OCL_ICD_FILENAMES=", "XDG_CACHE_HOME="+t.TempDir(), "OCLGRIND_DATA_RACES=1",
		"OCLGRIND_MAX_ERRORS=1000000")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "--- PASS: TestRulesOnOpenCL") {
		t.Fatalf("%v\n%.4000s", err, text)
	}
	if at := strings.Index(text, "Invalid "); at >= 0 {
		t.Errorf("an access out of bounds: %.800s", text[at:])
	}
	atomic := regexp.MustCompile(`(?s)load volatile.*(cmpxchg|atomic_|atom_)|(cmpxchg|atomic_|atom_).*load volatile`)
	races := strings.Split(text, "data race at ")[1:]
	for _, race := range races {
		if report, _, _ := strings.Cut(race, "\n\n\n"); !atomic.MatchString(report) {
			t.Fatalf("a race: %.1200s", race)
		}
	}
	t.Logf("%d volatile loads beside atomic operations", len(races))
}
