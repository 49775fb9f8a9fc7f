package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
)

// onCUDA compares the first NVIDIA GPU with CUDA C++ on the same GPU, in elapsed time: the workloads with and without checks,
// launches, and copies. Without the GPU or nvcc it only prints why.
func onCUDA(r *report) error {
	peer, err := buildCUDA()
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	ctx := context.Background()
	platform, err := cuda.New(cuda.Options{}).Open(ctx)
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	defer platform.Close()
	dev := platform.Devices()[0]
	fmt.Printf("  %s\n", dev.Info().Name)
	eachWorkload(func(w *workload) ([2]float64, error) { return w.besideCUDA(r, dev, peer) })
	q, err := dev.NewQueue(offload.QueueOptions{})
	if err != nil {
		return err
	}
	defer q.Close()
	return errors.Join(peer.launches(r, dev, q), peer.copies(r, dev, q))
}

// cudaPeer has the functions of cuda.cu. Each status is CUDA's, 0 for success.
type cudaPeer struct {
	kernel     func(name string) uintptr
	launch     func(kernel uintptr, arguments *unsafe.Pointer, grid, block *[3]int32, times int32) int32
	launchWait func(kernel uintptr, arguments *unsafe.Pointer, grid, block *[3]int32, times int32) int32
	wait       func() int32
	allocate   func(size uintptr) uintptr
	free       func(p uintptr) int32
	submit     func(to uintptr, from unsafe.Pointer, size uintptr) int32
	retrieve   func(to unsafe.Pointer, from, size uintptr) int32
	exchange   func(to, from, size uintptr) int32
}

// buildCUDA compiles cuda.cu for this machine's GPU and loads the result.
func buildCUDA() (*cudaPeer, error) {
	dir, err := os.MkdirTemp("", "orepl-cuda")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "cuda.so")
	cmd := exec.Command("nvcc", "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-o", out, "tests/peers/c/cuda.cu")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("nvcc of CUDA's toolkit and a GPU are needed (%w)\n%s", err, text)
	}
	lib, err := purego.Dlopen(out, purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	p := &cudaPeer{}
	for name, fn := range map[string]any{"kernel": &p.kernel, "launch": &p.launch, "launch_wait": &p.launchWait, "wait": &p.wait, "allocate": &p.allocate,
		"free": &p.free, "submit": &p.submit, "retrieve": &p.retrieve, "exchange": &p.exchange} {
		purego.RegisterLibFunc(fn, lib, "peer_"+name)
	}
	return p, nil
}

// failed returns a status of CUDA as an error, or nil for success.
func failed(what string, status int32) error {
	if status != 0 {
		return fmt.Errorf("%s: CUDA failed with %d", what, status)
	}
	return nil
}

// cudaKernel is a kernel with its buffers.
type cudaKernel struct {
	*cudaPeer
	id          uintptr
	buffers     []uintptr
	arguments   []unsafe.Pointer // addresses of buffers
	grid, block [3]int32
}

// of returns the workload's kernel with buffers of its own. Groups that the workload leaves open have 256 items.
func (p *cudaPeer) of(w *workload) (*cudaKernel, error) {
	k := &cudaKernel{cudaPeer: p, id: p.kernel(w.symbolCL()), buffers: make([]uintptr, len(w.buffers))}
	if k.id == 0 {
		return nil, fmt.Errorf("cuda.cu has no kernel %s", w.symbolCL())
	}
	block := w.group
	if block[0] == 0 {
		block = [3]int{256, 1, 1}
		if w.size[1] > 1 {
			block = [3]int{32, 8, 1}
		}
	}
	for i := range block {
		k.block[i], k.grid[i] = int32(block[i]), int32(w.size[i]/block[i])
	}
	for i := range w.buffers {
		data := w.contents(i)
		if k.buffers[i] = p.allocate(uintptr(len(data))); k.buffers[i] == 0 {
			k.release()
			return nil, fmt.Errorf("cudaMalloc of %d bytes failed", len(data))
		}
		if err := failed("submit", p.submit(k.buffers[i], unsafe.Pointer(&data[0]), uintptr(len(data)))); err != nil {
			k.release()
			return nil, err
		}
		k.arguments = append(k.arguments, unsafe.Pointer(&k.buffers[i]))
	}
	return k, nil
}

func (k *cudaKernel) release() {
	for _, b := range k.buffers {
		if b != 0 {
			k.free(b)
		}
	}
}

// run launches the kernel a number of times and waits.
func (k *cudaKernel) run(times int) error {
	var first *unsafe.Pointer
	if len(k.arguments) > 0 {
		first = &k.arguments[0]
	}
	if err := failed("launch", k.launch(k.id, first, &k.grid, &k.block, int32(times))); err != nil {
		return err
	}
	return failed("wait", k.wait())
}

// besideCUDA compares a workload with its kernel in CUDA C++, without and with checks. A measurement launches for about 20 ms
// and then waits.
func (w *workload) besideCUDA(r *report, dev offload.Device, peer *cudaPeer) (ratios [2]float64, err error) {
	k, err := peer.of(w)
	if err != nil {
		return ratios, err
	}
	defer k.release()
	p, err := w.prepare(dev)
	if err != nil {
		return ratios, err
	}
	defer p.close()
	ours := func(times int) error {
		for range times {
			if err := p.queue.Launch(&p.launch); err != nil {
				return err
			}
		}
		return p.queue.Sync(context.Background())
	}
	if err := errors.Join(ours(1), k.run(1)); err != nil {
		return ratios, err
	}
	got := make([]byte, p.buffers[w.result].Size())
	if err := errors.Join(p.queue.Retrieve(got, offload.Span{Memory: p.buffers[w.result], Size: int64(len(got))}), p.queue.Sync(context.Background())); err != nil {
		return ratios, err
	}
	want := make([]byte, len(got))
	if err := failed("retrieve", peer.retrieve(unsafe.Pointer(&want[0]), k.buffers[w.result], uintptr(len(want)))); err != nil {
		return ratios, err
	}
	if err := w.agree(got, want); err != nil {
		return ratios, err
	}
	start := time.Now()
	if err := k.run(10); err != nil {
		return ratios, err
	}
	times := max(3, int(0.2/max(1e-9, time.Since(start).Seconds())))
	rate := func(run func(times int) error) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			err := run(times)
			return w.work * float64(times) / time.Since(start).Seconds(), err
		}
	}
	for i, checks := range []offload.Checks{offload.ChecksOff, offload.ChecksOn} {
		p.launch.Checks = checks
		if err := ours(1); err != nil { // compiles
			return ratios, err
		}
		if ratios[i], err = r.pair(w.name+[]string{", no checks", ""}[i], w.unit, 5, rate(ours), rate(k.run)); err != nil {
			return ratios, err
		}
	}
	return ratios, nil
}

// launches compares empty launches: each with a wait, and a thousand with one wait.
func (p *cudaPeer) launches(r *report, dev offload.Device, q offload.Queue) error {
	ctx := context.Background()
	empty, close, err := emptyOn(ctx, dev)
	if err != nil {
		return err
	}
	defer close()
	l := &offload.Launch{Kernel: empty, Size: [3]int{1, 1, 1}}
	id, one := p.kernel("run_empty"), &[3]int32{1, 1, 1}
	const n = 1000
	each := func(run func() error) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			err := run()
			return time.Since(start).Seconds() * 1e6 / n, err
		}
	}
	_, err = r.pair("empty launch and wait", "us", 15, each(func() error {
		for range n {
			if err := errors.Join(q.Launch(l), q.Sync(ctx)); err != nil {
				return err
			}
		}
		return nil
	}), each(func() error { return failed("launch", p.launchWait(id, nil, one, one, n)) }))
	if err != nil {
		return err
	}
	_, err = r.pair("empty launch, mean of 1000 and a wait", "us", 15, each(func() error {
		for range n {
			if err := q.Launch(l); err != nil {
				return err
			}
		}
		return q.Sync(ctx)
	}), each(func() error {
		return errors.Join(failed("launch", p.launch(id, nil, one, one, n)), failed("wait", p.wait()))
	}))
	return err
}

// copies compares copies from and to pageable memory of the host, and on the device, each with a wait.
func (p *cudaPeer) copies(r *report, dev offload.Device, q offload.Queue) error {
	ctx := context.Background()
	for _, size := range []int{1 << 20, 256 << 20} {
		host := make([]byte, size)
		at, n := unsafe.Pointer(&host[0]), uintptr(size)
		var memory [2]offload.Memory
		var theirs [2]uintptr
		for i := range memory {
			m, err := dev.Allocate(int64(size), offload.DeviceMemory)
			if err != nil {
				return err
			}
			defer m.Free()
			if memory[i], theirs[i] = m, p.allocate(n); theirs[i] == 0 {
				return fmt.Errorf("cudaMalloc of %d bytes failed", size)
			}
			defer p.free(theirs[i])
		}
		to, from := offload.Span{Memory: memory[0], Size: int64(size)}, offload.Span{Memory: memory[1], Size: int64(size)}
		for _, c := range []struct {
			name         string
			ours, theirs func() error
		}{
			{"submit", func() error { return q.Submit(to, host) }, func() error { return failed("submit", p.submit(theirs[0], at, n)) }},
			{"retrieve", func() error { return q.Retrieve(host, from) }, func() error { return failed("retrieve", p.retrieve(at, theirs[1], n)) }},
			{"device to device", func() error { return q.Exchange(to, from) }, func() error { return failed("exchange", p.exchange(theirs[0], theirs[1], n)) }},
		} {
			if _, err := r.pair(fmt.Sprintf("%s %d MiB", c.name, size>>20), "GB/s", 9, copyRate(size, func() error { return errors.Join(c.ours(), q.Sync(ctx)) }), copyRate(size, c.theirs)); err != nil {
				return err
			}
		}
	}
	return nil
}
