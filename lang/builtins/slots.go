package builtins

import (
	"github.com/dop251/goja"
)

// slots attaches values to objects as private fields, which scripts do not see.
type slots struct{ set, get goja.Callable }

const slotsText = `"use strict"; (() => {
	class Slot extends (function (o) { return o }) {
		#value
		constructor(o, value) { super(o); this.#value = value }
		static get(o) { return #value in o ? o.#value : undefined }
	}
	return { set: (o, value) => { new Slot(o, value) }, get: Slot.get }
})()`

func (b *set) newSlots() *slots {
	v, err := b.Run("orepl:slots.js", slotsText)
	if err != nil {
		panic(err) // the text is a constant of this package
	}
	o := v.(*goja.Object)
	return &slots{callable(o.Get("set")), callable(o.Get("get"))}
}

// attach attaches a Go value to an object.
func (b *set) attach(s *slots, o *goja.Object, value any) { b.call(s.set, nil, o, b.vm.ToValue(value)) }

// attached returns the Go value of an object, or nil.
func (b *set) attached(s *slots, v goja.Value) any {
	o, ok := v.(*goja.Object)
	if !ok || s == nil {
		return nil
	}
	found := b.call(s.get, nil, o)
	if isUndefined(found) {
		return nil
	}
	return found.Export()
}
