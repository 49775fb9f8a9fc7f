package interp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// FaultKind is the kind of a work-item's fault.
type FaultKind uint8

// The kinds of faults. The last two are reported only by race checking.
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

// OfAssert returns the fault kind of a failed assertion.
func OfAssert(in *ir.Instr) FaultKind {
	if in.Assert == ir.AssertOverflow {
		return Overflow
	}
	return AssertionFailed
}

// String returns the kind's name.
func (k FaultKind) String() string { return faultNames[k] }

// Fault is the first fault of a run: that of the first faulting work-item in the first faulting group.
type Fault struct {
	Kind   FaultKind
	Site   int       // index in [ir.Kernel.Sites]
	Array  *ir.Array // the accessed array, or nil
	Axis   int       // OutOfBounds: position of the index in the access, from 0
	Index  int64     // OutOfBounds: value of the index, or the bits of a u64
	Extent int64     // OutOfBounds: exclusive upper bound of the index
	Item   [3]int    // coordinates of the work-item
	Text   string    // AssertionFailed, Overflow: the message; CallFailed: the service's error

	// Race: the earlier of the two accesses.
	OtherSite int
	OtherItem [3]int
	SameGroup bool // both items belong to the same group

	unsigned     bool // the index is a u64; set by the interpreter alone
	group, order int  // group of the item and its position there
}

// Error describes the fault without its source position.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	switch f.Kind {
	case OutOfBounds:
		index := strconv.FormatInt(f.Index, 10)
		if f.unsigned {
			index = strconv.FormatUint(uint64(f.Index), 10)
		}
		fmt.Fprintf(&b, ": index %s of %s is not in 0 to %d", index, f.Array.Name, f.Extent-1)
		if f.Extent <= 0 {
			b.Reset()
			fmt.Fprintf(&b, "%s: index %s of %s, which has no elements", f.Kind, index, f.Array.Name)
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
