package image

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/image/amdgpu"
	"github.com/orepl/orepl/runtime/offload"
)

// elfTargets maps ELF machine numbers to target architectures.
var elfTargets = later.Value[map[uint16]string]{Make: func() map[uint16]string {
	return map[uint16]string{
		3:   "i386",
		21:  "powerpc64",
		22:  "s390x",
		40:  "arm",
		62:  "x86_64",
		183: "aarch64",
		190: "nvptx64-nvidia-cuda",
		224: "amdgcn-amd-amdhsa",
		243: "riscv64",
		258: "loongarch64",
	}
}}

// amdSystems maps the system in the header of AMD's ELF files to that of target triples.
var amdSystems = later.Value[map[byte]string]{Make: func() map[byte]string {
	return map[byte]string{64: "amdhsa", 65: "amdpal", 66: "mesa3d"}
}}

const (
	machineCUDA   = 190
	machineAMDGPU = 224
)

// identifyELF sets the kind, target and architecture of an ELF file. It returns an error for an unknown class, byte order or machine, and
// for a header or tables that do not lie within the file. If no device can load the file, it sets Unusable.
func identifyELF(img *offload.Image) error {
	data := img.Data
	if len(data) < 20 {
		return invalid(img.Label, "an ELF file of %d bytes is truncated", len(data))
	}
	class, encoding := data[4], data[5]
	var order binary.ByteOrder = binary.LittleEndian
	switch encoding {
	case 1:
	case 2:
		order = binary.BigEndian
	default:
		return invalid(img.Label, "ELF byte order %d is unknown", encoding)
	}
	var header int
	switch class {
	case 1:
		header = 52
	case 2:
		header = 64
	default:
		return invalid(img.Label, "ELF class %d is unknown", class)
	}
	if len(data) < header {
		return invalid(img.Label, "an ELF file of %d bytes is truncated", len(data))
	}
	machine := order.Uint16(data[18:])
	target, ok := elfTargets.Get()[machine]
	if !ok {
		return invalid(img.Label, "ELF machine %d is unknown", machine)
	}
	img.Kind, img.Target = offload.ImageELF, target
	var flags uint32
	var programs, sections table
	if class == 2 {
		flags = order.Uint32(data[48:])
		programs = table{order.Uint64(data[32:]), order.Uint16(data[54:]), order.Uint16(data[56:])}
		sections = table{order.Uint64(data[40:]), order.Uint16(data[58:]), order.Uint16(data[60:])}
	} else {
		flags = order.Uint32(data[36:])
		programs = table{uint64(order.Uint32(data[28:])), order.Uint16(data[42:]), order.Uint16(data[44:])}
		sections = table{uint64(order.Uint32(data[32:])), order.Uint16(data[46:]), order.Uint16(data[48:])}
	}
	for _, t := range []table{programs, sections} {
		if !t.within(len(data)) {
			return invalid(img.Label, "the ELF tables reach beyond the end of the file, at %d bytes", len(data))
		}
	}
	kind := order.Uint16(data[16:])
	switch {
	case machine == machineCUDA:
	case machine != machineAMDGPU && (class == 1 || encoding == 2):
		img.Unusable = otherHost(img.Label, target, class, encoding)
	case kind == typeRelocatable:
		img.Unusable = unsupported(img.Label, "the image needs link: it is a relocatable object").
			WithHint("link it to a shared object, such as by clang -shared with the target's flags")
	case kind == typeExecutable && machine != machineAMDGPU:
		img.Unusable = noDeviceImages(img.Label)
	}
	switch machine {
	case machineCUDA:
		img.Kind = offload.ImageCubin
		if sm := cudaArch(flags, data[8]); sm > 0 {
			img.Arch = fmt.Sprintf("sm_%d", sm)
		}
	case machineAMDGPU:
		img.Meta = map[string]string{"flags": fmt.Sprintf("0x%x", flags)}
		img.Arch = amdgpu.OfFlags(flags, data[8]).String()
		if system, ok := amdSystems.Get()[data[7]]; ok {
			img.Target = "amdgcn-amd-" + system
		}
	}
	return nil
}

// otherHost returns the error for a file of a host whose kind of ELF is not read.
func otherHost(label, target string, class, encoding byte) error {
	what := "a big-endian ELF file"
	if class == 1 {
		what = "a 32-bit ELF file"
	}
	return unsupported(label, "this is %s of %s: device code in such files is not read, and no device loads them", what, target).
		WithHint("build the program for a 64-bit little-endian processor; or extract its images, such as by " +
			"clang-offload-packager or llvm-objcopy --dump-section, and register those")
}

// errProgram is the cause of errors for host programs without device images.
var errProgram = errors.New("this is a program without device images")

// noDeviceImages returns the error for a host program that has no device images.
func noDeviceImages(label string) error {
	return &offload.Error{Code: offload.Unsupported, Op: "identify image", Label: label, Err: errProgram}
}

// IsProgram reports whether an image is a host program without device images, which no device loads.
func IsProgram(img *offload.Image) bool { return errors.Is(img.Unusable, errProgram) }

// cudaArch returns the compute capability from the header's flags: the low byte, or the next one since ABI version 8.
func cudaArch(flags uint32, abi byte) uint32 {
	if abi >= 8 {
		return flags >> 8 & 0xFF
	}
	return flags & 0xFF
}

// table is the range of an ELF table.
type table struct {
	offset      uint64
	entry, size uint16
}

func (t table) within(n int) bool {
	bytes := uint64(t.entry) * uint64(t.size)
	return t.size == 0 || t.offset <= uint64(n) && bytes <= uint64(n)-t.offset
}
