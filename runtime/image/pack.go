package image

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/image/amdgpu"
	"github.com/orepl/orepl/runtime/offload"
)

// PortableTriple is the triple of portable kernel IR in containers, whose readers expect a triple.
const PortableTriple = "orepl-ir"

// HostTriple returns the target triple of this program. Systems other than macOS and Windows count as Linux.
func HostTriple() string {
	arch := runtime.GOARCH
	if name, ok := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]; ok {
		arch = name
	}
	switch runtime.GOOS {
	case "darwin":
		return arch + "-apple-darwin"
	case "windows":
		return arch + "-pc-windows-msvc"
	}
	return arch + "-pc-linux-gnu"
}

// fullTriples maps short names of targets to LLVM's triples.
var fullTriples = later.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"nvptx64": "nvptx64-nvidia-cuda", "amdgcn": "amdgcn-amd-amdhsa", "spirv64": "spirv64-unknown-unknown",
		"x86_64": "x86_64-pc-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu", "ir": PortableTriple,
	}
}}

// FullTriple returns the triple of a target's short name, such as nvptx64, cpu or ir. It returns other names unchanged.
func FullTriple(name string) string {
	if name == "cpu" {
		return HostTriple()
	}
	if full, ok := fullTriples.Get()[name]; ok {
		return full
	}
	return name
}

// NewEntry identifies data by its first bytes and returns a container's entry for it. The strings refine or repeat the target
// that the bytes state. Without a "triple" the target of the bytes is used. Errors: InvalidBinary for unknown bytes and for
// strings that contradict them; InvalidArgument for data without a target, and for a wrong target ID of AMD; Unsupported for formats
// of other systems.
func NewEntry(label string, data []byte, producer Producer, meta map[string]string) (BundleEntry, error) {
	img, err := Identify(label, data)
	if err != nil {
		return BundleEntry{}, err
	}
	e := BundleEntry{Kind: bundleKind(img.Kind), Producer: producer, Strings: maps.Clone(meta), Data: data}
	if e.Strings == nil {
		e.Strings = make(map[string]string)
	}
	if e.Strings["triple"] == "" {
		e.Strings["triple"] = FullTriple(machine(img.Target))
		if img.Kind == offload.ImageIR {
			e.Strings["triple"] = PortableTriple
		}
		if e.Strings["triple"] == "" {
			return BundleEntry{}, offload.Errorf(offload.InvalidArgument, "pack", "%s names no target by its bytes", img.Kind).
				On("", label).WithHint("name it: --target cpu=%s, for example", label)
		}
	}
	if err := e.setArch(label, img); err != nil {
		return BundleEntry{}, err
	}
	if conflict := e.image(label).Conflict; conflict != "" {
		return BundleEntry{}, invalid(label, "%s", strings.Replace(conflict, "the container says", "the target says", 1))
	}
	return e, nil
}

// setArch completes the architecture of an entry by that of its bytes. A target ID of a known AMD processor becomes canonical, and
// gets the features of the bytes. A wrong one is an InvalidArgument error.
func (e *BundleEntry) setArch(label string, img *offload.Image) error {
	arch := e.Strings["arch"]
	if arch == "" {
		delete(e.Strings, "arch")
		if img.Arch != "" {
			e.Strings["arch"] = img.Arch
		}
		return nil
	}
	if machine(e.Strings["triple"]) != "amdgcn" {
		return nil
	}
	if name, _, _ := strings.Cut(arch, ":"); !amdgpu.IsProcessor(name) {
		return nil // of a later LLVM
	}
	if _, err := amdgpu.Parse(arch); err != nil {
		return offload.Errorf(offload.InvalidArgument, "pack", "%v", err).On("", label).
			WithHint("write a target ID such as gfx90a:sramecc-:xnack+")
	}
	e.Strings["arch"] = amdgpu.Canonical(arch)
	if img.Arch != "" && sameProcessor(arch, img.Arch) {
		e.Strings["arch"] = mergedArch(arch, img.Arch)
	}
	return nil
}

// Clash returns two of the architectures whose code one file must not have together: target IDs of one AMD processor that set different
// features, so that a device could run both. ok is false if there are none.
func Clash(archs []string) (a, b string, ok bool) {
	for i, x := range archs {
		first, err := amdgpu.Parse(x)
		for _, y := range archs[i+1:] {
			second, err2 := amdgpu.Parse(y)
			if err == nil && err2 == nil && !amdgpu.Coexist(first, second) {
				return x, y, true
			}
		}
	}
	return "", "", false
}

// bundleKind returns the container's kind of a format. Formats that LLVM's enumeration lacks are objects.
func bundleKind(kind offload.ImageKind) BundleKind {
	for k := BundleObject; k <= BundleSPIRV; k++ {
		if k.image() == kind {
			return k
		}
	}
	return BundleObject
}

// Pattern selects images by target. Its syntax is a kind of image or a prefix of a target triple, optionally followed by a
// comma and an architecture. Examples are nvptx64,sm_90, cpu, ir, ptx and amdgcn-amd-amdhsa.
type Pattern struct{ target, arch string }

// ParsePattern parses a pattern. Errors: InvalidArgument for an empty text.
func ParsePattern(text string) (Pattern, error) {
	target, arch, _ := strings.Cut(text, ",")
	if target == "" {
		return Pattern{}, offload.Errorf(offload.InvalidArgument, "select images", "the target %q is empty", text).
			WithHint("write a target such as cpu, nvptx64 or nvptx64,sm_90")
	}
	return Pattern{target, arch}, nil
}

// Match reports whether the pattern selects an image.
func (p Pattern) Match(img *offload.Image) bool {
	if p.arch != "" && !sameArch(p.arch, img.Arch) {
		return false
	}
	if p.target == string(img.Kind) {
		return true
	}
	if img.Kind == offload.ImageIR && img.Target == "" {
		return p.target == PortableTriple
	}
	if p.target == "cpu" {
		return img.Target != "" && sameMachine(img.Target, HostTriple())
	}
	want, have := strings.Split(p.target, "-"), strings.Split(img.Target, "-")
	return len(want) <= len(have) && machine(want[0]) == machine(have[0]) && slices.Equal(want[1:], have[1:len(want)])
}

// sameArch reports whether an architecture is the wanted one. A target ID of AMD has the wanted features, in any order, and
// perhaps others.
func sameArch(want, have string) bool {
	if want == have {
		return true
	}
	a, err1 := amdgpu.Parse(want)
	b, err2 := amdgpu.Parse(have)
	return err1 == nil && err2 == nil && !amdgpu.Contradicts(a, b) && amdgpu.Merge(a, b) == b
}

// Name returns the target of an image in the syntax of [Pattern].
func Name(img *offload.Image) string {
	name := img.Target
	switch {
	case img.Kind == offload.ImageIR:
		name = "ir"
	case name == "":
		name = string(img.Kind)
	}
	if img.Arch != "" {
		name += "," + img.Arch
	}
	return name
}
