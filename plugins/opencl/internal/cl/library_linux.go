//go:build linux && (amd64 || arm64) && !nonative

package cl

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// function is the index of a loader's function.
type function int

const (
	clGetPlatformIDs function = iota
	clGetPlatformInfo
	clGetDeviceIDs
	clGetDeviceInfo
	clCreateContext
	clReleaseContext
	clCreateCommandQueue
	clReleaseCommandQueue
	clCreateBuffer
	clReleaseMemObject
	clCreateProgramWithSource
	clCreateProgramWithBinary
	clBuildProgram
	clGetProgramInfo
	clGetProgramBuildInfo
	clReleaseProgram
	clCreateKernel
	clReleaseKernel
	clGetKernelInfo
	clGetKernelArgInfo
	clCreateSubBuffer
	clSetKernelArg
	clGetKernelWorkGroupInfo
	clEnqueueNDRangeKernel
	clEnqueueReadBuffer
	clEnqueueWriteBuffer
	clEnqueueCopyBuffer
	clEnqueueFillBuffer
	clEnqueueReadBufferRect
	clEnqueueWriteBufferRect
	clEnqueueCopyBufferRect
	clEnqueueMarkerWithWaitList
	clFlush
	clWaitForEvents
	clGetEventInfo
	clGetEventProfilingInfo
	clRetainEvent
	clReleaseEvent
	clSVMAlloc // this and the following are missing in loaders before 2.0, the last one before 2.1
	clSVMFree
	clSetKernelArgSVMPointer
	clCreateProgramWithIL
	numFunctions
)

var functionNames = [numFunctions]string{"clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clGetDeviceInfo", "clCreateContext", "clReleaseContext",
	"clCreateCommandQueue", "clReleaseCommandQueue", "clCreateBuffer", "clReleaseMemObject", "clCreateProgramWithSource", "clCreateProgramWithBinary", "clBuildProgram", "clGetProgramInfo",
	"clGetProgramBuildInfo", "clReleaseProgram", "clCreateKernel", "clReleaseKernel", "clGetKernelInfo", "clGetKernelArgInfo", "clCreateSubBuffer",
	"clSetKernelArg", "clGetKernelWorkGroupInfo", "clEnqueueNDRangeKernel",
	"clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueCopyBuffer", "clEnqueueFillBuffer", "clEnqueueReadBufferRect", "clEnqueueWriteBufferRect",
	"clEnqueueCopyBufferRect", "clEnqueueMarkerWithWaitList", "clFlush", "clWaitForEvents", "clGetEventInfo", "clGetEventProfilingInfo", "clRetainEvent",
	"clReleaseEvent", "clSVMAlloc", "clSVMFree", "clSetKernelArgSVMPointer", "clCreateProgramWithIL"}

// Library is a loaded OpenCL loader. Its methods are safe for concurrent use, except calls on the same Kernel.
type Library struct {
	Path string
	at   [numFunctions]uintptr
}

// Open loads the loader in the file path, or the system's if path is empty. It is never unloaded, since drivers do not
// support that.
func Open(path string) (*Library, error) {
	paths := []string{"libOpenCL.so.1", "libOpenCL.so"}
	if path != "" {
		paths = []string{path}
	}
	var failed error
	for _, p := range paths {
		handle, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		l := &Library{Path: p}
		for f := range numFunctions {
			if l.at[f], err = purego.Dlsym(handle, functionNames[f]); err != nil && f < clSVMAlloc {
				return nil, fmt.Errorf("%s: %w", p, err)
			}
		}
		return l, nil
	}
	return nil, failed
}

// Loadable returns the reason why a driver's library cannot be loaded, nil if it can. The library then stays loaded.
func Loadable(path string) error {
	_, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	return err
}

// HasSVM reports whether the loader has the functions of shared virtual memory.
func (l *Library) HasSVM() bool {
	return l.at[clSVMAlloc] != 0 && l.at[clSVMFree] != 0 && l.at[clSetKernelArgSVMPointer] != 0
}

//go:uintptrescapes
func (l *Library) call(f function, args ...uintptr) Status {
	r, _, _ := purego.SyscallN(l.at[f], args...)
	return Status(int32(r))
}

// create calls a function that returns a handle.
//
//go:uintptrescapes
func (l *Library) create(f function, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(l.at[f], args...)
	return r
}

// Platforms returns the platforms of all drivers. If there are none, it returns the error of the loader or
// PlatformNotFound.
func (l *Library) Platforms() ([]Platform, error) {
	var n uint32
	if s := l.call(clGetPlatformIDs, 0, 0, uintptr(unsafe.Pointer(&n))); s != 0 {
		return nil, s
	}
	if n == 0 {
		return nil, PlatformNotFound
	}
	list := make([]Platform, n)
	return list, l.call(clGetPlatformIDs, uintptr(n), uintptr(unsafe.Pointer(&list[0])), 0).err()
}

// Devices returns the devices of a platform. If it has none, the result is empty or, as the driver chooses, an error.
func (l *Library) Devices(p Platform) ([]Device, error) {
	var n uint32
	if s := l.call(clGetDeviceIDs, uintptr(p), TypeAll, 0, 0, uintptr(unsafe.Pointer(&n))); s != 0 || n == 0 {
		return nil, s.err()
	}
	list := make([]Device, n)
	return list, l.call(clGetDeviceIDs, uintptr(p), TypeAll, uintptr(n), uintptr(unsafe.Pointer(&list[0])), 0).err()
}

// text returns the text of a query, without trailing zeros and surrounding spaces, or "" if the query fails.
func text(query func(size uintptr, data, written unsafe.Pointer) Status) string {
	var n uintptr
	if query(0, nil, unsafe.Pointer(&n)) != 0 || n == 0 || n > 1<<24 {
		return ""
	}
	data := make([]byte, n)
	if query(n, unsafe.Pointer(&data[0]), nil) != 0 {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(data), "\x00"))
}

// PlatformText returns a text property of a platform, or "".
func (l *Library) PlatformText(p Platform, what uintptr) string {
	return text(func(size uintptr, data, written unsafe.Pointer) Status {
		return l.call(clGetPlatformInfo, uintptr(p), what, size, uintptr(data), uintptr(written))
	})
}

// DeviceText returns a text property of a device, or "".
func (l *Library) DeviceText(d Device, what uintptr) string {
	return text(func(size uintptr, data, written unsafe.Pointer) Status {
		return l.call(clGetDeviceInfo, uintptr(d), what, size, uintptr(data), uintptr(written))
	})
}

// DeviceNumber returns a numeric property of a device, or 0.
func (l *Library) DeviceNumber(d Device, what uintptr) uint64 { return l.DeviceNumbers(d, what)[0] }

// DeviceNumbers returns the numbers of an array property of a device, 0 where it has none. All are 0 if the query fails, as it
// does for more than three numbers.
func (l *Library) DeviceNumbers(d Device, what uintptr) (list [3]uint64) {
	l.call(clGetDeviceInfo, uintptr(d), what, unsafe.Sizeof(list), uintptr(unsafe.Pointer(&list)), 0)
	return list
}

// NewContext creates a context for one device.
func (l *Library) NewContext(p Platform, d Device) (Context, error) {
	properties := [3]uintptr{contextPlatform, uintptr(p), 0}
	var s Status
	c := l.create(clCreateContext, uintptr(unsafe.Pointer(&properties)), 1, uintptr(unsafe.Pointer(&d)), 0, 0, uintptr(unsafe.Pointer(&s)))
	return Context(c), s.err()
}

// ReleaseContext releases a context.
func (l *Library) ReleaseContext(c Context) { l.call(clReleaseContext, uintptr(c)) }

// NewQueue creates an in-order queue with profiling.
func (l *Library) NewQueue(c Context, d Device) (Queue, error) {
	var s Status
	q := l.create(clCreateCommandQueue, uintptr(c), uintptr(d), queueProfilingEnable, uintptr(unsafe.Pointer(&s)))
	return Queue(q), s.err()
}

// ReleaseQueue releases a queue.
func (l *Library) ReleaseQueue(q Queue) { l.call(clReleaseCommandQueue, uintptr(q)) }

// Flush submits the enqueued commands of a queue to the device.
func (l *Library) Flush(q Queue) error { return l.call(clFlush, uintptr(q)).err() }

// NewBuffer creates a buffer of size bytes.
func (l *Library) NewBuffer(c Context, flags uintptr, size int64) (Mem, error) {
	var s Status
	m := l.create(clCreateBuffer, uintptr(c), flags, uintptr(size), 0, uintptr(unsafe.Pointer(&s)))
	return Mem(m), s.err()
}

// SubBuffer returns a buffer for a part of m. The offset must be a multiple of the device's MemBaseAddrAlign.
func (l *Library) SubBuffer(m Mem, offset, size int64) (Mem, error) {
	region := [2]uintptr{uintptr(offset), uintptr(size)}
	var s Status
	const byRegion = 0x1220
	r := l.create(clCreateSubBuffer, uintptr(m), 0, byRegion, uintptr(unsafe.Pointer(&region)), uintptr(unsafe.Pointer(&s)))
	return Mem(r), s.err()
}

// ReleaseBuffer releases a buffer.
func (l *Library) ReleaseBuffer(m Mem) error { return l.call(clReleaseMemObject, uintptr(m)).err() }

// NewShared allocates shared virtual memory. It returns nil if the allocation fails.
func (l *Library) NewShared(c Context, flags uintptr, size int) unsafe.Pointer {
	r, _, _ := purego.SyscallN(l.at[clSVMAlloc], uintptr(c), flags, uintptr(size), 64)
	return *(*unsafe.Pointer)(unsafe.Pointer(&r))
}

// ReleaseShared frees shared virtual memory.
func (l *Library) ReleaseShared(c Context, p unsafe.Pointer) {
	l.call(clSVMFree, uintptr(c), uintptr(p))
}

// Build compiles a program of one source. It returns the build log even if the build fails.
func (l *Library) Build(c Context, d Device, source, options string) (p Program, log string, err error) {
	src := append([]byte(source), 0)
	first := &src[0]
	var pin runtime.Pinner
	pin.Pin(first)
	defer pin.Unpin()
	var s Status
	handle := l.create(clCreateProgramWithSource, uintptr(c), 1, uintptr(unsafe.Pointer(&first)), 0, uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return 0, "", s
	}
	return l.build(Program(handle), d, options)
}

// BuildBinary creates a program from a binary. It returns the build log even if the build fails.
func (l *Library) BuildBinary(c Context, d Device, binary []byte, options string) (p Program, log string, err error) {
	if len(binary) == 0 {
		return 0, "", InvalidBinary
	}
	first, size := &binary[0], uintptr(len(binary))
	var pin runtime.Pinner
	pin.Pin(first)
	defer pin.Unpin()
	var status, s Status
	handle := l.create(clCreateProgramWithBinary, uintptr(c), 1, uintptr(unsafe.Pointer(&d)), uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&first)),
		uintptr(unsafe.Pointer(&status)), uintptr(unsafe.Pointer(&s)))
	if s == 0 && status != 0 {
		if s = status; handle != 0 {
			l.ReleaseProgram(Program(handle))
		}
	}
	if s != 0 {
		return 0, "", s
	}
	return l.build(Program(handle), d, options)
}

// HasIL reports whether the loader supports SPIR-V.
func (l *Library) HasIL() bool { return l.at[clCreateProgramWithIL] != 0 }

// BuildIL creates a program from SPIR-V, or returns InvalidBinary without code or support for it. It returns the build log even if
// the build fails.
func (l *Library) BuildIL(c Context, d Device, code []byte, options string) (p Program, log string, err error) {
	if len(code) == 0 || !l.HasIL() {
		return 0, "", InvalidBinary
	}
	var s Status
	handle := l.create(clCreateProgramWithIL, uintptr(c), uintptr(unsafe.Pointer(&code[0])), uintptr(len(code)), uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return 0, "", s
	}
	return l.build(Program(handle), d, options)
}

// build builds a program, and releases it if the build fails.
func (l *Library) build(p Program, d Device, options string) (_ Program, log string, err error) {
	opts := append([]byte(options), 0)
	err = l.call(clBuildProgram, uintptr(p), 1, uintptr(unsafe.Pointer(&d)), uintptr(unsafe.Pointer(&opts[0])), 0, 0).err()
	log = text(func(size uintptr, data, written unsafe.Pointer) Status {
		return l.call(clGetProgramBuildInfo, uintptr(p), uintptr(d), buildLog, size, uintptr(data), uintptr(written))
	})
	if err != nil {
		l.ReleaseProgram(p)
		return 0, log, err
	}
	return p, log, nil
}

// Binary returns the binary of a program, or nil if the driver has none.
func (l *Library) Binary(p Program) []byte {
	var size uintptr
	if l.call(clGetProgramInfo, uintptr(p), programBinarySizes, unsafe.Sizeof(size), uintptr(unsafe.Pointer(&size)), 0) != 0 || size == 0 || size > 1<<28 {
		return nil
	}
	data := make([]byte, size)
	first := &data[0]
	var pin runtime.Pinner
	pin.Pin(first) // pinned, since memory that the driver reads has its address
	defer pin.Unpin()
	if l.call(clGetProgramInfo, uintptr(p), programBinaries, unsafe.Sizeof(first), uintptr(unsafe.Pointer(&first)), 0) != 0 {
		return nil
	}
	return data
}

// ReleaseProgram releases a program.
func (l *Library) ReleaseProgram(p Program) { l.call(clReleaseProgram, uintptr(p)) }

// NewKernel creates a kernel object.
func (l *Library) NewKernel(p Program, name string) (Kernel, error) {
	text := append([]byte(name), 0)
	var s Status
	k := l.create(clCreateKernel, uintptr(p), uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(&s)))
	return Kernel(k), s.err()
}

// ReleaseKernel releases a kernel object.
func (l *Library) ReleaseKernel(k Kernel) { l.call(clReleaseKernel, uintptr(k)) }

// MaxGroup returns the maximum number of work-items of a kernel's group, or 0.
func (l *Library) MaxGroup(k Kernel, d Device) int {
	var n uintptr
	l.call(clGetKernelWorkGroupInfo, uintptr(k), uintptr(d), kernelWorkGroupSize, unsafe.Sizeof(n), uintptr(unsafe.Pointer(&n)), 0)
	return int(n)
}

// WorkGroup returns up to three numbers of a kernel's work-group property, 0 where the driver has none.
func (l *Library) WorkGroup(k Kernel, d Device, what uintptr) (list [3]uint64) {
	l.call(clGetKernelWorkGroupInfo, uintptr(k), uintptr(d), what, unsafe.Sizeof(list), uintptr(unsafe.Pointer(&list)), 0)
	return list
}

// KernelNames returns the names of a built program's kernels, none if the query fails.
func (l *Library) KernelNames(p Program) []string {
	names := text(func(size uintptr, data, written unsafe.Pointer) Status {
		return l.call(clGetProgramInfo, uintptr(p), programKernelNames, size, uintptr(data), uintptr(written))
	})
	return strings.FieldsFunc(names, func(r rune) bool { return r == ';' })
}

// KernelArgs returns the number of a kernel's parameters.
func (l *Library) KernelArgs(k Kernel) (n int, err error) {
	var count uint32
	err = l.call(clGetKernelInfo, uintptr(k), kernelNumArgs, unsafe.Sizeof(count), uintptr(unsafe.Pointer(&count)), 0).err()
	return int(count), err
}

// ArgInfo describes a parameter of a kernel.
type ArgInfo struct {
	Name, Type string // as in the source, without address space and qualifiers
	Space      uint32 // one of [SpaceGlobal] to [SpacePrivate]
	Constant   bool   // the elements are const
}

// KernelArg describes a parameter. ok is false if the driver has no description.
func (l *Library) KernelArg(k Kernel, index int) (a ArgInfo, ok bool) {
	query := func(what uintptr) func(size uintptr, data, written unsafe.Pointer) Status {
		return func(size uintptr, data, written unsafe.Pointer) Status {
			return l.call(clGetKernelArgInfo, uintptr(k), uintptr(index), what, size, uintptr(data), uintptr(written))
		}
	}
	if query(kernelArgAddressQualifier)(unsafe.Sizeof(a.Space), unsafe.Pointer(&a.Space), nil) != 0 {
		return a, false
	}
	var qualifiers uint64
	query(kernelArgTypeQualifier)(unsafe.Sizeof(qualifiers), unsafe.Pointer(&qualifiers), nil)
	a.Name, a.Type, a.Constant = text(query(kernelArgName)), text(query(kernelArgTypeName)), qualifiers&1 != 0
	return a, a.Type != ""
}

// SetArg sets an argument to the size bytes at p, or to local memory of that size if p is nil.
func (l *Library) SetArg(k Kernel, index, size int, p unsafe.Pointer) error {
	return l.call(clSetKernelArg, uintptr(k), uintptr(index), uintptr(size), uintptr(p)).err()
}

// SetShared sets an argument to an address in shared virtual memory.
func (l *Library) SetShared(k Kernel, index int, p unsafe.Pointer) error {
	return l.call(clSetKernelArgSVMPointer, uintptr(k), uintptr(index), uintptr(p)).err()
}

// Launch enqueues a kernel with its current arguments. With a nil group the driver chooses the group size.
func (l *Library) Launch(q Queue, k Kernel, global, group *[3]uintptr) (e Event, err error) {
	err = l.call(clEnqueueNDRangeKernel, uintptr(q), uintptr(k), 3, 0, uintptr(unsafe.Pointer(global)), uintptr(unsafe.Pointer(group)), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Read enqueues a copy to the host. With wait, it blocks until the copy is done.
func (l *Library) Read(q Queue, m Mem, offset int64, host []byte, wait bool) (e Event, err error) {
	err = l.call(clEnqueueReadBuffer, uintptr(q), uintptr(m), flag(wait), uintptr(offset), uintptr(len(host)), uintptr(unsafe.Pointer(unsafe.SliceData(host))), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Write enqueues a copy from the host.
func (l *Library) Write(q Queue, m Mem, offset int64, host []byte) (e Event, err error) {
	err = l.call(clEnqueueWriteBuffer, uintptr(q), uintptr(m), 0, uintptr(offset), uintptr(len(host)), uintptr(unsafe.Pointer(unsafe.SliceData(host))), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Copy enqueues a copy between buffers.
func (l *Library) Copy(q Queue, dst Mem, to int64, src Mem, from, size int64) (e Event, err error) {
	err = l.call(clEnqueueCopyBuffer, uintptr(q), uintptr(src), uintptr(dst), uintptr(from), uintptr(to), uintptr(size), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Fill enqueues a fill of size bytes with repetitions of a pattern. Offset and size must be multiples of the pattern's length.
func (l *Library) Fill(q Queue, m Mem, pattern []byte, offset, size int64) (e Event, err error) {
	err = l.call(clEnqueueFillBuffer, uintptr(q), uintptr(m), uintptr(unsafe.Pointer(unsafe.SliceData(pattern))), uintptr(len(pattern)), uintptr(offset), uintptr(size), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Box is the position of a box in memory: offset and pitches in bytes.
type Box struct{ Offset, RowPitch, SlicePitch int64 }

// ReadBox enqueues a copy of a box to the host. The extent is in bytes per row, rows and slices.
func (l *Library) ReadBox(q Queue, m Mem, from Box, host []byte, to Box, extent [3]int64) (e Event, err error) {
	return l.hostBox(clEnqueueReadBufferRect, q, m, from, host, to, extent)
}

// WriteBox enqueues a copy of a box from the host, like ReadBox.
func (l *Library) WriteBox(q Queue, m Mem, to Box, host []byte, from Box, extent [3]int64) (e Event, err error) {
	return l.hostBox(clEnqueueWriteBufferRect, q, m, to, host, from, extent)
}

func (l *Library) hostBox(f function, q Queue, m Mem, device Box, host []byte, at Box, extent [3]int64) (e Event, err error) {
	deviceOrigin, hostOrigin := [3]uintptr{uintptr(device.Offset)}, [3]uintptr{uintptr(at.Offset)}
	region := [3]uintptr{uintptr(extent[0]), uintptr(extent[1]), uintptr(extent[2])}
	err = l.call(f, uintptr(q), uintptr(m), 0, uintptr(unsafe.Pointer(&deviceOrigin)), uintptr(unsafe.Pointer(&hostOrigin)), uintptr(unsafe.Pointer(&region)),
		uintptr(device.RowPitch), uintptr(device.SlicePitch), uintptr(at.RowPitch), uintptr(at.SlicePitch), uintptr(unsafe.Pointer(unsafe.SliceData(host))), 0, 0,
		uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// CopyBox enqueues a copy of a box between buffers.
func (l *Library) CopyBox(q Queue, dst Mem, to Box, src Mem, from Box, extent [3]int64) (e Event, err error) {
	srcOrigin, dstOrigin := [3]uintptr{uintptr(from.Offset)}, [3]uintptr{uintptr(to.Offset)}
	region := [3]uintptr{uintptr(extent[0]), uintptr(extent[1]), uintptr(extent[2])}
	err = l.call(clEnqueueCopyBufferRect, uintptr(q), uintptr(src), uintptr(dst), uintptr(unsafe.Pointer(&srcOrigin)), uintptr(unsafe.Pointer(&dstOrigin)),
		uintptr(unsafe.Pointer(&region)), uintptr(from.RowPitch), uintptr(from.SlicePitch), uintptr(to.RowPitch), uintptr(to.SlicePitch), 0, 0,
		uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Mark enqueues a marker.
func (l *Library) Mark(q Queue) (e Event, err error) {
	err = l.call(clEnqueueMarkerWithWaitList, uintptr(q), 0, 0, uintptr(unsafe.Pointer(&e))).err()
	return e, err
}

// Wait blocks the thread until the command of an event has ended. Progress says whether it failed.
func (l *Library) Wait(e Event) { l.call(clWaitForEvents, 1, uintptr(unsafe.Pointer(&e))) }

// Progress returns the execution status of a command: positive before its end, 0 after it, negative if the command or the query
// failed.
func (l *Library) Progress(e Event) Status {
	var s Status
	if failed := l.call(clGetEventInfo, uintptr(e), eventExecutionStatus, unsafe.Sizeof(s), uintptr(unsafe.Pointer(&s)), 0); failed != 0 {
		return failed
	}
	return s
}

// EndTime returns the device time in nanoseconds at which a command ended. ok is false if the driver does not report it, as for
// a device without a clock.
func (l *Library) EndTime(e Event) (ns uint64, ok bool) {
	s := l.call(clGetEventProfilingInfo, uintptr(e), profilingCommandEnd, unsafe.Sizeof(ns), uintptr(unsafe.Pointer(&ns)), 0)
	return ns, s == 0
}

// Retain increments the reference count of an event.
func (l *Library) Retain(e Event) { l.call(clRetainEvent, uintptr(e)) }

// Release decrements the reference count of an event.
func (l *Library) Release(e Event) { l.call(clReleaseEvent, uintptr(e)) }

func flag(b bool) uintptr {
	if b {
		return 1
	}
	return 0
}
