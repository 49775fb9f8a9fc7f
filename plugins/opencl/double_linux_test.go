//go:build linux && (amd64 || arm64) && !nonative

package opencl

import "testing"

// TestUsesDouble distinguishes the type from names and comments that contain the word.
func TestUsesDouble(t *testing.T) {
	for source, want := range map[string]bool{
		"kernel void k_doubled(global float *x) { x[0] = 1; } // double": false,
		"float d = (float)((double)a / (double)b);":                      true,
		"// doubleX = 2\nfloat doubleX = 2;":                             false,
		"double2 v;":                                                     true,
	} {
		if got := usesDouble(source); got != want {
			t.Errorf("%q: %v", source, got)
		}
	}
}
