package interp

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// FaultKind says what went wrong in a work-item.
type FaultKind uint8

// The kinds of faults. The last two are found by race checking alone.
const (
	OutOfBounds FaultKind = iota
	DivisionByZero
	AssertionFailed
	DivergentUniform
	CallFailed
	Overflow
	Race
	Unwritten
)

var faultNames = [...]string{"out-of-bounds", "division-by-zero", "assertion", "divergent-uniform", "call-failed", "overflow", "race",
	"unwritten-read"}

// OfAssert returns the kind of fault that a failed assertion is.
func OfAssert(in *ir.Instr) FaultKind {
	if in.Assert == ir.AssertOverflow {
		return Overflow
	}
	return AssertionFailed
}

// String returns the kind's name.
func (k FaultKind) String() string { return faultNames[k] }

// Fault is the first fault of a run: of the faults of the first group that has any, that of its first work-item.
type Fault struct {
	Kind   FaultKind
	Site   int       // position in [ir.Kernel.Sites]
	Array  *ir.Array // the array accessed, or nil
	Axis   int       // OutOfBounds: which index of the access, from 0
	Index  int64     // OutOfBounds: its value
	Extent int64     // OutOfBounds: it had to be at least 0 and below this
	Item   [3]int    // the work-item: x, y, z
	Text   string    // AssertionFailed, Overflow: the message; CallFailed: the service's error

	// Race: the earlier of the two accesses.
	OtherSite int
	OtherItem [3]int
	SameGroup bool // both items are known to be of one group

	group, order int // of the item, and its place there
}

// Error describes the fault without its place in the source.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	switch f.Kind {
	case OutOfBounds:
		fmt.Fprintf(&b, ": index %d of %s is not in 0 to %d", f.Index, f.Array.Name, f.Extent-1)
		if f.Extent <= 0 {
			b.Reset()
			fmt.Fprintf(&b, "%s: index %d of %s, which has no elements", f.Kind, f.Index, f.Array.Name)
		}
	case AssertionFailed, Overflow, CallFailed:
		b.WriteString(": " + f.Text)
	case Race:
		fmt.Fprintf(&b, ": %s is also accessed by item %v", f.Array.Name, f.OtherItem)
	case Unwritten:
		fmt.Fprintf(&b, ": of %s", f.Array.Name)
	}
	fmt.Fprintf(&b, " (item %d, %d, %d)", f.Item[0], f.Item[1], f.Item[2])
	return b.String()
}
