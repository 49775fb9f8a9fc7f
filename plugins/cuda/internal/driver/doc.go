// Package driver binds NVIDIA's driver library libcuda without headers, cgo or toolkit. It finds the library at run time.
// Functions come from cuGetProcAddress, which returns the API version that this package uses, or from the library's symbols.
// Names follow the CUDA driver API, without the prefix. Source: CUDA Driver API reference, 11.8.
//
// Most functions need a current context on the calling thread: callers use [Driver.In].
package driver

import (
	"fmt"

	"github.com/orepl/orepl/lang/later"
)

// Handles of the driver's objects.
type (
	Device   int32
	Context  uintptr
	Stream   uintptr
	Event    uintptr
	Module   uintptr
	Function uintptr
	Pool     uintptr
	Pointer  uint64 // address in device memory
)

// Status is a driver's status code; 0 is success.
type Status int32

// The status codes that callers distinguish.
const (
	OutOfMemory       Status = 2
	NotInitialized    Status = 3
	Deinitialized     Status = 4
	NoDevice          Status = 100
	InvalidContext    Status = 201
	InvalidPTX        Status = 218
	UnsupportedPTX    Status = 222
	NotFound          Status = 500
	NotReady          Status = 600
	AlreadyRegistered Status = 712
	NotPermitted      Status = 800
)

var statusNames = later.Value[map[Status]string]{Make: func() map[Status]string {
	return map[Status]string{
		1: "INVALID_VALUE", 2: "OUT_OF_MEMORY", 3: "NOT_INITIALIZED", 4: "DEINITIALIZED", 34: "STUB_LIBRARY", 46: "DEVICE_UNAVAILABLE", 100: "NO_DEVICE", 101: "INVALID_DEVICE",
		200: "INVALID_IMAGE", 201: "INVALID_CONTEXT", 205: "MAP_FAILED", 209: "NO_BINARY_FOR_GPU", 214: "ECC_UNCORRECTABLE", 216: "CONTEXT_ALREADY_IN_USE",
		217: "PEER_ACCESS_UNSUPPORTED", 218: "INVALID_PTX", 220: "NVLINK_UNCORRECTABLE", 221: "JIT_COMPILER_NOT_FOUND", 222: "UNSUPPORTED_PTX_VERSION",
		304: "OPERATING_SYSTEM", 400: "INVALID_HANDLE", 401: "ILLEGAL_STATE", 500: "NOT_FOUND", 600: "NOT_READY", 700: "ILLEGAL_ADDRESS",
		701: "LAUNCH_OUT_OF_RESOURCES", 702: "LAUNCH_TIMEOUT", 704: "PEER_ACCESS_ALREADY_ENABLED", 709: "CONTEXT_IS_DESTROYED", 710: "ASSERT", 712: "HOST_MEMORY_ALREADY_REGISTERED", 713: "HOST_MEMORY_NOT_REGISTERED",
		714: "HARDWARE_STACK_ERROR", 715: "ILLEGAL_INSTRUCTION", 716: "MISALIGNED_ADDRESS", 717: "INVALID_ADDRESS_SPACE", 718: "INVALID_PC", 719: "LAUNCH_FAILED",
		800: "NOT_PERMITTED", 801: "NOT_SUPPORTED", 802: "SYSTEM_NOT_READY", 803: "SYSTEM_DRIVER_MISMATCH", 804: "COMPAT_NOT_SUPPORTED_ON_DEVICE", 999: "UNKNOWN",
	}
}}

// Error returns the code's name and number.
func (s Status) Error() string {
	if name := statusNames.Get()[s]; name != "" {
		return fmt.Sprintf("CUDA_ERROR_%s (%d)", name, int32(s))
	}
	return fmt.Sprintf("CUDA status %d", int32(s))
}

// Sticky reports whether every later call in the context fails with the status.
func (s Status) Sticky() bool {
	switch s {
	case Deinitialized, 214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999:
		return true
	}
	return false
}

// err returns nil for success.
func (s Status) err() error {
	if s == 0 {
		return nil
	}
	return s
}

// Attribute is a property of a device.
type Attribute int32

// Attributes of devices.
const (
	MaxThreadsPerBlock      Attribute = 1
	MaxBlockDimX            Attribute = 2 // y and z follow
	MaxGridDimX             Attribute = 5 // y and z follow
	MaxSharedPerBlock       Attribute = 8
	WarpSize                Attribute = 10
	ClockRate               Attribute = 13 // kHz
	MultiprocessorCount     Attribute = 16
	Integrated              Attribute = 18
	CanMapHostMemory        Attribute = 19
	ComputeMode             Attribute = 20
	PCIBus                  Attribute = 33
	PCIDevice               Attribute = 34
	MemoryClockRate         Attribute = 36 // kHz
	MemoryBusWidth          Attribute = 37 // bits
	L2CacheSize             Attribute = 38
	MaxThreadsPerProcessor  Attribute = 39
	UnifiedAddressing       Attribute = 41
	ComputeCapabilityMajor  Attribute = 75
	ComputeCapabilityMinor  Attribute = 76
	MaxRegistersPerBlock    Attribute = 12
	ConcurrentManagedAccess Attribute = 89
	MemoryPoolsSupported    Attribute = 115
)

// FunctionAttribute is a property of a kernel.
type FunctionAttribute int32

// Attributes of kernels.
const (
	FuncMaxThreads  FunctionAttribute = 0
	FuncSharedBytes FunctionAttribute = 1
	FuncLocalBytes  FunctionAttribute = 3
	FuncRegisters   FunctionAttribute = 4
)

// EventFlags are flags for the creation of events.
type EventFlags uint32

// DisableTiming creates events without timestamps, which are cheaper.
const DisableTiming EventFlags = 2

// Box describes a copy of a box: Depth slices of Height rows of Width bytes. An operand is host memory if its device
// pointer, Src or Dst, is 0. A pitch is the number of bytes from row to row; SrcRows and DstRows are the numbers of rows
// from slice to slice.
type Box struct {
	Src, Dst             Pointer
	SrcHost, DstHost     uintptr
	SrcPitch, SrcRows    uintptr
	DstPitch, DstRows    uintptr
	Width, Height, Depth uintptr
}
