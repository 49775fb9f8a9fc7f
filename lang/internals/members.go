package internals

import (
	"slices"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/unistring"
)

//go:linkname newNativeFunc github.com/dop251/goja.(*Runtime).newNativeFunc
func newNativeFunc(vm *goja.Runtime, call func(goja.FunctionCall) goja.Value, name unistring.String, length int) *goja.Object

//go:linkname newTemplate github.com/dop251/goja.newObjectTemplate
func newTemplate() unsafe.Pointer

//go:linkname putMember github.com/dop251/goja.(*objectTemplate).putStr
func putMember(template unsafe.Pointer, name unistring.String, value func(*goja.Runtime) goja.Value)

//go:linkname applyTemplate github.com/dop251/goja.(*Runtime).newTemplatedObject
func applyTemplate(vm *goja.Runtime, template unsafe.Pointer, o *goja.Object) unsafe.Pointer

// NewFunction returns a function with a name and the length 0. [goja.Runtime.ToValue] takes longer, since it also finds the
// name of the Go function.
func NewFunction(vm *goja.Runtime, name string, call func(goja.FunctionCall) goja.Value) *goja.Object {
	return newNativeFunc(vm, call, unistring.NewFromString(name), 0)
}

// Define makes an own property that is writable, enumerable and configurable. Unlike [goja.Object.Set] it calls no setter of a
// prototype, and __proto__ is a name like others.
func Define(o *goja.Object, name string, v goja.Value) error {
	return o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// NewObject returns an object whose properties are made when they are first used, as the interpreter makes those of builtins.
// define(o, at) defines a property with the name names[at] on o, another object. Of equal names the last counts, in the place
// of the first.
func NewObject(vm *goja.Runtime, names []string, define func(o *goja.Object, at int)) *goja.Object {
	o := vm.NewObject()
	if Check() != nil {
		for at := range names {
			define(o, at)
		}
		return o
	}
	p := &properties{vm: vm, define: define}
	template, proto := newTemplate(), o.Prototype()
	for at, name := range names {
		if slices.Contains(names[:at], name) {
			continue
		}
		for later := at + 1; later < len(names); later++ {
			if names[later] == name {
				at = later
			}
		}
		putMember(template, unistring.NewFromString(name), func(*goja.Runtime) goja.Value { return p.value(name, at) })
	}
	applyTemplate(vm, template, o)
	_ = o.SetPrototype(proto) // cannot fail on a new object
	return o
}

// properties makes the properties of an object.
type properties struct {
	vm     *goja.Runtime
	define func(o *goja.Object, at int)
}

// value returns the interpreter's representation of a property. It reads it from another object, on which define has defined
// the property.
func (p *properties) value(name string, at int) goja.Value {
	o := p.vm.NewObject()
	p.define(o, at)
	return (*(*map[unistring.String]goja.Value)(unsafe.Add(selfOf(o).data, layoutPointer.Get().objectValues)))[unistring.NewFromString(name)]
}
