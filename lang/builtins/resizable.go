package builtins

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// A resizable is a buffer that changes its size. Its memory has the maximum size from the start, so that its elements stay where
// they are.
type resizable struct {
	buffer  internals.Buffer
	gone    internals.Buffer // a detached buffer, for views that are out of bounds
	memory  []byte
	size    int
	views   []*view
	compact int // the number of views at which those that nothing uses are dropped
}

// A view is a typed array or a DataView of a resizable buffer.
type view struct {
	object   weak.Pointer[goja.Object]
	tracking bool // has no length of its own
	offset   int  // in bytes
	length   int  // in elements
}

// resize changes the size, which may be at most that of the memory, and then adjusts the views. New bytes are 0.
func (r *resizable) resize(size int) {
	if size > r.size {
		clear(r.memory[r.size:size]) // a builtin that read the old length may have written behind the end
	}
	r.size = size
	r.buffer.SetBytes(r.memory[:size])
	for _, v := range r.views {
		if o := v.object.Value(); o != nil {
			r.adjust(v, o)
		}
	}
}

// adjust sets the buffer and the length of a view. A view that is out of bounds has the buffer gone and the length 0.
func (r *resizable) adjust(v *view, o *goja.Object) {
	in, _ := internals.ViewOf(o)
	size := in.ElementSize()
	switch {
	case v.offset > r.size || !v.tracking && v.offset+v.length*size > r.size:
		in.Set(r.gone, 0)
	case v.tracking:
		in.Set(r.buffer, (r.size-v.offset)/size)
	default:
		in.Set(r.buffer, v.length)
	}
}

func (r *resizable) add(o *goja.Object, tracking bool) {
	if len(r.views) >= r.compact {
		live := r.views[:0]
		for _, v := range r.views {
			if v.object.Value() != nil {
				live = append(live, v)
			}
		}
		clear(r.views[len(live):])
		r.views, r.compact = live, 2*len(live)+16
	}
	in, _ := internals.ViewOf(o)
	v := &view{object: weak.Make(o), tracking: tracking, offset: in.Offset(), length: in.Length()}
	r.views = append(r.views, v)
	r.adjust(v, o)
}

// find returns the view of an object, or nil if there is none.
func (r *resizable) find(o *goja.Object) *view {
	for _, v := range r.views {
		if v.object.Value() == o {
			return v
		}
	}
	return nil
}

// buffers is the ArrayBuffers of an engine.
type buffers struct {
	*set
	transfers bool   // the methods of transfer are defined
	sizes     *sizes // nil before the first resizable buffer
}

// resizableOf returns the resizable buffer of a value, or nil.
func (b *buffers) resizableOf(v goja.Value) *resizable {
	if in, ok := internals.BufferOf(v); ok && b.sizes != nil {
		return b.sizes.of[in.ID()].Value()
	}
	return nil
}

// viewed returns the resizable buffer of a typed array or a DataView, or nil.
func (b *buffers) viewed(v goja.Value) *resizable {
	if in, ok := internals.ViewOf(v); ok && b.sizes != nil {
		return b.sizes.of[in.Buffer().ID()].Value()
	}
	return nil
}

// A sizes finds the resizable buffers of an engine.
type sizes struct {
	kept    *slots
	of      map[uintptr]weak.Pointer[resizable] // by [internals.Buffer.ID]
	scripts map[string]goja.Callable
	classes map[string]*goja.Object
	buffer  *goja.Object // the constructor ArrayBuffer
}

// newResizable makes a fresh buffer resizable, with a size and a maximum size in bytes.
func (b *buffers) newResizable(o *goja.Object, size, most int) *resizable {
	b.resizing()
	b.Allocate("new ArrayBuffer", uint64(most))
	in, _ := internals.BufferOf(o)
	r := &resizable{buffer: in, gone: in.Detached(), size: size, memory: b.bytes(most)}
	in.SetBytes(r.memory[:size])
	b.attach(b.sizes.kept, o, r)
	for id, old := range b.sizes.of {
		if old.Value() == nil {
			delete(b.sizes.of, id)
		}
	}
	b.sizes.of[in.ID()], b.sizes.of[r.gone.ID()] = weak.Make(r), weak.Make(r)
	return r
}

// bytes allocates n bytes, or throws a RangeError.
func (b *buffers) bytes(n int) (memory []byte) {
	defer func() {
		if recover() != nil {
			b.fail("RangeError", "out-of-memory", "new ArrayBuffer: maxByteLength is more than the memory of this machine", "")
		}
	}()
	return make([]byte, n)
}

// index converts a value like ToIndex. what names the value in the RangeError.
func (b *buffers) index(v goja.Value, what string) int {
	if isUndefined(v) {
		return 0
	}
	f := b.number(v).ToFloat()
	if f != f {
		f = 0
	}
	if f <= -1 || f > maxSafe {
		b.fail("RangeError", "invalid-argument", what+" must be an integer, not negative and below 2^53", "")
	}
	return int(f)
}

// install makes the constructor of ArrayBuffer accept the option maxByteLength, and corrects slice.
func (b *buffers) install() error {
	native, ok := internals.NativeOf(b.object("ArrayBuffer"))
	if !ok || native.Construct == nil || *native.Construct == nil || !internals.HasBuffers() {
		return internals.Unknown("ArrayBuffer")
	}
	b.sliceBuffer()
	construct := *native.Construct
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) > 1 {
			if o, ok := args[1].(*goja.Object); ok {
				size := b.index(args[0], "new ArrayBuffer: the length")
				if most := get(o, "maxByteLength"); !isUndefined(most) {
					n := b.index(most, "new ArrayBuffer: maxByteLength")
					if size > n {
						b.fail("RangeError", "invalid-argument", "new ArrayBuffer: the length is more than maxByteLength", "")
					}
					buffer := construct(nil, newTarget)
					b.newResizable(buffer, size, n)
					return buffer
				}
				args = []goja.Value{b.vm.ToValue(size)}
			}
		}
		return construct(args, newTarget)
	}
	return nil
}

// sliceBuffer makes ArrayBuffer.prototype.slice refuse detached buffers. It also makes slice respect that the conversion of an argument
// may resize the buffer.
func (b *buffers) sliceBuffer() {
	b.wrap(b.object("ArrayBuffer", "prototype"), "slice", func(c goja.FunctionCall, fn function) goja.Value {
		in, ok := internals.BufferOf(c.This)
		if !ok {
			return fn(c)
		}
		if in.IsDetached() {
			b.typeError("ArrayBuffer.prototype.slice: the buffer is detached")
		}
		r := b.resizableOf(c.This)
		if r == nil {
			return fn(c)
		}
		end := r.size // before the conversions
		start := relative(c.Argument(0), end)
		if !isUndefined(c.Argument(1)) {
			end = relative(c.Argument(1), end)
		}
		made := b.construct(b.species(c.This.(*goja.Object), b.sizes.buffer), b.vm.ToValue(max(end-start, 0)))
		to, ok := internals.BufferOf(made)
		switch {
		case !ok || to.ID() == in.ID():
			b.typeError("ArrayBuffer.prototype.slice: the constructor returned no other ArrayBuffer")
		case to.IsDetached() || len(to.Bytes()) < end-start:
			b.typeError("ArrayBuffer.prototype.slice: the constructor returned a buffer that is too small")
		case in.IsDetached():
			b.typeError("ArrayBuffer.prototype.slice: the buffer is detached")
		}
		if end = min(end, r.size); start < end {
			copy(to.Bytes(), in.Bytes()[start:end])
		}
		return made
	})
}

// resizing makes the constructors and methods of views support resizable buffers. Only the first call has an effect, and comes before
// the first such buffer is made. Functions such as Object.freeze then refuse typed arrays of resizable buffers.
func (b *buffers) resizing() {
	if b.sizes != nil {
		return
	}
	b.sizes = &sizes{kept: b.newSlots(), of: map[uintptr]weak.Pointer[resizable]{}, classes: map[string]*goja.Object{}, buffer: b.object("ArrayBuffer")}
	for _, name := range []string{"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "DataView"} {
		class, ok := b.global.Get(name).(*goja.Object)
		if !ok {
			continue // a script replaced it
		}
		b.sizes.classes[name] = class
		native, ok := internals.NativeOf(class)
		if !ok || native.Construct == nil || *native.Construct == nil {
			continue
		}
		size := 1
		if v := class.Get("BYTES_PER_ELEMENT"); v != nil {
			size = int(v.ToInteger())
		}
		construct := *native.Construct
		*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) == 0 {
				return construct(args, newTarget)
			}
			r := b.resizableOf(args[0])
			if r == nil {
				return construct(args, newTarget)
			}
			tracking := len(args) < 3 || isUndefined(args[2])
			if tracking {
				args = b.tracked(r, args, name, size)
			}
			o := construct(args, newTarget)
			r.add(o, tracking)
			return o
		}
	}
	typed := b.object("Uint8Array").Prototype().Get("prototype").(*goja.Object)
	b.wrap(typed, "subarray", func(c goja.FunctionCall, fn function) goja.Value {
		o, _ := c.This.(*goja.Object)
		in, ok := internals.ViewOf(o)
		if !ok || in.IsDataView() {
			return fn(c)
		}
		r := b.viewed(o)
		if r == nil {
			return fn(c)
		}
		buffer := get(o, "buffer")
		v := r.find(o)
		if v == nil {
			return fn(c)
		}
		n := in.Length()
		begin := relative(c.Argument(0), n)
		args := []goja.Value{buffer, b.vm.ToValue(v.offset + begin*in.ElementSize())}
		if !v.tracking || !isUndefined(c.Argument(1)) {
			end := n
			if !isUndefined(c.Argument(1)) {
				end = relative(c.Argument(1), n)
			}
			args = append(args, b.vm.ToValue(max(end-begin, 0)))
		}
		class := b.call(b.typedNameOf(), o).String()
		made := b.construct(b.species(o, b.sizes.classes[class]), args...)
		if _, ok := internals.ViewOf(made); !ok {
			b.typeError("TypedArray.prototype.subarray: the constructor returned no typed array")
		}
		return made
	})
	b.resizingMethods(typed)
	for _, path := range [][2]string{{"Object", "preventExtensions"}, {"Object", "freeze"}, {"Object", "seal"}, {"Reflect", "preventExtensions"}} {
		b.wrap(b.object(path[0]), path[1], func(c goja.FunctionCall, fn function) goja.Value {
			o, _ := c.Argument(0).(*goja.Object)
			in, ok := internals.ViewOf(o)
			if !ok || in.IsDataView() || b.viewed(o) == nil {
				return fn(c)
			}
			if path[0] == "Reflect" {
				return b.vm.ToValue(false)
			}
			b.typeError("%s.%s: a typed array of a resizable buffer stays extensible", path[0], path[1])
			return nil
		})
	}
}

//go:embed resizable.js
var resizableText string

// resizingMethods makes methods of typed arrays of resizable buffers run as scripts, since their arguments and callbacks can resize the
// buffer meanwhile. It also makes Array.prototype.at read such arrays correctly.
func (b *buffers) resizingMethods(typed *goja.Object) {
	load := func() map[string]goja.Callable {
		if b.sizes.scripts != nil {
			return b.sizes.scripts
		}
		v, err := b.Run("orepl:resizable.js", resizableText)
		if err != nil {
			b.Throw(err)
		}
		classes := b.vm.NewObject()
		for name, class := range b.sizes.classes {
			define(classes, name, class)
		}
		o := b.call(callable(v), goja.Undefined(), classes, goja.SymSpecies).(*goja.Object)
		b.sizes.scripts = map[string]goja.Callable{}
		for _, name := range o.Keys() {
			b.sizes.scripts[name] = callable(o.Get(name))
		}
		return b.sizes.scripts
	}
	for _, name := range strings.Fields("at every some forEach find findIndex findLast findLastIndex filter map reduce reduceRight join toLocaleString slice set with copyWithin") {
		b.wrap(typed, name, func(c goja.FunctionCall, fn function) goja.Value {
			in, ok := internals.ViewOf(c.This)
			if !ok || in.IsDataView() || b.viewed(c.This) == nil && (name != "set" || b.viewed(c.Argument(0)) == nil) {
				return fn(c)
			}
			return b.call(load()[name], c.This, c.Arguments...)
		})
	}
	b.wrap(b.object("Array", "prototype"), "at", func(c goja.FunctionCall, fn function) goja.Value {
		in, ok := internals.ViewOf(c.This)
		if !ok || in.IsDataView() || b.viewed(c.This) == nil {
			return fn(c)
		}
		n := in.Length()
		k := integerOf(c.Argument(0))
		if k < 0 {
			k += float64(n)
		}
		if k < 0 || k >= float64(n) {
			return goja.Undefined()
		}
		return get(c.This.(*goja.Object), strconv.Itoa(int(k)))
	})
}

// integerOf converts a value like ToIntegerOrInfinity.
func integerOf(v goja.Value) float64 {
	f := v.ToNumber().ToFloat()
	if f != f {
		return 0
	}
	return math.Trunc(f)
}

// relative converts an index that counts from the end n if it is negative. The result is limited to 0 to n.
func relative(v goja.Value, n int) int {
	f := integerOf(v)
	if f < 0 {
		return int(max(float64(n)+f, 0))
	}
	return int(min(f, float64(n)))
}

// tracked returns the constructor's arguments for a view without a length of its own, completed by its present length. size is that of
// an element in bytes. An offset that is no multiple of size, or is beyond the buffer's end, throws a RangeError.
func (b *buffers) tracked(r *resizable, args []goja.Value, name string, size int) []goja.Value {
	offset := 0
	if len(args) > 1 {
		offset = b.index(args[1], "new "+name+": the offset")
	}
	if offset%size != 0 {
		b.fail("RangeError", "invalid-argument", "new "+name+": the offset is no multiple of the size of an element", "")
	}
	if offset > r.size {
		b.fail("RangeError", "invalid-argument", "new "+name+": the offset is outside of the buffer", "")
	}
	return []goja.Value{args[0], b.vm.ToValue(offset), b.vm.ToValue((r.size - offset) / size)}
}

// detachedKeys makes the functions that list the keys of an object find no elements in a typed array whose buffer is detached.
func (b *buffers) detachedKeys() error {
	object, reflect := b.object("Object"), b.object("Reflect")
	for name, on := range map[string]*goja.Object{"keys": object, "getOwnPropertyNames": object, "freeze": object, "isFrozen": object, "ownKeys": reflect} {
		b.wrap(on, name, func(c goja.FunctionCall, fn function) goja.Value {
			if in, ok := internals.ViewOf(c.Argument(0)); ok && !in.IsDataView() && in.Buffer().IsDetached() {
				in.Set(in.Buffer(), 0)
			}
			return fn(c)
		})
	}
	return nil
}

// transfer defines the methods of ArrayBuffer that move and resize its memory, and the accessors of its state.
func (b *buffers) transfer() {
	if b.transfers {
		return
	}
	b.transfers = true
	proto := b.object("ArrayBuffer", "prototype")
	buffer := func(v goja.Value, name string) goja.ArrayBuffer {
		if o, ok := v.(*goja.Object); ok && internals.IsBuffer(o) {
			if a, ok := o.Export().(goja.ArrayBuffer); ok {
				return a
			}
		}
		b.typeError("ArrayBuffer.prototype.%s: this is not an ArrayBuffer", name)
		return goja.ArrayBuffer{}
	}
	for _, name := range []string{"transfer", "transferToFixedLength"} {
		b.method(proto, name, 0, func(c goja.FunctionCall) goja.Value {
			a := buffer(c.This, name)
			size := len(a.Bytes())
			if n := c.Argument(0); !isUndefined(n) {
				size = b.index(n, "ArrayBuffer.prototype."+name+": the length")
			}
			if a.Detached() {
				b.typeError("ArrayBuffer.prototype.%s: the buffer is detached", name)
			}
			if r := b.resizableOf(c.This); r != nil && name == "transfer" {
				if size > len(r.memory) {
					b.fail("RangeError", "invalid-argument", "ArrayBuffer.prototype.transfer: the length is more than maxByteLength", "")
				}
				fresh := b.vm.ToValue(b.vm.NewArrayBuffer(nil)).(*goja.Object)
				copy(b.newResizable(fresh, size, len(r.memory)).memory[:size], a.Bytes())
				a.Detach()
				return fresh
			}
			b.Allocate(name, uint64(size))
			fresh := make([]byte, size)
			copy(fresh, a.Bytes())
			a.Detach()
			return b.vm.ToValue(b.vm.NewArrayBuffer(fresh))
		})
	}
	b.method(proto, "resize", 1, func(c goja.FunctionCall) goja.Value {
		a := buffer(c.This, "resize")
		r := b.resizableOf(c.This)
		if r == nil {
			b.typeError("ArrayBuffer.prototype.resize: the buffer has a fixed length: make it with maxByteLength")
		}
		size := b.index(c.Argument(0), "ArrayBuffer.prototype.resize: the length")
		if a.Detached() {
			b.typeError("ArrayBuffer.prototype.resize: the buffer is detached")
		}
		if size > len(r.memory) {
			b.fail("RangeError", "invalid-argument", "ArrayBuffer.prototype.resize: the length is more than maxByteLength", "")
		}
		r.resize(size)
		return goja.Undefined()
	})
	b.getter(proto, "detached", func(c goja.FunctionCall) goja.Value { return b.vm.ToValue(buffer(c.This, "detached").Detached()) })
	b.getter(proto, "resizable", func(c goja.FunctionCall) goja.Value {
		buffer(c.This, "resizable")
		return b.vm.ToValue(b.resizableOf(c.This) != nil)
	})
	b.getter(proto, "maxByteLength", func(c goja.FunctionCall) goja.Value {
		a := buffer(c.This, "maxByteLength")
		if r := b.resizableOf(c.This); r != nil && !a.Detached() {
			return b.vm.ToValue(len(r.memory))
		}
		return b.vm.ToValue(len(a.Bytes()))
	})
}
