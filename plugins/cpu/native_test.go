package cpu

import "testing"

// TestLevelOf compares levels of x86-64 as numbers: a processor without one is below all.
func TestLevelOf(t *testing.T) {
	for arch, want := range map[string]int{"x86-64-v2": 2, "x86-64-v10": 10, "x86-64": 0, "znver4": 0, "": 0, "x86-64-v": 0} {
		if got := levelOf(arch); got != want {
			t.Errorf("%q: %d, want %d", arch, got, want)
		}
	}
}
