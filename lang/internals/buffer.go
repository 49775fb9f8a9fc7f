package internals

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/later"
)

// A Buffer is the interpreter's representation of an ArrayBuffer.
type Buffer struct{ at unsafe.Pointer }

// A View is the interpreter's representation of a typed array or a DataView. The elements of a DataView are bytes.
type View struct {
	at     unsafe.Pointer
	fields *viewFields
}

type viewFields struct {
	tab                    unsafe.Pointer
	buffer, length, offset uintptr
	size                   uintptr // 0 for a DataView
}

type bufferLayout struct {
	tab            unsafe.Pointer
	detached, data uintptr
	object         uintptr
	typ            reflect.Type
	views          [2]viewFields
	known          bool
}

var buffers = later.Value[*bufferLayout]{Make: func() (l *bufferLayout) {
	l = &bufferLayout{}
	defer func() { l.known = recover() == nil }()
	vm := goja.New()
	field := func(t reflect.Type, name string, kind reflect.Kind) uintptr {
		f, ok := t.FieldByName(name)
		if !ok || f.Type.Kind() != kind || len(f.Index) != 1 {
			panic(name)
		}
		return f.Offset
	}
	examples, err := vm.RunString("[new ArrayBuffer(8), new Int16Array(2), new DataView(new ArrayBuffer(4))]")
	if err != nil {
		panic(err)
	}
	object := func(index string) (*goja.Object, reflect.Type) {
		o := examples.(*goja.Object).Get(index).(*goja.Object)
		return o, Self(o).Type().Elem()
	}
	buffer, typ := object("0")
	l.tab, l.typ = selfOf(buffer).tab, typ
	l.detached, l.data = field(typ, "detached", reflect.Bool), field(typ, "data", reflect.Slice)
	base, _ := typ.FieldByName("baseObject")
	val, ok := base.Type.FieldByName("val")
	if !ok || val.Type != reflect.TypeFor[*goja.Object]() {
		panic("val")
	}
	l.object = base.Offset + val.Offset
	for i, index := range []string{"1", "2"} {
		o, typ := object(index)
		v := &l.views[i]
		v.tab, v.buffer = selfOf(o).tab, field(typ, "viewedArrayBuf", reflect.Pointer)
		if i == 0 {
			v.length, v.offset, v.size = field(typ, "length", reflect.Int), field(typ, "offset", reflect.Int), field(typ, "elemSize", reflect.Int)
		} else {
			v.length, v.offset = field(typ, "byteLen", reflect.Int), field(typ, "byteOffset", reflect.Int)
		}
	}
	return l
}}

// HasBuffers reports whether the interpreter's buffers and views have the fields that this package expects.
func HasBuffers() bool { return buffers.Get().known }

// BufferOf returns the interpreter's representation of an ArrayBuffer, or false for other values.
func BufferOf(v goja.Value) (Buffer, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil || selfOf(o).tab != buffers.Get().tab {
		return Buffer{}, false
	}
	return Buffer{selfOf(o).data}, true
}

// SetBytes replaces the memory by data. Code that has read an earlier length may still access data up to its capacity.
func (b Buffer) SetBytes(data []byte) { *(*[]byte)(unsafe.Add(b.at, buffers.Get().data)) = data }

// Bytes returns the memory.
func (b Buffer) Bytes() []byte { return *(*[]byte)(unsafe.Add(b.at, buffers.Get().data)) }

// IsDetached reports whether the memory is gone.
func (b Buffer) IsDetached() bool { return *(*bool)(unsafe.Add(b.at, buffers.Get().detached)) }

// Object returns the ArrayBuffer.
func (b Buffer) Object() *goja.Object {
	return *(**goja.Object)(unsafe.Add(b.at, buffers.Get().object))
}

// ID identifies the interpreter's representation of the ArrayBuffer as long as that exists.
func (b Buffer) ID() uintptr { return uintptr(b.at) }

// Detached returns a detached copy of the interpreter's representation, with the same ArrayBuffer as its object, for views that
// are out of bounds.
func (b Buffer) Detached() Buffer {
	l := buffers.Get()
	v := reflect.New(l.typ)
	v.Elem().Set(reflect.NewAt(l.typ, b.at).Elem())
	gone := Buffer{v.UnsafePointer()}
	*(*bool)(unsafe.Add(gone.at, l.detached)) = true
	gone.SetBytes(nil)
	return gone
}

// ViewOf returns the interpreter's representation of a typed array or a DataView, or false for other values.
func ViewOf(v goja.Value) (View, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o == nil {
		return View{}, false
	}
	l := buffers.Get()
	for i := range l.views {
		if w := selfOf(o); w.tab == l.views[i].tab {
			return View{w.data, &l.views[i]}, true
		}
	}
	return View{}, false
}

func (v View) int(offset uintptr) *int { return (*int)(unsafe.Add(v.at, offset)) }

// Buffer returns the interpreter's representation of the view's ArrayBuffer.
func (v View) Buffer() Buffer { return Buffer{*(*unsafe.Pointer)(unsafe.Add(v.at, v.fields.buffer))} }

// ElementSize returns the size of an element in bytes.
func (v View) ElementSize() int {
	if v.fields.size == 0 {
		return 1
	}
	return *v.int(v.fields.size)
}

// IsDataView reports whether the view is a DataView.
func (v View) IsDataView() bool { return v.fields.size == 0 }

// Offset returns the position of the first element in bytes.
func (v View) Offset() int { return *v.int(v.fields.offset) * v.ElementSize() }

// Length returns the number of elements.
func (v View) Length() int { return *v.int(v.fields.length) }

// Set replaces the buffer and the number of elements. The elements stay at their addresses.
func (v View) Set(b Buffer, length int) {
	*(*unsafe.Pointer)(unsafe.Add(v.at, v.fields.buffer)) = b.at
	*v.int(v.fields.length) = length
}

// Export returns a value's Go form like [goja.Value.Export], but an empty slice for a typed array whose buffer is detached: the
// interpreter would return one at an invalid address.
func Export(v goja.Value) any {
	if view, ok := ViewOf(v); ok && !view.IsDataView() && view.Buffer().IsDetached() {
		return reflect.MakeSlice(v.ExportType(), 0, 0).Interface()
	}
	return v.Export()
}

// Primitive returns a primitive value's Go form, and nil for an object: [Export] would copy what it contains, and call its
// getters.
func Primitive(v goja.Value) any {
	if _, ok := v.(*goja.Object); ok {
		return nil
	}
	return v.Export()
}

// IsTypedArray reports whether an object is a typed array. It checks the interpreter's internal class, not properties that
// scripts can change.
func IsTypedArray(o *goja.Object) bool {
	t := o.ExportType()
	return t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() <= reflect.Float64 && o.ClassName() == "Object" // a Map has pairs
}

var typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()

// IsBuffer reports whether an object is an ArrayBuffer.
func IsBuffer(o *goja.Object) bool { return o.ExportType() == typeArrayBuffer }
