package builtins

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// hideSymbols keeps the engine's own symbols out of the lists of an object's keys and descriptors. It also describes the length
// of an array, which the interpreter lists without its value.
func (b *set) hideSymbols() {
	for _, list := range [][2]string{{"Object", "getOwnPropertySymbols"}, {"Reflect", "ownKeys"}} {
		b.wrap(b.object(list[0]), list[1], func(c goja.FunctionCall, fn function) goja.Value { return b.visible(fn(c)) })
	}
	b.wrap(b.object("Object"), "getOwnPropertyDescriptors", func(c goja.FunctionCall, fn function) goja.Value {
		all := fn(c)
		if o, ok := all.(*goja.Object); ok {
			for _, s := range b.Hidden {
				_ = o.DeleteSymbol(s)
			}
			if list, ok := c.Argument(0).(*goja.Object); ok && list.ClassName() == "Array" {
				if length, ok := o.Get("length").(*goja.Object); ok && isUndefined(length.Get("value")) {
					define(o, "length", b.call(b.describe, nil, list, b.vm.ToValue("length")))
				}
			}
		}
		return all
	})
}

// visible returns a list of keys without the hidden symbols.
func (b *set) visible(keys goja.Value) goja.Value {
	o, ok := keys.(*goja.Object)
	if !ok {
		return keys
	}
	list, ok := internals.ArrayValues(o)
	hidden := func(key goja.Value) bool {
		s, ok := key.(*goja.Symbol)
		return ok && slices.Contains(b.Hidden, s)
	}
	if !ok || !slices.ContainsFunc(list, hidden) {
		return keys
	}
	return b.list(slices.DeleteFunc(slices.Clone(list), hidden))
}
