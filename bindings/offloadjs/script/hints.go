package script

import (
	"fmt"

	contract "github.com/orepl/orepl/runtime/offload"
)

// hintFor returns advice for an error without a hint, or "" if there is none. The runtime reports the cause, but cannot
// phrase advice in terms of the script.
func hintFor(e *contract.Error) string {
	switch e.Code {
	case contract.OutOfBounds:
		return outOfBoundsHint(e.Fault)
	case contract.DivisionByZero:
		return "test the divisor before the division, or divide floats"
	case contract.Assertion:
		return "kernel.debug({ item: [x, y, z], size: … }, …) shows how the work-item came there"
	case contract.Overflow:
		return "JavaScript goes on with that number: convert an operand, as in f64(…), where the value counts; write (…) | 0 or Math.imul where it is to wrap"
	case contract.Divergence:
		return "g.uniform is for values that are the same in all work-items of a group"
	case contract.Race:
		if e.Fault != nil && e.Fault.Other != nil && e.Fault.Other.SameGroup {
			return "let one work-item do it, use Atomics, or put g.barrier() between the accesses"
		}
		return "g.barrier() orders the work-items of one group only: make it two launches, let one work-item do it, or use Atomics"
	case contract.Uninitialized:
		if e.Fault != nil && e.Fault.Ragged {
			return "the launch's size is no multiple of its groupSize, and work-items beyond it store nothing: " +
				"launch with { groups, groupSize }, and compare g.x with the length in the kernel"
		}
		return "let some work-item write it before the barrier, or a loop set the whole array first"
	case contract.Timeout:
		return "raise the launch's timeout, or do less in one launch"
	case contract.Closed:
		return "it was freed or closed before: keep it for longer, or make another one"
	case contract.InvalidQueue:
		return "close only what createQueue made, and use it on its own device"
	case contract.InvalidBinary:
		return "the image is damaged or of another version: build it again"
	case contract.InvalidSize:
		switch e.Op {
		case "create buffer":
			return "use several buffers, or a smaller element type"
		case "launch":
			return "use several launches, or let each work-item do more"
		}
		return "the buffer's .shape and .length say what it has"
	}
	return ""
}

// outOfBoundsHint returns advice on the guard that keeps an index within its extent.
func outOfBoundsHint(f *contract.Fault) string {
	negative := f != nil && f.Index < 0 && !f.Unsigned
	switch {
	case f != nil && f.Swapped:
		return fmt.Sprintf("the launch's size is the shape of %s, but sizes go x first, and shapes outermost first: write size: %[1]s, which means an item for each element", f.Array)
	case f != nil && f.Pos.File == "" && f.Extent > 0: // in an operation on arrays
		return fmt.Sprintf("the indices of %d elements are 0 to %d; negative ones, down to -%[1]d, count from the end", f.Extent, f.Extent-1)
	case f == nil || f.Bound == "":
		return "guard the access, or launch fewer work-items"
	case f.Subscript == "" && negative:
		return "guard the access: the index must not be negative"
	case f.Subscript == "":
		return fmt.Sprintf("guard the access: the index must be below %s; or launch fewer work-items", f.Bound)
	case negative:
		return "guard the access, as in `if (" + f.Subscript + " >= 0) …`"
	}
	return "guard the access, as in `if (" + f.Subscript + " < " + f.Bound + ") …`, or launch fewer work-items"
}
