//go:build amd64 || arm64

package goroutine

// current returns the address of the goroutine's descriptor.
func current() uint64
