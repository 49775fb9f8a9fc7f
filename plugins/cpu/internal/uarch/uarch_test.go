package uarch

import (
	"slices"
	"testing"
)

// TestOf checks the tables of processors by their CPUID signatures.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		processor, vendor string
		eax               uint32
		avx512            bool
		want              string
	}{
		{"Core i7-4770", "GenuineIntel", 0x306c3, false, "haswell"},
		{"Xeon E5-2680 v4", "GenuineIntel", 0x406f1, false, "haswell"},
		{"Core i7-6700", "GenuineIntel", 0x506e3, false, "skylake"},
		{"Core i9-12900", "GenuineIntel", 0x90672, false, "skylake"},
		{"Xeon Platinum 8275CL", "GenuineIntel", 0x50657, true, "skylake-sp"},
		{"Xeon Platinum 8375C", "GenuineIntel", 0x606a6, true, "icelake"},
		{"Xeon Platinum 8488C", "GenuineIntel", 0x806f8, true, "icelake"},
		{"Pentium 4", "GenuineIntel", 0xf41, false, "generic"},
		{"family 15, a model number of Broadwell", "GenuineIntel", 0x40ff1, false, "generic"},
		{"family 18, a model number of Haswell", "GenuineIntel", 0x330fc0, false, "skylake"},
		{"family 18", "GenuineIntel", 0x340f10, true, "icelake"},
		{"Ryzen 9 3950X", "AuthenticAMD", 0x870f10, false, "zen2"},
		{"EPYC 7R13", "AuthenticAMD", 0xa00f11, false, "zen3"},
		{"EPYC 9R14", "AuthenticAMD", 0xa10f11, true, "zen4"},
		{"EPYC Turin", "AuthenticAMD", 0xb00f21, true, "zen5"},
		{"Athlon 64", "AuthenticAMD", 0xf4a, false, "generic"},
		{"KX-6000", "CentaurHauls", 0x307b0, false, "generic"},
		{"none", "", 0, false, "generic"},
	} {
		id := identity{vendor: c.vendor, family: family(c.eax), model: model(c.eax), avx512: c.avx512}
		if got := of(id); got.Name != c.want {
			t.Errorf("%s, %+v: %s, want %s", c.processor, id, got.Name, c.want)
		}
	}
}

// TestNamed checks that each table is found by its name, and that tables with AVX-512 have costs of its divisions.
func TestNamed(t *testing.T) {
	for _, name := range Names() {
		m := Named(name)
		if m == nil || m.Name != name {
			t.Fatalf("%s is %v", name, m)
		}
		if m.Misses == 0 {
			t.Errorf("%s lacks costs: %+v", name, *m)
		}
		wide := slices.Contains([]string{"skylake-sp", "icelake", "zen4", "zen5", "generic"}, name)
		if wide != (m.Divide > 0) || wide != (m.Root > 0) {
			t.Errorf("%s: costs of 512 bits %v %v", name, m.Divide, m.Root)
		}
	}
	if Named("zen1") != nil {
		t.Error("there is a table zen1")
	}
	t.Logf("this machine: %s", Host.Get().Name)
}
