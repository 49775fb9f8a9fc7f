package amd64

import (
	"testing"

	"golang.org/x/sys/cpu"
)

// TestHost checks the features of machines that have one extension, or AVX-512 and one more.
func TestHost(t *testing.T) {
	x := &cpu.X86
	saved := cpu.X86
	defer func() { cpu.X86 = saved }()
	parts := []*bool{&x.HasAVX512F, &x.HasAVX512CD, &x.HasAVX512BW, &x.HasAVX512DQ, &x.HasAVX512VL}
	set := func(flags []*bool, to bool) {
		for _, f := range flags {
			*f = to
		}
	}
	single := map[Features]*bool{
		SSE41: &x.HasSSE41, POPCNTISA: &x.HasPOPCNT, LZCNTISA: &x.HasLZCNT, BMI1: &x.HasBMI1, BMI2: &x.HasBMI2, AVX: &x.HasAVX,
		AVX2: &x.HasAVX2, FMA: &x.HasFMA, F16C: &x.HasF16C, IFMA: &x.HasAVX512IFMA, VBMI: &x.HasAVX512VBMI, VBMI2: &x.HasAVX512VBMI2,
		VNNI: &x.HasAVX512VNNI, BITALG: &x.HasAVX512BITALG, VPOPCNTDQ: &x.HasAVX512VPOPCNTDQ, BF16: &x.HasAVX512BF16, GFNI: &x.HasAVX512GFNI,
	}
	if len(single) != numFeatures-1 {
		t.Errorf("%d extensions besides AVX-512, want %d", len(single), numFeatures-1)
	}
	set(parts, false)
	for _, has := range single {
		*has = false
	}
	if f := Host(); f != 0 {
		t.Errorf("a machine without any has %v", f)
	}
	for _, part := range parts { // AVX512 needs all parts
		set(parts, true)
		*part = false
		if f := Host(); f != 0 {
			t.Errorf("a machine without a part of AVX-512 has %v", f)
		}
	}
	for f, has := range single {
		*has = true
		set(parts, false)
		if want := f &^ evexFeatures; Host() != want {
			t.Errorf("a machine with %v has %v", f, Host())
		}
		set(parts, true)
		if want := f | AVX512; Host() != want {
			t.Errorf("a machine with AVX-512 and %v has %v", f, Host())
		}
		*has = false
	}
}
