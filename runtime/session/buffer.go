package session

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/garbage"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// BufferOptions are the options of a buffer.
type BufferOptions struct {
	Type          offload.Type
	Elem          int   // bytes of one element; needed for Opaque, else 0 or the type's size
	Dims          []int // one to three extents, outermost first; 0 is allowed
	Label         string
	Kind          offload.MemoryKind
	Uninitialized bool             // leave the contents unspecified instead of zero
	Queue         *Queue           // queue that clears the buffer; nil: the device's default queue
	Pos           offload.Position // position of the allocation in the script
	Owner         uint64           // see [Object]
	Context       context.Context  // ends waits for memory in use, a garbage collection and space in the queue; nil: no limit
	RunAhead      bool             // do not wait for memory that was freed while commands use it, as they may wait for the caller
}

// Buffer is typed memory of a device, or a view of a part of such memory.
//
// The garbage collector eventually frees a buffer that is unreachable and was not freed.
type Buffer struct {
	shape
	alloc   *allocation
	root    *Buffer // the viewed buffer; nil if the buffer is no view
	offset  int64   // in the allocation, in bytes
	label   string
	freed   atomic.Bool // the view was freed
	cleanup runtime.Cleanup
}

// shape is the type and the extents of a buffer.
type shape struct {
	typ  offload.Type
	elem int
	rank int
	dims [3]int32 // 0 beyond the rank
}

// allocation is the memory behind a buffer and its views. It must not refer to the buffer, or the buffer would stay reachable.
type allocation struct {
	resource           // not used for a global variable
	res      *resource // the object that commands lock: the resource above, or a program
	global   bool      // memory of a global variable, which belongs to the program
	device   *Device
	raw      offload.Memory
	size     int64
	object   Object
}

func newShape(op string, t offload.Type, elem int, dims []int) (shape, *offload.Error) {
	s := shape{typ: t, elem: elem, rank: len(dims)}
	if t != offload.Opaque {
		if t.Size() == 0 {
			return s, offload.Errorf(offload.InvalidArgument, op, "%v is no element type", t)
		}
		if elem != 0 && elem != t.Size() {
			return s, offload.Errorf(offload.InvalidArgument, op, "an element of type %v has %d bytes, not %d", t, t.Size(), elem)
		}
		s.elem = t.Size()
	} else if elem <= 0 {
		return s, offload.Errorf(offload.InvalidArgument, op, "an opaque element needs a size, but %d was given", elem)
	}
	if len(dims) < 1 || len(dims) > 3 {
		return s, offload.Errorf(offload.InvalidArgument, op, "a buffer has 1 to 3 dimensions, not %d", len(dims)).
			WithHint("flatten the outer dimensions into one")
	}
	size := uint64(s.elem)
	for i, n := range dims {
		if n < 0 || n > math.MaxInt32 {
			return s, offload.Errorf(offload.InvalidSize, op, "dimension %d is %d; each must be 0 to %d", i, n, math.MaxInt32).
				WithHint("split it over two dimensions")
		}
		s.dims[i] = int32(n)
		hi, lo := bits.Mul64(size, uint64(max(n, 1)))
		if hi != 0 || lo > math.MaxInt64 {
			return s, offload.Errorf(offload.InvalidSize, op, "%v of type %v is more than 2^63 bytes", dims, t)
		}
		size = lo
	}
	return s, nil
}

func (s *shape) count() int64 {
	n := int64(1)
	for _, d := range s.dims[:s.rank] {
		n *= int64(d)
	}
	return n
}

// alignment returns a divisor of every element's offset. The alignment of records is unknown: it returns the largest power of
// two, up to 8, that divides their size.
func (s *shape) alignment() int64 {
	if s.typ != offload.Opaque {
		return int64(s.elem)
	}
	return min(int64(s.elem&-s.elem), 8)
}

func (s *shape) String() string {
	var b strings.Builder
	b.WriteString(s.typ.String())
	if s.typ == offload.Opaque {
		fmt.Fprintf(&b, "(%d)", s.elem)
	}
	for _, d := range s.dims[:s.rank] {
		fmt.Fprintf(&b, "[%d]", d)
	}
	return b.String()
}

// NewBuffer returns a buffer that reads as zero in every later command on any queue, unless opts.Uninitialized is set. Errors:
// InvalidArgument and InvalidSize for options, InvalidQueue for a queue of another device, OutOfResources with the figures if
// memory is short. Others are Closed for a closed session, DeviceLost, and Cancelled or Timeout if opts.Context ends.
func (d *Device) NewBuffer(opts BufferOptions) (*Buffer, error) {
	const op = "create buffer"
	shape, e := newShape(op, opts.Type, opts.Elem, opts.Dims)
	if e != nil {
		limit := float64(d.Info().Limits.AllocationBytes)
		bytes := float64(max(shape.elem, 1))
		for _, n := range opts.Dims { // they may be out of range
			bytes *= float64(n)
		}
		if e.Code == offload.InvalidSize && limit > 0 && bytes > limit {
			_ = e.WithHint("%.4g GB are more than the %.4g GB that the device allocates at once: use several buffers, or a smaller element type", bytes/1e9, limit/1e9)
		}
		return nil, e.On(d.id, opts.Label)
	}
	q := opts.Queue
	if q == nil && !opts.Uninitialized {
		var err error
		if q, err = d.Queue(); err != nil {
			return nil, err
		}
	}
	if q != nil && q.device != d {
		return nil, offload.Errorf(offload.InvalidQueue, op, "the queue %q belongs to %s", q.Label(), q.device.id).On(d.id, opts.Label)
	}
	if err := d.session.acquire(op, d.id, opts.Label); err != nil {
		return nil, err
	}
	defer d.session.release()
	id := d.session.serial.Add(1)
	if opts.Label == "" {
		opts.Label = "buffer " + strconv.FormatUint(id, 10)
	}
	size := max(shape.count()*int64(shape.elem), 1) // at least one byte, so that an empty buffer has an address
	ctx := opts.Context
	if ctx == nil {
		ctx = context.Background()
	}
	d.allocated.KeepPace(ctx, size)
	if !opts.RunAhead {
		d.retired.KeepPace(ctx, size)
	}
	raw, err := d.allocate(ctx, size, opts.Kind, opts.Label)
	if err != nil {
		return nil, err
	}
	a := &allocation{
		resource: resource{kind: "buffer", label: opts.Label, serial: id},
		device:   d, raw: raw, size: size,
		object: Object{ID: id, Kind: "buffer", Label: opts.Label, Device: d.id, Bytes: size, Pos: opts.Pos, Owner: opts.Owner},
	}
	a.res = &a.resource
	d.adopt(a)
	b := &Buffer{shape: shape, alloc: a, label: opts.Label}
	if !opts.Uninitialized {
		if err := b.fillFirst(ctx, q); err != nil {
			a.release()
			return nil, err
		}
	}
	b.cleanup = runtime.AddCleanup(b, (*allocation).collect, a)
	return b, nil
}

// fillFirst clears the whole buffer. Queues without hazard tracking also wait for the fill.
func (b *Buffer) fillFirst(ctx context.Context, q *Queue) error {
	if err := q.WaitForSpace(ctx); err != nil {
		return err
	}
	t := [1]access{{res: b.alloc.res, hi: b.alloc.size, write: true}}
	if err := q.enter("create buffer", t[:], true); err != nil {
		return err
	}
	c := q.begin()
	c.owner = b.alloc.object.Owner
	err := q.raw.Fill(offload.Span{Memory: b.alloc.raw, Size: b.alloc.size}, []byte{0})
	c.end(trace.Copy, "zero", b.alloc.size, err)
	q.exit(t[:], err == nil)
	if q.watched(err) {
		q.tell(Command{Kind: ZeroCommand, Dst: b})
	}
	return located(err, b.alloc.device.id, b.label)
}

// reclaimTime is the maximum wait of an allocation for memory that was freed but is in use.
const reclaimTime = 10 * time.Second

// allocate returns device memory. If memory is short, it waits for freed memory that is in use, then runs the garbage
// collector for unreachable buffers. ctx ends the wait.
func (d *Device) allocate(ctx context.Context, size int64, kind offload.MemoryKind, label string) (offload.Memory, error) {
	const op = "create buffer"
	if limit := d.Info().Limits.AllocationBytes; limit > 0 && size > limit {
		return nil, offload.Errorf(offload.InvalidSize, op, "%d bytes are more than the %d that the device allocates at once", size, limit).
			On(d.id, label)
	}
	if err := d.checkLost(op, label); err != nil {
		return nil, err
	}
	d.retired.Reap()
	raw, err := d.raw.Allocate(size, kind)
	for _, reclaim := range []func(context.Context) bool{d.reclaim, d.collectGarbage} {
		if offload.CodeOf(err) != offload.OutOfResources {
			break
		}
		if reclaim(ctx) {
			raw, err = d.raw.Allocate(size, kind)
		}
	}
	if err == nil {
		return raw, nil
	}
	if ended := contextError(ctx, op); ended != nil {
		return nil, located(ended, d.id, label)
	}
	err = located(err, d.id, label)
	if e, ok := err.(*offload.Error); ok && e.Code == offload.OutOfResources && e.Hint == "" {
		c := *e
		return nil, c.WithHint("the buffers of %s take %d of its %d bytes; free some", d.id, d.allocated.Load(), d.Info().MemoryBytes)
	}
	return nil, err
}

// reclaim waits for memory that has been freed but is in use, and reports whether all of it was freed. It returns false if there is none.
func (d *Device) reclaim(ctx context.Context) bool {
	if d.retired.Empty() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, reclaimTime)
	defer cancel()
	return d.retired.ReapAll(ctx) == nil
}

// collectGarbage makes the garbage collector free unreachable buffers. It waits until cleanups have begun, which [garbage.Collect]
// bounds, and then for about 20 ms at most. It reports whether less memory is allocated afterwards.
func (d *Device) collectGarbage(ctx context.Context) bool {
	before := d.allocated.Load()
	if before == 0 || ctx.Err() != nil {
		return false
	}
	garbage.Collect(ctx)
	for i := 0; i < 20 && ctx.Err() == nil; i++ { // cleanups run in an unspecified order
		time.Sleep(time.Millisecond)
		d.retired.Reap()
		if d.allocated.Load() < before {
			return true
		}
	}
	return false
}

func (d *Device) adopt(a *allocation) {
	d.mu.Lock()
	d.allocations[a] = struct{}{}
	d.mu.Unlock()
	n := d.allocated.Add(a.size)
	d.session.tracer.counted(d, n)
	for {
		peak := d.peak.Load()
		if n <= peak || d.peak.CompareAndSwap(peak, n) {
			break
		}
	}
	d.session.live.add(liveEntry{object: a.object})
}

// release refuses further commands on the memory, and frees it once no command uses it. A second call returns false.
func (a *allocation) release() bool {
	pending, ok := a.close()
	if !ok {
		return false
	}
	if a.unused != nil {
		if f, ok := a.unused.raw.(offload.Forgetter); ok {
			f.Forget(a.raw)
		}
	}
	d := a.device
	d.mu.Lock()
	delete(d.allocations, a)
	d.mu.Unlock()
	d.session.live.remove(a.object.ID)
	d.retired.Add(pending, a.size, func() {
		d.session.tracer.counted(d, d.allocated.Add(-a.size))
		if err := a.raw.Free(); err != nil {
			d.session.log.Error("memory could not be freed", "object", a.object, "error", err)
		}
	})
	return true
}

// collect frees the memory of a buffer that has become unreachable: it is the buffer's cleanup. It does nothing after the
// session's Close, which frees the memory.
func (a *allocation) collect() {
	if !a.device.session.tryAcquire() {
		return // Close frees it
	}
	defer a.device.session.release()
	if a.release() {
		a.device.session.collected.Add(1)
		a.device.allocated.Freed(a.size)
		a.device.session.log.Debug("freed by the garbage collector", "object", a.object)
	}
}

// Free frees the buffer's memory once the commands that use it have finished; it does not wait for them. Every later use of it or
// of its views, and a second Free, is a Closed error. Freeing a view ends only the view and those made of it. A global
// variable's buffer cannot be freed.
func (b *Buffer) Free() error {
	if b.root != nil {
		if b.freed.Swap(true) {
			return closedError("free", "buffer", "").On(b.alloc.device.id, b.label)
		}
		return nil
	}
	if b.alloc.global {
		return b.fail(offload.InvalidArgument, "free", "a global variable belongs to its library").
			WithHint("unregister the library")
	}
	if err := b.alloc.device.session.acquire("free", b.alloc.device.id, b.label); err != nil {
		return err
	}
	defer b.alloc.device.session.release()
	if !b.alloc.release() {
		return closedError("free", "buffer", "").On(b.alloc.device.id, b.label)
	}
	b.cleanup.Stop()
	return nil
}

// Freed reports whether the buffer can no longer be used.
func (b *Buffer) Freed() bool {
	for v := b; v != nil; v = v.root {
		if v.freed.Load() {
			return true
		}
	}
	r := b.alloc.res
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Device returns the buffer's device.
func (b *Buffer) Device() *Device { return b.alloc.device }

// Label returns the buffer's label.
func (b *Buffer) Label() string { return b.label }

// Type returns the element type.
func (b *Buffer) Type() offload.Type { return b.typ }

// Elem returns the bytes of one element.
func (b *Buffer) Elem() int { return b.elem }

// Dims returns the extents, outermost first.
func (b *Buffer) Dims() []int { return b.AppendDims(make([]int, 0, b.rank)) }

// AppendDims appends the extents to a list, outermost first.
func (b *Buffer) AppendDims(list []int) []int {
	for _, n := range b.dims[:b.rank] {
		list = append(list, int(n))
	}
	return list
}

// Len returns the number of elements.
func (b *Buffer) Len() int64 { return b.count() }

// Size returns the number of bytes.
func (b *Buffer) Size() int64 { return b.count() * int64(b.elem) }

// Kind returns the kind of memory.
func (b *Buffer) Kind() offload.MemoryKind { return b.alloc.raw.Kind() }

// Address returns the address of the first element in the address space of the device's kernels. Commands that access the
// buffer through the address alone are neither ordered with others nor keep the memory alive. Errors: Closed for a freed
// buffer, Unsupported on a device without addresses.
func (b *Buffer) Address() (uint64, error) {
	if b.Freed() {
		return 0, b.fail(offload.Closed, "address", "the buffer has been freed")
	}
	a, ok := b.alloc.raw.(offload.Addresser)
	if !ok {
		return 0, b.fail(offload.Unsupported, "address", "memory of the device has no address")
	}
	start, err := a.Address()
	if err != nil {
		return 0, located(err, b.alloc.device.id, b.label)
	}
	return start + uint64(b.offset), nil
}

// String returns type, extents, label and device in one line.
func (b *Buffer) String() string {
	return fmt.Sprintf("%s %q on %s", b.shape.String(), b.label, b.alloc.device.id)
}

// ViewOptions are the options of a view.
type ViewOptions struct {
	Start int64        // the first element, counted in elements of the buffer
	Dims  []int        // extents of the view
	Type  offload.Type // with Elem: the view's type of elements; both zero: the buffer's
	Elem  int
	Label string // default: the buffer's label
}

// View returns a buffer on a part of the same memory. Errors: InvalidSize if it leaves the buffer, InvalidArgument for wrong
// options or a start not aligned to its element type, Closed for a freed buffer.
func (b *Buffer) View(opts ViewOptions) (*Buffer, error) {
	const op = "view"
	if b.Freed() {
		return nil, closedError(op, "buffer", "").On(b.alloc.device.id, b.label)
	}
	if opts.Type == offload.Opaque && opts.Elem == 0 {
		opts.Type, opts.Elem = b.typ, b.elem
	}
	s, e := newShape(op, opts.Type, opts.Elem, opts.Dims)
	if e != nil {
		return nil, e.On(b.alloc.device.id, b.label)
	}
	if opts.Start < 0 || opts.Start > b.Len() {
		return nil, b.fail(offload.InvalidSize, op, "the view starts at element %d of %d", opts.Start, b.Len())
	}
	start := opts.Start * int64(b.elem)
	if size := s.count() * int64(s.elem); size > b.Size()-start {
		return nil, b.fail(offload.InvalidSize, op, "%v at element %d needs %d bytes, but the buffer has %d there",
			&s, opts.Start, size, b.Size()-start)
	}
	if align := s.alignment(); (b.offset+start)%align != 0 {
		return nil, b.fail(offload.InvalidArgument, op, "the view starts at byte %d, but elements of type %v are aligned to %d bytes",
			b.offset+start, s.typ, align)
	}
	if opts.Label == "" {
		opts.Label = b.label
	}
	return &Buffer{shape: s, alloc: b.alloc, root: b, offset: b.offset + start, label: opts.Label}, nil
}

// Mapped returns the buffer's memory in the host's address space. It returns nil if the host cannot access it, or the buffer was
// freed. Commands in flight may change it, and it must not be used after Free. The garbage collector does not free a mapped buffer.
func (b *Buffer) Mapped() []byte {
	all := b.alloc.raw.Bytes()
	if all == nil || b.Freed() {
		return nil
	}
	root := b
	for root.root != nil {
		root = root.root
	}
	root.cleanup.Stop()
	end := b.offset + b.Size()
	return all[b.offset:end:end]
}

func (b *Buffer) fail(code offload.Code, op, format string, args ...any) *offload.Error {
	return offload.Errorf(code, op, format, args...).On(b.alloc.device.id, b.label)
}

// span returns a range of the buffer, in bytes.
func (b *Buffer) span(offset, size int64) offload.Span {
	return offload.Span{Memory: b.alloc.raw, Offset: b.offset + offset, Size: size}
}

// access returns a command's access to a range of the buffer, in bytes. Kernels of a program may access its global variables,
// so commands on these conflict with every launch of the program.
func (b *Buffer) access(offset, size int64, write bool) access {
	if b.alloc.global {
		return access{res: b.alloc.res, lo: 0, hi: 1, write: true}
	}
	return access{res: b.alloc.res, lo: b.offset + offset, hi: b.offset + offset + size, write: write}
}

// viewFreed reports whether the view, or a view from which it derives, was freed.
func (b *Buffer) viewFreed() bool {
	for v := b; v.root != nil; v = v.root {
		if v.freed.Load() {
			return true
		}
	}
	return false
}
