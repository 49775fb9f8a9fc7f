// Package upstream checks the patches of docs/goja.
package upstream

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPatches applies each patch to the interpreter's source, and all of them. With OREPL_TEST_LONG=1 their tests run, too.
func TestPatches(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	patches, err := filepath.Glob("../../docs/goja/*.patch")
	if err != nil || len(patches) == 0 {
		t.Fatalf("no patches: %v", err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/dop251/goja").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := strings.TrimSpace(string(out))
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all { // the module cache is read-only
		_ = os.Chmod(name, 0o755)
	}
	apply := func(patch string, flags ...string) {
		path, err := filepath.Abs(patch)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(git, append(append([]string{"apply"}, flags...), path)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(patch), err, out)
		}
	}
	var tests []string
	readme, err := os.ReadFile("../../docs/goja/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, patch := range patches {
		apply(patch, "--check")
		text, err := os.ReadFile(patch)
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^\+func (Test\w+)`).FindSubmatch(text)
		if m == nil {
			t.Errorf("%s has no test", patch)
			continue
		}
		tests = append(tests, string(m[1]))
		if !strings.Contains(string(readme), "`"+filepath.Base(patch)+"`") {
			t.Errorf("README.md does not name %s", filepath.Base(patch))
		}
	}
	for _, patch := range patches {
		apply(patch)
	}
	if t.Failed() || os.Getenv("OREPL_TEST_LONG") != "1" {
		return
	}
	cmd := exec.Command("go", "test", "-run", "^("+strings.Join(tests, "|")+")$", "-v", ".")
	cmd.Dir = dir
	out, err = cmd.CombinedOutput()
	if n := strings.Count(string(out), "--- PASS"); err != nil || n != len(tests) {
		t.Errorf("%d of %d tests pass: %v\n%s", n, len(tests), err, out)
	}
}
