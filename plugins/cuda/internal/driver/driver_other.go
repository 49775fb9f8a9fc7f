//go:build !(linux && (amd64 || arm64)) || nonative

package driver

import (
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Driver is never opened in this build.
type Driver struct{ Path string }

// Open returns an error, which says why this build cannot use CUDA: its platform, or the tag
// nonative.
func Open(string) (*Driver, error) {
	return nil, errors.New(process.Lacking("the CUDA plugin needs Linux on amd64 or arm64"))
}
