//go:build !amd64

package memory

func copyCached(dst, src []byte) { copy(dst, src) }

func copyLarge(dst, src []byte) { copy(dst, src) }
