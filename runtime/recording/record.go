package recording

import (
	"context"
	"io"
	"strconv"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Limit is the maximum number of bytes of all buffers together that a recording keeps.
const Limit = 1 << 30

// Recorder collects the commands that are issued to the queues of a session until Finish.
type Recorder struct {
	session *session.Session
	stop    func()
	before  map[uint64][]byte // contents of the buffers at Begin, by number of the memory

	mu        sync.Mutex
	err       error
	out       manifest
	contents  contents
	libraries map[*session.Library]int
	memories  map[uint64]int
	ids       []uint64 // of the memories
	queues    map[*session.Queue]int
}

// Begin waits for the commands issued so far, and begins to record those of an owner that follow; see [session.Session.Watch].
// Errors: OutOfResources for buffers of more than [Limit] bytes in all, and failures of the commands.
func Begin(ctx context.Context, s *session.Session, owner uint64) (*Recorder, error) {
	before, err := snapshot(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &Recorder{session: s, before: before, out: manifest{Version: version, Commands: []command{}}, contents: contents{},
		libraries: map[*session.Library]int{}, memories: map[uint64]int{}, queues: map[*session.Queue]int{}}
	r.stop = s.Watch(owner, func(c *session.Command) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = r.add(c)
		}
	})
	return r, nil
}

// Abandon ends the recording without a file.
func (r *Recorder) Abandon() { r.stop() }

// unrecordable returns the error of a command that a file cannot hold.
func unrecordable(c *session.Command, label, detail, hint string) error {
	return offload.Errorf(offload.Unsupported, "record", "%s", detail).On(c.Queue.Device().ID(), label).WithHint("%s", hint)
}

// add adds a command unless it is a read. The caller holds mu.
func (r *Recorder) add(c *session.Command) (err error) {
	out := command{Kind: string(c.Kind), Queue: r.queue(c.Queue), At: c.At, Origin: c.Origin, Data: r.contents.add(append([]byte(nil), c.Data...)), Bytes: int64(len(c.Data))}
	switch c.Kind {
	case session.ReadCommand:
		return nil
	case session.HostCommand:
		return unrecordable(c, c.Queue.Label(), "a function of the host cannot be recorded", "leave queue.host() out of the function")
	case session.WaitCommand:
		out.Behind = r.queue(c.Behind)
	case session.LaunchCommand:
		if out.Launch, err = r.launch(c); err != nil {
			return err
		}
	}
	if c.Rect != nil {
		out.Rect = &rect{c.Rect.Origin, c.Rect.Extent}
	}
	for _, of := range []struct {
		b  *session.Buffer
		to **view
	}{{c.Dst, &out.Dst}, {c.Src, &out.Src}} {
		if of.b == nil {
			continue
		}
		if *of.to, err = r.view(c, of.b); err != nil {
			return err
		}
	}
	r.out.Commands = append(r.out.Commands, out)
	return nil
}

func (r *Recorder) queue(q *session.Queue) int {
	i, ok := r.queues[q]
	if !ok {
		i = len(r.out.Queues)
		r.queues[q] = i
		r.out.Queues = append(r.out.Queues, queue{q.Device().ID(), q.Label()})
	}
	return i
}

// view describes a buffer.
func (r *Recorder) view(c *session.Command, b *session.Buffer) (*view, error) {
	id, offset, size, global := b.Memory()
	if global {
		return nil, unrecordable(c, b.Label(), "a global variable of a library cannot be recorded", "hand its contents to the kernel in a buffer")
	}
	i, ok := r.memories[id]
	if !ok {
		i = len(r.out.Memories)
		r.memories[id] = i
		r.ids = append(r.ids, id)
		r.out.Memories = append(r.out.Memories, memory{Label: b.Label(), Device: b.Device().ID(), Size: size, Type: b.Type().String(), Before: r.contents.add(r.before[id])})
	}
	v := &view{Memory: i, Offset: offset, Elem: b.Elem(), Dims: b.Dims()}
	if b.Type() != offload.Opaque {
		v.Type = b.Type().String()
	}
	return v, nil
}

// launch describes a launch.
func (r *Recorder) launch(c *session.Command) (*launch, error) {
	k, l := c.Call.Kernel(), c.Call.Command()
	if k.Info().CallsServices() {
		return nil, unrecordable(c, k.Name(), "the kernel calls services of the host", "launch it outside of the function")
	}
	lib := k.Library()
	i, ok := r.libraries[lib]
	if !ok {
		i = len(r.out.Libraries)
		r.libraries[lib] = i
		of := library{Label: lib.Label()}
		for _, s := range lib.Images() {
			if img := s.Image; img.Unusable == nil {
				of.Images = append(of.Images, image{img.Kind, img.Target, img.Arch, img.Label, img.Producers, r.contents.add(img.Data)})
			}
		}
		r.out.Libraries = append(r.out.Libraries, of)
	}
	out := &launch{Library: i, Kernel: k.Name(), As: k.As(), Size: l.Size, Checks: l.Checks, Shared: l.SharedBytes, Cooperative: l.Cooperative, Teams: l.Teams, ThreadLimit: l.ThreadLimit, Args: []argument{}}
	if l.GroupSize != [3]int{} {
		out.Group = l.GroupSize[:]
	}
	for _, a := range c.Call.Args() {
		var arg argument
		switch t, bits := a.Scalar(); {
		case a.Buffer() != nil:
			v, err := r.view(c, a.Buffer())
			if err != nil {
				return nil, err
			}
			arg.Buffer = v
		case a.Data() != nil:
			arg.Struct = append([]byte(nil), a.Data()...)
		default:
			arg.Type, arg.Bits = t.String(), strconv.FormatUint(bits, 16)
		}
		out.Args = append(out.Args, arg)
	}
	return out, nil
}

// Finish waits for the commands, adds the contents of their buffers and writes the file. It returns the number of commands. Errors:
// Unsupported if a file cannot hold one of the commands, OutOfResources as for Begin, and failures of commands and of writing.
func (r *Recorder) Finish(ctx context.Context, out io.Writer) (commands int, err error) {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	after, err := snapshot(ctx, r.session)
	if err != nil {
		return 0, err
	}
	for i, id := range r.ids {
		if data, ok := after[id]; ok { // not freed
			r.out.Memories[i].After = r.contents.keep(data)
		}
	}
	return len(r.out.Commands), r.out.write(out, r.contents)
}
