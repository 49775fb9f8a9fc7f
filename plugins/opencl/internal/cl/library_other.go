//go:build !(linux && (amd64 || arm64)) || nonative

package cl

import (
	"errors"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Library is never opened in this build.
type Library struct{ Path string }

// Open returns an error, which says why this build cannot use OpenCL: its platform, or the tag nonative.
func Open(string) (*Library, error) {
	return nil, errors.New(process.Lacking("OpenCL is used on Linux, on x86-64 and arm64"))
}
