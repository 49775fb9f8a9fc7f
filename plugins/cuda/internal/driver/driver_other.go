//go:build !(linux && (amd64 || arm64))

package driver

import "errors"

// Driver is a loaded driver library, which this system cannot have.
type Driver struct{ Path string }

// Open returns an error.
func Open(string) (*Driver, error) {
	return nil, errors.New("the CUDA plugin needs Linux on amd64 or arm64")
}
