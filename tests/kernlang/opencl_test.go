package kernlang

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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

// oclgrind is the driver of Oclgrind, which simulates a device and reports accesses out of bounds and races.
const oclgrind = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

// TestRulesOnOclgrind runs TestRulesOnOpenCL on Oclgrind: no access is out of bounds and no two race, but for volatile loads of words
// that atomic operations change, for which OpenCL C 1.2 has no other load.
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
