package main

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/opencl"
	"github.com/orepl/orepl/runtime/offload"
)

// onOpenCL compares an OpenCL device with direct calls of the same driver: the workloads with and without checks, launches,
// and copies. Both sides have one thread of PoCL.
func onOpenCL(r *report) error {
	cl, err := openCL()
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	cl.ownMemory = true
	ctx := context.Background()
	host, err := cpu.New(cpu.Options{Cores: 1}).Open(ctx)
	if err != nil {
		return err
	}
	defer host.Close()
	platform, err := opencl.New(opencl.Options{}).Open(ctx)
	if err != nil {
		return err
	}
	defer platform.Close()
	dev := platform.Devices()[0]
	eachWorkload(func(w *workload) ([2]float64, error) { return w.besideDriver(r, host.Devices()[0], dev, cl) })
	q, err := dev.NewQueue(offload.QueueOptions{})
	if err != nil {
		return err
	}
	defer q.Close()
	k, close, err := emptyOn(ctx, dev)
	if err != nil {
		return err
	}
	defer close()
	l := &offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}}
	if err := cl.launches(r, &launcher{launch: func() error { return q.Launch(l) }, wait: func() error { return q.Sync(ctx) }}); err != nil {
		return err
	}
	return cl.copies(r, dev, q)
}

// emptyOn loads an empty kernel. close unloads its program.
func emptyOn(ctx context.Context, dev offload.Device) (k offload.Kernel, close func(), err error) {
	m, err := ir.ParseText("empty", "orepl-ir 1\nkernel empty() real f32 {\n  return\n}\n")
	if err != nil {
		return nil, nil, err
	}
	data, err := m.MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	program, err := dev.Load(ctx, &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		return nil, nil, err
	}
	k, err = program.Kernel("empty")
	return k, func() { _ = program.Unload() }, err
}

// besideDriver compares a workload with its kernel in OpenCL C, without and with checks. The driver copies its buffers'
// contents from the memory of host.
func (w *workload) besideDriver(r *report, host, dev offload.Device, cl *driver) (ratios [2]float64, err error) {
	var others []offload.Memory
	for i := range w.buffers {
		m, err := w.buffer(host, i)
		if err != nil {
			return ratios, err
		}
		defer m.Free()
		others = append(others, m)
	}
	k, err := cl.kernel(w.symbolCL(), others)
	if err != nil {
		return ratios, err
	}
	defer k.release()
	theirs := func() error { return k.run(w.size, w.group) }
	p, err := w.prepare(dev)
	if err != nil {
		return ratios, err
	}
	defer p.close()
	if err := errors.Join(theirs(), p.run()); err != nil {
		return ratios, err
	}
	got := make([]byte, p.buffers[w.result].Size())
	if err := errors.Join(p.queue.Retrieve(got, offload.Span{Memory: p.buffers[w.result], Size: int64(len(got))}), p.queue.Sync(context.Background())); err != nil {
		return ratios, err
	}
	want := make([]byte, len(got))
	if status := cl.readBuffer(cl.queue, k.buffers[w.result], 1, 0, uintptr(len(want)), unsafe.Pointer(&want[0]), 0, nil, nil); status != 0 {
		return ratios, fmt.Errorf("clEnqueueReadBuffer: %d", status)
	}
	if err := w.agree(got, want); err != nil {
		return ratios, err
	}
	for i, checks := range []offload.Checks{offload.ChecksOff, offload.ChecksOn} {
		p.launch.Checks = checks
		if ratios[i], err = r.pair(w.name+[]string{", no checks", ""}[i], w.unit, 5, w.rate(p.run), w.rate(theirs)); err != nil {
			return ratios, err
		}
	}
	return ratios, nil
}

// copies compares copies from and to host memory, each with a wait.
func (cl *driver) copies(r *report, dev offload.Device, q offload.Queue) error {
	ctx := context.Background()
	for _, size := range []int{1 << 20, 256 << 20} {
		host := make([]byte, size)
		at := unsafe.Pointer(&host[0])
		m, err := dev.Allocate(int64(size), offload.DeviceMemory)
		if err != nil {
			return err
		}
		var status int32
		const readWrite = 1
		b := cl.createBuffer(cl.context, readWrite, uintptr(size), nil, &status)
		if status != 0 {
			return fmt.Errorf("clCreateBuffer: %d", status)
		}
		failed := func(status int32) error {
			if status != 0 {
				return fmt.Errorf("OpenCL failed with %d", status)
			}
			return nil
		}
		span := offload.Span{Memory: m, Size: int64(size)}
		_, err = r.pair(fmt.Sprintf("submit %d MiB", size>>20), "GB/s", 9,
			copyRate(size, func() error { return errors.Join(q.Submit(span, host), q.Sync(ctx)) }),
			copyRate(size, func() error { return failed(cl.writeBuffer(cl.queue, b, 1, 0, uintptr(size), at, 0, nil, nil)) }))
		if err == nil {
			_, err = r.pair(fmt.Sprintf("retrieve %d MiB", size>>20), "GB/s", 9,
				copyRate(size, func() error { return errors.Join(q.Retrieve(host, span), q.Sync(ctx)) }),
				copyRate(size, func() error { return failed(cl.readBuffer(cl.queue, b, 1, 0, uintptr(size), at, 0, nil, nil)) }))
		}
		cl.releaseBuffer(b)
		if err = errors.Join(err, m.Free()); err != nil {
			return err
		}
	}
	return nil
}
