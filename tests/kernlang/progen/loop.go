package progen

import (
	"fmt"
	"strings"
)

// loop writes a loop or a labelled block. uniform reports whether all items of the group reach it together.
func (g *generator) loop(uniform bool) {
	switch g.IntN(12) {
	case 0, 1, 2:
		g.stride(uniform)
		return
	case 3:
		g.fall()
		return
	}
	k, label := g.name("k"), g.name("l")
	same := g.IntN(2) == 0
	limit := fmt.Sprint(1 + g.IntN(4))
	if !same {
		limit = fmt.Sprintf("(%s & 3)", g.variable(ints))
	}
	inside := same && uniform
	g.loops = append(g.loops, loop{label, inside, false})
	vars := len(g.vars)
	switch g.IntN(4) {
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
	case 2:
		g.loops[len(g.loops)-1] = loop{label, uniform, true}
		g.line("%s: {", label)
		g.block(1+g.IntN(3), uniform)
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

// leave writes a conditional break or continue, or nothing if only some items of the group would leave a uniform loop. The
// skipped part of a uniform loop may have a barrier, so all items of the group must leave together.
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
	label, word := " "+g.loops[at].label, g.pick("break", "continue")
	switch {
	case g.loops[at].block:
		word = "break"
	case at == len(g.loops)-1 && g.IntN(2) == 0:
		label = ""
	}
	g.line("if (%s) %s%s", cond, word, label)
}

// stride writes a loop that accesses arrays at its counter, which changes by any step, as i32 or u32. Guards keep the
// accesses in bounds; proofs from guards must consider that a counter wraps.
func (g *generator) stride(uniform bool) {
	k, label := g.name("k"), g.name("l")
	a := g.inputs[g.IntN(len(g.inputs))]
	n := a.mask + 1
	length := g.pick(fmt.Sprint(n), a.name+".length")
	step := fmt.Sprint(max(1, n/(2+g.IntN(6))))
	start := g.pick("0", "1", "3", fmt.Sprintf("(%s & 7)", g.variable(ints)))
	within, after := g.pick(fmt.Sprintf("%s < %s", k, length), g.cond(1)), "" // the condition of most loops keeps the counter in bounds
	switch g.IntN(5) {
	case 0:
		g.line("%s: for (let %s = %s; %s < %s; %s += %s) {", label, k, start, k, length, k, step)
	case 1:
		g.line("%s: for (let %s = %s - 1 - %s; %s >= 0; %s -= %s) {", label, k, length, start, k, k, step)
	case 2: // below 0 the counter is far out of bounds
		g.line("%s: for (let %s = u32(%d - %s); %s < %s; %s -= %s) {", label, k, n-1, start, k, length, k, step)
	default:
		start = g.pick(start, "2147483645", "-2147483646", "-3", "62", "n")
		if g.IntN(3) == 0 {
			start = "u32(" + start + ")"
		}
		step := g.pick("1", "2", "3", "7", "1073741824", "2147483647", "-1", "-2", "-3", "(-2147483648)")
		g.line("let %s = %s", k, start)
		g.line("%s: for (let %sn = 0; %sn < 4; %sn++) {", label, k, k, k)
		within = g.pick(fmt.Sprintf("%s >= 0 && %s < %s", k, k, length), fmt.Sprintf("%s < %s && %s > -1", k, length, k))
		after = fmt.Sprintf("%s = %s %s %s", k, k, g.pick("+", "-"), step)
	}
	inside := uniform && !strings.Contains(start, "&")
	g.loops = append(g.loops, loop{label, inside, false})
	vars := len(g.vars)
	g.vars = append(g.vars, variable{k, ints, true})
	g.indent++
	g.element(a, k, within)
	g.indent--
	g.block(g.IntN(3), inside)
	if after != "" {
		g.line("  %s", after)
	}
	g.line("}")
	g.vars = g.vars[:vars]
	g.loops = g.loops[:len(g.loops)-1]
}

// element writes a read of element k of a under the condition within. It may instead write to element k of an array of the
// item's own, with bounds checks.
func (g *generator) element(a array, k, within string) {
	if v := g.assignable(a.class); v != "" && g.IntN(3) > 0 {
		g.line("if (%s) %s = %s", within, v, g.pick(a.name+"["+k+"]", fmt.Sprintf("%s ? %s : %s[%s]", g.cond(1), v, a.name, k)))
		return
	}
	q := g.private[g.IntN(len(g.private))]
	g.line("if (%s >= 0 && %s <= %d) %s[%s] = %s", k, k, q.mask, q.name, k, g.expr(q.class, 1))
}

// fall writes a loop whose counter starts below an extent and decreases. A test of the counter's next value ends the loop. If
// the counter wraps, which some tests allow, it exceeds the extent and the program faults.
func (g *generator) fall() {
	k, j := g.name("k"), g.name("j")
	a := g.inputs[g.IntN(len(g.inputs))]
	start, length := g.pick(g.load(ints), "("+g.leaf(ints)+" | -2147483648)"), g.pick(fmt.Sprint(a.mask+1), a.name+".length")
	step := g.pick("1", "2", "3", "1073741824")
	g.line("let %s = %s", k, start)
	g.line("if (%s < %s) {", k, length)
	g.line("  for (let %sn = 0; %sn < 5; %sn++) {", k, k, k)
	vars := len(g.vars)
	g.vars = append(g.vars, variable{k, ints, true})
	g.indent += 2
	g.element(a, k, k+" >= 0")
	g.indent -= 2
	g.vars = g.vars[:vars]
	g.line("    const %s = %s", j, g.pick(k+" - "+step, k+" + (-"+step+")"))
	g.line("    if (%s > %s) break", j, g.pick(length, "100", "2147483646", "2147483646"))
	g.line("    %s = %s", k, j)
	g.line("  }")
	g.line("}")
}
