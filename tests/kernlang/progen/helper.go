package progen

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
)

// helper is a captured function that takes a value of its class and an integer, and returns a value of its class.
type helper struct {
	name  string
	class class
}

// capturedHelpers writes functions outside of the kernel. They use only their parameters.
func (g *generator) capturedHelpers(scope map[string]any) {
	for range g.IntN(3) {
		h := helper{g.name("f"), class(g.IntN(int(bools)))}
		in := &generator{Rand: g.Rand, captured: true}
		in.vars = []variable{{"x", h.class, false}, {"i", ints, true}, {"n", ints, false}}
		in.line("(x, i) => {")
		in.line("  let n = i & 15")
		in.line("  if (%s) return %s", in.cond(1), in.expr(h.class, 1))
		if g.IntN(2) == 0 {
			in.line("  for (let k = 0; k < (i & 3); k++) x = %s", in.expr(h.class, 2))
		}
		in.line("  return %s", in.expr(h.class, 2))
		in.b.WriteString("}")
		scope[h.name] = &kernel.Source{Text: in.b.String()}
		g.helpers = append(g.helpers, h)
	}
}

// helperCall writes a helper function in the kernel and a call of it. Parameters may include a record or an array by
// reference.
func (g *generator) helperCall() {
	f, a, b := g.name("h"), g.name("p"), g.name("p")
	c := class(g.IntN(int(bools)))
	vars, private, places := len(g.vars), len(g.private), len(g.places)
	params, args := []string{a, b}, []string{g.expr(c, 1), g.expr(ints, 1)}
	if g.IntN(3) == 0 {
		r := g.name("p")
		params, args = append(params, r), append(args, g.ownRecord(byField))
		g.places = append(g.places, place{r, byField})
	}
	if g.IntN(3) == 0 {
		q, r := g.name("p"), g.private[g.IntN(len(g.private))]
		params, args = append(params, q), append(args, r.name)
		g.private = append(g.private, array{q, r.class, r.mask})
	}
	g.line("const %s = (%s) => {", f, strings.Join(params, ", "))
	g.vars = append(g.vars, variable{a, c, false}, variable{b, ints, true})
	g.helper = true
	g.indent++
	if g.IntN(2) == 0 {
		g.line("if (%s) return %s", g.cond(1), g.expr(c, 1))
	}
	g.indent--
	g.block(1+g.IntN(2), false)
	g.indent++
	g.line("return %s", g.expr(c, 2))
	g.indent--
	g.helper = false
	g.vars, g.private, g.places = g.vars[:vars], g.private[:private], g.places[:places]
	g.line("}")
	name := g.name("v")
	g.line("const %s = %s(%s)", name, f, strings.Join(args, ", "))
	g.vars = append(g.vars, variable{name, c, true})
}

// Scope returns the text of a program's captured helpers, for reports, in any order.
func Scope(scope map[string]any) string {
	var b strings.Builder
	for name, v := range scope {
		if src, ok := v.(*kernel.Source); ok {
			fmt.Fprintf(&b, "const %s = %s\n", name, src.Text)
		}
	}
	return b.String()
}
