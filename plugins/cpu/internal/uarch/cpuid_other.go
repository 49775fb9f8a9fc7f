//go:build !amd64

package uarch

// identify returns the zero identity on architectures other than amd64.
func identify() identity { return identity{} }
