//go:build !amd64

package uarch

// identify returns the zero identity on other architectures.
func identify() identity { return identity{} }
