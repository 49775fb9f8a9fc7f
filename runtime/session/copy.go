package session

import (
	"slices"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// check returns an error if b is nil or a freed view. It also does if the range of bytes from element at exceeds b or ends within an
// element. It does not check whether the memory was freed: enter does.
func (q *Queue) check(op string, b *Buffer, at, bytes int64) error {
	if b == nil {
		return offload.Errorf(offload.InvalidArgument, op, "no buffer was given").On(q.device.id, "")
	}
	if b.viewFreed() {
		return closedError(op, "buffer", "").On(b.alloc.device.id, b.label)
	}
	elem := int64(b.elem)
	switch {
	case bytes%elem != 0:
		return b.fail(offload.InvalidSize, op, "%d bytes are not a whole number of elements of %d bytes", bytes, elem)
	case at < 0 || at > b.Len() || bytes/elem > b.Len()-at:
		return b.fail(offload.InvalidSize, op, "elements %d to %d are not all in the buffer, which has %d", at, at+max(bytes/elem, 1)-1, b.Len())
	}
	return nil
}

// owns returns an error for buffers of other devices.
func (q *Queue) owns(op string, b *Buffer) error {
	if b.alloc.device != q.device {
		return b.fail(offload.InvalidDevice, op, "the buffer is on %s, the queue %q on %s", b.alloc.device.id, q.Label(), q.device.id).
			WithHint("use a queue of %s, or copy the buffer", b.alloc.device.id)
	}
	return nil
}

// Write copies src into the buffer, starting at element at. src belongs to the queue until the command has run. Errors: InvalidSize
// for bytes that are no whole elements or leave the buffer, InvalidDevice for a buffer of another device. Others are Closed for a freed
// buffer or a closed queue, DeviceLost, and those of the plugin.
func (q *Queue) Write(b *Buffer, at int64, src []byte) error {
	return write(q, b, at, src, q.raw.Submit)
}

// WriteNow is like [Queue.Write], but the caller may change src after the return.
func (b *Buffer) WriteNow(q *Queue, at int64, src []byte) error {
	if s, ok := q.raw.(offload.PromptSubmitter); ok {
		return write(q, b, at, src, s.SubmitNow)
	}
	return q.Write(b, at, memory.Clone(src))
}

func write(q *Queue, b *Buffer, at int64, src []byte, submit func(offload.Span, []byte) error) error {
	const op = "write"
	n := int64(len(src))
	if err := q.check(op, b, at, n); err != nil {
		return err
	}
	if err := q.owns(op, b); err != nil {
		return err
	}
	offset := at * int64(b.elem)
	t := [1]access{b.access(offset, n, true)}
	if err := q.enter(op, t[:], false); err != nil {
		return err
	}
	var err error
	if n > 0 {
		c := q.begin()
		err = submit(b.span(offset, n), src)
		c.end(trace.Copy, "write", n, err)
	}
	q.exit(t[:], err == nil)
	if q.watched(err) {
		q.tell(Command{Kind: WriteCommand, Dst: b, At: at, Data: src})
	}
	return located(err, q.device.id, b.label)
}

// Read copies elements, starting at element at, into dst, which belongs to the queue until the command has run. Its errors are those
// of Write.
func (q *Queue) Read(dst []byte, b *Buffer, at int64) error {
	const op = "read"
	n := int64(len(dst))
	if err := q.check(op, b, at, n); err != nil {
		return err
	}
	if err := q.owns(op, b); err != nil {
		return err
	}
	offset := at * int64(b.elem)
	t := [1]access{b.access(offset, n, false)}
	if err := q.enter(op, t[:], false); err != nil {
		return err
	}
	var err error
	if n > 0 {
		c := q.begin()
		err = q.raw.Retrieve(dst, b.span(offset, n))
		c.end(trace.Copy, "read", n, err)
	}
	q.exit(t[:], err == nil)
	if q.watched(err) {
		q.tell(Command{Kind: ReadCommand, Src: b, At: at})
	}
	return located(err, q.device.id, b.label)
}

// Fill repeats pattern over the buffer. The length of pattern divides that of an element; else it is an InvalidArgument error. A length
// other than 1, 2, 4, 8 or 16 bytes is Unsupported.
func (q *Queue) Fill(b *Buffer, pattern []byte) error {
	const op = "fill"
	if err := q.check(op, b, 0, 0); err != nil {
		return err
	}
	if err := q.owns(op, b); err != nil {
		return err
	}
	if n := len(pattern); n == 0 || b.elem%n != 0 {
		return b.fail(offload.InvalidArgument, op, "a pattern of %d bytes does not divide elements of %d bytes", n, b.elem)
	}
	if !slices.Contains([]int{1, 2, 4, 8, 16}, len(pattern)) {
		return b.fail(offload.Unsupported, op, "a pattern has 1, 2, 4, 8 or 16 bytes, not %d", len(pattern)).
			WithHint("fill the fields of records with a kernel")
	}
	t := [1]access{b.access(0, b.Size(), true)}
	if err := q.enter(op, t[:], false); err != nil {
		return err
	}
	var err error
	if b.Size() > 0 {
		c := q.begin()
		err = q.raw.Fill(b.span(0, b.Size()), pattern)
		c.end(trace.Copy, "fill", b.Size(), err)
	}
	q.exit(t[:], err == nil)
	if q.watched(err) {
		q.tell(Command{Kind: FillCommand, Dst: b, Data: pattern})
	}
	return located(err, q.device.id, b.label)
}

// Copy copies src to dst, which may be on different devices. Errors: InvalidSize unless they have the same number of bytes, and
// InvalidArgument for parts of one buffer that overlap. Others are InvalidDevice if neither buffer is on the queue's device, Closed for
// a freed buffer, and DeviceLost.
func (q *Queue) Copy(dst, src *Buffer) error {
	const op = "copy"
	for _, b := range []*Buffer{dst, src} {
		if err := q.check(op, b, 0, 0); err != nil {
			return err
		}
	}
	if dst.Size() != src.Size() {
		return dst.fail(offload.InvalidSize, op, "%d bytes of %q do not fit the %d bytes of the destination", src.Size(), src.label, dst.Size()).
			WithHint("copy views of equal size")
	}
	if dst.alloc == src.alloc && dst.offset < src.offset+src.Size() && src.offset < dst.offset+dst.Size() {
		return dst.fail(offload.InvalidArgument, op, "source and destination overlap").WithHint("copy over a third buffer")
	}
	here, there := dst.alloc.device, src.alloc.device
	if q.device != here && q.device != there {
		return dst.fail(offload.InvalidDevice, op, "the queue %q is on %s, the buffers are on %s and %s", q.Label(), q.device.id, here.id, there.id).
			WithHint("use a queue of one of them")
	}
	if dst.Size() == 0 {
		return nil
	}
	var err error
	if here != there && !q.reaches(dst) && !q.reaches(src) {
		err = q.copyStaged(dst, src)
	} else {
		t := pair(dst.access(0, dst.Size(), true), src.access(0, src.Size(), false))
		if err := q.enter(op, t[:], false); err != nil {
			return err
		}
		err = q.copyRange(dst, src, 0, 0, dst.Size())
		q.exit(t[:], err == nil)
		err = located(err, q.device.id, dst.label)
	}
	if q.watched(err) {
		q.tell(Command{Kind: CopyCommand, Dst: dst, Src: src})
	}
	return err
}

// reaches reports whether the queue's commands can access a buffer of another device: a peer's, or a host-visible one.
func (q *Queue) reaches(b *Buffer) bool {
	d := b.alloc.device
	return d != q.device && (q.isPeer(d) || b.alloc.raw.Bytes() != nil)
}

func (q *Queue) isPeer(d *Device) bool {
	p, ok := q.device.raw.(offload.PeerCopier)
	return ok && p.CanExchange(d.raw)
}

// copyRange copies between memories that the queue can access, within a command. Offsets are in bytes.
func (q *Queue) copyRange(dst, src *Buffer, dstOffset, srcOffset, size int64) (err error) {
	c := q.begin()
	defer func() { c.end(trace.Copy, "copy", size, err) }()
	to, from := dst.span(dstOffset, size), src.span(srcOffset, size)
	here, there := dst.alloc.device, src.alloc.device
	switch {
	case here == there, q.device == here && q.isPeer(there), q.device == there && q.isPeer(here):
		return q.raw.Exchange(to, from)
	case q.device == here:
		return q.raw.Submit(to, from.Memory.Bytes()[from.Offset:][:size])
	default:
		return q.raw.Retrieve(to.Memory.Bytes()[to.Offset:][:size], from)
	}
}

// pair sorts two accesses in locking order.
func pair(a, b access) [2]access {
	if a.res.serial > b.res.serial {
		a, b = b, a
	}
	return [2]access{a, b}
}
