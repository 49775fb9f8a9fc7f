package opencl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// TestMissingLibrary checks that a missing loader, and a library that is not a loader, are errors with a hint.
func TestMissingLibrary(t *testing.T) {
	for _, path := range []string{"/nonexistent/libOpenCL.so.1", "libc.so.6"} {
		_, err := opencl.New(opencl.Options{Library: path}).Open(t.Context())
		var e *offload.Error
		if offload.CodeOf(err) != offload.NotFound || !asError(err, &e) || !strings.Contains(e.Hint, "pocl-opencl-icd") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func asError(err error, e **offload.Error) bool {
	var ok bool
	*e, ok = err.(*offload.Error)
	return ok
}

// TestMaxClass checks the class that is derived from the drivers' files.
func TestMaxClass(t *testing.T) {
	t.Setenv("OCL_ICD_VENDORS", "")
	t.Setenv("OCL_ICD_FILENAMES", "")
	for _, c := range []struct {
		files []string
		want  int
	}{{nil, offload.ClassEmulated}, {[]string{"pocl.icd"}, offload.ClassEmulated}, {[]string{"pocl.icd", "nvidia.icd"}, offload.ClassGPU}} {
		dir := t.TempDir()
		for _, f := range c.files {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := opencl.New(opencl.Options{VendorsDir: dir}).(offload.ClassBounded).MaxClass(); got != c.want {
			t.Errorf("%v: class %d, want %d", c.files, got, c.want)
		}
	}
}

// TestBrokenDriver checks that the error names a registered driver whose library is missing.
func TestBrokenDriver(t *testing.T) {
	dir := os.Getenv("OREPL_TEST_VENDORS") // set for the child, since loaders read the environment at process start
	if dir == "" {
		dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.icd"), []byte("/nonexistent/libx.so\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenDriver$", "-test.v")
		cmd.Env = append(os.Environ(), "OREPL_TEST_VENDORS="+dir, "OCL_ICD_VENDORS="+dir, "OCL_ICD_FILENAMES=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	_, err := opencl.New(opencl.Options{}).Open(t.Context())
	if err == nil {
		t.Fatal("a device was found")
	}
	if text := err.Error(); strings.Contains(text, "PLATFORM_NOT_FOUND") && !strings.Contains(text, "x.icd: /nonexistent/libx.so") {
		t.Error(text)
	}
}
