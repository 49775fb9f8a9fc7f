// Package uarch holds cost tables of processor families: what instructions and accesses cost where families differ so much
// that the compiler makes other code for them.
//
// The figures are reciprocal throughputs in cycles, as uops.info, Agner Fog's tables and LLVM's schedule models publish
// them; those of Zen 5 were measured. Results of kernels do not depend on the table but for functions of Math.fast.
package uarch

import (
	"slices"
	"sync"
)

// Model is the cost table of a family.
type Model struct {
	Name string

	Divide float64 // a vdivps of 512 bits, 0 without AVX-512
	Root   float64 // a vsqrtps of 512 bits, 0 without AVX-512

	// PastCache is the memory that a launch accesses, relative to the last-level cache, from which rows that it only writes
	// have non-temporal stores. 0 means never.
	PastCache float64

	// PastCacheAlone is PastCache for launches on one core; 0 means the same.
	PastCacheAlone float64

	// HalfLines is set if stores of two halves of a line are faster than one store of 512 bits, for lines that miss.
	HalfLines bool

	// FetchAhead is set if launches with large outputs gain from prefetching the rows of their loads.
	FetchAhead bool

	// SplitGathers is set if a gather of 8 elements takes longer than 8 loads with insertions.
	SplitGathers bool

	// Misses is the number of L1 misses that a core can have in flight.
	Misses int
}

// generic is the table for processors without a table of their own.
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

// Generic returns the table for processors without a table of their own.
func Generic() *Model { return &generic }

// Named returns the table of this name, nil if there is none.
func Named(name string) *Model {
	if i := slices.IndexFunc(models, func(m *Model) bool { return m.Name == name }); i >= 0 {
		return models[i]
	}
	return nil
}

// Names returns the names of the tables.
func Names() []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// Host returns the table for this machine's processor.
var Host = sync.OnceValue(func() *Model { return of(identify()) })

// identity is a processor by CPUID.
type identity struct {
	vendor        string
	family, model uint32
	avx512        bool
}

// of returns the table for a processor. For a family that is newer than the tables it returns the newest table of the
// vendor.
func of(id identity) *Model {
	switch id.vendor {
	case "AuthenticAMD", "HygonGenuine":
		return Named(amd(id))
	case "GenuineIntel":
		return Named(intel(id))
	}
	return &generic
}

// amd names the table of a processor of AMD: family 17h is Zen to Zen 2, 19h Zen 3 and Zen 4, 1Ah Zen 5.
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

// intel names the table of a processor of Intel: by the model, or by its vectors where it is newer.
func intel(id identity) string {
	switch id.model {
	case 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56: // Haswell and Broadwell
		return "haswell"
	case 0x55: // Skylake-SP, Cascade Lake and Cooper Lake
		return "skylake-sp"
	}
	switch {
	case id.family != 6:
		return "generic"
	case id.avx512:
		return "icelake"
	}
	return "skylake"
}
