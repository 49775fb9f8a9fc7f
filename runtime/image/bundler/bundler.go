// Package bundler reads and writes the formats of clang-offload-bundler: text and binary bundles, compressed bundles, and the
// identifiers of their entries.
//
// The input is not trusted: damaged bundles are errors, and sizes are checked before memory is allocated.
package bundler

import (
	"strings"
)

// Magic begins binary bundles, and is the prefix of the sections of bundled objects.
const Magic = "__CLANG_OFFLOAD_BUNDLE__"

// maxEntries is the maximum number of entries of a bundle.
const maxEntries = 1 << 16

// Entry is the code of one target in a bundle.
type Entry struct {
	ID     string
	Data   []byte
	Offset uint64 // offset of the data in an uncompressed bundle
}

// Host reports whether the entry is the host's code.
func (e *Entry) Host() bool { return ParseID(e.ID).Kind == "host" }

// ID is the identifier of an entry, such as hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+.
type ID struct {
	Kind   string // host, openmp, hip, hipv4, cuda or sycl
	Triple string // without an unknown environment
	Arch   string // the processor or target ID; empty if any
}

// ParseID splits an identifier. A triple has four parts; older tools leave the fourth one out.
func ParseID(text string) ID {
	parts := strings.SplitN(text, "-", 6)
	id := ID{Kind: parts[0]}
	parts = parts[1:]
	if len(parts) == 5 {
		if isProcessor(parts[4]) || !strings.Contains(parts[4], "-") {
			id.Arch = parts[4]
		}
		parts = parts[:4]
	} else if len(parts) == 4 && isProcessor(parts[3]) {
		id.Arch = parts[3]
		parts = parts[:3]
	}
	if len(parts) == 4 && (parts[3] == "" || parts[3] == "unknown") {
		parts = parts[:3]
	}
	id.Triple = strings.TrimRight(strings.Join(parts, "-"), "-")
	return id
}

// isProcessor reports whether a part of an identifier is a processor of AMD or NVIDIA.
func isProcessor(part string) bool {
	return strings.HasPrefix(part, "gfx") || strings.HasPrefix(part, "sm_")
}

// IDOfSection returns the identifier in the name of a bundled object's section. It returns false for other sections.
func IDOfSection(name string) (string, bool) { return strings.CutPrefix(name, Magic) }
