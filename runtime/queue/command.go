package queue

import (
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

type kind uint8

const (
	copyBytes kind = iota
	copyBox
	fillBytes
	launchKernel
	callHost
	recordEvent
	awaitEvent
	reportFailure // reports the failure of a launch that has already run
)

// command is a slot for one command. The issuer writes it before it is published; then it belongs to the holder of the role.
type command struct {
	kind    kind
	op      string
	dst     []byte
	src     []byte
	memory  offload.Memory // fill: the memory of dst
	rows    rows           // copyBox
	pattern [16]byte       // fill: its first width bytes
	width   int
	launch  Launch // allocated at the slot's first launch
	calls   bool   // the launch may call services of the host
	kernel  offload.Kernel
	pos     offload.Position
	timeout time.Duration
	fn      func() error
	event   *Event
	err     error

	// These fields are for a queue with a lane.
	onLane  *Command // allocated at the first use of the slot
	flying  bool     // onLane is in flight
	skipped bool     // the command was dropped before it began
}

// forLane returns the slot's command for the lane, which it allocates at first.
func (c *command) forLane() *Command {
	if c.onLane == nil {
		c.onLane = new(Command)
	}
	return c.onLane
}

// onlyOrders reports whether the command is a wait or a mark, whose failure no event covers.
func (c *command) onlyOrders() bool {
	return c.kind == awaitEvent || c.isMark()
}

// isMark reports whether the command records an event that covers no commands.
func (c *command) isMark() bool { return c.kind == recordEvent && c.event.mark }

// isStamp reports whether the command is a mark that the lane reaches, so that it has a time.
func (c *command) isStamp() bool { return c.isMark() && c.event.stamped }

// onWorker reports whether only the worker may run the command. Its host code may wait for a goroutine that itself waits for the
// queue, and so must not run on that goroutine.
func (c *command) onWorker() bool { return c.kind == callHost || c.kind == launchKernel && c.calls }

// clear drops references to the caller's memory.
func (c *command) clear() {
	switch c.kind {
	case launchKernel:
		if c.launch != nil {
			c.launch.Clear()
		}
		c.kernel, c.pos, c.calls = nil, offload.Position{}, false
	default:
		c.dst, c.src, c.memory, c.fn, c.event = nil, nil, nil, nil, nil
	}
	if g := c.onLane; g != nil {
		if g.Launch != nil && c.kind == launchKernel {
			g.Launch.Clear()
		}
		g.Dst, g.Src, g.Stamp = Place{}, Place{}, nil
	}
	c.err, c.flying, c.skipped = nil, false, false // also of a command that was skipped before the lane had it
}

// ring holds the slots of outstanding commands: command n is in slot n & mask. A full ring is replaced; the commands keep
// their addresses.
type ring struct {
	slots []*command
	mask  uint64
}

func newRing(n int) *ring {
	r := &ring{slots: make([]*command, n), mask: uint64(n - 1)}
	commands := make([]command, n)
	for i := range r.slots {
		r.slots[i] = &commands[i]
	}
	return r
}

// grown returns a ring of twice the size with the slots of r. last is the number of the newest command.
func (r *ring) grown(last uint64) *ring {
	n := len(r.slots)
	g := &ring{slots: make([]*command, 2*n), mask: uint64(2*n - 1)}
	commands := make([]command, n)
	for i := range n {
		number := last - uint64(i) // wraps for unused slots, whose order does not matter
		g.slots[number&g.mask] = r.slots[number&r.mask]
		g.slots[(number+uint64(n))&g.mask] = &commands[i]
	}
	return g
}

func (r *ring) at(number uint64) *command { return r.slots[number&r.mask] }
