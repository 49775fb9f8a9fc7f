// Package image identifies device code by its first bytes and splits containers of several images.
//
// The input is not trusted: damaged, truncated and unknown images are InvalidBinary errors.
//
// # Design
//
// Bytes win over labels: a cubin for sm_90 with the label sm_80 would fail late and far from the cause. Contradictions are
// kept in Image.Conflict.
//
// ELF files are read here, since debug/elf is not hardened against hostile input. Reads are charged to a budget of four
// times the file's size and 1 MiB.
//
// Unlinked device objects are listed with the reason why no device loads them. Host objects of an archive are not listed, since they
// hold no device code.
//
// An image that is dropped from a loaded segment becomes zeros. Other code refers to addresses after it, and the relocations are gone.
//
// Programs of Go are searched for containers, since go:embed makes a variable that no table names.
//
// By default, containers are written in version 1, which all versions of LLVM since 14 read.
//
// zstd comes from klauspost/compress and LZ4 from pierrec/lz4, pure Go with bounds on their output.
package image

import (
	"bytes"

	"github.com/orepl/orepl/runtime/offload"
)

// These are the magic numbers of the formats.
var (
	magicIR       = []byte("\x8foreplir")
	magicELF      = []byte("\x7fELF")
	magicOffload  = []byte{0x10, 0xFF, 0x10, 0xAD}
	magicSPIRVLE  = []byte{0x03, 0x02, 0x23, 0x07}
	magicSPIRVBE  = []byte{0x07, 0x23, 0x02, 0x03}
	magicBitcode  = []byte{'B', 'C', 0xC0, 0xDE}
	magicWrapped  = []byte{0xDE, 0xC0, 0x17, 0x0B} // bitcode with a wrapper
	magicFatbin   = []byte{0x50, 0xED, 0x55, 0xBA}
	magicFatbinAt = []byte{0xB1, 0x43, 0x62, 0x46} // the wrapper in linked programs, which holds an address
)

// Split returns the images of [Read], or an error if none is usable: InvalidBinary, or Unsupported for formats that cannot be
// loaded. Errors mention the label, which may be a file name.
func Split(label string, data []byte) ([]*offload.Image, error) {
	lib, err := Read(label, data)
	if err == nil {
		err = Check(&lib)
	}
	if err != nil {
		return nil, err
	}
	return lib.Images, nil
}

// Identify identifies a single image. It returns an InvalidBinary error for damaged and unknown bytes and for containers, and an
// Unsupported error for formats that are not read.
func Identify(label string, data []byte) (*offload.Image, error) {
	img := &offload.Image{Label: label, Data: data}
	switch {
	case len(data) == 0:
		return nil, invalid(label, "there are no bytes")
	case bytes.HasPrefix(data, magicIR):
		img.Kind = offload.ImageIR
	case bytes.HasPrefix(data, magicELF):
		return img, identifyELF(img)
	case bytes.HasPrefix(data, magicSPIRVLE), bytes.HasPrefix(data, magicSPIRVBE):
		img.Kind, img.Target = offload.ImageSPIRV, "spirv64"
		if len(data) < 20 || len(data)%4 != 0 {
			return nil, invalid(label, "SPIR-V of %d bytes is truncated", len(data))
		}
	case bytes.HasPrefix(data, magicBitcode), bytes.HasPrefix(data, magicWrapped):
		img.Kind = offload.ImageBitcode
	case bytes.HasPrefix(data, magicFatbin):
		return img, identifyFatbin(img)
	case bytes.HasPrefix(data, magicFatbinAt):
		return nil, invalid(label, "this is the wrapper of a fat binary, without the fat binary itself")
	case bytes.HasPrefix(data, magicOffload):
		return nil, invalid(label, "this is a container, not an image")
	case isPTX(data):
		return img, identifyPTX(img)
	case isOpenCLC(label, data):
		img.Kind = offload.ImageOpenCLC
	case foreign(data) != "":
		return nil, unsupported(label, "this is %s; device code in such files is not read", foreign(data)).
			WithHint("known are ELF files; or extract the images by clang-offload-packager")
	default:
		e := invalid(label, "the first bytes % x are of no known format", data[:min(len(data), 8)])
		return nil, e.WithHint("known: kernel IR, ELF, PTX, cubin, fat binary, SPIR-V, LLVM bitcode, OpenCL C, LLVM offload containers, and ar archives")
	}
	return img, nil
}

func invalid(label, format string, args ...any) *offload.Error {
	return offload.Errorf(offload.InvalidBinary, "identify image", format, args...).On("", label)
}

func unsupported(label, format string, args ...any) *offload.Error {
	return offload.Errorf(offload.Unsupported, "identify image", format, args...).On("", label)
}
