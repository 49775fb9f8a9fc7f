// Package progen writes random kernels in source form, with defined results. An item writes only its own elements, and reads
// others only after a barrier. Atomics are kinds whose order does not matter, with unused results. So all runs of a program
// have equal results.
//
// The programs have all value and storage types, buffers with one to three dimensions, and records in buffers. They have
// private and shared arrays, locals, and inner and captured helpers. Control flow nests under uniform and divergent
// conditions, with labels, barriers, group operations and atomics. A size need not be a multiple of the group size. Some
// programs fault.
package progen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/tests/kernlang"
)

// Elements is the number of elements of each read-only buffer.
const Elements = 64

// class is a set of types that can be mixed in expressions; others need conversions.
type class int

const (
	ints   class = iota // i32, u32
	i64                 // i64
	u64                 // u64
	floats              // f32, f64
	bools
	classes
)

func classOf(t ir.Type) class {
	switch v := t.Value(); v {
	case ir.I64:
		return i64
	case ir.U64:
		return u64
	case ir.Bool:
		return bools
	case ir.F32, ir.F64:
		return floats
	}
	return ints
}

// variable is a name that can be read, and assigned unless it is fixed.
type variable struct {
	name  string
	class class
	fixed bool
}

type array struct {
	name  string
	class class
	mask  int // length minus 1, where the length is a power of two; of a shared array the length
}

// generator writes one program.
type generator struct {
	*rand.Rand
	b       strings.Builder
	indent  int
	vars    []variable
	inputs  []array // read-only buffers
	own     []array // the item's own elements of buffers
	atomics []array
	private []array // the item's own arrays, including rows of buffers
	shared  []array
	places  []place // accessible records
	matrix  matrix  // read-only
	helpers []helper

	inputRecord   string // format of a read-only record
	sharedRecords bool   // mr is declared
	group         bool   // the kernel may use its group
	names         int
	budget        int // remaining statements
	loops         []loop
	helper        bool // in a helper function, where returns have a value

	captured bool // in a function outside of the kernel
}

type loop struct {
	label   string
	uniform bool
	block   bool // a labelled block, which has no continue
}

// Generate returns the program of a seed.
func Generate(seed uint64) *kernlang.Program {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x6b65726e)), budget: 10}
	g.budget += g.IntN(30)
	g.group = g.IntN(2) == 0
	p := &kernlang.Program{Scope: map[string]any{"K": float64(g.IntN(9)), "table": []float64{3, 1, 4, 1, 5, 9, 2, 6}, "Particle": record}}
	g.capturedHelpers(p.Scope)
	if g.IntN(8) == 0 {
		p.Options.Real = ir.F64
	}
	p.Options.NoContract = g.IntN(6) == 0
	g.launch(p)
	params := g.parameters(p)
	g.line("(g, %s) => {", strings.Join(params, ", "))
	g.indent++
	g.body(p)
	g.indent--
	g.b.WriteString("}")
	p.Text = g.b.String()
	return p
}

func (g *generator) launch(p *kernlang.Program) {
	switch g.IntN(5) {
	case 0:
		p.Size, p.GroupSize = [3]int{1 + g.IntN(20), 1 + g.IntN(8), 1}, [3]int{8, 4, 1}
	case 1:
		p.Size, p.GroupSize = [3]int{1 + g.IntN(7), 1 + g.IntN(4), 1 + g.IntN(4)}, [3]int{4, 2, 4}
	default:
		p.Size, p.GroupSize = [3]int{1 + g.IntN(150), 1, 1}, [3]int{[]int{16, 32, 48, 64}[g.IntN(4)], 1, 1}
	}
}

func (g *generator) parameters(p *kernlang.Program) (names []string) {
	items := p.Size[0] * p.Size[1] * p.Size[2]
	add := func(name string, a kernlang.Arg) {
		names = append(names, name)
		p.Args = append(p.Args, a)
	}
	for i := range 2 + g.IntN(3) {
		t := irgen.Storage[g.IntN(len(irgen.Storage))]
		name := fmt.Sprintf("a%d", i)
		add(name, g.buffer(t, Elements))
		g.inputs = append(g.inputs, array{name, classOf(t), Elements - 1})
	}
	for i := range 2 + g.IntN(3) {
		t := irgen.Storage[g.IntN(len(irgen.Storage))]
		if i == 0 {
			t = []ir.Type{ir.I32, ir.F32, ir.F64, ir.U32}[g.IntN(4)]
		}
		name := fmt.Sprintf("y%d", i)
		add(name, g.buffer(t, items))
		g.own = append(g.own, array{name: name + "[i]", class: classOf(t)})
	}
	g.matrices(p.Size, add)
	t := []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64}[g.IntN(4)]
	add("acc", g.buffer(t, 8))
	g.atomics = append(g.atomics, array{"acc", classOf(t), 7})
	add("ps", g.records(items))
	g.places = append(g.places, place{"ps[i]", asWhole})
	add("qs", g.recordInputs())
	add("n", kernlang.Arg{Arg: kernel.Arg{Kind: kernel.Number}, Value: float64(g.IntN(12) - 2)})
	g.vars = append(g.vars, variable{"n", ints, true})
	return names
}

func (g *generator) buffer(t ir.Type, n int) kernlang.Arg {
	var data []byte
	var special []uint64
	if t == t.Value() {
		special = irgen.Special(t)
	}
	for range n {
		bits := uint64(g.IntN(200))
		switch {
		case t == ir.Bool:
			bits &= 1
		case t.IsFloat() && t == t.Value():
			bits = ir.FloatBits(t, float64(g.IntN(400)-200)/8)
		case t.IsFloat():
			bits = g.Uint64()
		}
		if len(special) > 0 && g.IntN(3) == 0 {
			bits = special[g.IntN(len(special))]
		}
		data = irgen.AppendElem(data, t, bits)
	}
	return kernlang.Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Scalar: t}, Rank: 1}, Data: data, Dims: []int32{int32(n)}}
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("  ", g.indent))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *generator) body(p *kernlang.Program) {
	index := "g.x"
	switch {
	case p.Size[2] > 1:
		index = "(g.z * g.size.y + g.y) * g.size.x + g.x"
	case p.Size[1] > 1:
		index = "g.y * g.size.x + g.x"
	}
	g.line("const i = %s", index)
	g.vars = append(g.vars, variable{"i", ints, true})
	if g.group {
		items := p.GroupSize[0] * p.GroupSize[1] * p.GroupSize[2]
		g.line("const l = (g.local.z * g.groupSize.y + g.local.y) * g.groupSize.x + g.local.x")
		g.vars = append(g.vars, variable{"l", ints, true})
		g.sharedArrays(items)
	}
	g.privateArrays()
	for c := range classes {
		name := g.name("s")
		g.line("let %s = %s", name, g.load(c))
		g.vars = append(g.vars, variable{name, c, false})
	}
	for g.budget > 0 {
		g.stmt(true)
	}
	for _, v := range g.vars {
		if !v.fixed && v.class < bools {
			g.line("%s", g.store(v.name, v.class))
		}
	}
}

// load returns an element of an input of class c, or a leaf if no input has this class.
func (g *generator) load(c class) string {
	if m := &g.matrix; m.class == c && m.name != "" && g.IntN(2) == 0 {
		if g.IntN(4) == 0 {
			return fmt.Sprintf("%s.flat[%s & %d]", m.name, g.leaf(ints), Elements-1)
		}
		return m.element(func() string { return g.leaf(ints) })
	}
	for _, k := range g.Perm(len(g.inputs)) {
		if a := g.inputs[k]; a.class == c {
			return fmt.Sprintf("%s[%s & %d]", a.name, g.leaf(ints), a.mask)
		}
	}
	return g.leaf(c)
}

// store returns a statement that stores an expression of a class in the item's own element of an output.
func (g *generator) store(x string, c class) string {
	out := g.own[g.IntN(len(g.own))]
	x = g.convert(x, c, out.class)
	if out.class == bools {
		return fmt.Sprintf("%s = bool(%s)", out.name, x)
	}
	return fmt.Sprintf("%s = %s", out.name, x)
}

// convert returns an expression converted from one class to another.
func (g *generator) convert(x string, from, to class) string {
	if from == to || from == bools && (to == ints || to == floats) || from == ints && to == floats {
		return "(" + x + ")"
	}
	switch to {
	case ints:
		if from == floats && g.IntN(2) == 0 {
			return "((" + x + ") | 0)"
		}
		return g.pick("i32", "u32") + "(" + x + ")"
	case i64:
		return "i64(" + x + ")"
	case u64:
		return "u64(" + x + ")"
	case floats:
		return g.pick("f32", "f64") + "(" + x + ")"
	}
	return "bool(" + x + ")"
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) variable(c class) string {
	for _, k := range g.Perm(len(g.vars)) {
		if v := g.vars[k]; v.class == c {
			return v.name
		}
	}
	return ""
}
