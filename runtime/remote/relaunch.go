package remote

import (
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote/protocol"
)

// maxKept is the maximum number of kept launches per queue, one for each kernel. At the limit both sides drop all.
const maxKept = 64

// remember stores a kept launch under the number of its kernel. If maxKept launches are kept, it first drops all.
func remember[T any](kept map[uint64]T, kernel uint64, launch T) {
	if len(kept) >= maxKept {
		clear(kept)
	}
	kept[kernel] = launch
}

// sentLaunches holds the newest kept launch of each kernel that a client has sent to a queue.
type sentLaunches struct {
	kept   map[uint64]*protocol.Launch
	repeat protocol.Relaunch
}

// shortest returns the message for a launch: a relaunch if it differs from the newest kept launch of its kernel at most in the
// values of scalars, else m itself. It keeps m if [protocol.Launch.IsKept] reports true. The message is valid until the next call.
func (s *sentLaunches) shortest(m *protocol.Launch) protocol.Message {
	if !m.IsKept() {
		return m
	}
	old := s.kept[m.Kernel]
	if old == nil || !old.DiffersInBits(m) {
		clone := *m
		clone.Args = append([]protocol.Arg(nil), m.Args...)
		remember(s.kept, m.Kernel, &clone)
		return m
	}
	s.repeat = protocol.Relaunch{At: m.At, Kernel: m.Kernel, Changed: s.repeat.Changed[:0]}
	for i := range m.Args {
		if bits := m.Args[i].Bits; bits != old.Args[i].Bits {
			old.Args[i].Bits = bits
			s.repeat.Changed = append(s.repeat.Changed, protocol.ChangedArg{Index: uint32(i), Bits: bits})
		}
	}
	return &s.repeat
}

// receivedLaunch is the newest kept launch of a kernel on a queue of the server. The plugin's queue does not retain it.
type receivedLaunch struct {
	launch   offload.Launch
	memories []uint64 // numbers of the arguments' memories, 0 for scalars
}

// keepLaunch keeps l, the launch of message m, if launches of this form are kept.
func (q *servedQueue) keepLaunch(m *protocol.Launch, l *offload.Launch) {
	if !m.IsKept() {
		return
	}
	r := &receivedLaunch{launch: *l}
	for i := range m.Args {
		r.memories = append(r.memories, m.Args[i].Memory)
	}
	remember(q.kept, m.Kernel, r)
}

// relaunch repeats a kept launch with new values of scalars. It returns an error if there is none, if the kernel or a memory was
// freed since, or if a changed argument is no scalar.
func (q *servedQueue) relaunch(m *protocol.Relaunch) error {
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
			r.launch.Args[i].Memory = s.memoryLocked(number)
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
