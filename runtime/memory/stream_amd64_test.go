package memory

import (
	"bytes"
	"testing"
)

// TestStreamAndString tests all methods of copying, including those that this processor does not choose.
func TestStreamAndString(t *testing.T) {
	src := make([]byte, 70001)
	for i := range src {
		src[i] = byte(i * 7)
	}
	for _, n := range []int{1, 63, 64, 65, 255, 256, 4099, 70001} {
		for _, shift := range []int{0, 1, 15} {
			if n <= shift {
				continue
			}
			for name, fn := range map[string]func(dst, src []byte){
				"stream": copyStream, "pieces": copyPieces,
				"string": func(dst, src []byte) { copyString(&dst[0], &src[0], len(dst)) },
			} {
				dst := make([]byte, n+1)
				fn(dst[shift:n], src[:n-shift])
				if !bytes.Equal(dst[shift:n], src[:n-shift]) || dst[n] != 0 {
					t.Errorf("%s of %d bytes at offset %d is wrong", name, n-shift, shift)
				}
			}
		}
	}
}
