package offload

// PlatformInfo describes a platform.
type PlatformInfo struct {
	Name    string `json:"name"`              // the plugin's name: "cpu", "cuda", "opencl", "mpi"
	Vendor  string `json:"vendor"`            // the driver's vendor
	Version string `json:"version"`           // the driver's version
	Library string `json:"library,omitempty"` // the file of the driver
}

// DeviceInfo describes a device. The names follow OL_DEVICE_INFO_*.
type DeviceInfo struct {
	Name          string     `json:"name"` // the vendor's name of the device
	Vendor        string     `json:"vendor"`
	Type          DeviceType `json:"-"`
	Arch          string     `json:"arch"` // "x86-64-v4", "sm_90"
	UID           string     `json:"uid,omitempty"`
	DriverVersion string     `json:"driverVersion,omitempty"`
	Class         int        `json:"-"` // rank for the choice of a default device; higher is better

	ComputeUnits int   `json:"computeUnits"` // cores or multiprocessors
	ClockMHz     int   `json:"clockMHz,omitempty"`
	MemoryBytes  int64 `json:"memoryBytes"`
	VectorBits   int   `json:"vectorBits,omitempty"` // widest SIMD register

	Notice string `json:"notice,omitempty"` // what makes the device unexpectedly slow or incomplete; shown to users once

	Limits   Limits   `json:"limits"`
	Features Features `json:"features"`
}

// Limits are the maxima of a device. Sizes are in bytes. A maximum of 0 is unknown, and sessions do not check it.
type Limits struct {
	AllocationBytes int64  `json:"allocationBytes"` // one allocation
	SharedBytes     int    `json:"sharedBytes"`     // shared arrays of one work-group
	GroupItems      int    `json:"groupItems"`      // work-items of one work-group
	GroupSize       [3]int `json:"groupSize"`
	Groups          [3]int `json:"groups"`
	SubgroupSizes   []int  `json:"subgroupSizes"`
}

// Features are the optional capabilities of a device.
type Features struct {
	Exact       bool `json:"exact"` // results have the exact bits of docs/kernel-language.md
	F16         bool `json:"f16"`   // native f16 arithmetic; storage always works
	F64         bool `json:"f64"`
	Atomics64   bool `json:"atomics64"`
	FloatAtomic bool `json:"floatAtomics"`
	Unified     bool `json:"unified"`     // device memory is host memory
	HostVisible bool `json:"hostVisible"` // the host sees host and shared memory: their Memory.Bytes is not nil
	Subgroups   bool `json:"subgroups"`
	Cancel      bool `json:"cancel"` // running kernels can be cancelled
	Calls       bool `json:"calls"`  // kernels may call services of the host
	Prints      bool `json:"prints"` // kernels may print
	Clock       bool `json:"clock"`  // events have device times
}

// Param describes a parameter of a kernel.
type Param struct {
	Name   string
	Buffer bool
	Type   Type    // type of the scalar or of the buffer's elements
	Elem   int     // bytes of one element, or of the aggregate
	Rank   int     // rank of a buffer, 1 to 3; 0: any buffer
	Reads  bool    // the kernel may read the buffer; false for scalars
	Writes bool    // the kernel may write the buffer; false for scalars
	Fields []Field // scalars in an aggregate, ascending by offset; nil otherwise
}

// KernelInfo describes a kernel.
type KernelInfo struct {
	Name          string
	Params        []Param    // nil if the image does not describe them, as native images
	Convention    Convention // of a function in a native image
	ObservesGroup bool       // results may depend on the group size
	SharedBytes   int        // statically declared
	GroupItems    int        // the largest work-group on this device; 0 if unknown
	Registers     int        // per work-item; 0 if unknown

	DynamicShared bool // launches may state SharedBytes
	Cooperative   bool // launches may be cooperative

	Services   []string // names of the services that the kernel may call, sorted
	AnyService bool     // the kernel may call services that it names at run time
	Prints     bool     // the kernel may print
}

// CallsServices reports whether the kernel may call a service.
func (k *KernelInfo) CallsServices() bool { return k.AnyService || len(k.Services) > 0 }

// Symbol is an exported name of a program.
type Symbol struct {
	Name   string
	Kernel bool  // otherwise a global variable
	Size   int64 // bytes of a global variable
}

// Classes of devices, for [DeviceInfo.Class]; a plugin may use values between them.
const (
	ClassRemote        = 100 // of another process or machine
	ClassEmulated      = 200 // a CPU behind a GPU interface
	ClassCPU           = 300
	ClassIntegratedGPU = 400
	ClassGPU           = 500
)
