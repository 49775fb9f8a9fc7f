// Package array computes with whole arrays: buffers of a device with 1 to 3 dimensions. Its operations launch kernels of
// package kernels/array, so every device computes the same bits.
//
// An operation returns its result at once, like a launch; later commands on the buffers wait for it. Only [Run.Wait] waits for a
// result, whose length the device computes.
//
//	ops := array.New(rt.Session())
//	run := ops.On(ctx, queue)
//	x, err := run.Random(ir.F32, []int{1000, 8}, 1, 0, 1)
//	y, err := run.Map(array.Text("v => Math.sin(v) * 2"), x)
//	sum, err := run.Sum(y, array.All, false)
//
// [Run.Join] joins elementwise operations with the one that uses their result, in one launch.
package array

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/orepl/orepl/bindings/array/built"
	"github.com/orepl/orepl/bindings/array/openblas"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	irscalar "github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Array is a buffer with the type of its elements, or a joined array, which has no memory; see [Run.Join].
type Array struct {
	*session.Buffer // nil for a joined array
	Elem            ir.Elem
	joined          *expression
}

// Of returns the array of a buffer of scalars. A buffer of another type, such as one of bytes, becomes an array of u8.
func Of(b *session.Buffer) Array {
	t := ir.U8
	for _, s := range Types {
		if s.String() == b.Type().String() {
			t = s
		}
	}
	return Array{Buffer: b, Elem: ir.Elem{Scalar: t}}
}

// Types lists the element types.
var Types = []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64}

// Ops holds the compiled kernels of a session's array operations. It is safe for concurrent use.
type Ops struct {
	session  *session.Session
	cache    built.Cache
	types    resultTypes
	openblas openblas.Library
	asGPU    *offload.DeviceInfo // of a test: operations run the plans for such a GPU
}

// New returns the operations of a session.
func New(s *session.Session) *Ops { return &Ops{session: s} }

// Host makes the buffers and the launches of operations. The host of a script enforces the script's limits.
type Host interface {
	NewBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error)
	Launch(q *session.Queue, c *session.Call) error
}

// direct is the host without limits.
type direct struct{ ctx context.Context }

func (h direct) NewBuffer(d *session.Device, opts session.BufferOptions) (*session.Buffer, error) {
	opts.Context = h.ctx
	return d.NewBuffer(opts)
}

func (h direct) Launch(q *session.Queue, c *session.Call) error {
	if err := q.WaitForSpace(h.ctx); err != nil {
		return err
	}
	return q.Launch(c)
}

// Run issues operations to a queue. It is not safe for concurrent use.
type Run struct {
	*Ops
	Queue   *session.Queue
	Context context.Context
	Host    Host
	Label   string           // label of the result; "" for one that its number makes unique, such as "buffer 7"
	Pos     offload.Position // position of the call in a script
	Watch   func(Launched)   // called after each launch, if not nil

	op      string            // name of the running operation
	temps   []*session.Buffer // freed at the end of the operation
	made    []*session.Buffer // made by the running operation
	failed  bool              // a buffer could not be made, or a launch or copy was refused
	records *recorder         // nil if nothing records the commands
}

// On returns a runner of operations on a queue. When ctx ends, operations no longer wait for memory or for space in the queue.
func (o *Ops) On(ctx context.Context, q *session.Queue) *Run {
	return &Run{Ops: o, Queue: q, Context: ctx, Host: direct{ctx}}
}

// begin checks the arguments of an operation and returns the function that ends it. Within another operation, that function
// does nothing.
func (r *Run) begin(op string, arrays ...Array) (end func(), err error) {
	if r.op != "" { // part of another operation
		return func() {}, r.check(arrays, false)
	}
	r.op = op
	if err := r.check(arrays, false); err != nil {
		r.op = ""
		return nil, err
	}
	return r.end, nil
}

// check returns an error for arrays that an operation cannot use. joins says whether the operation takes joined arrays, whose
// inputs are then checked.
func (r *Run) check(arrays []Array, joins bool) error {
	for _, a := range arrays {
		if a.joined != nil && joins {
			for _, o := range a.joined.inputs {
				if !o.IsArray() {
					continue
				}
				if err := r.check([]Array{o.Array}, false); err != nil {
					return err
				}
			}
			continue
		}
		switch {
		case a.joined != nil:
			return r.fail(offload.InvalidArgument, "the array of %s is joined, and has no memory", a.joined.ops).WithHint("store it first: run.Store(x)")
		case a.Buffer == nil:
			return r.fail(offload.InvalidArgument, "no array was given")
		case a.Freed():
			return offload.Errorf(offload.Closed, r.op, "the buffer %q has been freed", a.Label()).On(a.Device().ID(), a.Label()).
				WithHint("free it after its last use")
		case a.Device() != r.Queue.Device():
			return offload.Errorf(offload.InvalidDevice, r.op, "%q is on %s, the operation on %s", a.Label(), a.Device().ID(), r.Queue.Device().ID()).
				On(a.Device().ID(), a.Label()).WithHint("copy one of them first: x.copyTo(device.buffer(x.type, x.shape))")
		}
	}
	return nil
}

// beginJoined begins an operation like begin, but the operation takes joined arrays.
func (r *Run) beginJoined(op string, arrays ...Array) (end func(), err error) {
	if end, err = r.begin(op); err != nil {
		return nil, err
	}
	if err := r.check(arrays, true); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// end frees the operation's temporary buffers once their commands have run, and after a failure all that it made.
func (r *Run) end() {
	list := r.temps
	if r.failed {
		list = append(list, r.made...)
	}
	for _, b := range list {
		_ = b.Free() // it may be freed already
	}
	clear(r.made)
	r.temps, r.made, r.op, r.failed = r.temps[:0], r.made[:0], "", false
}

// noted returns err. If it is an error, the end of the operation frees the arrays that the operation made.
func noted(r *Run, err error) error {
	if err != nil && r.op != "" {
		r.failed = true
	}
	return err
}

func (r *Run) fail(code offload.Code, format string, args ...any) *offload.Error {
	return offload.Errorf(code, r.op, format, args...).On(r.Queue.Device().ID(), r.Label)
}

// make returns a new array with unspecified contents. Without dims it has one dimension of one element.
func (r *Run) make(t ir.Type, dims []int) (Array, error) {
	return r.allocate(ir.Elem{Scalar: t}, dims, r.Label)
}

// temp returns an array that is freed at the end of the operation.
func (r *Run) temp(t ir.Type, dims ...int) (Array, error) {
	a, err := r.allocate(ir.Elem{Scalar: t}, dims, r.op+", intermediate")
	if err == nil {
		r.temps = append(r.temps, a.Buffer)
	}
	return a, err
}

// scrap frees an intermediate result at the end of the operation.
func (r *Run) scrap(a Array) { r.temps = append(r.temps, a.Buffer) }

func (r *Run) allocate(e ir.Elem, dims []int, label string) (Array, error) {
	opts := session.BufferOptions{Type: typeOf(e), Elem: e.Size(), Dims: dims, Label: label, Pos: r.Pos, Uninitialized: product(dims) > 0, Queue: r.Queue}
	if len(dims) == 0 {
		opts.Dims = []int{1}
	}
	for _, n := range dims {
		if n < 0 {
			return Array{}, r.fail(offload.InvalidSize, "the shape %s has a negative extent", Shape(dims))
		}
	}
	if len(dims) > 3 {
		return Array{}, r.fail(offload.InvalidSize, "the result has the shape %s; a buffer has at most 3 dimensions", Shape(dims)).
			WithHint("reshape the arrays so that fewer dimensions remain")
	}
	b, err := r.Host.NewBuffer(r.Queue.Device(), opts)
	if err != nil {
		return Array{}, noted(r, err)
	}
	if r.op != "" {
		r.made = append(r.made, b)
	}
	r.records.allocated(b, opts, label == r.Label)
	return Array{Buffer: b, Elem: e}, nil
}

// typeOf returns an element type for the runtime, which treats records as opaque bytes.
func typeOf(e ir.Elem) offload.Type {
	if e.Record != nil {
		return offload.Opaque
	}
	t, _ := offload.ParseType(e.Scalar.String())
	return t
}

// arg is an argument of a launch: an array, or a scalar with its bits.
type arg struct {
	array Array
	typ   ir.Type
	bits  uint64
	num   float64
	isNum bool // num is a Number, whose type the kernel infers
	place int  // of a number: see Operand
}

func in(a Array) arg   { return arg{array: a} }
func i32(n int) arg    { return arg{typ: ir.I32, bits: uint64(uint32(int32(n)))} }
func u32(n uint32) arg { return arg{typ: ir.U32, bits: uint64(n)} }

// number returns a scalar argument for elements of type t. bits are those of the value that kernels load; see [ValueBits].
func number(t ir.Type, bits uint64) arg { return arg{typ: t.Value(), bits: bits} }

// kernelArgs returns the compiler's descriptions of arguments.
func kernelArgs(args []arg) []kernel.Arg {
	list := make([]kernel.Arg, len(args))
	for i, a := range args {
		switch {
		case a.array.Buffer != nil:
			list[i] = kernel.Arg{Kind: kernel.Buffer, Elem: a.array.Elem, Rank: len(a.array.Dims())}
		case a.isNum:
			list[i] = kernel.Arg{Kind: kernel.Number}
		default:
			list[i] = kernel.Arg{Kind: kernel.Scalar, Type: a.typ}
		}
	}
	return list
}

// groupSize is the number of items of a group in kernels that cooperate.
const groupSize = 256

// launch compiles a program for its arguments, if that was not done before, and launches it. group is nil for kernels that do
// not observe their groups.
func (r *Run) launch(p *program, size, group []int, args ...arg) error {
	return noted(r, r.launchOne(p, size, group, args))
}

func (r *Run) launchOne(p *program, size, group []int, args []arg) error {
	types := kernelArgs(args)
	key := p.key(types)
	k := r.cache.Lookup(key)
	if k == nil {
		code, err := p.compile(types)
		if err != nil {
			return err
		}
		if k, err = r.cache.Add(r.Context, r.session, key, code, p.unchecked(code.Kernel)); err != nil {
			return err
		}
	}
	list := make([]session.Arg, len(args))
	for i, a := range args {
		if a.array.Buffer != nil {
			list[i] = session.Buf(a.array.Buffer)
			continue
		}
		t := a.typ
		if a.isNum {
			t = k.Params[i].Type
			if err := k.Params[i].CheckNumber(a.num); err != nil {
				return numberError(err)
			}
			a.bits = numberBits(t, a.num)
		}
		st, _ := offload.ParseType(t.String())
		list[i] = session.Bits(st, a.bits)
	}
	on, err := k.Library.Kernel(r.Context, r.Queue.Device(), k.Kernel.Name)
	if err != nil {
		return err
	}
	if !on.Device().Info().Features.Exact {
		return r.fail(offload.Unsupported, "array operations compute the same bits everywhere, and the device cannot").
			WithHint("use another device, or a kernel with { exact: false }")
	}
	cfg := session.Config{Size: size, GroupSize: group}
	if k.Safe && emulated(r) {
		cfg.Checks = offload.ChecksOff
	}
	c, placed := on.Unbound(), cfg
	placed.Pos = r.Pos
	if err := c.Rebind(placed, list...); err != nil {
		return err
	}
	if err := r.Host.Launch(r.Queue, c); err != nil {
		return err
	}
	r.records.launched(k, c, cfg, args, list)
	if r.Watch == nil {
		return nil
	}
	r.Watch(Launched{Op: r.op, Joined: p.joined, Size: size, GroupSize: group, Signature: on.Signature()})
	return nil
}

// Launched describes a launch of an operation.
type Launched struct {
	Op        string
	Joined    []string // the operations that compute the elements in the launch, in their order
	Size      []int    // in work-items
	GroupSize []int    // nil for the default
	Signature string   // of the kernel
}

// numberError returns the error of a number that a parameter does not hold, with a hint that does not ask to change the kernel.
func numberError(err error) error {
	if d, ok := errors.AsType[*diag.Diagnostic](err); ok {
		d.Rewrite = "write the number in the function, as in x.map(v => v * 0.5), or convert the elements there, as in f64(v)"
	}
	return err
}

// numberBits returns the bits of a number as a scalar of a type.
func numberBits(t ir.Type, x float64) uint64 {
	switch t {
	case ir.F32:
		return uint64(math.Float32bits(float32(x)))
	case ir.F64:
		return math.Float64bits(x)
	case ir.U64:
		return uint64(x)
	case ir.U32, ir.I32:
		return uint64(uint32(int64(x)))
	}
	return uint64(int64(x))
}

// groups returns the size of a launch of whole groups, n of them along x. more are the sizes along y and z.
func groups(n int, more ...int) []int { return append([]int{n * groupSize}, more...) }

// oneRow is the size of a group of groupSize items along x, and oneItem that of a group of one item.
var oneRow, oneItem = []int{groupSize, 1, 1}, []int{1, 1, 1}

// as returns a view of the whole array with other extents of the same product, or the array itself if it has these extents. An extent
// beyond 2³¹−1 is an error.
func (r *Run) as(a Array, dims ...int) (Array, error) {
	if slices.Equal(a.Dims(), dims) {
		return a, nil
	}
	for _, n := range dims {
		if n > math.MaxInt32 {
			return Array{}, r.fail(offload.InvalidSize, "%q has %d elements in a row, more than %d", a.Label(), n, math.MaxInt32).
				WithHint("reshape it to more dimensions, and give an axis")
		}
	}
	return r.view(a, view(a, 0, dims))
}

// view returns a view of an array.
func (r *Run) view(a Array, opts session.ViewOptions) (Array, error) {
	v, err := a.View(opts)
	if err == nil {
		r.records.viewed(v, a.Buffer)
	}
	return Array{Buffer: v, Elem: a.Elem}, err
}

// Copy copies the elements of an array to another of the same size.
func (r *Run) Copy(to, from Array) error {
	if err := r.Queue.Copy(to.Buffer, from.Buffer); err != nil {
		return noted(r, err)
	}
	r.records.copied(to.Buffer, from.Buffer)
	return nil
}

// view returns the options of a view of elements from an index on.
func view(a Array, start int64, dims []int) session.ViewOptions {
	return session.ViewOptions{Start: start, Dims: dims, Label: a.Label(), Type: typeOf(a.Elem), Elem: a.Elem.Size()}
}

// flat returns a view with one dimension.
func (r *Run) flat(a Array) (Array, error) { return r.as(a, int(a.Len())) }

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func divide(n, by int) int { return (n + by - 1) / by }

// Shape formats extents as [2, 3].
type Shape []int

func (s Shape) String() string {
	text := "["
	for i, n := range s {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(n)
	}
	return text + "]"
}

// FromI32 returns an array of i32 with one dimension and the numbers of list.
func (r *Run) FromI32(list []int32) (Array, error) {
	return r.FromBytes(ir.I32, []int{len(list)}, session.Bytes(list))
}

// FromBytes returns an array of elements in row-major order, as the device stores them. It keeps no reference to the bytes.
func (r *Run) FromBytes(t ir.Type, dims []int, data []byte) (Array, error) {
	end, err := r.begin("array")
	if err != nil {
		return Array{}, err
	}
	defer end()
	a, err := r.make(t, dims)
	if err != nil || len(data) == 0 {
		return a, err
	}
	r.records.fail() // the numbers
	if err := r.Queue.Write(a.Buffer, 0, data); err != nil {
		_ = a.Free() // the error takes precedence
		return Array{}, err
	}
	return a, nil
}

// Row returns a view of the elements whose first index is i. It has the other axes; for a vector it has one element.
func (r *Run) Row(x Array, i int) (Array, error) {
	end, err := r.begin("at", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims := x.Dims()[1:]
	if len(dims) == 0 {
		dims = []int{1}
	}
	return r.view(x, view(x, int64(i)*int64(product(dims)), dims))
}

// ValueBits converts the bits of an element to those of the value that kernels load.
func ValueBits(t ir.Type, bits uint64) uint64 { return irscalar.Load(t, bits) }
