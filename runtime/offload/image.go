package offload

import (
	"crypto/sha256"
	"sync"
)

// Library is a binary description: images that were registered together and the table of their entries.
type Library struct {
	Label    string
	Images   []*Image
	Entries  []Entry // nil if the producer wrote no table
	Requires uint32  // the producer's requirement flags, such as OpenMP's requires clauses; 0 if it wrote none
}

// EntryKind is the kind of an offload entry.
type EntryKind uint8

// The kinds of entries.
const (
	EntryKernel   EntryKind = iota
	EntryVariable           // a declare-target variable
	EntryLink               // a variable of a declare-target link clause: the device has a pointer to it
	EntryIndirect           // a function of an indirect clause, which the program calls by its host address
)

// String returns the name of the kind.
func (k EntryKind) String() string {
	switch k {
	case EntryVariable:
		return "variable"
	case EntryLink:
		return "link"
	case EntryIndirect:
		return "indirect"
	}
	return "kernel"
}

// Entry names a symbol that the host program refers to. The layout follows LLVM's __tgt_offload_entry.
type Entry struct {
	Name  string
	Kind  EntryKind
	Flags uint32 // producer's flags, such as OMP_DECLARE_TARGET_LINK and OMP_DECLARE_TARGET_INDIRECT
	Size  int64  // bytes of a variable
	Data  uint64 // the producer's auxiliary word
}

// ImageKind is a format of device code.
type ImageKind string

// The image kinds.
const (
	ImageIR      ImageKind = "ir"  // portable kernel IR, binary form
	ImageELF     ImageKind = "elf" // shared object for the host, or a code object for AMD's GPUs
	ImagePTX     ImageKind = "ptx"
	ImageCubin   ImageKind = "cubin"
	ImageFatbin  ImageKind = "fatbin"
	ImageSPIRV   ImageKind = "spirv"
	ImageOpenCLC ImageKind = "opencl-c"
	ImageBitcode ImageKind = "bitcode"
	ImageText    ImageKind = "text" // code as text, which a compiler has to translate first
)

// Image is device code for one target, as bytes. It is immutable, and must not be copied after its first use.
type Image struct {
	Kind   ImageKind
	Target string // target triple, such as "nvptx64-nvidia-cuda"; empty for IR
	Arch   string // architecture, such as "sm_90"; empty if any
	Label  string // the name in errors
	Data   []byte
	Meta   map[string]string // the container's strings, such as "triple" and "arch"

	// Producers names the source languages that the container declares, such as "openmp"; empty without a declaration.
	Producers string

	// Unusable is the reason why no device can load the image, such as unknown bytes in a container; nil if a device may.
	Unusable error
	// Conflict describes contradictions between the container's strings and the bytes, which take precedence; empty if they
	// agree.
	Conflict string

	once   sync.Once
	digest [sha256.Size]byte
}

// Digest returns the SHA-256 of Data, which serves caches and transports as a key. It is computed once.
func (img *Image) Digest() [sha256.Size]byte {
	img.once.Do(func() { img.digest = sha256.Sum256(img.Data) })
	return img.digest
}
