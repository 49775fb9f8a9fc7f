//go:build !(linux && (amd64 || arm64)) || nonative

package cl

import (
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Library is unavailable on this platform.
type Library struct{ Path string }

// Open returns an error, since OpenCL is unavailable on this platform.
func Open(string) (*Library, error) {
	return nil, errors.New(process.Lacking("OpenCL is used on Linux, on x86-64 and arm64"))
}
