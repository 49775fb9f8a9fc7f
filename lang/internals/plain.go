package internals

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/later"
)

// plainLayout has the type words of plain objects and of simple values, and the offsets of the properties.
type plainLayout struct {
	object            unsafe.Pointer
	names, values     uintptr
	integer, float    unsafe.Pointer
	boolean, accessor unsafe.Pointer
	known             bool
}

var plainObjects = later.Value[plainLayout]{Make: func() (l plainLayout) {
	defer func() {
		if recover() != nil {
			l.known = false
		}
	}()
	vm := goja.New()
	o := vm.NewObject()
	_ = o.Set("b", 1)
	_ = o.Set("a", 1.5)
	t := Self(o).Type().Elem()
	names, _ := t.FieldByName("propNames")
	values, _ := t.FieldByName("values")
	if names.Type.Kind() != reflect.Slice || names.Type.Elem().Kind() != reflect.String || values.Type.Kind() != reflect.Map ||
		values.Type.Key() != names.Type.Elem() || len(names.Index) != 1 || len(values.Index) != 1 {
		return l
	}
	l = plainLayout{object: selfOf(o).tab, names: names.Offset, values: values.Offset, integer: wordsOf(vm.ToValue(1)).tab,
		float: wordsOf(vm.ToValue(1.5)).tab, boolean: wordsOf(vm.ToValue(true)).tab, accessor: layoutPointer.Get().accessor, known: Check() == nil}
	if got, of := l.properties(o); len(got) != 2 || got[0] != "b" || of["a"] != vm.ToValue(1.5) {
		l.known = false
	}
	return l
}}

func (l *plainLayout) properties(o *goja.Object) ([]string, map[string]goja.Value) {
	at := selfOf(o).data
	return *(*[]string)(unsafe.Add(at, l.names)), *(*map[string]goja.Value)(unsafe.Add(at, l.values))
}

// Properties returns the names of the own properties of a plain object, such as that of a literal, in order, and their values.
// Neither may be changed. A value may be an accessor, which is neither [IsSimple] nor an object. Symbols are left out. ok is
// false for all other kinds of objects.
func Properties(o *goja.Object) (names []string, values map[string]goja.Value, ok bool) {
	l := plainPointer.Get()
	if o == nil || !l.known || selfOf(o).tab != l.object {
		return nil, nil, false
	}
	names, values = l.properties(o)
	return names, values, true
}

var plainPointer = later.Value[*plainLayout]{Make: func() *plainLayout {
	l := plainObjects.Get()
	return &l
}}

// IsSimple reports whether a value is a number, a boolean or an ASCII string, which Go's == compares by value.
func IsSimple(v goja.Value) bool {
	if v == nil {
		return false
	}
	l, tab := plainPointer.Get(), wordsOf(v).tab
	return l.known && (tab == l.integer || tab == l.float || tab == l.boolean || tab == layoutPointer.Get().ascii)
}
