package builtins

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// ownWords replaces phrases of the interpreter about its own data in messages.
var ownWords = strings.NewReplacer(
	"Cannot make a dynamic object non-extensible", "This object cannot be frozen, sealed or closed to new properties",
	"Dynamic objects do not support Symbol properties", "This object takes no properties with symbols as keys",
	"Dynamic objects do not support accessor properties", "This object takes no properties with getters or setters",
	"'Set' on a dynamic object returned false", "The property cannot be set",
	"Expecting a function in instanceof check, but got a dynamic object", "The right-hand side of instanceof is not a function",
	"Dynamic object is not callable", "This object is not a function",
	"Dynamic object field ", "Property ",
	" of a dynamic object", "",
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
			if text, ok := args[0].(goja.String); ok && text.Length() > 20 {
				switch shown := text.String(); {
				case strings.HasPrefix(shown, "Could not convert &{"):
					args = []goja.Value{primitive}
				case strings.Contains(shown, "ynamic object"):
					args = []goja.Value{b.vm.ToValue(ownWords.Replace(shown))}
				}
			}
		}
		return construct(args, newTarget)
	}
	return nil
}
