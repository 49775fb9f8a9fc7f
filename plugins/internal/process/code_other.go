//go:build !(linux && amd64) || nonative

package process

// Code is unavailable on this platform.
type Code struct{}

// NewCode returns [ErrUnsupported] on this platform.
func NewCode([]byte) (*Code, error) { return nil, ErrUnsupported }

// Entry returns 0 on this platform.
func (*Code) Entry(int) uintptr { return 0 }

// Offset returns false on this platform.
func (*Code) Offset(uintptr) (offset int, ok bool) { return 0, false }

// Free does nothing on this platform.
func (*Code) Free() error { return nil }
