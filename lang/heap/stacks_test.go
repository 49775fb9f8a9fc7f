package heap

import (
	"bytes"
	"runtime/pprof"
	"slices"
	"testing"

	"github.com/google/pprof/profile"
)

// TestSamples compares decoded heap profiles with those of package profile.
func TestSamples(t *testing.T) {
	var text bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&text, 0); err != nil {
		t.Fatal(err)
	}
	want, err := profile.ParseData(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := samplesOf(&text)
	if err != nil || len(got) != len(want.Sample) || len(got) == 0 {
		t.Fatalf("%d samples, %v; want %d", len(got), err, len(want.Sample))
	}
	for i, s := range want.Sample {
		var stack [][]string
		for _, at := range s.Location {
			var names []string
			for _, line := range at.Line {
				names = append(names, line.Function.Name)
			}
			stack = append(stack, names)
		}
		if held := uint64(s.Value[len(s.Value)-1]); got[i].held != held || !slices.EqualFunc(got[i].stack, stack, slices.Equal) {
			t.Errorf("sample %d: %d bytes at %q, want %d at %q", i, got[i].held, got[i].stack, held, stack)
		}
	}
}

// TestBrokenProfiles decodes messages that end early.
func TestBrokenProfiles(t *testing.T) {
	if _, err := samplesOf(bytes.NewReader([]byte("no gzip stream"))); err == nil {
		t.Error("no error for a text")
	}
	whole := []byte{0x12, 4, 0x0a, 2, 1, 2, 0x32, 1, 'a'}
	for n := range len(whole) {
		if fields(whole[:n], func(uint64, uint64, []byte) {}) != (n == 0 || n == 6) {
			t.Errorf("the first %d bytes: wrong result", n)
		}
	}
}
