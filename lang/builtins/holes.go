package builtins

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// installHoles makes new Set and Object.fromEntries read the missing elements of arrays as undefined, where the interpreter
// reads them as nothing.
func (b *set) installHoles() error {
	native, ok := internals.NativeOf(b.object("Set"))
	if !ok || native.Construct == nil || *native.Construct == nil {
		return internals.Unknown("Set")
	}
	construct := *native.Construct
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) > 0 {
			args = append([]goja.Value{b.filled(args[0])}, args[1:]...)
		}
		return construct(args, newTarget)
	}
	b.wrap(b.object("Object"), "fromEntries", func(c goja.FunctionCall, fn function) goja.Value {
		if o, ok := c.Argument(0).(*goja.Object); ok {
			if entries, ok := internals.ArrayValues(o); ok && slices.ContainsFunc(entries, func(v goja.Value) bool { return b.filled(v) != v }) {
				list := make([]goja.Value, len(entries))
				for i, v := range entries {
					list[i] = b.filled(v)
				}
				c.Arguments = []goja.Value{b.list(list)}
			}
		}
		return fn(c)
	})
	return nil
}

// filled returns a copy of an array with undefined in place of missing elements. It returns v itself if no element is missing,
// or v is no dense array.
func (b *set) filled(v goja.Value) goja.Value {
	if o, ok := v.(*goja.Object); ok {
		if values, ok := internals.ArrayValues(o); ok && slices.Contains(values, nil) {
			return b.list(values)
		}
	}
	return v
}
