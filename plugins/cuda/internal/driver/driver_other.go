//go:build !(linux && (amd64 || arm64)) || nonative

package driver

import (
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Driver is unavailable on this platform.
type Driver struct{ Path string }

// Open returns an error, since the driver is unavailable on this platform.
func Open(string) (*Driver, error) {
	return nil, errors.New(process.Lacking("the CUDA plugin needs Linux on amd64 or arm64"))
}
