package offload

import "fmt"

// Type is the type of a buffer's elements or of a scalar argument.
type Type uint8

// These are the element types. Opaque is a buffer of bytes or records, whose element size is stated separately.
const (
	Opaque Type = iota
	Bool        // one byte, 0 or 1
	I8
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16
	BF16
	F32
	F64
	numTypes
)

var typeNames = [numTypes]string{"opaque", "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"}
var typeSizes = [numTypes]int{1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8}

// String returns the name that scripts use.
func (t Type) String() string {
	if t < numTypes {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Size returns the number of bytes of one element; 1 for Opaque, and 0 for unknown types.
func (t Type) Size() int {
	if t < numTypes {
		return typeSizes[t]
	}
	return 0
}

// ParseType returns the type with a name. It returns false for other names, and for that of Opaque.
func ParseType(name string) (Type, bool) {
	for t, n := range typeNames {
		if n == name && t != int(Opaque) {
			return Type(t), true
		}
	}
	return Opaque, false
}

// MemoryKind states whether host or device can access a block of memory.
type MemoryKind uint8

// The memory kinds.
const (
	DeviceMemory MemoryKind = iota // accessible to the device, and to the host by Submit and Retrieve; directly only if Bytes is not nil
	HostMemory                     // memory of the host, pinned, and accessible to the device
	SharedMemory                   // accessible to both, and moved by the driver as needed
	numKinds
)

var kindNames = [numKinds]string{"device", "host", "shared"}

// String returns the name that scripts use.
func (k MemoryKind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return fmt.Sprintf("memory-kind(%d)", uint8(k))
}

// DeviceType is the kind of a device's processor.
type DeviceType uint8

// The device types.
const (
	CPU DeviceType = iota
	GPU
	Accelerator
)

// String returns the name that scripts use.
func (t DeviceType) String() string {
	switch t {
	case CPU:
		return "cpu"
	case GPU:
		return "gpu"
	}
	return "accelerator"
}

// Checks is the set of run-time checks of a launch.
type Checks uint8

// The check modes.
const (
	ChecksOn    Checks = iota // bounds, integer division, assertions
	ChecksOff                 // none: an access out of bounds is undefined behaviour
	ChecksRaces               // ChecksOn with detection of races between work-items; slow
)
