// Package memory emits accesses to memory, and what else concerns the active lanes: faults, prints and calls of the host.
//
// An access pattern is broadcast, contiguous or scattered. An index is checked unless it is proved in bounds. The address of a
// contiguous access is that of lane 0. Three types build on one another. An [Active] knows which lanes are active, and emits traps;
// [Addresses] emits addresses and checks; a [Memory] emits loads, stores and atomics.
//
// # Design
//
// An address may become an induction variable only if every iteration of the loop executes the access. Under a condition, the index
// could wrap in the other iterations.
//
// Large outputs are stored in half lines on Intel and past the caches on AMD; no rule other than the vendor tells the two
// apart.
//
// Lines that are stored right after a barrier are fetched before it, because a waiting store delays loads with equal low
// address bits.
//
// A store at an index that was loaded from shared memory prefetches the next line: a sort has more such streams than hardware
// prefetchers follow.
//
// One-gang groups on Zen prefetch 6 KiB ahead. Prefetching the next group's row, 1 KiB ahead, was a tenth slower on AVX2, and a quarter
// on AVX-512. Loads in ascending order, instead of the tree's order, gained nothing.
//
// Gathers on AVX2 of Zen are eight loads, which take 4 cycles instead of 12.
package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Active emits operations of the active lanes that may fault or call the host.
type Active struct {
	values.Lowering
	Cur []vcode.Reg // the mask of active lanes, by register; nil if all are active
	End amd64.Label // the end of the code of a gang
}

// Addresses emits the addresses of accesses, and the checks of their indices.
type Addresses struct {
	Active
	Layout  abi.Layout
	Small   bool        // address computations require buffers below 2 GiB
	Bases   []vcode.Reg // the addresses of arrays, by ID
	Pitches map[PitchKey]vcode.Reg
	Wide    map[vcode.Reg]vcode.Reg // indices extended to 64 bits
	rows    map[rowKey]vcode.Reg    // the bases of addresses
	checked map[CheckKey]bool
}

// PitchKey identifies the product of the last Inner extents of the array with the ID Array.
type PitchKey struct{ Array, Inner int }

// Memory emits accesses.
type Memory struct {
	Addresses
	InBlock     *ir.Block           // the block that is being lowered
	Interleaved *values.Interleaved // the interleaved loop around the current position
	fetched     map[*ir.Instr]bool  // stores with prefetched lines

	narrowState
}

// New returns a Memory for an analysed kernel that appends instructions to a function.
func New(f *vcode.Func, a *plan.Analysis) Memory {
	return Memory{Addresses: Addresses{Active: Active{Lowering: values.New(f, a)}, Pitches: map[PitchKey]vcode.Reg{},
		Wide: map[vcode.Reg]vcode.Reg{}, rows: map[rowKey]vcode.Reg{}, checked: map[CheckKey]bool{}}}
}
