package opencl_test

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/remote/silence"
)

// TestMain lets this test binary also run as a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		_ = remote.Serve(context.Background(), standard{}, opencl.New(opencl.Options{}))
		os.Exit(0)
	}
	if os.Getenv(silence.Variable) == "" {
		_ = os.Setenv(silence.Variable, "1m") // a worker may wait for seconds on a busy machine
	}
	os.Exit(m.Run())
}

type standard struct{}

func (standard) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (standard) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (standard) Close() error                { return os.Stdin.Close() }

var _ io.ReadWriteCloser = standard{}

// workers runs a worker that loads hostile images, and replaces it when it is lost.
type workers struct {
	mu       sync.Mutex
	platform offload.Platform
	lost     int
}

// device returns the device of the worker.
func (w *workers) device(t *testing.T) offload.Device {
	t.Helper()
	if w.platform == nil {
		p, err := far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}).Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		w.platform = p
	}
	return w.platform.Devices()[0]
}

// end ends the worker, even during an endless compilation.
func (w *workers) end() {
	if w.platform != nil {
		_ = w.platform.Close()
		w.platform = nil
	}
}

// load loads an image and its kernels on the worker. It returns DeviceLost if the driver ends the process.
func (w *workers) load(t *testing.T, img *offload.Image) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	program, err := w.device(t).Load(ctx, img)
	if err == nil {
		for _, s := range program.Symbols() {
			if _, failed := program.Kernel(s.Name); failed != nil {
				err = errors.Join(err, failed)
			}
		}
		err = errors.Join(err, program.Unload())
	}
	if code := offload.CodeOf(err); code == offload.DeviceLost || ctx.Err() != nil {
		w.lost++
		w.end()
	}
	return err
}

// FuzzOpenCLC loads hostile OpenCL C on a worker. Each source loads, or fails with an error code.
func FuzzOpenCLC(f *testing.F) {
	available(f, opencl.Options{})
	w := &workers{}
	f.Cleanup(w.end)
	for _, s := range []string{sources, "", "kernel void f(", "#include __FILE__\n", "kernel void f(global int *x) { x[0] = 1 / 0; }",
		"kernel void f(sampler_t s, queue_t q) {}", "#define A(x) A(x x)\nkernel void f() { A(1); }", "kernel void f() { asm(\"ud2\"); }"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		err := w.load(t, &offload.Image{Kind: offload.ImageOpenCLC, Label: "fuzz.cl", Data: []byte(source)})
		switch offload.CodeOf(err) {
		case "", offload.InvalidBinary, offload.InvalidArgument, offload.Unsupported, offload.OutOfResources, offload.DeviceLost, offload.Cancelled, offload.Timeout:
		default:
			t.Errorf("%q: %v", source, err)
		}
	})
}

// TestDriverEndsItsProcess loads a source whose nesting crashes PoCL's compiler, and checks that the device is lost and a
// new worker runs.
func TestDriverEndsItsProcess(t *testing.T) {
	available(t, opencl.Options{})
	w := &workers{}
	t.Cleanup(w.end)
	deep := make([]byte, 0, 1<<20)
	deep = append(deep, "kernel void f(global int *x) { x[0] = "...)
	for range 200000 {
		deep = append(deep, "-+"...)
	}
	deep = append(deep, "1; }"...)
	err := w.load(t, &offload.Image{Kind: offload.ImageOpenCLC, Label: "deep.cl", Data: deep})
	t.Logf("%d workers lost; %.300v", w.lost, err)
	if w.lost > 0 && offload.CodeOf(err) != offload.DeviceLost && offload.CodeOf(err) != offload.Cancelled && offload.CodeOf(err) != offload.Timeout {
		t.Errorf("the worker ended: %v", err)
	}
	if err := w.load(t, &offload.Image{Kind: offload.ImageOpenCLC, Label: "good.cl", Data: []byte("kernel void f(global int *x) { x[0] = 1; }")}); err != nil {
		t.Errorf("after it: %v", err)
	}
}
