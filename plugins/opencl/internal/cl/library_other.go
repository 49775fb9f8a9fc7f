//go:build !(linux && (amd64 || arm64))

package cl

import "errors"

// Library is unavailable on this platform.
type Library struct{ Path string }

// Open returns an error, since OpenCL is unavailable on this platform.
func Open(string) (*Library, error) {
	return nil, errors.New("OpenCL is used on Linux, on x86-64 and arm64")
}
