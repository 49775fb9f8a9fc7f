package builtins

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// installErrors replaces messages of the interpreter that show its own data.
func (b *set) installErrors() error {
	class := b.object("TypeError")
	native, ok := internals.NativeOf(class)
	if !ok || native.Construct == nil || *native.Construct == nil {
		return internals.Unknown("TypeError")
	}
	construct := *native.Construct
	primitive := b.vm.ToValue("Cannot convert object to primitive value")
	*native.Construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if newTarget == class && len(args) == 1 { // the interpreter throws
			if text, ok := args[0].(goja.String); ok && text.Length() > 20 && strings.HasPrefix(text.String(), "Could not convert &{") {
				args = []goja.Value{primitive}
			}
		}
		return construct(args, newTarget)
	}
	return nil
}
