package vcode

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// TrapKind is the service that a trap requests from Go.
type TrapKind uint8

// Kinds of traps.
const (
	TrapBounds TrapKind = iota // reports an index out of bounds, whose value is Args[0]
	TrapZero                   // reports an integer division by zero
	TrapAssert                 // reports a failed assertion; Args are the instruction's except the first
	TrapEval                   // computes Results lane by lane
	TrapPrint                  // prints
	TrapCall                   // calls a function of the host
	TrapClock                  // reads the clock
	TrapGroup                  // executes a group operation that all gangs have reached
)

// Trap is a return to Go from within the code, with the operands of the trap service.
type Trap struct {
	Kind    TrapKind
	In      *ir.Instr
	Axis    int       // axis of the index, for TrapBounds
	Args    [][]Reg   // uniform integers in general purpose registers, others in vectors or masks
	Types   []ir.Type // types of Args
	Mask    []Reg     // the active lanes; nil if all are
	Lanes   int       // lanes of the gang
	Results []Reg
	Uniform bool        // the result is one vector of equal elements
	X       Reg         // the position of lane 0 on x; 0 between gangs
	End     amd64.Label // the end of the gang, for faults, unless X is 0

	// Uses and Defs are all registers that the trap reads and writes.
	Uses, Defs []Reg
}

// Unshare copies the lists of registers, which several traps may share.
func (t *Trap) Unshare() {
	n := len(t.Uses) + len(t.Defs) + len(t.Mask) + len(t.Results)
	for _, list := range t.Args {
		n += len(list)
	}
	block := make([]Reg, 0, n)
	own := func(list []Reg) []Reg {
		if list == nil {
			return nil
		}
		n := len(block)
		block = append(block, list...)
		return block[n:len(block):len(block)]
	}
	t.Uses, t.Defs, t.Mask, t.Results = own(t.Uses), own(t.Defs), own(t.Mask), own(t.Results)
	t.Args = slices.Clone(t.Args)
	for i := range t.Args {
		t.Args[i] = own(t.Args[i])
	}
}

// rename replaces the registers in the operands of the trap service, which Uses and Defs contain, too.
func (t *Trap) rename(to func(*Reg)) {
	all := func(list []Reg) {
		for n := range list {
			to(&list[n])
		}
	}
	if t.X != 0 {
		to(&t.X)
	}
	all(t.Mask)
	all(t.Results)
	for _, list := range t.Args {
		all(list)
	}
}
