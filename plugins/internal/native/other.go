//go:build !(linux && amd64) || nonative

package native

import (
	"context"
	"sync/atomic"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Image is unavailable in this build.
type Image struct{}

// Load returns [process.ErrUnsupported] in this build.
func Load(context.Context, string, []byte) (*Image, error) { return nil, process.ErrUnsupported }

// Symbols returns nil in this build.
func (*Image) Symbols() []Symbol { return nil }

// Lookup returns false in this build.
func (*Image) Lookup(string) (Symbol, uintptr, bool) { return Symbol{}, 0, false }

// Memory returns nil in this build.
func (*Image) Memory(Symbol) []byte { return nil }

// Offset returns false in this build.
func (*Image) Offset(uintptr) (uint64, bool) { return 0, false }

// Close does nothing in this build.
func (*Image) Close() error { return nil }

// Caller is unavailable in this build.
type Caller struct{}

// NewCaller returns [process.ErrUnsupported] in this build.
func (*Image) NewCaller() (*Caller, error) { return nil, process.ErrUnsupported }

// Free does nothing in this build.
func (*Caller) Free() {}

// Range returns [process.ErrUnsupported] in this build.
func (*Caller) Range(uintptr, *Words, int, int, *atomic.Bool) error { return process.ErrUnsupported }

// Once returns [process.ErrUnsupported] in this build.
func (*Caller) Once(uintptr, *Words, *atomic.Bool) error { return process.ErrUnsupported }

// Items returns [process.ErrUnsupported] in this build.
func (*Caller) Items(uintptr, *Words, [3]int, int, int, *atomic.Bool) error {
	return process.ErrUnsupported
}

// Region returns [process.ErrUnsupported] in this build.
func (*Caller) Region(uintptr, *Words, League, *atomic.Bool) error { return process.ErrUnsupported }

// Enter does nothing in this build.
func (*Caller) Enter(uintptr, uint64) {}
