package kernel

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// TestConversionHints checks that the conversion which a diagnostic names compiles in the place of the expression, for all pairs
// of element types and places where types meet.
func TestConversionHints(t *testing.T) {
	types := []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64}
	hints := 0
	for _, a := range types {
		for _, b := range types {
			for _, body := range []string{"b[0] = a[0]", "b[0] = b[1] + a[0]", "b[0] += a[0]", "b[0] = a[0] < 3 ? b[1] : a[1]", "let v = b[0]; v = a[0]; b[1] = v",
				"b[0] = Math.max(a[0], b[0])", "if (a[0] < b[0]) b[1] = 0", "Atomics.add(b, 0, a[0])", "b[0] = b[1] << a[0]", "b[0] = Math.sqrt(a[0])", "b[0] = a[0] | 0", "a[b[0]] = 1"} {
				args := []Arg{{Kind: Buffer, Elem: ir.Elem{Scalar: a}, Rank: 1}, {Kind: Buffer, Elem: ir.Elem{Scalar: b}, Rank: 1}}
				text := "(g, a, b) => { " + body + " }"
				for round := 0; ; round++ {
					d := firstError(text, args)
					if d == nil {
						break
					}
					to, ok := strings.CutPrefix(d.Rewrite, "convert: `")
					if !ok {
						break
					}
					to, _, _ = strings.Cut(to, "`")
					hints++
					at, end := d.Position.Column-1, d.End.Column-1
					if round == 4 || end <= at || end > len(text) || text[at:end] != d.Excerpt {
						t.Errorf("%s of %s and %s: the hint %q for %q leads nowhere", body, a, b, d.Rewrite, d.Excerpt)
						break
					}
					before := text
					text = text[:at] + to + text[end:]
					if next := firstError(text, args); next != nil && next.ID == diag.BadConversion || text == before {
						t.Errorf("%s of %s and %s: %s is refused: %v", body, a, b, fmt.Sprintf("%q", to), next)
						break
					}
				}
			}
		}
	}
	if hints < 100 {
		t.Errorf("%d hints were tried", hints)
	}
}

// firstError compiles a kernel and returns its first error, or nil.
func firstError(text string, args []Arg) *diag.Diagnostic {
	f, err := Parse(&Source{Text: text})
	if err == nil {
		_, err = f.Compile(args, Options{})
	}
	var list diag.List
	if errors.As(err, &list) {
		return list[0]
	}
	return nil
}
