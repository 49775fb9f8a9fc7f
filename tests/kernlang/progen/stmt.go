package progen

import "fmt"

// block writes statements; what they declare ends with them.
func (g *generator) block(n int, uniform bool) {
	vars, private := len(g.vars), len(g.private)
	g.indent++
	for range n {
		g.stmt(uniform)
	}
	g.indent--
	g.vars, g.private = g.vars[:vars], g.private[:private]
}

// stmt writes a statement; uniform says that all items of the group come here together.
func (g *generator) stmt(uniform bool) {
	g.budget--
	nested := g.indent < 5
	switch k := g.IntN(24); {
	case k < 3:
		c := class(g.IntN(int(classes)))
		name := g.name("v")
		word := g.pick("let", "const")
		g.line("%s %s = %s", word, name, g.expr(c, 2))
		g.vars = append(g.vars, variable{name, c, word == "const"})
	case k < 7:
		g.assign()
	case k < 8:
		c := class(g.IntN(int(bools)))
		g.line("%s", g.store(g.expr(c, 3), c))
	case k < 10:
		g.compound()
	case k < 11:
		g.recordStmt()
	case k < 12:
		a := g.private[g.IntN(len(g.private))]
		g.line("%s[%s & %d] = %s", a.name, g.expr(ints, 1), a.mask, g.expr(a.class, 2))
	case k < 13:
		g.atomic()
	case k < 16 && nested:
		g.ifStmt(uniform)
	case k < 18 && nested && len(g.loops) < 3:
		g.loop(uniform)
	case k < 19 && nested:
		g.switchStmt()
	case k < 20 && len(g.loops) > 0 && !g.helper:
		g.leave(uniform)
	case k < 21 && nested && !g.helper && len(g.loops) == 0:
		g.helperCall()
	case k < 23 && g.group && uniform && !g.helper:
		g.groupStmt()
	case !uniform && !g.group && !g.helper && g.IntN(3) == 0:
		g.line("if (%s && i %% 5 === 4) return", g.cond(1))
	case g.IntN(60) == 0:
		g.fault()
	default:
		g.assign()
	}
}

func (g *generator) assign() {
	c := class(g.IntN(int(classes)))
	v := g.assignable(c)
	if v == "" {
		return
	}
	switch {
	case g.IntN(3) > 0 || c == bools:
		g.line("%s = %s", v, g.expr(c, 3))
	case c == ints && g.IntN(2) == 0:
		g.line("%s %s= %s", v, g.pick("&", "|", "^", "<<", ">>", "&&", "||"), g.expr(c, 2))
	case c == floats:
		g.line("%s %s= %s", v, g.pick("+", "-", "*", "/"), g.expr(c, 2))
	default:
		g.line("%s %s= %s", v, g.pick("+", "-", "*"), g.expr(c, 2))
	}
}

// compound changes the item's own element.
func (g *generator) compound() {
	out := g.own[g.IntN(len(g.own))]
	switch out.class {
	case bools:
		g.line("%s[i] = %s", out.name, g.cond(2))
	case ints:
		g.line("%s[i] %s= %s", out.name, g.pick("+", "-", "*", "^", "|", "&", "<<"), g.expr(ints, 2))
	default:
		g.line("%s[i] %s= %s", out.name, g.pick("+", "-", "*"), g.expr(out.class, 2))
	}
}

// recordStmt reads or writes the item's own record.
func (g *generator) recordStmt() {
	switch g.IntN(5) {
	case 0:
		name := g.name("r")
		g.line("const %s = {...ps[i]}", name)
		g.line("%s.x += %s", name, g.expr(floats, 1))
		g.line("%s.v[%s & 1] = %s", name, g.leaf(ints), g.expr(ints, 1))
		g.line("ps[i] = %s", name)
	case 1:
		g.line("ps[i] = {x: %s, v: [%s, 2, n], id: %s, w: %s, ok: %s, b: %s}", g.expr(floats, 1), g.expr(ints, 1), g.expr(ints, 1),
			g.expr(floats, 1), g.cond(1), g.expr(ints, 1))
	case 2:
		a, b := g.name("d"), g.name("d")
		g.line("const {x: %s, id: %s} = ps[i]", a, b)
		g.vars = append(g.vars, variable{a, floats, true}, variable{b, ints, true})
	case 3:
		f := fields[g.IntN(len(fields))]
		g.line("%s = %s", f.name, g.expr(f.class, 2))
	default:
		x, y := g.assignable(ints), g.assignable(ints)
		if x != "" && x != y {
			g.line(";[%s, %s] = [%s, %s]", x, y, y, g.expr(ints, 1))
		}
	}
}

// atomic changes an accumulator in a way whose order does not show.
func (g *generator) atomic() {
	a := g.atomics[0]
	k := g.IntN(8)
	// Each element has one operation, so that their order stays invisible.
	op := []string{"add", "min", "max", "and", "or", "xor", "add", "sub"}[k]
	g.line("Atomics.%s(%s, %d, %s)", op, a.name, k, g.expr(a.class, 2))
}

func (g *generator) ifStmt(uniform bool) {
	cond, inside := g.cond(2), false
	if g.IntN(2) == 0 {
		cond, inside = g.uniformCond(), uniform
	}
	g.line("if (%s) {", cond)
	g.block(1+g.IntN(3), inside)
	if g.IntN(2) == 0 {
		g.line("} else {")
		g.block(1+g.IntN(3), inside)
	}
	g.line("}")
}

func (g *generator) loop(uniform bool) {
	k, label := g.name("k"), g.name("l")
	same := g.IntN(2) == 0
	limit := fmt.Sprint(1 + g.IntN(4))
	if !same {
		limit = fmt.Sprintf("(%s & 3)", g.variable(ints))
	}
	inside := same && uniform
	g.loops = append(g.loops, loop{label, inside})
	vars := len(g.vars)
	switch g.IntN(3) {
	case 0:
		g.vars = append(g.vars, variable{k, ints, true})
		g.line("%s: for (let %s = 0; %s < %s; %s++) {", label, k, k, limit, k)
		g.block(1+g.IntN(3), inside)
		g.line("}")
	case 1:
		g.line("let %s = %s", k, limit)
		g.vars = append(g.vars, variable{k, ints, true})
		g.line("%s: while (%s-- > 0) {", label, k)
		g.block(1+g.IntN(3), inside)
		g.line("}")
	default:
		g.line("let %s = 0", k)
		g.vars = append(g.vars, variable{k, ints, true})
		g.line("%s: do {", label)
		g.block(1+g.IntN(3), inside)
		g.line("} while (++%s < %s)", k, limit)
	}
	g.vars = g.vars[:vars]
	g.loops = g.loops[:len(g.loops)-1]
}

// leave writes a break or continue. What it skips of a loop may have a barrier if the loop is uniform, so that all items
// of the group must leave together.
func (g *generator) leave(uniform bool) {
	at := g.IntN(len(g.loops))
	cond := g.cond(1)
	for _, l := range g.loops[at:] {
		if l.uniform && g.group {
			if !uniform {
				return
			}
			cond = g.uniformCond()
		}
	}
	label := " " + g.loops[at].label
	if at == len(g.loops)-1 && g.IntN(2) == 0 {
		label = ""
	}
	g.line("if (%s) %s%s", cond, g.pick("break", "continue"), label)
}

func (g *generator) switchStmt() {
	g.line("switch (%s & 3) {", g.expr(ints, 1))
	for c := range 1 + g.IntN(4) {
		if c == 1 && g.IntN(3) == 0 {
			g.line("default: {")
		} else {
			g.line("case %d: {", c)
		}
		g.block(1+g.IntN(2), false)
		g.line("}")
		if g.IntN(2) == 0 {
			g.line("break")
		}
	}
	g.line("}")
}

// helperCall writes a helper function and a call of it.
func (g *generator) helperCall() {
	f, a, b := g.name("h"), g.name("p"), g.name("p")
	c := class(g.IntN(int(bools)))
	vars := len(g.vars)
	g.line("const %s = (%s, %s) => {", f, a, b)
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
	g.vars = g.vars[:vars]
	g.line("}")
	name := g.name("v")
	g.line("const %s = %s(%s, %s)", name, f, g.expr(c, 1), g.expr(ints, 1))
	g.vars = append(g.vars, variable{name, c, true})
}

// groupStmt uses the group: shared memory between barriers, a reduction or a scan.
func (g *generator) groupStmt() {
	m := g.shared[0]
	switch g.IntN(4) {
	case 0:
		op := g.pick("reduce.add", "reduce.min", "reduce.max", "scan.add", "scan.min.exclusive", "scan.add.exclusive", "scan.max")
		c := class(g.IntN(int(bools)))
		name := g.name("v")
		g.line("const %s = g.%s(%s)", name, op, g.expr(c, 2))
		g.vars = append(g.vars, variable{name, c, true})
	default:
		g.line("m[l] = %s", g.expr(m.class, 2))
		g.line("g.barrier()")
		name := g.name("v")
		g.line("const %s = m[(l * %d + %d) %% %d]", name, 1+g.IntN(5), g.IntN(40), m.mask)
		g.line("g.barrier()")
		g.vars = append(g.vars, variable{name, m.class, true})
	}
}

// fault writes what may fault in some items.
func (g *generator) fault() {
	switch g.IntN(3) {
	case 0:
		g.line("g.assert(%s || i < 3, `item ${i} has ${%s}`)", g.cond(1), g.leaf(ints))
	case 1:
		a := g.inputs[g.IntN(len(g.inputs))]
		name := g.name("v")
		g.line("const %s = %s[i + %d]", name, a.name, g.IntN(40))
		g.vars = append(g.vars, variable{name, a.class, true})
	default:
		name := g.name("v")
		g.line("const %s = 100 %% (i - %d)", name, g.IntN(200))
		g.vars = append(g.vars, variable{name, ints, true})
	}
}
