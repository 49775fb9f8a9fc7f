package recording

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/graph"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Options are the options of a replay.
type Options struct {
	Device string // runs the commands of all devices; empty: the recorded ones
	Native bool   // also load images other than kernel IR, which may be native code
}

// Replay is a recording on the devices of a session.
type Replay struct {
	file     *File
	session  *session.Session
	libs     []*session.Library
	memories []*session.Buffer
	queues   []*session.Queue
	commands []*session.Command
	configs  []session.Config // of launches
}

// Open loads the images of a recording and makes its buffers. The caller closes the replay. Errors: those of finding the devices,
// of loading images and of making buffers; InvalidBinary for a damaged file. Without the option Native, an image that is no
// kernel IR is a PermissionDenied error.
func (f *File) Open(ctx context.Context, s *session.Session, opts Options) (_ *Replay, err error) {
	r := &Replay{file: f, session: s}
	defer func() {
		if err != nil {
			r.Close(ctx)
		}
	}()
	device := func(recorded string) (*session.Device, error) {
		if opts.Device != "" {
			return s.Device(ctx, opts.Device)
		}
		d, err := s.Device(ctx, recorded)
		if err != nil {
			return nil, offload.Errorf(offload.NotFound, "replay", "the recording used the device %s: %v", recorded, err).WithHint("choose one of this machine with --device")
		}
		return d, nil
	}
	for _, q := range f.Queues {
		d, err := device(q.Device)
		if err != nil {
			return nil, err
		}
		queue, err := d.NewQueue(session.QueueOptions{Label: q.Label})
		if err != nil {
			return nil, err
		}
		r.queues = append(r.queues, queue)
	}
	for _, m := range f.Memories {
		d, err := device(m.Device)
		if err != nil {
			return nil, err
		}
		b, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: extents(m.Size), Label: m.Label})
		if err != nil {
			return nil, err
		}
		r.memories = append(r.memories, b)
	}
	if err := r.register(ctx, opts.Native); err != nil {
		return nil, err
	}
	for i := range f.Commands {
		c, err := r.command(ctx, &f.Commands[i])
		if err != nil {
			return nil, err
		}
		r.commands = append(r.commands, c)
		r.configs = append(r.configs, config(f.Commands[i].Launch))
	}
	return r, nil
}

// extents returns the extents of a buffer that holds at least size bytes, each within the limit of a dimension.
func extents(size int64) []int {
	const row = 1 << 30
	if size <= row {
		return []int{int(size)}
	}
	return []int{int((size + row - 1) / row), row}
}

// register registers the libraries of the recording.
func (r *Replay) register(ctx context.Context, native bool) error {
	for _, l := range r.file.Libraries {
		var list []*offload.Image
		for _, i := range l.Images {
			data, err := r.file.load(i.Data, -1)
			if err != nil {
				return err
			}
			if i.Kind != offload.ImageIR && !native {
				return offload.Errorf(offload.PermissionDenied, "replay", "the library has an image of kind %q, which may be native code", i.Kind).On("", l.Label).
					WithHint("add --native if you trust the recording")
			}
			list = append(list, &offload.Image{Kind: i.Kind, Target: i.Target, Arch: i.Arch, Label: i.Label, Producers: i.Producers, Data: data})
		}
		lib, err := r.session.RegisterImages(ctx, l.Label, offload.Position{}, list...)
		if err != nil {
			return err
		}
		r.libs = append(r.libs, lib)
	}
	return nil
}

// view returns the buffer of a view, or nil for nil. Errors: InvalidBinary for an unknown type, and those of
// [session.Buffer.View].
func (r *Replay) view(v *view) (*session.Buffer, error) {
	if v == nil {
		return nil, nil
	}
	t := offload.Opaque
	if v.Type != "" {
		var ok bool
		if t, ok = offload.ParseType(v.Type); !ok {
			return nil, damaged("there is no type %q", v.Type)
		}
	}
	return r.memories[v.Memory].View(session.ViewOptions{Start: v.Offset, Dims: v.Dims, Type: t, Elem: v.Elem, Label: r.file.Memories[v.Memory].Label})
}

// command returns a recorded command as one of the session.
func (r *Replay) command(ctx context.Context, c *command) (_ *session.Command, err error) {
	out := &session.Command{Kind: session.CommandKind(c.Kind), Queue: r.queues[c.Queue], At: c.At, Origin: c.Origin, Behind: r.queues[c.Behind]}
	if c.Rect != nil {
		out.Rect = &session.Rect{Origin: c.Rect.Origin, Extent: c.Rect.Extent}
	}
	if out.Dst, err = r.view(c.Dst); err != nil {
		return nil, err
	}
	if out.Src, err = r.view(c.Src); err != nil {
		return nil, err
	}
	if out.Data, err = r.file.load(c.Data, c.Bytes); err != nil || c.Launch == nil {
		return out, err
	}
	l := c.Launch
	d := out.Queue.Device()
	var k *session.Kernel
	if l.As != nil {
		k, err = r.libs[l.Library].KernelAs(ctx, d, l.Kernel, l.As)
	} else {
		k, err = r.libs[l.Library].Kernel(ctx, d, l.Kernel)
	}
	if err != nil {
		return nil, err
	}
	args := make([]session.Arg, len(l.Args))
	for i, a := range l.Args {
		switch {
		case a.Buffer != nil:
			b, err := r.view(a.Buffer)
			if err != nil {
				return nil, err
			}
			args[i] = session.Buf(b)
		case a.Struct != nil:
			args[i] = session.Struct(a.Struct)
		default:
			t, ok := offload.ParseType(a.Type)
			bits, err := strconv.ParseUint(a.Bits, 16, 64)
			if !ok || err != nil {
				return nil, damaged("an argument of %s is not valid", l.Kernel)
			}
			args[i] = session.Bits(t, bits)
		}
	}
	out.Call, err = k.Bind(config(l), args...)
	return out, err
}

// config returns the configuration of a recorded launch, or an empty one for nil.
func config(l *launch) session.Config {
	if l == nil {
		return session.Config{}
	}
	return session.Config{Size: l.Size[:], GroupSize: l.Group, Checks: l.Checks, SharedBytes: l.Shared, Cooperative: l.Cooperative, Teams: l.Teams, ThreadLimit: l.ThreadLimit}
}

// Restore resets the buffers to their contents before the first command of the recording, and waits.
func (r *Replay) Restore(ctx context.Context) error {
	for i, b := range r.memories {
		m := &r.file.Memories[i]
		q, err := b.Device().Queue()
		if err == nil {
			err = q.WaitForSpace(ctx)
		}
		if err == nil {
			err = q.Fill(b, []byte{0})
		}
		if err == nil && m.Before != "" {
			var data []byte
			if data, err = r.file.load(m.Before, m.Size); err == nil {
				err = q.Write(b, 0, data)
			}
		}
		if err == nil {
			err = q.Sync(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Run issues the commands, waits for them, and returns the time that they took. If a command cannot be issued, the time is 0,
// and Run does not wait for those before it.
func (r *Replay) Run(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	for _, c := range r.commands {
		if err := issue(ctx, c); err != nil {
			return 0, err
		}
	}
	err := r.sync(ctx)
	return time.Since(began), err
}

// issue issues a command when its queue has space.
func issue(ctx context.Context, c *session.Command) error {
	if err := c.Queue.WaitForSpace(ctx); err != nil {
		return err
	}
	return graph.Issue(c)
}

// sync waits for the commands of all queues.
func (r *Replay) sync(ctx context.Context) error {
	for _, q := range r.queues {
		if err := q.Sync(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Difference is a buffer whose contents differ from the recorded ones.
type Difference struct {
	Label         string
	Element       int64 // index of the first element that differs
	Count, Of     int64 // number of elements that differ, and of all elements
	Got, Recorded string
}

// String returns the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("buffer %q: %d of %s differ; element %d is %s, recorded %s", d.Label, d.Count, spelling.Count(int(d.Of), "element"), d.Element, d.Got, d.Recorded)
}

// Verify compares the contents of the buffers with those recorded after the last command. It returns the number of buffers
// compared, and the differences in the order of the buffers. Buffers that were freed in the recorded program are not compared.
// With an error, the results are those so far.
func (r *Replay) Verify(ctx context.Context) (checked int, list []Difference, err error) {
	for i, b := range r.memories {
		m := &r.file.Memories[i]
		if m.After == "" {
			continue
		}
		want, err := r.file.load(m.After, m.Size)
		if err != nil {
			return checked, list, err
		}
		got := make([]byte, m.Size)
		q, err := b.Device().Queue()
		if err == nil {
			err = q.Read(got, b, 0)
		}
		if err == nil {
			err = q.Sync(ctx)
		}
		if err != nil {
			return checked, list, err
		}
		checked++
		if d, differs := compare(m, got, want); differs {
			list = append(list, d)
		}
	}
	return checked, list, nil
}

// compare compares the elements of a buffer. It returns the first difference and the number of different elements, or false
// if the bytes are equal.
func compare(m *memory, got, want []byte) (d Difference, differs bool) {
	if bytes.Equal(got, want) {
		return d, false
	}
	t, _ := offload.ParseType(m.Type)
	size := t.Size()
	if len(want)%size != 0 {
		t, size = offload.Opaque, 1
	}
	d = Difference{Label: m.Label, Of: int64(len(want) / size), Element: -1}
	for at := 0; at < len(want); at += size {
		if bytes.Equal(got[at:at+size], want[at:at+size]) {
			continue
		}
		if d.Count++; d.Element < 0 {
			d.Element, d.Got, d.Recorded = int64(at/size), element(t, got[at:at+size]), element(t, want[at:at+size])
		}
	}
	return d, true
}

// element returns an element as text. For f32, f64 and NaNs, its bits follow in hexadecimal.
func element(t offload.Type, data []byte) string {
	bits := uint64(0)
	for _, b := range slices.Backward(data) {
		bits = bits<<8 | uint64(b)
	}
	text := graph.Value(session.Bits(t, bits))
	if v, err := strconv.ParseFloat(text, 64); t == offload.F32 || t == offload.F64 || err == nil && math.IsNaN(v) {
		return fmt.Sprintf("%s (%#x)", text, bits)
	}
	return text
}

// Commands returns the number of commands.
func (r *Replay) Commands() int { return len(r.commands) }

// Devices returns the ids of the devices that run the commands.
func (r *Replay) Devices() (ids []string) {
	for _, q := range r.queues {
		if id := q.Device().ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Close frees what the replay made.
func (r *Replay) Close(ctx context.Context) {
	for _, q := range r.queues {
		_ = q.Close(ctx) // Run has reported failures
	}
	for _, b := range r.memories {
		_ = b.Free() // open until here
	}
	for _, l := range r.libs {
		_ = l.Unregister(ctx) // the session's end would do so otherwise
	}
}
