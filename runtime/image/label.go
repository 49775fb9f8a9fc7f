package image

import (
	"fmt"
	"maps"
	"strings"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/image/amdgpu"
	"github.com/orepl/orepl/runtime/offload"
)

// image returns the entry as an image. The container's strings refine the target that the bytes state. If they contradict the
// bytes, the bytes take precedence and Conflict describes the difference.
func (e *BundleEntry) image(label string) *offload.Image {
	triple, arch := e.Strings["triple"], e.Strings["arch"]
	if arch == "generic" {
		arch = ""
	}
	img, err := Identify(label, e.Data)
	if err != nil {
		return &offload.Image{Kind: e.Kind.image(), Label: label, Data: e.Data, Target: triple, Arch: arch, Meta: e.Strings,
			Producers: e.Producer.String(), Unusable: err}
	}
	img.Producers = e.Producer.String()
	var conflicts []string
	if kind := e.Kind.image(); kind != "" && !sameFormat(kind, img.Kind) {
		conflicts = append(conflicts, fmt.Sprintf("kind %s, but the bytes are %s", kind, img.Kind))
	}
	switch {
	case triple == "" || triple == PortableTriple && img.Kind == offload.ImageIR:
	case img.Target == "" || sameMachine(triple, img.Target):
		img.Target = triple
	default:
		conflicts = append(conflicts, fmt.Sprintf("triple %s, but the bytes are for %s", triple, img.Target))
	}
	switch {
	case arch == "" || arch == img.Arch:
	case img.Arch == "":
		img.Arch = arch
	case sameProcessor(arch, img.Arch):
		img.Arch = mergedArch(arch, img.Arch)
	default:
		conflicts = append(conflicts, fmt.Sprintf("arch %s, but the bytes are for %s", arch, img.Arch))
	}
	if len(conflicts) > 0 {
		img.Conflict = "the container says " + strings.Join(conflicts, "; ")
	}
	meta := maps.Clone(e.Strings)
	maps.Copy(meta, img.Meta)
	img.Meta = meta
	return img
}

// sameProcessor reports whether a declared target ID of AMD agrees with that of the bytes: a device may run code of both.
func sameProcessor(declared, found string) bool {
	a, err1 := amdgpu.Parse(declared)
	b, err2 := amdgpu.Parse(found)
	return err1 == nil && err2 == nil && !amdgpu.Contradicts(a, b)
}

// mergedArch returns the target ID found in the bytes, with the features that it leaves open set as declared. It returns found if either
// text is no target ID.
func mergedArch(declared, found string) string {
	a, err1 := amdgpu.Parse(declared)
	b, err2 := amdgpu.Parse(found)
	if err1 != nil || err2 != nil {
		return found
	}
	return amdgpu.Merge(b, a).String()
}

// refined sets the strings and producers of the fat binary fat in its images, and its conflict in those without one. It returns list.
func (e *BundleEntry) refined(fat *offload.Image, list []*offload.Image) []*offload.Image {
	for _, img := range list {
		img.Meta, img.Producers = fat.Meta, fat.Producers
		if fat.Conflict != "" && img.Conflict == "" {
			img.Conflict = fat.Conflict
		}
	}
	return list
}

// image returns the format that the container declares, or "".
func (k BundleKind) image() offload.ImageKind {
	switch k {
	case BundleObject:
		return offload.ImageELF
	case BundleBitcode:
		return offload.ImageBitcode
	case BundleCubin:
		return offload.ImageCubin
	case BundleFatbin:
		return offload.ImageFatbin
	case BundlePTX:
		return offload.ImagePTX
	case BundleSPIRV:
		return offload.ImageSPIRV
	}
	return ""
}

// sameFormat reports whether a declared format admits the format of the bytes. Device objects are ELF files, and the object
// kind also denotes formats that LLVM's enumeration lacks.
func sameFormat(declared, found offload.ImageKind) bool {
	switch {
	case declared == found:
		return true
	case declared == offload.ImageELF:
		return found == offload.ImageCubin || found == offload.ImageIR || found == offload.ImageOpenCLC
	}
	return false
}

// machineNames maps spellings of an architecture in target triples to one spelling.
var machineNames = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{"amd64": "x86_64", "x86-64": "x86_64", "arm64": "aarch64", "i486": "i386", "i586": "i386", "i686": "i386",
		"powerpc64le": "powerpc64", "ppc64": "powerpc64", "ppc64le": "powerpc64", "spirv": "spirv64", "spirv32": "spirv64", "spir": "spirv64", "spir64": "spirv64"}
}}

// sameMachine reports whether two target triples have the same architecture.
func sameMachine(a, b string) bool {
	return machine(a) == machine(b)
}

func machine(triple string) string {
	name, _, _ := strings.Cut(triple, "-")
	if strings.HasPrefix(name, "arm") && name != "arm64" {
		return "arm"
	}
	if canonical, ok := machineNames.Get()[name]; ok {
		return canonical
	}
	return name
}
