package session

import (
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// CommandKind is a kind of command that [Session.Watch] reports.
type CommandKind string

// The kinds of commands.
const (
	LaunchCommand CommandKind = "launch"
	WriteCommand  CommandKind = "write" // from host memory
	ReadCommand   CommandKind = "read"  // to host memory
	FillCommand   CommandKind = "fill"
	ZeroCommand   CommandKind = "zero" // the clearing of a new buffer
	CopyCommand   CommandKind = "copy" // between buffers
	HostCommand   CommandKind = "host function"
	WaitCommand   CommandKind = "wait" // for an event of another queue
)

// Command is a command that a queue has accepted.
type Command struct {
	Kind   CommandKind
	Queue  *Queue
	Call   *Call   // of a launch
	Dst    *Buffer // the buffer that a command other than a launch writes
	Src    *Buffer // the buffer that a copy or a read reads
	At     int64   // the first element of a write or a read
	Origin []int   // the start of a copied rectangle in Dst
	Rect   *Rect   // the rectangle of Src, or of Dst for a write; nil: no rectangle
	Data   []byte  // what a write writes, or the pattern of a fill
	Behind *Queue  // the other queue of a wait
}

// watcher is a function of [Session.Watch].
type watcher struct {
	owner uint64
	fn    func(*Command)
}

// Watch calls fn after each command that a queue has accepted, on the goroutine that issued it, until stop is called. The
// command and what it refers to are valid during the call; see [Command.Clone]. Commands of several goroutines are not ordered.
//
// It omits the commands of queues of other owners. Of commands of queues without an owner it omits those that write a buffer of
// another owner. An owner of 0 omits none.
func (s *Session) Watch(owner uint64, fn func(*Command)) (stop func()) {
	w := &watcher{owner, fn}
	change := func(edit func(list []*watcher) []*watcher) {
		for {
			old, list := s.watchers.Load(), []*watcher(nil)
			if old != nil {
				list = slices.Clone(*old)
			}
			list = edit(list)
			next := &list
			if len(list) == 0 {
				next = nil
			}
			if s.watchers.CompareAndSwap(old, next) {
				return
			}
		}
	}
	change(func(list []*watcher) []*watcher { return append(list, w) })
	return func() {
		change(func(list []*watcher) []*watcher {
			return slices.DeleteFunc(list, func(other *watcher) bool { return other == w })
		})
	}
}

// Watched reports whether the commands of the queue's session are described to functions of [Session.Watch].
func (q *Queue) Watched() bool { return q.device.session.watchers.Load() != nil }

func (q *Queue) watched(err error) bool { return err == nil && q.Watched() }

// tell describes a command to the watchers.
func (q *Queue) tell(c Command) {
	list := q.device.session.watchers.Load()
	if list == nil {
		return
	}
	c.Queue = q
	of := q.object.Owner
	if of == 0 && c.Dst != nil {
		of = c.Dst.alloc.object.Owner
	}
	for _, w := range *list {
		if of == 0 || w.owner == 0 || of == w.owner {
			w.fn(&c)
		}
	}
}

// Clone returns a copy of the command that stays valid.
func (c *Command) Clone() *Command {
	n := *c
	if c.Call != nil {
		n.Call = c.Call.Clone()
	}
	n.Data, n.Origin = slices.Clone(c.Data), slices.Clone(c.Origin)
	if c.Rect != nil {
		n.Rect = &Rect{Origin: slices.Clone(c.Rect.Origin), Extent: slices.Clone(c.Rect.Extent)}
	}
	return &n
}

// Clone returns a copy of the call, which later changes of the original leave as it is.
func (c *Call) Clone() *Call {
	n := &Call{kernel: c.kernel, args: slices.Clone(c.args), launch: c.Command(), accesses: slices.Clone(c.accesses)}
	n.prepare()
	return n
}

// Args returns the arguments, which must not be changed.
func (c *Call) Args() []Arg { return c.args }

// Buffer returns the buffer of an argument, or nil.
func (a Arg) Buffer() *Buffer { return a.buffer }

// Scalar returns the type and the zero-extended bits of a scalar argument.
func (a Arg) Scalar() (offload.Type, uint64) { return a.typ, a.bits }

// Data returns the bytes of a struct that is passed by value, or nil.
func (a Arg) Data() []byte { return a.data }

// Param returns the name of a parameter of the call's kernel, or "" if its image does not tell it.
func (c *Call) Param(i int) string {
	if params := c.kernel.Info().Params; i < len(params) {
		return params[i].Name
	}
	return ""
}

// Library returns the library of the kernel's program.
func (k *Kernel) Library() *Library { return k.program.library }

// As returns the signature of KernelAs, or nil for a kernel that its image describes.
func (k *Kernel) As() *offload.Signature { return k.as }

// Memory returns the number that identifies the buffer's memory, the buffer's offset in it, and the size of that memory, both
// in bytes. For a global variable of a library, global is set, and the number is that of its program.
func (b *Buffer) Memory() (id uint64, offset, size int64, global bool) {
	return b.alloc.res.serial, b.offset, b.alloc.size, b.alloc.global
}

// Serial returns a number that is larger than those of the objects made before, and smaller than those of later ones.
func (s *Session) Serial() uint64 { return s.serial.Add(1) }

// Allocations returns the memory of the device's buffers as buffers of bytes. It omits memory of more bytes than limit, which is
// at most 2^31-1, and returns the number of all bytes.
func (d *Device) Allocations(limit int64) (list []*Buffer, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for a := range d.allocations {
		if bytes += a.size; a.size <= limit {
			list = append(list, &Buffer{shape: shape{typ: offload.U8, elem: 1, rank: 1, dims: [3]int32{int32(a.size)}}, alloc: a, label: a.label})
		}
	}
	return list, bytes
}
