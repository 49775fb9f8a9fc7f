package remote

import (
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/wire"
)

// relaunch repeats the newest launch of a kernel on a queue with new values of some scalars. Both sides keep that launch.
type relaunch struct {
	At      at
	Kernel  uint64
	Changed []changedArg
}

// changedArg is a scalar with its new value.
type changedArg struct {
	Index uint32
	Bits  uint64
}

func (m *relaunch) code(c *wire.Coder) {
	m.At.code(c)
	wire.Num(c, &m.Kernel, 8)
	wire.List(c, &m.Changed, func(c *wire.Coder, a *changedArg) {
		wire.Num(c, &a.Index, 4)
		wire.Num(c, &a.Bits, 8)
	})
}

const (
	maxKept     = 64 // kept launches per queue, one for each kernel; at the limit both sides drop all
	maxKeptArgs = 64 // maximum number of arguments of a kept launch
)

// isKept reports whether both sides keep a launch. Launches with structs or services are not kept.
func (m *launchKernel) isKept() bool {
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

// remember stores a kept launch under the number of its kernel.
func remember[T any](kept map[uint64]T, kernel uint64, launch T) {
	if len(kept) >= maxKept {
		clear(kept)
	}
	kept[kernel] = launch
}

// sentLaunches are the launches that a client has sent to a queue.
type sentLaunches struct {
	kept   map[uint64]*launchKernel
	repeat relaunch
}

// shortest returns the message for a launch: a relaunch if the newest launch of its kernel differs in the values of scalars
// only. The message is valid until the next call.
func (s *sentLaunches) shortest(m *launchKernel) packet {
	if !m.isKept() {
		return m
	}
	old := s.kept[m.Kernel]
	if old == nil || !old.differsInBits(m) {
		clone := *m
		clone.Args = append([]wireArg(nil), m.Args...)
		remember(s.kept, m.Kernel, &clone)
		return m
	}
	s.repeat = relaunch{At: m.At, Kernel: m.Kernel, Changed: s.repeat.Changed[:0]}
	for i := range m.Args {
		if bits := m.Args[i].Bits; bits != old.Args[i].Bits {
			old.Args[i].Bits = bits
			s.repeat.Changed = append(s.repeat.Changed, changedArg{uint32(i), bits})
		}
	}
	return &s.repeat
}

// differsInBits reports whether two kept launches are equal except for the values of scalars.
func (m *launchKernel) differsInBits(o *launchKernel) bool {
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

// receivedLaunch is the newest launch of a kernel on a queue of the server. The plugin's queue does not retain it.
type receivedLaunch struct {
	launch   offload.Launch
	memories []uint64 // numbers of the arguments' memories, 0 for scalars
}

// keepLaunch keeps the launch of message m.
func (q *servedQueue) keepLaunch(m *launchKernel, l *offload.Launch) {
	if !m.isKept() {
		return
	}
	r := &receivedLaunch{launch: *l}
	for i := range m.Args {
		r.memories = append(r.memories, m.Args[i].Memory)
	}
	remember(q.kept, m.Kernel, r)
}

// relaunch repeats a launch. Its kernel and memories may have been freed.
func (q *servedQueue) relaunch(m *relaunch) error {
	r := q.kept[m.Kernel]
	if r == nil {
		return fmt.Errorf("a repeated launch of kernel %d, which was not launched", m.Kernel)
	}
	s := q.server
	s.mu.Lock()
	r.launch.Kernel = s.kernels[m.Kernel].Kernel
	found := r.launch.Kernel != nil
	for i, number := range r.memories {
		if number != 0 {
			r.launch.Args[i].Memory = s.memories[number]
			found = found && r.launch.Args[i].Memory != nil
		}
	}
	s.mu.Unlock()
	if !found {
		return fmt.Errorf("a repeated launch of kernel %d: it or an argument's memory does not exist", m.Kernel)
	}
	for _, c := range m.Changed {
		if uint64(c.Index) >= uint64(len(r.memories)) || r.memories[c.Index] != 0 {
			return fmt.Errorf("argument %d of a repeated launch is no scalar", c.Index)
		}
		r.launch.Args[c.Index].Bits = c.Bits
	}
	return q.issue(m.At, pending{}, func() error { return q.near.Launch(&r.launch) })
}
