package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
)

func TestSquares(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	y, where, err := squares(context.Background(), rt, []float32{1, 2, 3})
	if err != nil || where != "cpu" || !slices.Equal(y, []float32{1, 4, 9}) {
		t.Errorf("%v on %s, %v", y, where, err)
	}
}

// TestDropFromProgram drops the images from the built program, or omits them by a build tag, and checks that it still runs.
func TestDropFromProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("images are dropped from ELF files only")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	build := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", append([]string{"build", "-o", program}, args...)...)
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	prints := func(path, want string) {
		t.Helper()
		text, err := exec.Command(path).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(text), "[1 4 9 16 25] on "+want) {
			t.Errorf("%s: %q, %v; want %q", path, text, err, want)
		}
	}
	build("-ldflags=-s -w")
	prints(program, "cpu")
	f, err := image.OpenFile(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lib, err := f.Read("program")
	if err != nil || len(lib.Images) != 1 || lib.Images[0].Kind != offload.ImageIR {
		t.Fatalf("images of the program: %v, %v", lib.Images, err)
	}
	edit, err := f.Drop("program", func(img *offload.Image) bool { return img.Kind == offload.ImageIR })
	if err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(dir, "small")
	if err := f.Rewrite(small, edit); err != nil {
		t.Fatal(err)
	}
	prints(small, "the host: identify image \"kernels.offload\": the container has no images")
	before, _ := os.Stat(program)
	if after, err := os.Stat(small); err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
		t.Errorf("%v, %v; want %v", after, err, before)
	}
	if g, err := image.OpenFile(small); err != nil {
		t.Error(err)
	} else if lib, err := g.Read("small"); err != nil || len(lib.Images) != 0 {
		t.Errorf("images that are left: %v, %v", lib.Images, err)
	}
	if testing.Short() {
		return
	}
	build("-tags=noimages")
	prints(program, "the host")
}
