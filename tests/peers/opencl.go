package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// pocl compares the workloads with the same kernels in OpenCL C on PoCL on one core, and empty launches with PoCL's.
func pocl(r *report) error {
	ours, err := newLauncher()
	if err != nil {
		return err
	}
	defer ours.close()
	// The first launch must precede PoCL, which replaces signal handlers that the guard of native code needs.
	if err := errors.Join(ours.launch(), ours.wait()); err != nil {
		return err
	}
	cl, err := openCL()
	if err != nil {
		fmt.Printf("  not compared: %v\n", err)
		return nil
	}
	platform, err := cpu.New(cpu.Options{Cores: 1}).Open(context.Background())
	if err != nil {
		return err
	}
	defer platform.Close()
	dev := platform.Devices()[0]
	product, least, n := 0.0, math.Inf(1), 0
	for i := range workloads {
		w := &workloads[i]
		if !strings.HasPrefix(w.name, os.Getenv("OREPL_PEERS_ONLY")) {
			continue
		}
		ratio, err := w.beside(r, dev, cl)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		product, least, n = product+math.Log(ratio), min(least, ratio), n+1
	}
	if n > 1 {
		fmt.Printf("  geometric mean of %d ratios %.2f, least %.2f\n", n, math.Exp(product/float64(n)), least)
	}
	return cl.launches(r, ours)
}

// symbolCL returns the name of the workload's kernel in kernels.cl, which can differ from the C function's name.
func (w *workload) symbolCL() string {
	switch {
	case strings.HasSuffix(w.name, ", fast"):
		return w.symbol + "_fast"
	case strings.HasPrefix(w.name, "sgemm 512, 16×16"):
		return w.symbol + "_shared"
	}
	return w.symbol
}

// beside compares a workload with its kernel in OpenCL C, and returns the median ratio of their rates.
func (w *workload) beside(r *report, dev offload.Device, cl *driver) (ratio float64, err error) {
	p, err := w.prepare(dev)
	if err != nil {
		return 0, err
	}
	defer p.close()
	var others []offload.Memory
	for i := range w.buffers {
		m, err := w.buffer(dev, i)
		if err != nil {
			return 0, err
		}
		defer m.Free()
		others = append(others, m)
	}
	k, err := cl.kernel(w.symbolCL(), others)
	if err != nil {
		return 0, err
	}
	defer k.release()
	theirs := func() error { return k.run(w.size, w.group) }
	if err := p.run(); err != nil {
		return 0, err
	}
	if err := theirs(); err != nil {
		return 0, err
	}
	if err := w.agree(p.buffers[w.result].Bytes(), others[w.result].Bytes()); err != nil {
		return 0, err
	}
	return r.pair(w.name, w.unit, 7, w.rate(p.run), w.rate(theirs))
}

// launches compares empty launches: each with a wait, and a thousand with one wait.
func (cl *driver) launches(r *report, ours *launcher) error {
	k, err := cl.kernel("run_empty", nil)
	if err != nil {
		return err
	}
	defer k.release()
	const n = 1000
	one := [3]int{1, 1, 1}
	each := func(run func() error) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			err := run()
			return time.Since(start).Seconds() * 1e6 / n, err
		}
	}
	_, err = r.pair("empty launch and wait", "us", 15, each(func() error {
		for range n {
			if err := ours.launch(); err != nil {
				return err
			}
			if err := ours.wait(); err != nil {
				return err
			}
		}
		return nil
	}), each(func() error {
		for range n {
			if err := k.run(one, one); err != nil {
				return err
			}
		}
		return nil
	}))
	if err != nil {
		return err
	}
	_, err = r.pair("empty launch, mean of 1000 and a wait", "us", 15, each(func() error {
		for range n {
			if err := ours.launch(); err != nil {
				return err
			}
		}
		return ours.wait()
	}), each(func() error {
		for range n {
			if err := k.enqueue(one, one); err != nil {
				return err
			}
		}
		return k.finish()
	}))
	return err
}

// driver is the first device of PoCL, through the ICD loader.
type driver struct {
	context, queue, program uintptr
	ownMemory               bool // the driver allocates buffers and copies the host's memory

	createBuffer  func(context uintptr, flags uint64, size uintptr, host unsafe.Pointer, err *int32) uintptr
	createKernel  func(program uintptr, name string, err *int32) uintptr
	setArg        func(kernel uintptr, index uint32, size uintptr, value *uintptr) int32
	writeBuffer   func(queue, buffer uintptr, block uint32, offset, size uintptr, from unsafe.Pointer, events uint32, wait, event *uintptr) int32
	readBuffer    func(queue, buffer uintptr, block uint32, offset, size uintptr, to unsafe.Pointer, events uint32, wait, event *uintptr) int32
	enqueueKernel func(queue, kernel uintptr, dims uint32, offset, size, group *uintptr, events uint32, wait, event *uintptr) int32
	finishQueue   func(queue uintptr) int32
	releaseBuffer func(buffer uintptr) int32
	releaseKernel func(kernel uintptr) int32
}

// openCL opens the device with one thread and builds the kernels.
func openCL() (cl *driver, err error) {
	libc, err := purego.Dlopen("libc.so.6", purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	var setenv func(name, value string, overwrite int32) int32
	purego.RegisterLibFunc(&setenv, libc, "setenv") // PoCL reads the C library's environment, which os.Setenv does not change
	setenv("POCL_MAX_PTHREAD_COUNT", "1", 1)
	lib, err := purego.Dlopen("libOpenCL.so.1", purego.RTLD_NOW)
	if err != nil {
		return nil, fmt.Errorf("the OpenCL loader is missing: apt-get install ocl-icd-libopencl1 pocl-opencl-icd (%w)", err)
	}
	var (
		platforms   func(n uint32, list *uintptr, count *uint32) int32
		platform    func(platform uintptr, what uint32, size uintptr, value *byte, got *uintptr) int32
		devices     func(platform uintptr, kind uint64, n uint32, list *uintptr, count *uint32) int32
		newContext  func(properties *uintptr, n uint32, devices *uintptr, notify, data uintptr, err *int32) uintptr
		newQueue    func(context, device uintptr, properties uint64, err *int32) uintptr
		newProgram  func(context uintptr, n uint32, texts **byte, lengths *uintptr, err *int32) uintptr
		build       func(program uintptr, n uint32, devices *uintptr, options string, notify, data uintptr) int32
		programInfo func(program, device uintptr, what uint32, size uintptr, value *byte, got *uintptr) int32
	)
	cl = &driver{}
	for name, fn := range map[string]any{
		"clGetPlatformIDs": &platforms, "clGetPlatformInfo": &platform, "clGetDeviceIDs": &devices, "clCreateContext": &newContext,
		"clCreateCommandQueue": &newQueue, "clCreateProgramWithSource": &newProgram, "clBuildProgram": &build,
		"clGetProgramBuildInfo": &programInfo, "clCreateBuffer": &cl.createBuffer, "clCreateKernel": &cl.createKernel,
		"clSetKernelArg": &cl.setArg, "clEnqueueNDRangeKernel": &cl.enqueueKernel, "clFinish": &cl.finishQueue,
		"clReleaseMemObject": &cl.releaseBuffer, "clReleaseKernel": &cl.releaseKernel,
		"clEnqueueWriteBuffer": &cl.writeBuffer, "clEnqueueReadBuffer": &cl.readBuffer,
	} {
		purego.RegisterLibFunc(fn, lib, name)
	}
	var ids [16]uintptr
	var n uint32
	if status := platforms(uint32(len(ids)), &ids[0], &n); status != 0 {
		return nil, fmt.Errorf("there is no OpenCL platform: apt-get install pocl-opencl-icd (clGetPlatformIDs: %d)", status)
	}
	const platformName, deviceAll, buildLog = 0x0902, 0xffffffff, 0x1183
	var device uintptr
	for _, id := range ids[:min(int(n), len(ids))] {
		var name [128]byte
		platform(id, platformName, uintptr(len(name)), &name[0], nil)
		if strings.Contains(string(name[:]), "Portable Computing Language") {
			devices(id, deviceAll, 1, &device, nil)
		}
	}
	if device == 0 {
		return nil, fmt.Errorf("no OpenCL platform is PoCL: apt-get install pocl-opencl-icd")
	}
	text, err := os.ReadFile("tests/peers/c/kernels.cl")
	if err != nil {
		return nil, err
	}
	var status int32
	cl.context = newContext(nil, 1, &device, 0, 0, &status)
	if status == 0 {
		cl.queue = newQueue(cl.context, device, 0, &status)
	}
	if status == 0 {
		from, size := &text[0], uintptr(len(text))
		cl.program = newProgram(cl.context, 1, &from, &size, &status)
	}
	if status != 0 {
		return nil, fmt.Errorf("OpenCL failed with %d", status)
	}
	if status := build(cl.program, 1, &device, "", 0, 0); status != 0 {
		log := make([]byte, 1<<16)
		programInfo(cl.program, device, buildLog, uintptr(len(log)), &log[0], nil)
		return nil, fmt.Errorf("kernels.cl: %d\n%s", status, log)
	}
	return cl, nil
}

// clKernel is a kernel with its buffers set.
type clKernel struct {
	*driver
	id      uintptr
	buffers []uintptr
}

// kernel returns a kernel whose buffers use the memory, or copies of it with ownMemory.
func (cl *driver) kernel(name string, memory []offload.Memory) (*clKernel, error) {
	flags := uint64(1 << 3) // CL_MEM_USE_HOST_PTR
	if cl.ownMemory {
		flags = 1 << 5 // CL_MEM_COPY_HOST_PTR
	}
	k := &clKernel{driver: cl}
	var status int32
	if k.id = cl.createKernel(cl.program, name, &status); status != 0 {
		return nil, fmt.Errorf("clCreateKernel %s: %d", name, status)
	}
	for i, m := range memory {
		b := cl.createBuffer(cl.context, flags, uintptr(m.Size()), unsafe.Pointer(&m.Bytes()[0]), &status)
		if status == 0 {
			k.buffers = append(k.buffers, b)
			status = cl.setArg(k.id, uint32(i), unsafe.Sizeof(b), &b)
		}
		if status != 0 {
			k.release()
			return nil, fmt.Errorf("argument %d of %s: %d", i, name, status)
		}
	}
	return k, nil
}

func (k *clKernel) enqueue(size, group [3]int) error {
	n, g := [3]uintptr{}, [3]uintptr{}
	for i := range n {
		n[i], g[i] = uintptr(size[i]), uintptr(group[i])
	}
	at := &g[0]
	if g[0] == 0 {
		at = nil
	}
	if status := k.enqueueKernel(k.queue, k.id, 3, nil, &n[0], at, 0, nil, nil); status != 0 {
		return fmt.Errorf("clEnqueueNDRangeKernel: %d", status)
	}
	return nil
}

func (k *clKernel) finish() error {
	if status := k.finishQueue(k.queue); status != 0 {
		return fmt.Errorf("clFinish: %d", status)
	}
	return nil
}

func (k *clKernel) run(size, group [3]int) error {
	if err := k.enqueue(size, group); err != nil {
		return err
	}
	return k.finish()
}

func (k *clKernel) release() {
	for _, b := range k.buffers {
		k.releaseBuffer(b)
	}
	k.releaseKernel(k.id)
}
