package protocol

import (
	"github.com/orepl/orepl/runtime/remote/wire"
)

// Relaunch repeats the newest launch of a kernel on a queue with new values of some scalars. Both sides keep that launch.
type Relaunch struct {
	At      At
	Kernel  uint64
	Changed []ChangedArg
}

// ChangedArg is the index of a scalar among the arguments, and its new value.
type ChangedArg struct {
	Index uint32
	Bits  uint64
}

func (m *Relaunch) Code(c *wire.Coder) {
	m.At.Code(c)
	wire.Num(c, &m.Kernel, 8)
	wire.List(c, &m.Changed, func(c *wire.Coder, a *ChangedArg) {
		wire.Num(c, &a.Index, 4)
		wire.Num(c, &a.Bits, 8)
	})
}

// maxKeptArgs is the maximum number of arguments of a kept launch.
const maxKeptArgs = 64

// IsKept reports whether both sides keep a launch. Launches with structs, services or more than maxKeptArgs arguments are not kept.
func (m *Launch) IsKept() bool {
	if m.Services || len(m.Args) > maxKeptArgs {
		return false
	}
	for i := range m.Args {
		if m.Args[i].Struct || len(m.Args[i].Data) > 0 {
			return false
		}
	}
	return true
}

// DiffersInBits reports whether two kept launches of one kernel differ at most in the values of scalars. Equal launches do, too.
func (m *Launch) DiffersInBits(o *Launch) bool {
	if m.Size != o.Size || m.GroupSize != o.GroupSize || m.Checks != o.Checks || m.Pos != o.Pos || m.SharedBytes != o.SharedBytes || m.Cooperative != o.Cooperative ||
		m.Teams != o.Teams || m.ThreadLimit != o.ThreadLimit || len(m.Args) != len(o.Args) {
		return false
	}
	for i := range m.Args {
		a, b := &m.Args[i], &o.Args[i]
		if a.Type != b.Type || a.Memory != b.Memory || a.Offset != b.Offset || a.Dims != b.Dims || a.Label != b.Label {
			return false
		}
	}
	return true
}
