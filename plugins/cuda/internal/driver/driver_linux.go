//go:build linux && (amd64 || arm64) && !nonative

package driver

import (
	"bytes"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// function is the index of a driver's function.
type function int

const (
	cuInit function = iota
	cuDriverGetVersion
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUuid
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxPushCurrent
	cuCtxPopCurrent
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventElapsedTime
	cuMemAlloc
	cuMemFree
	cuMemAllocManaged
	cuMemHostAlloc
	cuMemHostGetDevicePointer
	cuMemFreeHost
	cuMemHostRegister
	cuMemHostUnregister
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemcpy3DAsync
	cuMemsetD8Async
	cuMemsetD16Async
	cuMemsetD32Async
	cuMemsetD2D32Async
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuModuleGetGlobal
	cuFuncGetAttribute
	cuLaunchKernel
	cuOccupancyMaxPotentialBlockSize
	cuOccupancyMaxActiveBlocksPerMultiprocessor
	cuMemPoolCreate // this and the following are missing in drivers before 11.2
	cuMemPoolDestroy
	cuMemPoolSetAttribute
	cuMemAllocFromPoolAsync
	cuMemFreeAsync
	cuDeviceGetUuidV2      // since 11.4
	cuModuleGetLoadingMode // since 11.7
	numFunctions
)

// names has the API name of each function, and its symbol for drivers without cuGetProcAddress, which is empty if it equals the
// name.
var names = [numFunctions][2]string{
	{"cuInit"}, {"cuDriverGetVersion"}, {"cuDeviceGetCount"}, {"cuDeviceGet"}, {"cuDeviceGetName"}, {"cuDeviceGetUuid"}, {"cuDeviceTotalMem", "cuDeviceTotalMem_v2"},
	{"cuDeviceGetAttribute"}, {"cuDevicePrimaryCtxRetain"}, {"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2"}, {"cuCtxPushCurrent", "cuCtxPushCurrent_v2"},
	{"cuCtxPopCurrent", "cuCtxPopCurrent_v2"}, {"cuStreamCreate"}, {"cuStreamDestroy", "cuStreamDestroy_v2"}, {"cuStreamSynchronize"}, {"cuStreamWaitEvent"},
	{"cuEventCreate"}, {"cuEventDestroy", "cuEventDestroy_v2"}, {"cuEventRecord"}, {"cuEventQuery"}, {"cuEventElapsedTime"}, {"cuMemAlloc", "cuMemAlloc_v2"},
	{"cuMemFree", "cuMemFree_v2"}, {"cuMemAllocManaged"}, {"cuMemHostAlloc"}, {"cuMemHostGetDevicePointer", "cuMemHostGetDevicePointer_v2"}, {"cuMemFreeHost"}, {"cuMemHostRegister", "cuMemHostRegister_v2"}, {"cuMemHostUnregister"},
	{"cuMemcpyHtoDAsync", "cuMemcpyHtoDAsync_v2"}, {"cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2"}, {"cuMemcpyDtoDAsync", "cuMemcpyDtoDAsync_v2"},
	{"cuMemcpy3DAsync", "cuMemcpy3DAsync_v2"}, {"cuMemsetD8Async"}, {"cuMemsetD16Async"}, {"cuMemsetD32Async"}, {"cuMemsetD2D32Async"}, {"cuModuleLoadDataEx"},
	{"cuModuleUnload"}, {"cuModuleGetFunction"}, {"cuModuleGetGlobal", "cuModuleGetGlobal_v2"}, {"cuFuncGetAttribute"}, {"cuLaunchKernel"}, {"cuOccupancyMaxPotentialBlockSize"},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor"},
	{"cuMemPoolCreate"}, {"cuMemPoolDestroy"}, {"cuMemPoolSetAttribute"}, {"cuMemAllocFromPoolAsync"}, {"cuMemFreeAsync"},
	{"cuDeviceGetUuid_v2"}, {"cuModuleGetLoadingMode"},
}

// apiVersion is the version of the API that this package uses.
const apiVersion = 11030

// Driver is a loaded driver library. Its methods are safe for concurrent use.
type Driver struct {
	Path    string
	Version int                   // newest CUDA version that the driver supports; 12040 is 12.4
	at      [numFunctions]uintptr // addresses of the functions; 0 for those that the driver lacks
}

// Open loads and initializes the library in the file path, or the system's if path is empty. The library is never unloaded.
func Open(path string) (*Driver, error) {
	if path == "" {
		path = "libcuda.so.1"
	}
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	d := &Driver{Path: path}
	for f := range numFunctions {
		if d.at[f] = find(handle, f); d.at[f] == 0 && f < cuMemPoolCreate {
			return nil, fmt.Errorf("%s has no function %s", path, names[f][0])
		}
	}
	if s := d.call(cuInit, 0); s != 0 {
		return nil, fmt.Errorf("cuInit: %w", s)
	}
	var version int32
	if s := d.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); s != 0 {
		return nil, fmt.Errorf("cuDriverGetVersion: %w", s)
	}
	d.Version = int(version)
	return d, nil
}

// find returns the address of a function, or 0.
func find(handle uintptr, f function) uintptr {
	var at uintptr
	name := append([]byte(names[f][0]), 0)
	if get, err := purego.Dlsym(handle, "cuGetProcAddress_v2"); err == nil {
		if s := syscall(get, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&at)), apiVersion, 0, 0); s == 0 && at != 0 {
			return at
		}
	} else if get, err := purego.Dlsym(handle, "cuGetProcAddress"); err == nil {
		if s := syscall(get, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&at)), apiVersion, 0); s == 0 && at != 0 {
			return at
		}
	}
	for _, symbol := range []string{names[f][1], names[f][0]} {
		if symbol != "" {
			if at, err := purego.Dlsym(handle, symbol); err == nil {
				return at
			}
		}
	}
	return 0
}

//go:uintptrescapes
func syscall(at uintptr, args ...uintptr) Status {
	r, _, _ := purego.SyscallN(at, args...)
	return Status(int32(r))
}

//go:uintptrescapes
func (d *Driver) call(f function, args ...uintptr) Status {
	r, _, _ := purego.SyscallN(d.at[f], args...)
	return Status(int32(r))
}

// In runs f with the context current on this thread, and restores the previous context. It returns the error of f, or that of
// making the context current.
func (d *Driver) In(c Context, f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if s := d.call(cuCtxPushCurrent, uintptr(c)); s != 0 {
		return s
	}
	defer func() {
		var old uintptr
		d.call(cuCtxPopCurrent, uintptr(unsafe.Pointer(&old)))
	}()
	return f()
}

// DeviceCount returns the number of devices.
func (d *Driver) DeviceCount() (int, error) {
	var n int32
	err := d.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&n))).err()
	return int(n), err
}

// Device returns the device with this number.
func (d *Driver) Device(n int) (dev Device, err error) {
	err = d.call(cuDeviceGet, uintptr(unsafe.Pointer(&dev)), uintptr(n)).err()
	return dev, err
}

// Name returns the name of a device, or "".
func (d *Driver) Name(dev Device) string {
	text := make([]byte, 256)
	if d.call(cuDeviceGetName, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)), uintptr(dev)) != 0 {
		return ""
	}
	return cString(text)
}

// UUID returns the identifier of a device as tools print it, or "". instance reports an instance of a partitioned GPU (MIG),
// which has its own identifier.
func (d *Driver) UUID(dev Device) (id string, instance bool) {
	var gpu, own [16]byte
	if d.call(cuDeviceGetUuid, uintptr(unsafe.Pointer(&gpu)), uintptr(dev)) != 0 {
		return "", false
	}
	if d.at[cuDeviceGetUuidV2] != 0 && d.call(cuDeviceGetUuidV2, uintptr(unsafe.Pointer(&own)), uintptr(dev)) == 0 && own != gpu {
		return "MIG-" + uuidText(own), true
	}
	return "GPU-" + uuidText(gpu), false
}

func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// LoadingMode returns "eager" or "lazy", the driver's mode of loading kernels of a module, or "" if unknown.
func (d *Driver) LoadingMode() string {
	var mode int32
	if d.at[cuModuleGetLoadingMode] == 0 || d.call(cuModuleGetLoadingMode, uintptr(unsafe.Pointer(&mode))) != 0 {
		return ""
	}
	return map[int32]string{1: "eager", 2: "lazy"}[mode]
}

// cString returns the bytes before the first zero.
func cString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// TotalMemory returns the size in bytes of a device's memory, or 0 if unknown.
func (d *Driver) TotalMemory(dev Device) int64 {
	var n uintptr
	d.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&n)), uintptr(dev))
	return int64(n)
}

// Attribute returns an attribute of a device, 0 if the query fails.
func (d *Driver) Attribute(dev Device, a Attribute) int {
	var n int32
	if d.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&n)), uintptr(a), uintptr(dev)) != 0 {
		return 0
	}
	return int(n)
}

// Retain returns the primary context of a device, which the process shares, and increments its reference count.
func (d *Driver) Retain(dev Device) (c Context, err error) {
	err = d.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&c)), uintptr(dev)).err()
	return c, err
}

// Release decrements the reference count of the primary context.
func (d *Driver) Release(dev Device) error {
	return d.call(cuDevicePrimaryCtxRelease, uintptr(dev)).err()
}

// NewStream creates a stream that does not synchronize with the default stream.
func (d *Driver) NewStream() (s Stream, err error) {
	err = d.call(cuStreamCreate, uintptr(unsafe.Pointer(&s)), 1).err()
	return s, err
}

// DestroyStream destroys a stream.
func (d *Driver) DestroyStream(s Stream) { d.call(cuStreamDestroy, uintptr(s)) }

// SyncStream blocks the thread until all commands of a stream have completed.
func (d *Driver) SyncStream(s Stream) error { return d.call(cuStreamSynchronize, uintptr(s)).err() }

// NewEvent creates an event.
func (d *Driver) NewEvent(flags EventFlags) (e Event, err error) {
	err = d.call(cuEventCreate, uintptr(unsafe.Pointer(&e)), uintptr(flags)).err()
	return e, err
}

// DestroyEvent destroys an event.
func (d *Driver) DestroyEvent(e Event) { d.call(cuEventDestroy, uintptr(e)) }

// Record enqueues an event.
func (d *Driver) Record(e Event, s Stream) error {
	return d.call(cuEventRecord, uintptr(e), uintptr(s)).err()
}

// Query returns 0 if an event has completed, NotReady if not, or the error of its stream.
func (d *Driver) Query(e Event) Status { return d.call(cuEventQuery, uintptr(e)) }

// Elapsed returns the milliseconds between two completed events.
func (d *Driver) Elapsed(earlier, later Event) (ms float32, err error) {
	err = d.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&ms)), uintptr(earlier), uintptr(later)).err()
	return ms, err
}

// Allocate allocates device memory.
func (d *Driver) Allocate(size int64) (p Pointer, err error) {
	err = d.call(cuMemAlloc, uintptr(unsafe.Pointer(&p)), uintptr(size)).err()
	return p, err
}

// Free frees memory of Allocate or AllocateManaged.
func (d *Driver) Free(p Pointer) error { return d.call(cuMemFree, uintptr(p)).err() }

// AllocateManaged allocates memory that migrates between host and devices.
func (d *Driver) AllocateManaged(size int64) (p Pointer, err error) {
	const attachGlobal = 1
	err = d.call(cuMemAllocManaged, uintptr(unsafe.Pointer(&p)), uintptr(size), attachGlobal).err()
	return p, err
}

// AllocateHost allocates pinned host memory. p is its address for devices.
func (d *Driver) AllocateHost(size int64) (host unsafe.Pointer, p Pointer, err error) {
	const portable, deviceMap = 1, 2
	if err = d.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&host)), uintptr(size), portable|deviceMap).err(); err != nil {
		return nil, 0, err
	}
	if err = d.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&p)), uintptr(host), 0).err(); err != nil {
		d.FreeHost(host)
		return nil, 0, err
	}
	return host, p, nil
}

// FreeHost frees memory of AllocateHost.
func (d *Driver) FreeHost(host unsafe.Pointer) error {
	return d.call(cuMemFreeHost, uintptr(host)).err()
}

// RegisterHost pins memory of the process for all contexts.
func (d *Driver) RegisterHost(host unsafe.Pointer, size int64) error {
	const portable = 1
	return d.call(cuMemHostRegister, uintptr(host), uintptr(size), portable).err()
}

// UnregisterHost ends the effect of RegisterHost.
func (d *Driver) UnregisterHost(host unsafe.Pointer) error {
	return d.call(cuMemHostUnregister, uintptr(host)).err()
}

// NewPool creates a pool of device memory that retains freed memory. It returns 0 for drivers without pools.
func (d *Driver) NewPool(dev Device) (p Pool, err error) {
	if d.at[cuMemPoolCreate] == 0 || d.at[cuMemAllocFromPoolAsync] == 0 || d.at[cuMemFreeAsync] == 0 || d.at[cuMemPoolSetAttribute] == 0 {
		return 0, nil
	}
	properties := struct {
		kind, handles, location, id int32
		security                    uintptr
		reserved                    [64]byte
	}{kind: 1, location: 1, id: int32(dev)}
	if err = d.call(cuMemPoolCreate, uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&properties))).err(); err != nil {
		return 0, err
	}
	const releaseThreshold = 4
	most := ^uint64(0)
	d.call(cuMemPoolSetAttribute, uintptr(p), releaseThreshold, uintptr(unsafe.Pointer(&most)))
	return p, nil
}

// DestroyPool destroys a pool.
func (d *Driver) DestroyPool(p Pool) { d.call(cuMemPoolDestroy, uintptr(p)) }

// AllocateFrom allocates memory of a pool, for use after the enqueued commands of the stream.
func (d *Driver) AllocateFrom(pool Pool, size int64, s Stream) (p Pointer, err error) {
	err = d.call(cuMemAllocFromPoolAsync, uintptr(unsafe.Pointer(&p)), uintptr(size), uintptr(pool), uintptr(s)).err()
	return p, err
}

// FreeBehind frees memory of a pool after the enqueued commands of the stream.
func (d *Driver) FreeBehind(p Pointer, s Stream) error {
	return d.call(cuMemFreeAsync, uintptr(p), uintptr(s)).err()
}

// Upload enqueues a copy from pinned host memory.
func (d *Driver) Upload(to Pointer, host unsafe.Pointer, size int64, s Stream) error {
	return d.call(cuMemcpyHtoDAsync, uintptr(to), uintptr(host), uintptr(size), uintptr(s)).err()
}

// Download enqueues a copy to pinned host memory.
func (d *Driver) Download(host unsafe.Pointer, from Pointer, size int64, s Stream) error {
	return d.call(cuMemcpyDtoHAsync, uintptr(host), uintptr(from), uintptr(size), uintptr(s)).err()
}

// Copy enqueues a copy within the unified address space.
func (d *Driver) Copy(to, from Pointer, size int64, s Stream) error {
	return d.call(cuMemcpyDtoDAsync, uintptr(to), uintptr(from), uintptr(size), uintptr(s)).err()
}

// memcpy3D is the struct CUDA_MEMCPY3D.
type memcpy3D struct {
	srcX, srcY, srcZ, srcLOD uintptr
	srcKind                  uint32
	srcHost                  uintptr
	srcDevice                Pointer
	srcArray, reserved0      uintptr
	srcPitch, srcHeight      uintptr
	dstX, dstY, dstZ, dstLOD uintptr
	dstKind                  uint32
	dstHost                  uintptr
	dstDevice                Pointer
	dstArray, reserved1      uintptr
	dstPitch, dstHeight      uintptr
	width, height, depth     uintptr
}

// CopyBox enqueues a copy of a box.
func (d *Driver) CopyBox(b *Box, s Stream) error {
	const host, device = 1, 2
	c := memcpy3D{srcKind: device, srcDevice: b.Src, srcPitch: b.SrcPitch, srcHeight: b.SrcRows, dstKind: device, dstDevice: b.Dst, dstPitch: b.DstPitch, dstHeight: b.DstRows,
		width: b.Width, height: b.Height, depth: b.Depth}
	if b.Src == 0 {
		c.srcKind, c.srcHost = host, b.SrcHost
	}
	if b.Dst == 0 {
		c.dstKind, c.dstHost = host, b.DstHost
	}
	return d.call(cuMemcpy3DAsync, uintptr(unsafe.Pointer(&c)), uintptr(s)).err()
}

// Fill enqueues a fill of n elements of size bytes: 1, 2 or 4.
func (d *Driver) Fill(to Pointer, value uint32, size int, n int64, s Stream) error {
	f := map[int]function{1: cuMemsetD8Async, 2: cuMemsetD16Async, 4: cuMemsetD32Async}[size]
	return d.call(f, uintptr(to), uintptr(value), uintptr(n), uintptr(s)).err()
}

// FillColumn enqueues a fill of n words of 32 bits that are pitch bytes apart.
func (d *Driver) FillColumn(to Pointer, pitch int, value uint32, n int64, s Stream) error {
	return d.call(cuMemsetD2D32Async, uintptr(to), uintptr(pitch), uintptr(value), 1, uintptr(n), uintptr(s)).err()
}

// Load loads a module from PTX, a cubin or a fat binary. It returns the compiler's log even if loading fails.
func (d *Driver) Load(image []byte) (m Module, log string, err error) {
	const infoLog, infoSize, errorLog, errorSize, lineInfo = 3, 4, 5, 6, 13
	info, errors := make([]byte, 16<<10), make([]byte, 16<<10)
	image = append(image[:len(image):len(image)], 0)
	options := [...]int32{infoLog, infoSize, errorLog, errorSize, lineInfo}
	values := [...]uintptr{uintptr(unsafe.Pointer(&info[0])), uintptr(len(info)), uintptr(unsafe.Pointer(&errors[0])), uintptr(len(errors)), 1}
	var pinned runtime.Pinner
	pinned.Pin(&info[0])
	pinned.Pin(&errors[0])
	defer pinned.Unpin()
	err = d.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&image[0])), uintptr(len(options)), uintptr(unsafe.Pointer(&options)),
		uintptr(unsafe.Pointer(&values))).err()
	if err != nil {
		return 0, cString(errors), err
	}
	return m, cString(info), nil
}

// Unload unloads a module.
func (d *Driver) Unload(m Module) error { return d.call(cuModuleUnload, uintptr(m)).err() }

// Function returns a kernel of a module.
func (d *Driver) Function(m Module, name string) (f Function, err error) {
	text := append([]byte(name), 0)
	err = d.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0]))).err()
	return f, err
}

// Global returns the address and size of a variable of a module.
func (d *Driver) Global(m Module, name string) (p Pointer, size int64, err error) {
	text := append([]byte(name), 0)
	var n uintptr
	err = d.call(cuModuleGetGlobal, uintptr(unsafe.Pointer(&p)), uintptr(unsafe.Pointer(&n)), uintptr(m), uintptr(unsafe.Pointer(&text[0]))).err()
	return p, int64(n), err
}

// FunctionAttribute returns an attribute of a kernel, 0 if the query fails.
func (d *Driver) FunctionAttribute(f Function, a FunctionAttribute) int {
	var n int32
	if d.call(cuFuncGetAttribute, uintptr(unsafe.Pointer(&n)), uintptr(a), uintptr(f)) != 0 {
		return 0
	}
	return int(n)
}

// BestGroup returns the group size of highest occupancy, at most limit items, for a kernel without dynamic shared memory. It
// returns 0 if unknown.
func (d *Driver) BestGroup(f Function, limit int) int {
	var groups, items int32
	if d.call(cuOccupancyMaxPotentialBlockSize, uintptr(unsafe.Pointer(&groups)), uintptr(unsafe.Pointer(&items)), uintptr(f), 0, 0, uintptr(limit)) != 0 {
		return 0
	}
	return int(items)
}

// ActiveGroups returns the number of groups of a kernel that a multiprocessor runs at the same time; 0 if a group is too large.
// shared is the bytes of dynamic shared memory of a group.
func (d *Driver) ActiveGroups(f Function, items, shared int) (n int, err error) {
	var groups int32
	err = d.call(cuOccupancyMaxActiveBlocksPerMultiprocessor, uintptr(unsafe.Pointer(&groups)), uintptr(f), uintptr(items), uintptr(shared)).err()
	return int(groups), err
}

// Launch enqueues a kernel. The driver copies the argument block.
func (d *Driver) Launch(f Function, grid, block [3]int, shared int, s Stream, params []byte) error {
	const pointer, size, end = 1, 2, 0
	n := uintptr(len(params))
	extra := [...]uintptr{pointer, uintptr(unsafe.Pointer(unsafe.SliceData(params))), size, uintptr(unsafe.Pointer(&n)), end}
	var pinned runtime.Pinner
	pinned.Pin(&n)
	if len(params) > 0 {
		pinned.Pin(&params[0])
	}
	defer pinned.Unpin()
	return d.call(cuLaunchKernel, uintptr(f), uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]), uintptr(block[0]), uintptr(block[1]), uintptr(block[2]), uintptr(shared),
		uintptr(s), 0, uintptr(unsafe.Pointer(&extra))).err()
}
