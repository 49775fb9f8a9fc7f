// Package buffers implements the buffers of the module 'offload' with their views, pinned memory, and addresses.
//
// # Design
//
// buffer(f32, [1, 2, 3]) warns, since an array of numbers is extents, and users of NumPy expect values.
package buffers

import (
	"fmt"
	"slices"
	"strings"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/bindings/offloadjs/devices"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/bindings/offloadjs/option"
	"github.com/orepl/orepl/bindings/offloadjs/queues"
	"github.com/orepl/orepl/bindings/offloadjs/script"
	"github.com/orepl/orepl/bindings/offloadjs/service"
	"github.com/orepl/orepl/bindings/offloadjs/types"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/memory"
	contract "github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// Module holds the buffers of one engine.
type Module struct {
	*script.Script
	types   *types.Module
	devices *devices.Module
	queues  *queues.Module
	rpc     *service.Registry

	class  *lang.Class[*Buffer]
	pinned *lang.Class[*session.PinnedHost]

	allocated   []weak.Pointer[session.Buffer] // buffers of the script if device memory is limited, also freed and collected ones
	initialiser Initialiser
	home        any // what Home returns
}

// Initialiser stores the result of init, a function of the indices, in each element of a buffer.
type Initialiser func(b *Buffer, init goja.Value, dims []int, q *session.Queue) error

// New returns the buffers of an engine. [Module.Define] defines their classes.
func New(s *script.Script, t *types.Module, d *devices.Module, q *queues.Module, rpc *service.Registry) *Module {
	return &Module{Script: s, types: t, devices: d, queues: q, rpc: rpc}
}

// Constructors returns the constructors of the classes that scripts see.
func (m *Module) Constructors() []*goja.Object {
	return []*goja.Object{m.class.Constructor(), m.pinned.Constructor()}
}

// Buffer is a buffer with its element type in the script.
type Buffer struct {
	*session.Buffer
	Elem element.Type
	m    *Module

	unlabelled bool // the label is the name of the variable for which the script made the buffer
}

// ElementSize returns the size of an element in bytes.
func (b *Buffer) ElementSize() int { return b.Buffer.Elem() }

// create implements device.buffer. The parameters are (type, count | [counts] | {shape, …}, init?, options?), (type?, typedArray,
// options?), (type, arrayBuffer, options?), (recordType, array, options?) or (type?, buffer, options?). The last one copies the
// buffer.
func (m *Module) create(d *session.Device, call goja.FunctionCall) (goja.Value, error) {
	const op = "create buffer"
	first := call.Argument(0)
	if data, t, ok := element.TypedArray(first); ok {
		if _, isFn := goja.AssertFunction(call.Argument(1)); isFn {
			return nil, contract.Errorf(contract.InvalidArgument, op, "a typed array needs no initialiser")
		}
		if dims, err := element.Extents(call.Argument(1)); err == nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "the extents of a typed array's buffer are an option").
				WithHint("write buffer(array, { shape: %s })", strings.ReplaceAll(fmt.Sprint(dims), " ", ", "))
		}
		return m.bufferOf(d, element.Type{Elem: ir.Elem{Scalar: t}}, data, call.Argument(1))
	}
	if src := m.Of(first); src != nil {
		return m.copyOf(d, src, call.Argument(1))
	}
	t, ok := m.types.Of(first)
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "expected a type such as f32 or a typed array, not %s", convert.Describe(first)).
			WithHint("%s", m.typeHint(first))
	}
	second := call.Argument(1)
	if src := m.Of(second); src != nil {
		if t.Elem != src.Elem.Elem {
			return nil, contract.Errorf(contract.InvalidArgument, op, "the buffer to copy has elements of %s, not %s", src.Elem, t).
				WithHint("write buffer(b) for a copy, or convert each element: %s", converting(t, src))
		}
		return m.copyOf(d, src, call.Argument(2))
	}
	if _, isFn := goja.AssertFunction(second); isFn {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the number of elements is missing before the initialiser").
			WithHint("write buffer(%s, 1000, i => …) or buffer(%[1]s, [rows, columns], (i, j) => …)", t)
	}
	if shape := shapeOf(second); shape != nil { // an explicit shape is never an array of values
		return m.create(d, goja.FunctionCall{Arguments: []goja.Value{first, shape, m.without(second, "shape")}})
	}
	if o, isObject := second.(*goja.Object); isObject && (t.Elem.Record != nil || o.ClassName() != "Array") {
		if _, isFn := goja.AssertFunction(o); !isFn {
			data, err := element.ToBytes(m.VM, t, second)
			if err != nil {
				return nil, contract.Errorf(contract.InvalidArgument, op, "%v", err)
			}
			return m.bufferOf(d, t, data, call.Argument(2))
		}
	}
	dims, err := element.Extents(second)
	if err != nil {
		hint := fmt.Sprintf("write buffer(%s, 1000) or buffer(%[1]s, [rows, columns])", t)
		if element.IsArray(second) {
			hint = fmt.Sprintf("an array of numbers is the extents, one to three; for values write array(%s, [[1, 2], [3, 4]]), or %s", t, strings.TrimPrefix(writeValues(t, "1, 2, 3"), "write "))
		}
		return nil, contract.Errorf(contract.InvalidArgument, op, "the extents: %v", err).WithHint("%s", hint)
	}
	m.warnOfShape(t, dims, call)
	init, rest := goja.Value(nil), call.Argument(2)
	if _, isFn := goja.AssertFunction(rest); isFn {
		init, rest = rest, call.Argument(3)
	}
	opts := m.bufferOptions(op, rest)
	if opts.err != nil {
		return nil, opts.err
	}
	if opts.shape != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the extents are %v already: shape is for a buffer that is made of an array", dims).
			WithHint("leave shape out")
	}
	opts.Type, opts.Elem, opts.Dims = t.Contract(), t.Size(), dims
	b, err := m.Allocate(d, opts.BufferOptions)
	if err != nil {
		return nil, err
	}
	buf := &Buffer{m: m, Buffer: b, Elem: t, unlabelled: opts.unlabelled}
	if init != nil {
		if err := m.initialiser(buf, init, dims, opts.Queue); err != nil {
			_ = b.Free() // the initialiser's error takes precedence
			return nil, err
		}
	}
	return m.class.New(buf), nil
}

// converting returns the text of a call that makes a buffer of type t with the elements of b, each converted.
func converting(t element.Type, b *Buffer) string {
	switch len(b.Dims()) {
	case 2:
		return fmt.Sprintf("buffer(%s, b.shape, (i, j) => b[i][j])", t)
	case 3:
		return fmt.Sprintf("buffer(%s, b.shape, (i, j, k) => b[i][j][k])", t)
	}
	return fmt.Sprintf("buffer(%s, b.length, i => b[i])", t)
}

// copyOf returns a new buffer with the shape and, once earlier commands have run, the contents of another.
func (m *Module) copyOf(d *session.Device, src *Buffer, options goja.Value) (goja.Value, error) {
	const op = "create buffer"
	opts := m.bufferOptions(op, options)
	if opts.err != nil {
		return nil, opts.err
	}
	if opts.shape != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "a copy has the extents of the buffer").
			WithHint("leave shape out, or take a view of the copy: buffer(b).view(0, %s)", strings.ReplaceAll(fmt.Sprint(opts.shape), " ", ", "))
	}
	opts.Type, opts.Elem, opts.Dims, opts.Uninitialized = src.Elem.Contract(), src.Elem.Size(), src.Dims(), src.Len() > 0
	b, err := m.Allocate(d, opts.BufferOptions)
	if err != nil {
		return nil, err
	}
	q := opts.Queue
	if q == nil {
		if q, err = m.queues.DefaultOf(d); err != nil {
			_ = b.Free() // the queue's error takes precedence
			return nil, err
		}
	}
	if err := q.Copy(b, src.Buffer); err != nil {
		_ = b.Free() // the copy's error takes precedence
		return nil, err
	}
	return m.ObjectOf(b, src.Elem, opts.unlabelled), nil
}

// typeHint returns advice on the element type for an invalid first argument of device.buffer.
func (m *Module) typeHint(v goja.Value) string {
	name, _ := element.Exported(v).(string)
	if o, ok := v.(*goja.Object); ok {
		if s, ok := element.Exported(o.Get("name")).(string); ok {
			name = s
		}
		if element.IsArray(v) {
			return "for numbers write array(f32, [1, 2, 3]) or array(f32, [[1, 2], [3, 4]]), or a typed array: buffer(new Float32Array([1, 2, 3]))"
		}
	}
	if t, ok := types.ForeignType(name); ok {
		return fmt.Sprintf("write buffer(%s, 1000), without quotes; types are exported by 'offload'", t)
	}
	return "write buffer(f32, 1000) or buffer(new Float32Array([1, 2, 3]))"
}

// shapeOf returns the property shape of a plain object, or nil.
func shapeOf(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "Object" || !slices.Contains(o.GetOwnPropertyNames(), "shape") {
		return nil
	}
	return o.Get("shape")
}

// without returns a copy of an object without one property.
func (m *Module) without(v goja.Value, name string) goja.Value {
	o, rest := v.(*goja.Object), m.VM.NewObject()
	for _, key := range o.Keys() {
		if key != name {
			_ = rest.Set(key, o.Get(key)) // cannot fail on a new object
		}
	}
	return rest
}

// writeValues returns advice that spells a buffer of values as a typed array.
func writeValues(t element.Type, values string) string {
	class := element.ArrayClass(t.Elem.Scalar)
	if strings.HasPrefix(class, "Big") {
		values = strings.ReplaceAll(values, ", ", "n, ") + "n"
	}
	return fmt.Sprintf("write buffer(%s, %s.of(%s))", t, class, values)
}

// warnOfShape warns that buffer(f32, [1, 2, 3]) takes the array as extents. It warns only for two or three numbers that count up
// from 0 or 1, because others may be the extents of a small matrix. It does not warn for records or calls with more arguments.
func (m *Module) warnOfShape(t element.Type, dims []int, call goja.FunctionCall) {
	if !element.IsArray(call.Argument(1)) || len(call.Arguments) > 2 || len(dims) < 2 || dims[0] > 1 || t.Elem.Record != nil {
		return
	}
	elements := 1
	for i, d := range dims {
		if d != dims[0]+i {
			return
		}
		elements *= d
	}
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(dims)), ", "), "[]")
	m.Engine.Warn(fmt.Sprintf("[%s] is the shape of the buffer, which has %s, all zero; these are not its values", list, spelling.Count(elements, "element")),
		fmt.Sprintf("for values %s; for the shape write { shape: [%s] }, which needs no warning", writeValues(t, list), list))
}

type bufferOptions struct {
	session.BufferOptions
	shape      []int
	unlabelled bool // as in Buffer
	err        error
}

func (m *Module) bufferOptions(op string, v goja.Value) bufferOptions {
	o := m.Options.Parse(op, v, option.BufferKeys...)
	opts := bufferOptions{shape: o.Extents("shape")}
	opts.Label = o.Text("label")
	switch o.OneOf("kind", "device", "host", "shared") {
	case "host":
		opts.Kind = contract.HostMemory
	case "shared":
		opts.Kind = contract.SharedMemory
	}
	if v := o.Get("queue"); v != nil {
		if opts.Queue = m.queues.Of(v); opts.Queue == nil {
			o.Fail("queue must be a queue, not %s", convert.Describe(v))
		}
	}
	opts.Pos = m.Caller()
	opts.err = o.Err
	if opts.Label == "" {
		opts.Label, opts.unlabelled = m.Variable(opts.Pos), true
	}
	return opts
}

// bufferOf returns a new buffer with contents. It copies data before it returns, unless data is pinned, because the script may
// modify the array.
func (m *Module) bufferOf(d *session.Device, t element.Type, data []byte, options goja.Value) (goja.Value, error) {
	const op = "create buffer"
	opts := m.bufferOptions(op, options)
	if opts.err != nil {
		return nil, opts.err
	}
	n := len(data) / t.Size()
	opts.Dims = opts.shape
	if opts.Dims == nil {
		opts.Dims = []int{n}
	}
	count := 1
	for _, d := range opts.Dims {
		count *= d
	}
	if count != n {
		return nil, contract.Errorf(contract.InvalidSize, op, "the shape %v has %d elements, but %d were given", opts.Dims, count, n).
			On(d.ID(), opts.Label).WithHint("the product of the extents must be the number of elements")
	}
	opts.Type, opts.Elem, opts.Uninitialized = t.Contract(), t.Size(), n > 0
	b, err := m.Allocate(d, opts.BufferOptions)
	if err != nil {
		return nil, err
	}
	buf := &Buffer{m: m, Buffer: b, Elem: t, unlabelled: opts.unlabelled}
	q := opts.Queue
	if q == nil {
		q, err = m.queues.DefaultOf(d)
	}
	if err == nil {
		err = m.writeNow(q, b, 0, data)
	}
	if err != nil {
		_ = b.Free() // the first error takes precedence
		return nil, err
	}
	return m.class.New(buf), nil
}

// writeNow writes data, which the caller may modify afterwards unless it is pinned.
func (m *Module) writeNow(q *session.Queue, b *session.Buffer, at int64, data []byte) error {
	if q.Device().IsPinned(data) {
		return q.Write(b, at, data)
	}
	return b.WriteNow(q, at, data)
}

// readRange parses the arguments (start?, count?) of read operations, by default 0 and the number of elements from start on. A
// range beyond the buffer is an error.
func (m *Module) readRange(op string, b *Buffer, call goja.FunctionCall) (start, count int64, err error) {
	n := b.Len()
	if v := call.Argument(0); !goja.IsUndefined(v) {
		i, err := element.Integer(v)
		if err != nil {
			return 0, 0, contract.Errorf(contract.InvalidArgument, op, "start: %v", err).On(b.Device().ID(), b.Label())
		}
		start = int64(i)
	}
	count = n - start
	if v := call.Argument(1); !goja.IsUndefined(v) {
		i, err := element.Integer(v)
		if err != nil {
			return 0, 0, contract.Errorf(contract.InvalidArgument, op, "count: %v", err).On(b.Device().ID(), b.Label())
		}
		count = int64(i)
	}
	if start > n || count < 0 || count > n-start {
		return 0, 0, contract.Errorf(contract.InvalidSize, op, "elements %d to %d are not all in the buffer, which has %d", start, start+max(count, 1)-1, n).
			On(b.Device().ID(), b.Label())
	}
	return start, count, nil
}

// read implements buffer.read(start?, count?, {queue, into, signal}?), which returns a promise of the elements.
func (m *Module) read(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("read", call.Argument(2), "queue", "into", "signal")
	q, p, err := m.startRead(b, call, o)
	if err != nil {
		return nil, err
	}
	signal := o.Signal()
	if o.Err != nil {
		return nil, o.Err
	}
	return m.queues.After(q, signal, "read", func() (goja.Value, error) { return m.value(b, p) })
}

// readSync implements buffer.readSync(start?, count?, {queue, into}?), which blocks and returns the elements.
func (m *Module) readSync(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	if err := m.queues.MayBlock("read"); err != nil {
		return nil, err
	}
	q, p, err := m.startRead(b, call, m.Options.Parse("read", call.Argument(2), "queue", "into"))
	if err != nil {
		return nil, err
	}
	if err := m.rpc.WaitServing(func() error { return q.Sync(m.Engine.Running()) }); err != nil {
		return nil, err
	}
	return m.value(b, p)
}

func (m *Module) startRead(b *Buffer, call goja.FunctionCall, o *option.Set) (*session.Queue, *place, error) {
	start, count, err := m.readRange("read", b, call)
	if err != nil {
		return nil, nil, err
	}
	q, err := m.queueOf("read", b, o)
	if err != nil {
		return nil, nil, err
	}
	p, err := m.placeOf(b, o, count)
	if err != nil {
		return nil, nil, err
	}
	return q, p, q.Read(p.data, b.Buffer, start)
}

// queueOption returns the queue of the option queue, or the default queue of the buffer's device.
func (m *Module) queueOption(op string, b *Buffer, v goja.Value) (*session.Queue, error) {
	return m.queueOf(op, b, m.Options.Parse(op, v, "queue"))
}

func (m *Module) queueOf(op string, b *Buffer, o *option.Set) (*session.Queue, error) {
	requested := o.Get("queue")
	if o.Err != nil {
		return nil, o.Err
	}
	return m.queues.Choose(op, requested, nil, b.Device())
}

// write implements buffer.write(data, start?, {queue}?), which returns the buffer.
func (m *Module) write(this goja.Value, b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "write"
	if m.Of(call.Argument(0)) != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the values are a buffer, whose elements are on its device").On(b.Device().ID(), b.Label()).
			WithHint("write y.copyTo(x); for a part, y.copyTo(x.view(start, y.length)) or x.setSlice([start, end], y)")
	}
	data, err := element.ToBytes(m.VM, b.Elem, call.Argument(0))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "%v", err).On(b.Device().ID(), b.Label()).WithHint("%s", element.ContentsHint(b.Elem))
	}
	start := 0
	if v := call.Argument(1); !goja.IsUndefined(v) {
		if start, err = element.Integer(v); err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "start: %v", err).On(b.Device().ID(), b.Label())
		}
	}
	q, err := m.queueOption(op, b, call.Argument(2))
	if err != nil {
		return nil, err
	}
	return this, m.writeNow(q, b.Buffer, int64(start), data)
}

// fill implements buffer.fill(value, {queue}?), which returns the buffer.
func (m *Module) fill(this goja.Value, b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "fill"
	pattern, err := element.Append(nil, b.Elem.Elem, call.Argument(0))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "%v", err).On(b.Device().ID(), b.Label()).WithHint("%s", element.ContentsHint(b.Elem))
	}
	q, err := m.queueOption(op, b, call.Argument(1))
	if err != nil {
		return nil, err
	}
	if x, err := element.Number(call.Argument(0)); err == nil && b.Elem.Elem.Record == nil {
		if now, ok := kernel.Held(x, b.Elem.Elem.Scalar); !ok {
			m.Engine.Warn(fmt.Sprintf("fill: %s becomes %s in %s", m.Brief(m.VM.ToValue(x)), m.Brief(m.VM.ToValue(now)), b.Elem), "use a buffer whose type holds the number, as of f64 or i64")
		}
	}
	switch len(pattern) {
	case 1, 2, 4, 8, 16:
		return this, q.Fill(b.Buffer, pattern)
	}
	// Devices have no fill for other record sizes, so write the whole contents.
	data := make([]byte, 0, b.Size())
	for range b.Len() {
		data = append(data, pattern...)
	}
	return this, q.Write(b.Buffer, 0, data)
}

// copyTo implements buffer.copyTo(destination, {queue}?), which returns the destination.
func (m *Module) copyTo(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "copy"
	dst := m.Of(call.Argument(0))
	if dst == nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the destination must be a buffer, not %s", convert.Describe(call.Argument(0))).
			On(b.Device().ID(), b.Label()).WithHint("x.clone() makes a copy on the same device; for another one: x.copyTo(device('cpu').buffer(x.type, x.shape))")
	}
	q, err := m.queueOption(op, b, call.Argument(1))
	if err != nil {
		return nil, err
	}
	return call.Argument(0), q.Copy(dst.Buffer, b.Buffer)
}

// clone implements buffer.clone({label, queue}?), which returns a new buffer with the same type, extents and elements.
func (m *Module) clone(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "clone"
	o := m.Options.Parse(op, call.Argument(0), "label", "queue")
	opts := session.BufferOptions{Type: b.Elem.Contract(), Elem: b.Elem.Size(), Dims: b.Dims(), Kind: b.Kind(), Label: o.Text("label"), Pos: m.Caller(), Uninitialized: b.Len() > 0}
	unlabelled := opts.Label == ""
	if unlabelled {
		opts.Label = m.Variable(opts.Pos)
	}
	q, err := m.queueOf(op, b, o)
	if err != nil {
		return nil, err
	}
	if b.Freed() {
		return nil, contract.Errorf(contract.Closed, op, "the buffer %q has been freed", b.Label()).On(b.Device().ID(), b.Label())
	}
	copied, err := m.Allocate(b.Device(), opts)
	if err != nil {
		return nil, err
	}
	if err := q.Copy(copied, b.Buffer); err != nil {
		_ = copied.Free() // the copy's error takes precedence
		return nil, err
	}
	return m.ObjectOf(copied, b.Elem, unlabelled), nil
}

// view implements buffer.view(start | [indices], (count | [counts])?, type?, {label}?).
func (m *Module) view(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "view"
	if element.IsArray(call.Argument(0)) {
		return m.viewRows(b, call)
	}
	start, err := element.Integer(call.Argument(0))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "start: %v", err).On(b.Device().ID(), b.Label()).
			WithHint("write view(0, count), with the first element and the number of elements")
	}
	t, rest := b.Elem, call.Argument(2)
	if as, ok := m.types.Of(rest); ok {
		t, rest = as, call.Argument(3)
	}
	dims := []int{int(max((b.Size()-int64(start)*int64(b.Buffer.Elem()))/int64(t.Size()), 0))}
	if v := call.Argument(1); !goja.IsUndefined(v) {
		if dims, err = element.Extents(v); err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "count: %v", err).On(b.Device().ID(), b.Label())
		}
	}
	o := m.Options.Parse(op, rest, "label")
	opts := session.ViewOptions{Start: int64(start), Dims: dims, Type: t.Contract(), Elem: t.Size(), Label: o.Text("label")}
	if o.Err != nil {
		return nil, o.Err
	}
	unlabelled := opts.Label == ""
	if unlabelled {
		opts.Label = m.Variable(m.Caller())
	}
	v, err := b.Buffer.View(opts)
	if err != nil {
		return nil, err
	}
	return m.ObjectOf(v, t, unlabelled), nil
}

// viewRows implements view with a list of indices as start: the elements must follow each other in memory, as whole rows do.
func (m *Module) viewRows(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	const op = "view"
	origin, err := element.Extents(call.Argument(0))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, op, "start: %v", err).On(b.Device().ID(), b.Label()).
			WithHint("start is an element, counted in row-major order, or an index for each dimension")
	}
	dims := b.Dims()
	if len(origin) != len(dims) {
		return nil, contract.Errorf(contract.InvalidArgument, op, "start has %s, and the buffer has %s", spelling.Count(len(origin), "number"), spelling.Count(len(dims), "dimension")).
			On(b.Device().ID(), b.Label()).WithHint("give an index for each dimension, or one number: the element in row-major order")
	}
	t := b.Elem
	if as, ok := m.types.Of(call.Argument(2)); ok {
		t = as
	}
	counts, fits := b.Dims(), true // in elements of the buffer
	for axis := range counts {
		counts[axis] = max(counts[axis]-origin[axis], 0)
	}
	viewed := counts // in elements of the view
	if v := call.Argument(1); goja.IsUndefined(v) {
		viewed, fits = recounted(counts, b.Elem.Size(), t.Size())
	} else {
		if viewed, err = element.Extents(v); err != nil {
			return nil, contract.Errorf(contract.InvalidArgument, op, "count: %v", err).On(b.Device().ID(), b.Label())
		}
		counts, fits = recounted(viewed, t.Size(), b.Elem.Size())
	}
	if !fits {
		return nil, contract.Errorf(contract.InvalidSize, op, "the rows of a view of %s would begin or end within an element of %s", t, b.Elem).On(b.Device().ID(), b.Label()).
			WithHint("choose a count whose rows are whole elements of both types")
	}
	start, whole, ok := 0, true, len(counts) == len(dims)
	for axis := range dims {
		start = start*dims[axis] + origin[axis]
	}
	for axis := len(dims) - 1; ok && axis >= 0; axis-- {
		ok = whole || counts[axis] == 1
		whole = whole && origin[axis] == 0 && counts[axis] == dims[axis]
		if origin[axis]+counts[axis] > dims[axis] {
			return nil, contract.Errorf(contract.InvalidSize, op, "%v elements from %v on are outside of the extents %v", counts, origin, dims).On(b.Device().ID(), b.Label())
		}
	}
	if !ok {
		return nil, contract.Errorf(contract.InvalidArgument, op, "the elements of %v from %v on do not follow each other in memory", counts, origin).
			On(b.Device().ID(), b.Label()).WithHint("a view has whole rows; read a part of them by readRect({ origin: %s, extent: %s }), or copy it in a kernel",
			strings.ReplaceAll(fmt.Sprint(origin), " ", ", "), strings.ReplaceAll(fmt.Sprint(counts), " ", ", "))
	}
	call.Arguments = append([]goja.Value{m.VM.ToValue(start), m.VM.ToValue(viewed)}, call.Arguments[min(2, len(call.Arguments)):]...)
	return m.view(b, call)
}

// recounted returns extents whose last one counts elements of another size. It returns false if that is not a whole number.
func recounted(dims []int, size, other int) ([]int, bool) {
	last := len(dims) - 1
	if last < 0 || size == other {
		return dims, true
	}
	dims = slices.Clone(dims)
	bytes := dims[last] * size
	dims[last] = bytes / other
	return dims, bytes%other == 0
}

// rect reads the options {origin, extent, queue} of readRect and writeRect. By default the box begins at the first element and
// extends to the end of each axis.
func (m *Module) rect(op string, b *Buffer, o *option.Set) (session.Rect, *session.Queue, error) {
	r := session.Rect{Origin: o.Extents("origin"), Extent: o.Extents("extent")}
	requested := o.Get("queue")
	if o.Err != nil {
		return r, nil, script.WithLabel(o.Err, b.Label())
	}
	if r.Origin == nil {
		r.Origin = make([]int, len(b.Dims()))
	}
	if r.Extent == nil {
		r.Extent = b.Dims()
		for i := range r.Extent {
			r.Extent[i] -= element.Axis(r.Origin, i)
		}
	}
	q, err := m.queues.Choose(op, requested, nil, b.Device())
	return r, q, err
}

// readRect implements buffer.readRect({origin, extent, queue, into}?), which returns a promise of the box's elements, packed.
func (m *Module) readRect(b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	o := m.Options.Parse("read", call.Argument(0), "origin", "extent", "queue", "into")
	r, q, err := m.rect("read", b, o)
	if err != nil {
		return nil, err
	}
	n, err := b.RectBytes(r)
	if err != nil {
		return nil, err
	}
	p, err := m.placeOf(b, o, n/int64(b.Elem.Size()))
	if err != nil {
		return nil, err
	}
	if err := q.ReadRect(p.data, b.Buffer, r); err != nil {
		return nil, err
	}
	return m.queues.After(q, nil, "read", func() (goja.Value, error) { return m.value(b, p) })
}

// writeRect implements buffer.writeRect(data, {origin, extent, queue}?), which returns the buffer.
func (m *Module) writeRect(this goja.Value, b *Buffer, call goja.FunctionCall) (goja.Value, error) {
	data, err := element.ToBytes(m.VM, b.Elem, call.Argument(0))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "write", "%v", err).On(b.Device().ID(), b.Label())
	}
	r, q, err := m.rect("write", b, m.Options.Parse("write", call.Argument(1), "origin", "extent", "queue"))
	if err != nil {
		return nil, err
	}
	return this, q.WriteRect(b.Buffer, r, memory.Clone(data))
}

func bufferRow(b *Buffer) [][2]string {
	size := script.Bytes(b.Size())
	if b.Freed() {
		size = "freed"
	}
	return [][2]string{{"label", b.Label()}, {"type", b.Elem.String()}, {"shape", shapeText(b.Dims())}, {"size", size},
		{"kind", b.Kind().String()}, {"device", b.Device().ID()}}
}

// shapeText formats extents, as in 100×200.
func shapeText(dims []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", "×")
}

func (m *Module) Of(v goja.Value) *Buffer { b, _ := m.class.Of(v); return b }
