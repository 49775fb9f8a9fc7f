//go:build !(linux && amd64) || nonative

package native

import (
	"context"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Image is unavailable on this platform.
type Image struct{}

// Load returns [process.ErrUnsupported] on this platform.
func Load(context.Context, string, []byte) (*Image, error) { return nil, process.ErrUnsupported }

// Symbols returns nil on this platform.
func (*Image) Symbols() []Symbol { return nil }

// Lookup returns false on this platform.
func (*Image) Lookup(string) (Symbol, uintptr, bool) { return Symbol{}, 0, false }

// Memory returns nil on this platform.
func (*Image) Memory(Symbol) []byte { return nil }

// Offset returns false on this platform.
func (*Image) Offset(uintptr) (uint64, bool) { return 0, false }

// Close does nothing on this platform.
func (*Image) Close() error { return nil }

// Caller is unavailable on this platform.
type Caller struct{}

// NewCaller returns [process.ErrUnsupported] on this platform.
func (*Image) NewCaller() (*Caller, error) { return nil, process.ErrUnsupported }

// Free does nothing on this platform.
func (*Caller) Free() {}

// Range returns [process.ErrUnsupported] on this platform.
func (*Caller) Range(uintptr, *Words, int, int, *atomic.Bool) error { return process.ErrUnsupported }

// Once returns [process.ErrUnsupported] on this platform.
func (*Caller) Once(uintptr, *Words, *atomic.Bool) error { return process.ErrUnsupported }

// Items returns [process.ErrUnsupported] on this platform.
func (*Caller) Items(uintptr, *Words, [3]int, int, int, *atomic.Bool) error {
	return process.ErrUnsupported
}

// Region returns [process.ErrUnsupported] on this platform.
func (*Caller) Region(uintptr, *Words, League, *atomic.Bool) error { return process.ErrUnsupported }

// Enter does nothing on this platform.
func (*Caller) Enter(uintptr, uint64) {}
