//go:build !(linux && (amd64 || arm64))

package driver

import "errors"

// Driver is unavailable on this platform.
type Driver struct{ Path string }

// Open returns an error, since the driver is unavailable on this platform.
func Open(string) (*Driver, error) {
	return nil, errors.New("the CUDA plugin needs Linux on amd64 or arm64")
}
