package box

import (
	"bufio"
	"testing"
)

// writes records the slices that are written to it.
type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, p)
	return len(p), nil
}

// TestPieces writes a large piece from where it is, and a small one together with others.
func TestPieces(t *testing.T) {
	const bufferBytes = 64 << 10
	var got writes
	out := bufio.NewWriterSize(&got, bufferBytes)
	large, small := make([]byte, bufferBytes+5), make([]byte, 10)
	for _, piece := range [][]byte{small, small, large} {
		if err := writePiece(out, piece); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || len(got[0]) != 2*11+1 || len(got[1]) != len(large) || &got[1][0] != &large[0] {
		t.Errorf("%d writes, the last not of the piece itself", len(got))
	}
}
