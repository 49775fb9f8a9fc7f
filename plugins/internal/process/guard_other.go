//go:build !(linux && amd64)

package process

import "unsafe"

// Supported reports whether [Call] and [NewCode] work on this platform.
func Supported() bool { return false }

// Call gives [ErrUnsupported] on this platform.
func Call(uintptr, unsafe.Pointer) error { return ErrUnsupported }
