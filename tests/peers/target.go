package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// target compares launches and copies with LLVM's libomptarget on its host device.
func target(r *report) error {
	lib, err := buildTarget()
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	fns := map[string]func(...uintptr) uintptr{}
	for _, name := range []string{"ready", "launches", "alloc", "free", "submit", "retrieve", "exchange", "map"} {
		at, err := purego.Dlsym(lib, "target_"+name)
		if err != nil {
			return err
		}
		fns[name] = func(args ...uintptr) uintptr { x, _, _ := purego.SyscallN(at, args...); return x }
	}
	if fns["ready"]() == 0 {
		fmt.Println("  not compared: libomptarget has no device")
		return nil
	}
	ours, err := newLauncher()
	if err != nil {
		return err
	}
	defer ours.close()
	const n = 1000
	_, err = r.pair("empty launch and wait", "us", 15, func() (float64, error) {
		start := time.Now()
		for range n {
			if err := ours.launch(); err != nil {
				return 0, err
			}
			if err := ours.wait(); err != nil {
				return 0, err
			}
		}
		return time.Since(start).Seconds() * 1e6 / n, nil
	}, func() (float64, error) {
		start := time.Now()
		fns["launches"](n)
		return time.Since(start).Seconds() * 1e6 / n, nil
	})
	if err != nil {
		return err
	}
	return targetCopies(r, ours, fns)
}

func targetCopies(r *report, ours *launcher, fns map[string]func(...uintptr) uintptr) error {
	const size = 256 << 20
	ctx := context.Background()
	d, err := ours.runtime.Session().Device(ctx, "cpu")
	if err != nil {
		return err
	}
	q, err := d.Queue()
	if err != nil {
		return err
	}
	pool := memory.NewPool(memory.Options{})
	defer pool.Close()
	host, err := pool.Get(size, true)
	if err != nil {
		return err
	}
	defer host.Free()
	var buffers [2]*session.Buffer
	var theirs [2]uintptr
	for i := range buffers {
		if buffers[i], err = d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{size}}); err != nil {
			return err
		}
		if theirs[i] = fns["alloc"](size); theirs[i] == 0 {
			return fmt.Errorf("omp_target_alloc gave nothing")
		}
		defer fns["free"](theirs[i])
	}
	h := uintptr(unsafe.Pointer(&host.Bytes()[0]))
	for _, c := range []struct {
		name string
		ours func() error
		fn   string
		args []uintptr
	}{
		{"submit 256 MiB", func() error { return q.Write(buffers[0], 0, host.Bytes()) }, "submit", []uintptr{theirs[0], h, size}},
		{"retrieve 256 MiB", func() error { return q.Read(host.Bytes(), buffers[0], 0) }, "retrieve", []uintptr{h, theirs[0], size}},
		{"device to device 256 MiB", func() error { return q.Copy(buffers[1], buffers[0]) }, "exchange", []uintptr{theirs[1], theirs[0], size}},
		{"a fresh buffer of 256 MiB, filled and freed", func() error {
			b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{size}})
			if err != nil {
				return err
			}
			if err := q.Write(b, 0, host.Bytes()); err != nil {
				return err
			}
			return b.Free()
		}, "map", []uintptr{h, size}},
	} {
		other := fns[c.fn]
		rate := func(run func() error) func() (float64, error) {
			return func() (float64, error) {
				start := time.Now()
				err := run()
				return size / time.Since(start).Seconds() / 1e9, err
			}
		}
		_, err := r.pair(c.name, "GB/s", 9, rate(func() error {
			if err := c.ours(); err != nil {
				return err
			}
			return q.Sync(ctx)
		}), rate(func() error { other(c.args...); return nil }))
		if err != nil {
			return err
		}
	}
	return nil
}

// buildTarget compiles target.c with clang, which offloads to the host itself, and loads the result.
func buildTarget() (uintptr, error) {
	const hint = "apt-get install clang-19 clang-tools-19 libomp-19-dev"
	const libs = "/usr/lib/llvm-19/lib"
	dir, err := os.MkdirTemp("", "orepl-target")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "target.so")
	cmd := exec.Command(clang, "-O3", "-march=native", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-shared", "-fPIC",
		"-L"+libs, "-Wl,-rpath,"+libs, "-o", out, "tests/peers/c/target.c")
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("clang cannot offload to this machine: %s (%w)\n%s", hint, err, text)
	}
	return purego.Dlopen(out, purego.RTLD_NOW)
}
