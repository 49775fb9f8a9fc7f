package memory

// pieceSize is the maximum size that one call of Go's copy or clear gets, in bytes. The scheduler cannot interrupt such a call, so
// that a garbage collection, and with it every other goroutine, waits for its end.
const pieceSize = 4 << 20

// Clone returns a copy of b. It is nil if b has no bytes.
func Clone(b []byte) []byte {
	if len(b) <= pieceSize {
		return append([]byte(nil), b...)
	}
	c := make([]byte, len(b))
	Copy(c, b)
	return c
}

// eachPiece calls fn for consecutive pieces of up to pieceSize bytes.
func eachPiece(b []byte, fn func(piece []byte)) {
	for len(b) > 0 {
		n := min(len(b), pieceSize)
		fn(b[:n:n])
		b = b[n:]
	}
}
