// Package clang compiles C for tests of native images.
package clang

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Compiler is the name of the command, from the Debian package of the same name.
const Compiler = "clang-19"

// Find returns the compiler's path. If the compiler is missing, the test fails in CI and is skipped elsewhere.
func Find(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath(Compiler)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", Compiler)
	}
	t.Skipf("%s is not installed", Compiler)
	return ""
}

// Build compiles a source with flags and returns the path of the result, which is removed after the test.
func Build(t testing.TB, name, source string, flags ...string) string {
	t.Helper()
	compiler := Find(t)
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(compiler, append(flags, "-o", out, in)...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(flags, " "), err, text)
	}
	return out
}

// SharedObject compiles a C source to a shared object and returns its bytes.
func SharedObject(t testing.TB, source string, flags ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(Build(t, "source.c", source, append([]string{"-O2", "-shared", "-fPIC"}, flags...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
