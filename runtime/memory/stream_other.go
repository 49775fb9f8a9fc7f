//go:build !amd64

package memory

func copyStream(dst, src []byte) { copy(dst, src) }
