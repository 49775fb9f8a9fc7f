//go:build !(linux && amd64) || nonative

package process

// Code is unavailable in this build.
type Code struct{}

// NewCode returns [ErrUnsupported] in this build.
func NewCode([]byte) (*Code, error) { return nil, ErrUnsupported }

// Entry returns 0 in this build.
func (*Code) Entry(int) uintptr { return 0 }

// Offset returns false in this build.
func (*Code) Offset(uintptr) (offset int, ok bool) { return 0, false }

// Free does nothing in this build.
func (*Code) Free() error { return nil }
