// Package text holds what the emitters of program text share.
package text

import (
	"strings"
	"unicode"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Scalars returns the private arrays of one scalar in a lowered kernel that a variable can replace, with the type of the variable.
// All accesses to such an array have that type and a constant offset.
func Scalars(k *ir.Kernel) map[*ir.Array]ir.Type {
	scalars := map[*ir.Array]ir.Type{}
	for _, a := range k.Arrays {
		if t := a.Elem.Scalar; a.Space == ir.Private && a.Elem.Record == nil && a.Bytes() == t.Size() && t.IsValue() {
			scalars[a] = t
		}
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Array == nil || in.Op == ir.Extent {
			return
		}
		if d := in.Args[0].Def; in.Elem != scalars[in.Array] || d == nil || d.Op != ir.Const {
			delete(scalars, in.Array)
		}
	})
	return scalars
}

// Comment returns a text for use in a comment: characters below the space, backslashes and non-ASCII characters become underscores.
func Comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '\\' || r > unicode.MaxASCII {
			return '_'
		}
		return r
	}, s)
}
