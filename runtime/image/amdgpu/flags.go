package amdgpu

// processor is a processor with its number in the flags of ELF files.
type processor struct {
	name           string
	number         byte
	sramecc, xnack bool // the features that a target ID may set
}

// processors is the table of LLVM's EF_AMDGPU_MACH values, with the features of AMDGPUUsage.
var processors = []processor{
	{"gfx600", 0x20, false, false}, {"gfx601", 0x21, false, false}, {"gfx602", 0x3a, false, false},
	{"gfx700", 0x22, false, false}, {"gfx701", 0x23, false, false}, {"gfx702", 0x24, false, false},
	{"gfx703", 0x25, false, false}, {"gfx704", 0x26, false, false}, {"gfx705", 0x3b, false, false},
	{"gfx801", 0x28, false, true}, {"gfx802", 0x29, false, false}, {"gfx803", 0x2a, false, false},
	{"gfx805", 0x3c, false, false}, {"gfx810", 0x2b, false, true},
	{"gfx900", 0x2c, false, true}, {"gfx902", 0x2d, false, true}, {"gfx904", 0x2e, false, true},
	{"gfx906", 0x2f, true, true}, {"gfx908", 0x30, true, true}, {"gfx909", 0x31, false, true},
	{"gfx90a", 0x3f, true, true}, {"gfx90c", 0x32, false, true},
	{"gfx940", 0x40, true, true}, {"gfx941", 0x4b, true, true}, {"gfx942", 0x4c, true, true}, {"gfx950", 0x4f, true, true},
	{"gfx1010", 0x33, false, true}, {"gfx1011", 0x34, false, true}, {"gfx1012", 0x35, false, true}, {"gfx1013", 0x42, false, true},
	{"gfx1030", 0x36, false, false}, {"gfx1031", 0x37, false, false}, {"gfx1032", 0x38, false, false},
	{"gfx1033", 0x39, false, false}, {"gfx1034", 0x3e, false, false}, {"gfx1035", 0x3d, false, false}, {"gfx1036", 0x45, false, false},
	{"gfx1100", 0x41, false, false}, {"gfx1101", 0x46, false, false}, {"gfx1102", 0x47, false, false}, {"gfx1103", 0x44, false, false},
	{"gfx1150", 0x43, false, false}, {"gfx1151", 0x4a, false, false}, {"gfx1152", 0x55, false, false}, {"gfx1153", 0x58, false, false},
	{"gfx1200", 0x48, false, false}, {"gfx1201", 0x4e, false, false}, {"gfx1250", 0x49, false, true},
	{"gfx9-generic", 0x51, false, true}, {"gfx9-4-generic", 0x5f, true, true},
	{"gfx10-1-generic", 0x52, false, true}, {"gfx10-3-generic", 0x53, false, false},
	{"gfx11-generic", 0x54, false, false}, {"gfx12-generic", 0x59, false, false},
}

// find returns the processor with a name, or false if there is none.
func find(name string) (processor, bool) {
	for _, p := range processors {
		if p.name == name {
			return p, true
		}
	}
	return processor{}, false
}

// Versions of the ABI in the header of an ELF file. Since abiV3 the flags have a bit for each feature, since abiV4 two.
const (
	abiV3 = 1
	abiV4 = 2
)

// OfFlags returns the target ID in the flags of an ELF file with the version abi. It is zero if the processor is unknown, and before
// version 3 of code objects, whose flags have no features.
func OfFlags(flags uint32, abi byte) ID {
	var p processor
	for _, candidate := range processors {
		if candidate.number == byte(flags) {
			p = candidate
		}
	}
	if p.name == "" || abi < abiV3 {
		return ID{}
	}
	id := ID{Processor: p.name}
	if abi == abiV3 { // one bit a feature: on, or off
		const xnack, sramecc = 0x100, 0x200
		id.XNACK, id.SRAMECC = bit(flags&xnack != 0, p.xnack), bit(flags&sramecc != 0, p.sramecc)
		return id
	}
	id.XNACK, id.SRAMECC = field(flags>>8), field(flags>>10)
	return id
}

// bit returns the setting of a feature that a bit turns on, or Unsupported if the processor lacks it.
func bit(on, supported bool) Setting {
	switch {
	case !supported:
		return Unsupported
	case on:
		return On
	}
	return Off
}

// field returns the setting in two bits of the flags, as from version 4 of code objects.
func field(bits uint32) Setting {
	return [...]Setting{Unsupported, Any, Off, On}[bits&3]
}
