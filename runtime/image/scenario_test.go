package image_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// nvidiaTools writes commands in place of NVIDIA's assembler and linker, which are not free software: they write a relocatable
// object with the machine of a cubin. Everything else of the build is LLVM's.
func nvidiaTools(t *testing.T, l *llvm, dir string) {
	t.Helper()
	write(t, dir, "empty.c", []byte("int empty;\n"))
	run(t, dir, l.clang, "-c", "empty.c", "-o", "cubin")
	cubin := read(t, filepath.Join(dir, "cubin"))
	cubin[7], cubin[8] = 51, 7
	le.PutUint16(cubin[18:], 190)
	le.PutUint32(cubin[48:], 0x460546)
	write(t, dir, "cubin", cubin)
	for _, name := range []string{"ptxas", "nvlink"} {
		path := write(t, dir, name, []byte(`#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in -o | --output-file) shift; out=$1 ;; esac
  shift
done
cp "$(dirname "$0")/cubin" "$out"
`))
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// TestDropTargetOfProgram follows the scenario of LLVM's proposal on dropping targets. A program and a static library are
// built for two targets, and one target is dropped afterwards without a change of host code.
func TestDropTargetOfProgram(t *testing.T) {
	l := llvmFiles(t)
	dir := t.TempDir()
	nvidiaTools(t, l, dir)
	const nvidia = "nvptx64-nvidia-cuda"
	both := []string{"-O1", "-fopenmp", "-fopenmp-targets=" + hostTriple + "," + nvidia, "-nogpulib", "-Xopenmp-target=" + nvidia, "-march=sm_70"}
	sources, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	clang := func(args ...string) { run(t, dir, l.clang, append(both, args...)...) }
	clang("-c", sources+"/two.c", "-o", "two.o")
	clang("-c", sources+"/region.c", "-o", "region.o")
	clang("two.o", "-o", "two")
	run(t, dir, l.ar, "rcs", "libregion.a", "region.o")
	l.compare(t, dir+"/two", hostTriple, nvidia)
	l.compare(t, dir+"/libregion.a", hostTriple, nvidia)

	// The program runs on the target that is left, and on the host where none fits.
	launched := func(file string) bool {
		text := program(t, dir, file, "LIBOMPTARGET_INFO=16")
		if !strings.HasSuffix(text, "8\n") {
			t.Errorf("%s printed %q", file, text)
		}
		return strings.Contains(text, "Launching kernel")
	}
	if !launched(dir + "/two") {
		t.Error("the program does not launch its kernel before the change")
	}
	for _, c := range []struct {
		drop    []string
		runs    bool
		remains []string
	}{
		{[]string{nvidia}, true, []string{hostTriple}},
		{[]string{hostTriple}, false, []string{nvidia}},
		{[]string{nvidia, hostTriple}, false, nil},
	} {
		name := filepath.Join(dir, "changed")
		data := read(t, dir+"/two")
		for _, triple := range c.drop {
			data, _ = dropped(t, data, forTriple(triple))
		}
		write(t, dir, "changed", data)
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := launched(name); got != c.runs {
			t.Errorf("without %v a kernel is launched: %v", c.drop, got)
		}
		registered(t, data, c.runs)
		if len(c.remains) > 0 {
			l.compare(t, name, c.remains...)
		} else if _, err := image.Split("f", data); offload.CodeOf(err) != offload.Unsupported || !strings.Contains(err.Error(), "without device images") {
			t.Errorf("without images: %v", err)
		}
	}

	// A program linked with the smaller library runs, and has the other target's image only.
	library, _ := dropped(t, read(t, dir+"/libregion.a"), forTriple(nvidia))
	write(t, dir, "libregion.a", library)
	write(t, dir, "main.c", []byte("void scale(int, float *);\nint main(void) { float x[2] = {1, 2}; scale(2, x); return x[1] != 6; }\n"))
	run(t, dir, l.clang, "-fopenmp", "-fopenmp-targets="+hostTriple, "main.c", "libregion.a", "-o", "linked")
	if text := program(t, dir, dir+"/linked", "LIBOMPTARGET_INFO=16"); !strings.Contains(text, "Launching kernel") {
		t.Errorf("the linked program launched no kernel: %q", text)
	}
	images := imagesOf(t, dir+"/linked")
	if len(images) != 1 || images[0].Target != hostTriple || bytes.Contains(read(t, dir+"/linked"), []byte(nvidia)) {
		t.Errorf("the linked program has %d images", len(images))
	}
}

// registered registers a program's images here, and runs its region on the CPU device if one is for it. Otherwise the
// failure has the reason.
func registered(t *testing.T, data []byte, runs bool) {
	t.Helper()
	ctx := t.Context()
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer s.Close(ctx)
	dev, err := s.Device(ctx, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	lib, err := s.Register(ctx, "program", data)
	if err != nil {
		if runs || !strings.Contains(err.Error(), "without device images") {
			t.Errorf("register: %v", err)
		}
		return
	}
	region := lib.Entries()[0].Name
	sig := &offload.Signature{Params: []offload.Param{{Name: "y", Buffer: true, Elem: 1}, {Name: "x", Buffer: true, Elem: 1}}, Convention: offload.OutlinedOpenMP}
	k, err := lib.KernelAs(ctx, dev, region, sig)
	if !runs {
		if err == nil || !strings.Contains(err.Error(), `of kind "cubin"`) {
			t.Errorf("the region without an image: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	x, err := session.BufferOf(ctx, dev, "x", []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	y, err := session.BufferOf(ctx, dev, "y", []float32{1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Bind(session.Config{Size: []int{1}}, session.Buf(y), session.Buf(x))
	if err != nil {
		t.Fatal(err)
	}
	q, err := dev.Queue()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Launch(call); err != nil {
		t.Fatal(err)
	}
	if got, err := session.Read[float32](ctx, y, 0, 4); err != nil || !slices.Equal(got, []float32{3, 5, 7, 9}) {
		t.Errorf("the region computed %v, %v", got, err)
	}
}
