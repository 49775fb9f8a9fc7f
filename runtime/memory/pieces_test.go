package memory

import (
	"bytes"
	"slices"
	"testing"
)

func TestClone(t *testing.T) {
	for _, n := range []int{0, 1, 1000, pieceSize, pieceSize + 1, 20<<20 + 7} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i * 7)
		}
		c := Clone(b)
		if !bytes.Equal(b, c) || (c == nil) != (n == 0) {
			t.Errorf("the copy of %d bytes differs", n)
		}
		if n > 0 && &b[0] == &c[0] {
			t.Errorf("the copy of %d bytes shares memory", n)
		}
	}
}

// TestPieces checks that large blocks are copied and cleared in pieces, each of which is short.
func TestPieces(t *testing.T) {
	b := make([]byte, 3*pieceSize+5)
	var sizes []int
	eachPiece(b, func(piece []byte) {
		sizes = append(sizes, len(piece))
		for i := range piece {
			piece[i]++
		}
	})
	if !slices.Equal(sizes, []int{pieceSize, pieceSize, pieceSize, 5}) || bytes.Count(b, []byte{1}) != len(b) {
		t.Errorf("pieces of %v bytes", sizes)
	}
	dst := make([]byte, len(b))
	copySized(dst, b, 1<<30) // with the stores of the largest copies
	if !bytes.Equal(dst, b) {
		t.Error("the copy differs")
	}
	clearAll(dst)
	if bytes.Count(dst, []byte{0}) != len(dst) {
		t.Error("some bytes are not zero")
	}
}
