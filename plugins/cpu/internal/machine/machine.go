// Package machine reads the properties of this machine's processor, caches and memory.
package machine

import (
	"runtime"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/runtime/debug"
	"golang.org/x/sys/cpu"
)

// Info describes the machine. Unknown fields are zero.
type Info struct {
	Model       string // the vendor's name for the processor
	Vendor      string
	MHz         int
	MemoryBytes int64 // memory of the machine, or the limit of the control group if that is lower
	Caches      []Cache
}

// Cache is a cache of a core.
type Cache struct {
	Level     int
	Type      string // "data", "instruction" or "unified"
	Bytes     int64
	LineBytes int
	Cores     int // number of logical cores that share it
}

// Features returns the processor's extensions, masked by the switch cpu-features.
func Features(s debug.Switches) amd64.Features {
	mask := amd64.AllFeatures
	switch s.CPUFeatures {
	case "none":
		mask = 0
	case "avx2":
		mask = amd64.ForAVX2
	case "avx512":
		mask = amd64.ForAVX512
	}
	return amd64.Host() & mask
}

// LastCache returns the size in bytes of the last-level cache, 0 if unknown.
func (m *Info) LastCache() int {
	size, level := int64(0), 0
	for _, c := range m.Caches {
		if c.Type != "instruction" && c.Level > level {
			size, level = c.Bytes, c.Level
		}
	}
	return int(size)
}

// Cores returns the number of cores available to this process: the affinity mask's, or GOMAXPROCS if lower.
func Cores() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// Arch returns the architecture's name. For amd64 it is x86-64 with the psABI level from 2 on, such as x86-64-v3.
func Arch() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86-64" + level()
	case "arm64":
		return "armv8-a"
	}
	return runtime.GOARCH
}

// level returns the suffix of the psABI level of x86-64, or "" for level 1.
func level() string {
	x := &cpu.X86
	switch {
	case !x.HasCX16 || !x.HasPOPCNT || !x.HasSSE3 || !x.HasSSSE3 || !x.HasSSE41 || !x.HasSSE42:
		return ""
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasF16C || !x.HasFMA || !x.HasLZCNT || !x.HasOSXSAVE:
		return "-v2"
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512CD || !x.HasAVX512DQ || !x.HasAVX512VL:
		return "-v3"
	}
	return "-v4"
}

// VectorBits returns the width in bits of the widest vectors of integers and floats, 0 if it is unknown. It ignores Arm's SVE.
func VectorBits() int {
	switch {
	case cpu.X86.HasAVX512F:
		return 512
	case cpu.X86.HasAVX2:
		return 256
	case runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64":
		return 128
	}
	return 0
}
