package internals

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/dop251/goja"
)

// errorLayout has the type word of errors and the offsets of their fields.
type errorLayout struct {
	object        unsafe.Pointer
	frames, added uintptr
}

var errorLayouts atomic.Pointer[errorLayout]

// errorOf returns the layout of an error, and nil for other objects.
func errorOf(o *goja.Object) *errorLayout {
	if o == nil {
		return nil
	}
	if l := errorLayouts.Load(); l != nil {
		if selfOf(o).tab != l.object {
			return nil
		}
		return l
	}
	self := Self(o)
	if !self.IsValid() || self.Kind() != reflect.Pointer || self.Type().Elem().Kind() != reflect.Struct {
		return nil
	}
	frames, hasFrames := self.Type().Elem().FieldByName("stack")
	added, hasAdded := self.Type().Elem().FieldByName("stackPropAdded")
	if !hasFrames || !hasAdded || frames.Type != reflect.TypeFor[[]goja.StackFrame]() || added.Type.Kind() != reflect.Bool ||
		len(frames.Index) != 1 || len(added.Index) != 1 {
		return nil
	}
	l := &errorLayout{selfOf(o).tab, frames.Offset, added.Offset}
	errorLayouts.Store(l)
	return l
}

// HoldStack keeps the interpreter from adding its own property stack to an error. It returns false for an object that is no
// error.
func HoldStack(o *goja.Object) bool {
	l := errorOf(o)
	if l != nil {
		*(*bool)(unsafe.Add(selfOf(o).data, l.added)) = true
	}
	return l != nil
}

// FramesOf returns the calls during which an error was made, the innermost first. ok is false for an object that is no error.
func FramesOf(o *goja.Object) (frames []goja.StackFrame, ok bool) {
	l := errorOf(o)
	if l == nil {
		return nil, false
	}
	return *(*[]goja.StackFrame)(unsafe.Add(selfOf(o).data, l.frames)), true
}
