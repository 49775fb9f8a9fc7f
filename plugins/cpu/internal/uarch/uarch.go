// Package uarch holds cost tables of processor families, for the costs on which the compiler's choice of code depends.
//
// The figures are reciprocal throughputs in cycles, from uops.info, Agner Fog's tables and LLVM's schedule models; those of
// Zen 5 were measured. The table affects results only of functions of Math.fast.
//
// # Design
//
// Tables are selected by CPUID, because measurements at start-up differ from run to run, and their code cannot be
// reproduced.
package uarch

import (
	"slices"

	"github.com/orepl/orepl/lang/later"
)

// Model is the cost table of a processor family.
type Model struct {
	Name string

	Divide float64 // cycles of a 512-bit vdivps; 0 without AVX-512
	Root   float64 // cycles of a 512-bit vsqrtps; 0 without AVX-512

	// PastCache is a multiple of the last-level cache's size. If a launch's buffers have at least that size, large outputs are
	// stored non-temporally where [plan.FindOutputs] permits that. 0 means never.
	PastCache float64

	// PastCacheAlone replaces PastCache for launches on one core, unless it is 0.
	PastCacheAlone float64

	// HalfLines is set if two half-line stores are faster than one 512-bit store to lines that miss.
	HalfLines bool

	// FetchAhead is set if prefetching the rows of loads speeds up launches with large outputs.
	FetchAhead bool

	// SplitGathers is set if a gather of 8 elements is slower than 8 loads with insertions.
	SplitGathers bool

	// Misses is the maximum number of outstanding L1 misses of a core.
	Misses int
}

// generic is the table of processors without a table of their own.
var generic = Model{Name: "generic", Divide: 10, Root: 12, FetchAhead: true, Misses: 12}

var models = []*Model{
	{Name: "haswell", FetchAhead: true, Misses: 10},
	{Name: "skylake", FetchAhead: true, Misses: 12},
	{Name: "skylake-sp", Divide: 10, Root: 12, HalfLines: true, FetchAhead: true, Misses: 12},
	{Name: "icelake", Divide: 10, Root: 12, HalfLines: true, FetchAhead: true, Misses: 12},
	{Name: "zen2", PastCache: 1.25, SplitGathers: true, Misses: 22},
	{Name: "zen3", PastCache: 1.25, SplitGathers: true, Misses: 24},
	{Name: "zen4", Divide: 7, Root: 10, PastCache: 1.25, SplitGathers: true, Misses: 24},
	{Name: "zen5", Divide: 2.5, Root: 4.5, PastCache: 1.25, PastCacheAlone: 0.75, SplitGathers: true, Misses: 48},
	&generic,
}

// Generic returns the table of processors without a table of their own.
func Generic() *Model { return &generic }

// Named returns the table of this name, nil if there is none.
func Named(name string) *Model {
	if i := slices.IndexFunc(models, func(m *Model) bool { return m.Name == name }); i >= 0 {
		return models[i]
	}
	return nil
}

// Names returns the names of all tables.
func Names() []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// Host holds the table of this machine's processor.
var Host = later.Value[*Model]{Make: func() *Model { return of(identify()) }}

// identity identifies a processor by CPUID.
type identity struct {
	vendor        string
	family, model uint32
	avx512        bool
}

// of returns the table of a processor. Families newer than the tables have the newest one of their vendor; without AVX-512, Intel's
// have that of Skylake. Families that are too old for a table, and other vendors, have the generic one.
func of(id identity) *Model {
	switch id.vendor {
	case "AuthenticAMD", "HygonGenuine":
		return Named(amd(id))
	case "GenuineIntel":
		return Named(intel(id))
	}
	return &generic
}

// amd returns the table's name for an AMD or Hygon processor. Families 17h and 18h have that of Zen 2, 19h those of Zen 3 and
// Zen 4, newer families that of Zen 5. Older families have the generic table.
func amd(id identity) string {
	switch {
	case id.family < 0x17:
		return "generic"
	case id.family < 0x19:
		return "zen2"
	case id.family > 0x19:
		return "zen5"
	case id.avx512:
		return "zen4"
	}
	return "zen3"
}

// intel returns the table's name for an Intel processor. Families up to 15 other than 6, such as the Pentium 4, have the generic one.
// Models of family 6 that are not listed, and newer families, have that of Ice Lake if they have AVX-512, else that of Skylake.
func intel(id identity) string {
	if id.family == 6 {
		switch id.model {
		case 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56: // Haswell and Broadwell
			return "haswell"
		case 0x55: // Skylake-SP, Cascade Lake and Cooper Lake
			return "skylake-sp"
		}
	}
	switch {
	case id.family != 6 && id.family <= 15:
		return "generic"
	case id.avx512:
		return "icelake"
	}
	return "skylake"
}
