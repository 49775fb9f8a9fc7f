package vcode

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

type trapKind uint8

const (
	TrapBounds trapKind = iota // args[0] is the index
	TrapZero                   // an integer division by zero
	TrapAssert                 // args are those of the instruction but the first
	TrapEval                   // computes results
	TrapPrint
	TrapCall
	TrapGroup // all gangs have come to a group operation
)

// Trap is a place where the code returns to Go.
type Trap struct {
	Kind    trapKind
	In      *ir.Instr
	Axis    int
	Args    [][]Reg // uniform integers in general registers, others in vectors or masks
	Types   []ir.Type
	Mask    []Reg // lanes; nil if all
	Lanes   int   // of the gang
	Results []Reg
	Uniform bool // the result is one vector of equal elements
	X       Reg  // position of lane 0
	End     amd64.Label

	Uses, Defs []Reg
}

// Unshare gives the trap lists of its own: it may have them in common with others.
func (t *Trap) Unshare() {
	n := len(t.Uses) + len(t.Defs) + len(t.Mask) + len(t.Results)
	for _, list := range t.Args {
		n += len(list)
	}
	room := make([]Reg, 0, n)
	own := func(list []Reg) []Reg {
		if list == nil {
			return nil
		}
		n := len(room)
		room = append(room, list...)
		return room[n:len(room):len(room)]
	}
	t.Uses, t.Defs, t.Mask, t.Results = own(t.Uses), own(t.Defs), own(t.Mask), own(t.Results)
	t.Args = slices.Clone(t.Args)
	for i := range t.Args {
		t.Args[i] = own(t.Args[i])
	}
}

// rename replaces the registers in the operands that the host looks up; uses and defs have them, too.
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
