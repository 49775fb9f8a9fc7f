package progen

// block writes n statements as a scope, and forgets the names that they declare.
func (g *generator) block(n int, uniform bool) {
	vars, private, inputs, places := len(g.vars), len(g.private), len(g.inputs), len(g.places)
	g.indent++
	for range n {
		g.stmt(uniform)
	}
	g.indent--
	g.vars, g.private, g.inputs, g.places = g.vars[:vars], g.private[:private], g.inputs[:inputs], g.places[:places]
}

// stmt writes a statement. uniform reports whether all items of the group reach it together.
func (g *generator) stmt(uniform bool) {
	g.budget--
	nested := g.indent < 5
	switch k := g.IntN(27); {
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
		g.switchStmt(uniform)
	case k < 20 && len(g.loops) > 0 && !g.helper:
		g.leave(uniform)
	case k < 21 && nested && !g.helper && len(g.loops) == 0:
		g.helperCall()
	case k < 23 && g.group && uniform && !g.helper:
		g.groupStmt()
	case k < 24:
		g.rowStmt()
	case k < 26:
		g.recordStmt()
	case !uniform && !g.group && !g.helper && g.IntN(3) == 0:
		g.line("if (%s && i %% 5 === 4) return", g.cond(1))
	case g.IntN(12) == 0:
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

// compound writes a compound assignment to the item's own element.
func (g *generator) compound() {
	out := g.own[g.IntN(len(g.own))]
	switch out.class {
	case bools:
		g.line("%s = bool(%s)", out.name, g.cond(2))
	case ints:
		g.line("%s %s= %s", out.name, g.pick("+", "-", "*", "^", "|", "&", "<<"), g.expr(ints, 2))
	default:
		g.line("%s %s= %s", out.name, g.pick("+", "-", "*"), g.expr(out.class, 2))
	}
}

// atomic writes an atomic update whose order does not matter.
func (g *generator) atomic() {
	a := g.atomics[g.IntN(len(g.atomics))]
	k := g.IntN(8)
	// Each element has a single operation, so the order of updates does not matter.
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

func (g *generator) switchStmt(uniform bool) {
	on, inside := g.expr(ints, 1), false
	if g.IntN(3) == 0 {
		on, inside = g.pick("n", "K", "g.group.x", "g.size.x"), uniform
	}
	g.line("switch (%s & 3) {", on)
	for c := range 1 + g.IntN(4) {
		if c == 1 && g.IntN(3) == 0 {
			g.line("default: {")
		} else {
			g.line("case %d: {", c)
		}
		g.block(1+g.IntN(2), inside)
		g.line("}")
		if g.IntN(2) == 0 {
			g.line("break")
		}
	}
	g.line("}")
}

// groupStmt writes a group operation: shared memory between barriers, a reduction or a scan.
func (g *generator) groupStmt() {
	m := g.shared[0]
	switch k := g.IntN(6); {
	case k == 0:
		op := g.pick("reduce.add", "reduce.min", "reduce.max", "scan.add", "scan.min.exclusive", "scan.add.exclusive", "scan.max")
		c := class(g.IntN(int(bools)))
		name := g.name("v")
		g.line("const %s = g.%s(%s)", name, op, g.expr(c, 2))
		g.vars = append(g.vars, variable{name, c, true})
	case k == 1 && g.sharedRecords:
		name := g.name("v")
		g.line("mr[l] = %s", g.pick(g.anyRecord(), g.literalRecord()))
		g.line("g.barrier()")
		g.line("const %s = {...mr[(l * %d + %d) %% %d]}", name, 1+g.IntN(5), g.IntN(40), m.mask)
		g.line("g.barrier()")
		g.places = append(g.places, place{name, byField})
	case k == 2 && len(g.atomics) > 1:
		name := g.name("v")
		g.line("g.barrier()")
		g.line("const %s = count[(l + %d) & 7]", name, g.IntN(8))
		g.line("g.barrier()")
		g.vars = append(g.vars, variable{name, ints, true})
	default:
		g.line("m[l] = %s", g.expr(m.class, 2))
		g.line("g.barrier()")
		name := g.name("v")
		g.line("const %s = m[(l * %d + %d) %% %d]", name, 1+g.IntN(5), g.IntN(40), m.mask)
		g.line("g.barrier()")
		g.vars = append(g.vars, variable{name, m.class, true})
	}
}

// fault writes a statement that may fault in some items.
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
