package ir

import "fmt"

// Op is an operation. Each constant's comment has the form operands → result, where T stands for one type and S for another.
type Op uint8

// The operations.
const (
	Invalid Op = iota

	// Constants and arithmetic. Integers wrap; floats round to nearest even in their own type.
	Const   // → T; the bits are in Instr.Bits
	Neg     // T → T, ints and floats
	Not     // T → T, ints (bitwise) and bool (logical)
	Abs     // T → T; the minimum signed integer is unchanged
	Sqrt    // T → T, floats, correctly rounded
	Floor   // T → T, floats
	Ceil    // T → T, floats
	Trunc   // T → T, floats
	Round   // T → T, floats: to the nearest integer, ties up (JavaScript's Math.round); −0 for −0.5 ≤ x ≤ −0
	Rint    // T → T, floats: to the nearest integer, ties to even
	Clz     // T → i32, ints: leading zeros, the width for 0
	Ctz     // T → i32, ints: trailing zeros, the width for 0
	Popcnt  // T → i32, ints: bits that are 1
	Add     // T T → T, ints and floats
	Sub     // T T → T
	Mul     // T T → T
	Div     // T T → T; ints: truncated, zero divisors fault, minimum/−1 wraps
	Rem     // T T → T; ints: sign of the dividend, zero divisors fault, minimum%−1 is 0; floats: exact fmod
	Min     // T T → T; NaN propagates, −0 < +0
	Max     // T T → T; NaN propagates, −0 < +0
	MulHi   // T T → T, ints: high half of the double-width product
	And     // T T → T, ints and bool
	Or      // T T → T, ints and bool
	Xor     // T T → T, ints and bool
	Shl     // T u32|i32 → T, ints; the count is taken modulo the width
	Shr     // T u32|i32 → T, ints; arithmetic if T is signed, else logical
	FMA     // T T T → T, floats: a·b + c, rounded once
	Select  // bool T T → T: the second operand if the first is true, otherwise the third; evaluates both
	Eq      // T T → bool; false for NaN
	Ne      // T T → bool; true for NaN
	Lt      // T T → bool, ints and floats
	Le      // T T → bool, ints and floats
	Convert // S → T: any type to the nearest float, ties to even; bool and ints extended to 64 bits; bool to 32-bit ints; T to T
	Sat     // S → T: float to int, truncated and saturating; NaN becomes 0
	Wrap    // S → T: float to int (truncated) or int to int, modulo 2^width; NaN and infinities become 0
	Bitcast // S → T of the same size, except bool: same bits, canonical for NaN
	Quant   // T → T, floats: rounded to a value of Instr.Elem, which is T or, for F32, F16 or BF16; canonicalizes NaN
	Math    // T… → T, floats: function Instr.Fn of the device library

	// Memory. The operands of Instr.Path's indices come first.
	Load   // indices → T
	Store  // indices, T →
	Atomic // indices, operands by Instr.Atomic → T: the old value; relaxed, device-wide
	Zero   // → ; clears a private array
	Extent // → i32: extent of dimension Instr.Axis of a Global array

	// The work-item and its group.
	Item     // → i32; coordinate Instr.Item for axis Instr.Axis
	Barrier  // → ; group-uniform control flow only; orders shared and global memory accesses within the group
	Reduce   // T → T, over the group, by Instr.Combine, in the language's order
	Scan     // T → T, over the group, by Instr.Combine; exclusive if Instr.Exclusive
	Subgroup // operands → result by Instr.Subgroup
	Uniform  // T → T: the value of the group's first item; faults in items that have another

	// Host services.
	Print  // T… → ; Instr.Text holds the text between the operands
	Assert // bool, T… → ; if false, causes fault Instr.Assert with message Instr.Text
	Call   // T… → T or nothing; calls host service Instr.Fn

	// Control.
	Region      // block: → results; an extension operation also has operands
	If          // bool → results
	Loop        // initial values of its block's parameters → results
	Yield       // results →
	Break       // results of Instr.Target →
	Continue    // parameters of Instr.Target's body →
	Return      // →
	Unreachable // →

	// Version 2.
	Fence // → ; orders the item's accesses by Instr.Order in scope Instr.Reach
	Clock // → u64: nanoseconds of a monotonic device clock
	Pause // → ; a hint that the item spins
	Lib   // S… → T…: function Instr.Fn of the device library, with Instr.Arrays by reference

	numOps
)

var opNames = [numOps]string{
	"invalid", "const", "neg", "not", "abs", "sqrt", "floor", "ceil", "trunc", "round", "rint", "clz", "ctz", "popcnt",
	"add", "sub", "mul", "div", "rem", "min", "max", "mulhi", "and", "or", "xor", "shl", "shr", "fma", "select",
	"eq", "ne", "lt", "le", "convert", "sat", "wrap", "bitcast", "quant", "math",
	"load", "store", "atomic", "zero", "extent",
	"item", "barrier", "reduce", "scan", "subgroup", "uniform",
	"print", "assert", "call",
	"block", "if", "loop", "yield", "break", "continue", "return", "unreachable",
	"fence", "clock", "pause", "lib",
}

// String returns the operation's name in the text form.
func (op Op) String() string {
	if op < numOps {
		return opNames[op]
	}
	return fmt.Sprintf("op(%d)", uint8(op))
}

// IsPure reports whether the result depends only on the operands, the item and the launch, and there is no side effect. CSE and DCE
// then apply. It returns false for Div and Rem, which are pure only for some operands; see [Instr.IsPure].
func (op Op) IsPure() bool {
	return op.IsArith() && op != Div && op != Rem || op == Extent || op == Item
}

// FenceOrder is the set of accesses that a [Fence] orders.
type FenceOrder uint8

// The orders of a fence.
const (
	Acquire        FenceOrder = iota // later accesses stay after earlier loads
	Release                          // earlier accesses stay before later stores
	AcquireRelease                   // both
	numFenceOrders
)

var fenceOrders = [numFenceOrders]string{"acquire", "release", "both"}

// String returns the order's name in the text form.
func (o FenceOrder) String() string {
	if o < numFenceOrders {
		return fenceOrders[o]
	}
	return fmt.Sprintf("order(%d)", uint8(o))
}

// FenceReach is the scope of a [Fence].
type FenceReach uint8

// The scopes of a fence.
const (
	ReachGroup  FenceReach = iota // items of the group
	ReachDevice                   // all items on the device, also of other launches
	ReachSystem                   // additionally other devices and the host
	numFenceReaches
)

var fenceReaches = [numFenceReaches]string{"group", "device", "system"}

// String returns the reach's name in the text form.
func (r FenceReach) String() string {
	if r < numFenceReaches {
		return fenceReaches[r]
	}
	return fmt.Sprintf("reach(%d)", uint8(r))
}

// ItemKind is the coordinate that [Item] returns.
type ItemKind uint8

// The coordinates of a work-item.
const (
	GlobalID     ItemKind = iota // g.x, g.y, g.z
	LocalID                      // g.local
	GroupID                      // g.group
	GlobalSize                   // g.size
	GroupSize                    // g.groupSize
	NumGroups                    // g.groups
	Lane                         // g.lane; has no axis
	SubgroupSize                 // g.subgroupSize; has no axis
	numItemKinds
)

var itemNames = [numItemKinds]string{"global", "local", "group", "size", "groupsize", "groups", "lane", "subgroupsize"}

// String returns the coordinate's name in the text form.
func (k ItemKind) String() string {
	if k < numItemKinds {
		return itemNames[k]
	}
	return fmt.Sprintf("item(%d)", uint8(k))
}

// HasAxis reports whether the coordinate exists for each axis.
func (k ItemKind) HasAxis() bool { return k < Lane }

// ObservesGroup reports whether the coordinate may depend on the partition of the grid into groups and subgroups.
func (k ItemKind) ObservesGroup() bool { return k != GlobalID && k != GlobalSize }

// Combine is the operation of a group reduction or scan.
type Combine uint8

// The combining operations.
const (
	CombineAdd Combine = iota
	CombineMin
	CombineMax
	numCombines
)

var combineNames = [numCombines]string{"add", "min", "max"}

// String returns the operation's name in the text form.
func (c Combine) String() string {
	if c < numCombines {
		return combineNames[c]
	}
	return fmt.Sprintf("combine(%d)", uint8(c))
}

// AtomicKind is the operation of an [Atomic].
type AtomicKind uint8

// The atomic operations. AtomicLoad has no operand, AtomicCompareExchange an expected and a new value, the others one operand;
// each returns the old value.
const (
	AtomicAdd AtomicKind = iota
	AtomicSub
	AtomicMin
	AtomicMax
	AtomicAnd
	AtomicOr
	AtomicXor
	AtomicExchange
	AtomicCompareExchange
	AtomicLoad
	AtomicStore
	numAtomicKinds
)

var atomicNames = [numAtomicKinds]string{"add", "sub", "min", "max", "and", "or", "xor", "exchange", "cmpxchg", "load", "store"}

// String returns the operation's name in the text form.
func (k AtomicKind) String() string {
	if k < numAtomicKinds {
		return atomicNames[k]
	}
	return fmt.Sprintf("atomic(%d)", uint8(k))
}

// Operands returns the number of operands after the indices.
func (k AtomicKind) Operands() int {
	switch k {
	case AtomicLoad:
		return 0
	case AtomicCompareExchange:
		return 2
	}
	return 1
}

// AssertKind is the kind of fault of a failed [Assert].
type AssertKind uint8

// The faults of an assertion.
const (
	AssertFailed   AssertKind = iota // the source asserts the condition
	AssertOverflow                   // an integer overflows its type
	numAssertKinds
)

var assertNames = [numAssertKinds]string{"failed", "overflow"}

// String returns the kind's name in the text form.
func (k AssertKind) String() string {
	if k < numAssertKinds {
		return assertNames[k]
	}
	return fmt.Sprintf("assert(%d)", uint8(k))
}

// SubgroupKind is the kind of a [Subgroup] operation.
type SubgroupKind uint8

// The subgroup operations.
const (
	SubgroupAdd         SubgroupKind = iota // T → T
	SubgroupMin                             // T → T
	SubgroupMax                             // T → T
	SubgroupAny                             // bool → bool
	SubgroupAll                             // bool → bool
	SubgroupBallot                          // bool → u64: a bit per lane
	SubgroupBroadcast                       // T, lane i32 → T
	SubgroupShuffle                         // T, lane i32 → T
	SubgroupShuffleXor                      // T, mask i32 → T
	SubgroupShuffleUp                       // T, delta i32 → T
	SubgroupShuffleDown                     // T, delta i32 → T
	SubgroupScanAdd                         // T → T, inclusive
	numSubgroupKinds
)

var subgroupNames = [numSubgroupKinds]string{"add", "min", "max", "any", "all", "ballot", "broadcast", "shuffle",
	"shuffle_xor", "shuffle_up", "shuffle_down", "scan_add"}

// String returns the operation's name in the text form.
func (k SubgroupKind) String() string {
	if k < numSubgroupKinds {
		return subgroupNames[k]
	}
	return fmt.Sprintf("subgroup(%d)", uint8(k))
}
