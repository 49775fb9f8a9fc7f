// Package cl binds OpenCL 1.2, the shared virtual memory of OpenCL 2.0 and SPIR-V of OpenCL 2.1, without headers or cgo. It
// finds the loader at run time. Names follow the OpenCL specification, without the prefix.
//
// A driver accesses host memory after a call has returned. Callers keep that memory alive and pinned until the command
// has ended.
package cl

import (
	"fmt"

	"github.com/orepl/orepl/lang/later"
)

// Handles of OpenCL objects.
type (
	Platform uintptr
	Device   uintptr
	Context  uintptr
	Queue    uintptr
	Mem      uintptr
	Program  uintptr
	Kernel   uintptr
	Event    uintptr
)

// Status is an OpenCL status code; 0 is success.
type Status int32

// The status codes that callers distinguish.
const (
	DeviceNotAvailable         Status = -2
	MemObjectAllocationFailure Status = -4
	OutOfResources             Status = -5
	OutOfHostMemory            Status = -6
	BuildProgramFailure        Status = -11
	InvalidBinary              Status = -42
	InvalidKernelName          Status = -46
	InvalidWorkGroupSize       Status = -54
	InvalidBufferSize          Status = -61
	PlatformNotFound           Status = -1001
)

var statusNames = later.Value[map[Status]string]{Make: func() map[Status]string {
	return map[Status]string{
		-1: "DEVICE_NOT_FOUND", -2: "DEVICE_NOT_AVAILABLE", -3: "COMPILER_NOT_AVAILABLE", -4: "MEM_OBJECT_ALLOCATION_FAILURE", -5: "OUT_OF_RESOURCES",
		-6: "OUT_OF_HOST_MEMORY", -7: "PROFILING_INFO_NOT_AVAILABLE", -8: "MEM_COPY_OVERLAP", -11: "BUILD_PROGRAM_FAILURE", -12: "MAP_FAILURE",
		-13: "MISALIGNED_SUB_BUFFER_OFFSET", -14: "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -30: "INVALID_VALUE", -33: "INVALID_DEVICE", -34: "INVALID_CONTEXT",
		-36: "INVALID_COMMAND_QUEUE", -37: "INVALID_HOST_PTR", -38: "INVALID_MEM_OBJECT", -42: "INVALID_BINARY", -44: "INVALID_PROGRAM", -45: "INVALID_PROGRAM_EXECUTABLE",
		-46: "INVALID_KERNEL_NAME", -48: "INVALID_KERNEL", -49: "INVALID_ARG_INDEX", -50: "INVALID_ARG_VALUE", -51: "INVALID_ARG_SIZE", -52: "INVALID_KERNEL_ARGS",
		-53: "INVALID_WORK_DIMENSION", -54: "INVALID_WORK_GROUP_SIZE", -55: "INVALID_WORK_ITEM_SIZE", -57: "INVALID_EVENT_WAIT_LIST", -58: "INVALID_EVENT",
		-59: "INVALID_OPERATION", -61: "INVALID_BUFFER_SIZE", -63: "INVALID_GLOBAL_WORK_SIZE", -1001: "PLATFORM_NOT_FOUND_KHR",
	}
}}

// Error returns the code's name and number.
func (s Status) Error() string {
	if name := statusNames.Get()[s]; name != "" {
		return fmt.Sprintf("CL_%s (%d)", name, int32(s))
	}
	return fmt.Sprintf("OpenCL status %d", int32(s))
}

// err returns nil for success.
func (s Status) err() error {
	if s == 0 {
		return nil
	}
	return s
}

// Queries of platforms.
const (
	PlatformVersion    = 0x0901
	PlatformName       = 0x0902
	PlatformVendorName = 0x0903
)

// Queries of devices.
const (
	DeviceType              = 0x1000
	MaxComputeUnits         = 0x1002
	MaxWorkGroupSize        = 0x1004
	MaxWorkItemSizes        = 0x1005
	PreferredVectorWidthInt = 0x1008
	MaxClockFrequency       = 0x100C
	MaxMemAllocSize         = 0x1010
	MemBaseAddrAlign        = 0x1019
	SingleFPConfig          = 0x101B
	GlobalMemSize           = 0x101F
	LocalMemSize            = 0x1023
	EndianLittle            = 0x1026
	Available               = 0x1027
	CompilerAvailable       = 0x1028
	DeviceName              = 0x102B
	DeviceVendor            = 0x102C
	DriverVersion           = 0x102D
	DeviceVersion           = 0x102F
	DeviceExtensions        = 0x1030
	DoubleFPConfig          = 0x1032
	HostUnifiedMemory       = 0x1035
	SVMCapabilities         = 0x1053
	ILVersion               = 0x105B
)

// Bits of DeviceType.
const (
	TypeCPU = 1 << 1
	TypeGPU = 1 << 2
	TypeAll = 0xFFFFFFFF
)

// Bits of floating-point configurations.
const (
	FPDenorm  = 1 << 0
	FPInfNaN  = 1 << 1
	FPNearest = 1 << 2
	FPFMA     = 1 << 5
	FPRounded = 1 << 7 // the compiler can round divisions and square roots of f32 correctly
)

// Bits of SVMCapabilities.
const (
	SVMFineGrainBuffer = 1 << 1
	SVMAtomics         = 1 << 3
)

// Flags of memory objects.
const (
	MemReadWrite          = 1 << 0
	MemAllocHostPtr       = 1 << 4
	MemSVMFineGrainBuffer = 1 << 10
	MemSVMAtomics         = 1 << 11
)

// Queries of a kernel's work-groups.
const (
	RequiredWorkGroup = 0x11B1
	KernelLocalBytes  = 0x11B2
	PreferredMultiple = 0x11B3
)

// Address spaces of parameters.
const (
	SpaceGlobal   = 0x119B
	SpaceLocal    = 0x119C
	SpaceConstant = 0x119D
	SpacePrivate  = 0x119E
)

// Queries of programs, events and kernels, and properties of contexts and queues.
const (
	programKernelNames        = 0x1168
	kernelNumArgs             = 0x1191
	kernelArgAddressQualifier = 0x1196
	kernelArgTypeName         = 0x1198
	kernelArgTypeQualifier    = 0x1199
	kernelArgName             = 0x119A

	contextPlatform       = 0x1084
	programBinarySizes    = 0x1165
	programBinaries       = 0x1166
	queueProfilingEnable  = 1 << 1
	buildLog              = 0x1183
	kernelWorkGroupSize   = 0x11B0
	eventExecutionStatus  = 0x11D3
	profilingCommandEnd   = 0x1283
	profilingCommandStart = 0x1282
)
