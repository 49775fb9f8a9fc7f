package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
)

// Leaf describes operations of lowered kernels that have the same types and the same precondition.
type Leaf struct {
	Name     string // operations, each with its kind, separated by spaces
	Types    string // types for [LeafOf], separated by spaces; "any" is all types, "" is none
	Optional bool   // a target may lack it: other leaves then replace all but clock and pause
	Meaning  string // includes the precondition on operands
}

// Leaves lists every operation of lowered kernels. docs/kernel-ir.md defines the operations; the table states their
// preconditions.
var Leaves = []Leaf{
	{"const", "any", false, "a constant"},
	{"neg", "f32 f64", false, "the sign inverted"},
	{"abs", "f32 f64", false, "the sign cleared"},
	{"floor ceil trunc rint", "f32 f64", false, "rounding to an integer"},
	{"add sub mul", "i32 u32 i64 u64 f32 f64", false, "wrapping for integers, rounded to nearest even for floats"},
	{"fma", "f32 f64", false, "a·b + c rounded once"},
	{"div sqrt", "f64", false, "correctly rounded"},
	{"div sqrt", "f32", true, "correctly rounded; the sequence computes in f64"},
	{"div rem", "i32 u32 i64 u64", false, "the divisor is neither 0 nor, for signed types, −1"},
	{"div.any rem.any", "i32 u32 i64 u64", true, "div and rem by any divisor: 0 by zero, wrapping for the least number by −1"},
	{"rem", "f32 f64", true, "the exact remainder"},
	{"min max", "i32 u32 i64 u64 f32 f64", true, "the lesser or greater; NaN if one is NaN, −0 is below +0"},
	{"round", "f32 f64", true, "to the nearest integer, halves up"},
	{"mulhi", "i32 u32 i64 u64", true, "the high half of the product"},
	{"not and or xor", "bool i32 u32 i64 u64", false, "bitwise"},
	{"shl shr", "i32 u32 i64 u64", false, "the count is from 0 to the width less 1; shr of signed types repeats the sign"},
	{"clz popcnt", "i32 u32 i64 u64", false, "clz of 0 is the width"},
	{"ctz", "i32 u32 i64 u64", true, "ctz of 0 is the width"},
	{"select", "any", false, "the second or third operand"},
	{"eq ne", "any", false, "comparison; NaN equals nothing"},
	{"lt le", "i32 u32 i64 u64 f32 f64", false, "comparison; false for NaN"},
	{"convert", "any", false, "to the nearest value, ties to even"},
	{"wrap", "i32 u32 i64 u64", false, "between integer types: the low bits, or those of the sign or zeros in front"},
	{"sat", "f32 f64", false, "to an integer type that has the truncated operand"},
	{"sat.any", "f32 f64", true, "sat of any operand: saturating, 0 for NaN"},
	{"bitcast", "i32 u32 i64 u64 f32 f64", false, "the bits, those of a NaN as they are"},
	{"quant.f16 quant.bf16", "f32", true, "rounded to a value of the narrow type"},
	{"load store", "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64", false, "an element at an aligned byte offset within the array; i8 to u16 as i32"},
	{"load store", "f16 bf16", true, "an element in the narrow type, as f32"},
	{"atomic.load atomic.cmpxchg", "u32 u64", false, "relaxed; cmpxchg returns the old value. u64 only in kernels that have 64-bit atomics"},
	{"atomic.add atomic.sub atomic.min atomic.max atomic.exchange", "i32 u32 i64 u64 f32 f64", true, "relaxed; returns the old value. A loop of cmpxchg replaces a missing one"},
	{"atomic.and atomic.or atomic.xor", "i32 u32 i64 u64", true, "likewise"},
	{"extent", "i32", false, "an extent of a buffer, as launched"},
	{"item.local item.group item.size item.groupsize item.groups", "i32", false, "position in the group and of the group; the launch's numbers"},
	{"item.subgroupsize", "i32", false, "the width that the kernel was lowered for"},
	{"barrier", "", false, "all items of the group reach it; orders shared and global memory in the group"},
	{"subgroup.ballot", "bool", true, "all items of the group reach it; the result is a u64 with a bit for each lane that exists"},
	{"subgroup.shuffle subgroup.shuffle_up subgroup.shuffle_down", "i32 u32 i64 u64 f32 f64", true, "all items of the group reach it; the value from a lane that does not exist is arbitrary"},
	{"fence", "", false, "orders the item's accesses; acquire, release or both; for the group, the device or the system"},
	{"clock", "", true, "u64 nanoseconds that never decrease; a target without it refuses kernels with a clock"},
	{"pause", "", true, "a hint; for a target without it no code is emitted"},
	{"block if loop yield break continue return unreachable", "", false, "structured control flow"},
}

// nestedJumps names a capability of targets besides leaves: break and continue may leave several constructs at once. Without it
// break leaves the innermost block or loop, and continue never appears in a block inside its loop.
const nestedJumps = "nested jumps"

// wideIndices names a capability of targets: addresses are computed from global identifiers in 64 bits. Compilers that vectorize
// over the items cannot prove that 32-bit sums do not wrap.
const wideIndices = "wide indices"

// leafNames maps each operation to its types, and each type to whether the leaf is optional. The type is "" for operations
// that [Leaves] lists without types.
var leafNames = later.Value[map[string]map[string]bool]{Make: func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for _, l := range Leaves {
		for _, name := range strings.Fields(l.Name) {
			if m[name] == nil {
				m[name] = map[string]bool{}
			}
			types := l.Types
			if types == "any" {
				types = "bool i32 u32 i64 u64 f32 f64"
			}
			for _, t := range strings.Fields(types) {
				m[name][t] = l.Optional
			}
			if types == "" {
				m[name][""] = l.Optional
			}
		}
	}
	return m
}}

// Target describes what a target has beyond the required leaves: optional leaves, and the capabilities that [NewTarget] lists.
type Target struct {
	Name   string
	native map[string]bool
}

// NewTarget returns a target with the named optional leaves, such as "min.f32" or, for all types, "mulhi". It returns an error
// for a name that is neither an optional leaf of [Leaves] nor one of the following.
//
// Further names are capabilities: "nested jumps" allows break and continue to leave several constructs at once. "calls" means
// that the host serves the records while a launch runs. "wide indices" computes addresses from global identifiers in 64 bits.
// "everything" is all optional leaves and all capabilities. "extension.NAME" keeps that extension operation with its operands
// and its fallback block.
func NewTarget(name string, leaves ...string) (*Target, error) {
	t := &Target{Name: name, native: map[string]bool{}}
	for _, l := range leaves {
		found := false
		for _, capability := range []string{nestedJumps, hostCalls, wideIndices} {
			if l == capability || l == "everything" {
				t.native[capability], found = true, true
			}
		}
		if strings.HasPrefix(l, "extension.") {
			t.native[l], found = true, true
		}
		for op, types := range leafNames.Get() {
			for typ, optional := range types {
				full := op + "." + typ
				if optional && (l == "everything" || l == op || l == full) {
					t.native[full], found = true, true
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("target %s: there is no optional leaf %q; docs/kernel-lowering.md lists them", name, l)
		}
	}
	return t, nil
}

// Has reports whether the target has an optional leaf for a type, which is Void for operations that [Leaves] lists without types. It
// returns false for required leaves.
func (t *Target) Has(leaf string, typ ir.Type) bool {
	if typ == ir.Void {
		return t.native[leaf+"."]
	}
	return t.native[leaf+"."+typ.String()]
}

// NestedJumps reports whether break and continue may leave several constructs at once.
func (t *Target) NestedJumps() bool { return t.native[nestedJumps] }

// WideIndices reports whether addresses are computed from global identifiers in 64 bits.
func (t *Target) WideIndices() bool { return t.native[wideIndices] }

// CallsHost reports whether the host serves the records while a launch runs, so that kernels may call services.
func (t *Target) CallsHost() bool { return t.native[hostCalls] }

// HasExtension reports whether the target implements an extension operation.
func (t *Target) HasExtension(name string) bool { return t.native["extension."+name] }

// Native returns the sorted names of the target's capabilities, extensions and optional leaves, each leaf with its type.
func (t *Target) Native() []string {
	var names []string
	for n := range t.native {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// LeafOf returns the name and the type by which [Leaves] lists an instruction. The type is Void for operations listed without types.
func LeafOf(in *ir.Instr) (name string, t ir.Type) {
	name = in.Op.String()
	if len(in.Args) > 0 {
		t = in.Args[0].Type
	}
	switch in.Op {
	case ir.Const:
		t = in.Type()
	case ir.Select:
		t = in.Args[1].Type
	case ir.Load, ir.Store:
		t = in.Elem
	case ir.Atomic:
		name, t = name+"."+in.Atomic.String(), in.Elem
	case ir.Item:
		name, t = name+"."+in.Item.String(), ir.I32
	case ir.Extent:
		t = ir.I32
	case ir.Subgroup:
		name += "." + in.Subgroup.String()
	case ir.Quant:
		name += "." + in.Elem.String()
	case ir.Barrier, ir.Region, ir.If, ir.Loop, ir.Yield, ir.Break, ir.Continue, ir.Return, ir.Unreachable, ir.Fence, ir.Clock, ir.Pause:
		t = ir.Void
	}
	return name, t
}

// Check returns an error for an instruction that is not a leaf of the target.
func (t *Target) Check(in *ir.Instr) error {
	name, typ := LeafOf(in)
	key := typ.String()
	if typ == ir.Void {
		key = ""
	}
	optional, ok := leafNames.Get()[name][key]
	if in.Op == ir.Wrap && !in.Type().IsInt() || in.Op == ir.Sat && !in.Type().IsInt() {
		ok = false
	}
	if !ok || optional && !t.Has(name, typ) {
		return fmt.Errorf("'%v' is no leaf of target %s", in, t.Name)
	}
	return nil
}
