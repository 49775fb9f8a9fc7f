package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/lang"
	contract "github.com/orepl/orepl/runtime/offload"
)

// TestFilesOfProgram checks that kernels use no files of the machine if the script's files are in the program.
func TestFilesOfProgram(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept.txt")
	if err := os.WriteFile(path, []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := servicesOf(t, lang.Options{Files: fstest.MapFS{"a.js": {}}, Dir: "/"})
	_, opened := s.OpenFile(path, "w")
	for op, err := range map[string]error{"open": opened, "remove": s.RemoveFile(path), "rename": s.RenameFile(path, path+"2")} {
		var refused *contract.Error
		if !errors.As(err, &refused) || refused.Code != contract.PermissionDenied || refused.Op != op || !strings.Contains(err.Error(), "part of the program") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "kept" {
		t.Errorf("the file has %q, %v", data, err)
	}
}

// TestPipesOfKernels checks that a kernel whose engine has limits is refused a pipe, the opening of which would not return.
func TestPipesOfKernels(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := servicesOf(t, lang.Options{Dir: dir, Limits: lang.Limits{Time: time.Hour}})
	for _, mode := range []string{"r", "w", "a"} {
		done := make(chan error, 1)
		go func() {
			_, err := s.OpenFile("pipe", mode)
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "no regular file") {
				t.Errorf("%s: %v", mode, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: does not return", mode)
		}
	}
	f, err := s.OpenFile("new.txt", "w")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// servicesOf returns the services of an engine's kernels.
func servicesOf(t *testing.T, opts lang.Options) *services {
	t.Helper()
	e, err := lang.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &services{registry: &Registry{Script: &script.Script{Engine: e}}}
}
