package progen

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/tests/kernlang"
)

// matrices adds buffers with two and three dimensions: one for reading, and one in which each item owns an element or a row.
func (g *generator) matrices(size [3]int, add func(name string, a kernlang.Arg)) {
	t := irgen.Storage[g.IntN(len(irgen.Storage))]
	dims := [][]int32{{8, 8}, {16, 4}, {4, 4, 4}, {2, 8, 4}}[g.IntN(4)]
	a := g.buffer(t, Elements)
	a.Rank, a.Dims = len(dims), dims
	add("b0", a)
	g.matrix = matrix{array{name: "b0", class: classOf(t)}, dims}

	t = irgen.Storage[g.IntN(len(irgen.Storage))]
	x, y, z := int32(size[0]), int32(size[1]), int32(size[2])
	place, row := "", false
	switch {
	case z > 1:
		dims, place = []int32{z, y, x}, "[g.z][g.y][g.x]"
	case y > 1 && g.IntN(2) == 0:
		dims, place = []int32{y, x}, "[g.y][g.x]"
	case y > 1:
		dims, place, row = []int32{y, x, 4}, "[g.y][g.x]", true
	default:
		dims, place, row = []int32{x, 4}, "[i]", true
	}
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	a = g.buffer(t, n)
	a.Rank, a.Dims = len(dims), dims
	add("z0", a)
	if row {
		g.private = append(g.private, array{"z0" + place, classOf(t), 3})
		g.own = append(g.own, array{name: "z0.flat[4 * i + 1]", class: classOf(t)}, array{name: "z0" + place + "[2]", class: classOf(t)})
		return
	}
	g.own = append(g.own, array{name: "z0" + place, class: classOf(t)}, array{name: "z0.flat[i]", class: classOf(t)})
}

// matrix is a buffer with several dimensions, each a power of two.
type matrix struct {
	array
	dims []int32
}

// element returns the text of an element, at indices that index returns as expressions. Masks keep them in bounds.
func (m *matrix) element(index func() string) string {
	at := m.name
	for _, d := range m.dims {
		at += fmt.Sprintf("[%s & %d]", index(), d-1)
	}
	return at
}

// rowStmt writes a statement that binds a row of the matrix or reads its shape.
func (g *generator) rowStmt() {
	m := &g.matrix
	if g.IntN(4) == 0 {
		a, b := g.name("d"), g.name("d")
		g.line("const [%s, %s] = %s.shape", a, b, m.name)
		g.vars = append(g.vars, variable{a, ints, true}, variable{b, ints, true})
		return
	}
	row := g.name("w")
	choice := fmt.Sprintf("%s[%s & %d]", m.name, g.expr(ints, 1), m.dims[0]-1)
	if g.IntN(3) == 0 {
		choice = fmt.Sprintf("%s ? %s : %s[%s & %d]", g.cond(1), choice, m.name, g.leaf(ints), m.dims[0]-1)
	}
	if len(m.dims) == 3 {
		choice = fmt.Sprintf("(%s)[%s & %d]", choice, g.leaf(ints), m.dims[1]-1)
	}
	g.line("const %s = %s", row, choice)
	g.inputs = append(g.inputs, array{row, m.class, int(m.dims[len(m.dims)-1] - 1)})
}

// record is the type {x: f32, v: [i32, 3], id: u32, w: f64, ok: bool, b: u8}.
var record = ir.NewRecord("Particle", []ir.Field{
	{Name: "x", Elem: ir.Elem{Scalar: ir.F32}},
	{Name: "v", Elem: ir.Elem{Scalar: ir.I32}, Dims: []int{3}},
	{Name: "id", Elem: ir.Elem{Scalar: ir.U32}},
	{Name: "w", Elem: ir.Elem{Scalar: ir.F64}},
	{Name: "ok", Elem: ir.Elem{Scalar: ir.Bool}},
	{Name: "b", Elem: ir.Elem{Scalar: ir.U8}},
})

func (g *generator) records(n int) kernlang.Arg {
	size := ir.Elem{Record: record}.Size()
	data := make([]byte, n*size)
	for i := range n {
		at := data[i*size:]
		copy(at[record.Fields[0].Offset:], irgen.AppendElem(nil, ir.F32, ir.FloatBits(ir.F32, float64(g.IntN(64))/4)))
		for k := range 3 {
			copy(at[record.Fields[1].Offset+4*k:], irgen.AppendElem(nil, ir.I32, uint64(g.IntN(100))))
		}
		copy(at[record.Fields[2].Offset:], irgen.AppendElem(nil, ir.U32, g.Uint64()))
		copy(at[record.Fields[3].Offset:], irgen.AppendElem(nil, ir.F64, ir.FloatBits(ir.F64, g.NormFloat64())))
		at[record.Fields[4].Offset] = byte(g.IntN(2))
		at[record.Fields[5].Offset] = byte(g.IntN(256))
	}
	return kernlang.Arg{Arg: kernel.Arg{Kind: kernel.Buffer, Elem: ir.Elem{Record: record}, Rank: 1}, Data: data, Dims: []int32{int32(n)}}
}

// place is a record that can be read, and perhaps written.
type place struct {
	name  string
	write access
}

// access is the way in which a record can be written.
type access int

const (
	readOnly access = iota
	byField
	asWhole // by field or as a whole
)

// recordInputs adds a read-only buffer of records with one dimension or two.
func (g *generator) recordInputs() kernlang.Arg {
	a := g.records(Elements)
	g.inputRecord = "qs[%s & 63]"
	if g.IntN(2) == 0 {
		a.Rank, a.Dims = 2, []int32{8, 8}
		g.inputRecord = "qs[%s & 7][i & 7]"
	}
	return a
}

func (g *generator) input() string { return fmt.Sprintf(g.inputRecord, g.leaf(ints)) }

var recordFields = []variable{
	{"x", floats, false}, {"id", ints, false}, {"w", floats, false}, {"ok", bools, false}, {"b", ints, false},
	{"v[1]", ints, false}, {"v[2]", ints, false}, {"v[i & 1]", ints, false},
}

// field returns a random field of a record. If write is set, the field can be written.
func (g *generator) field(write bool) variable {
	f := recordFields[g.IntN(len(recordFields))]
	of := ""
	if !write && g.IntN(4) == 0 {
		of = g.input()
	} else {
		for _, k := range g.Perm(len(g.places)) {
			if !write || g.places[k].write >= byField {
				of = g.places[k].name
			}
		}
	}
	return variable{of + "." + f.name, f.class, false}
}

// ownRecord returns a record to which the item may write with the access how. If g.places has none, the record is ps[i].
func (g *generator) ownRecord(how access) string {
	for _, k := range g.Perm(len(g.places)) {
		if g.places[k].write >= how {
			return g.places[k].name
		}
	}
	return "ps[i]"
}

// anyRecord returns a record that can be read.
func (g *generator) anyRecord() string {
	if g.IntN(2) == 0 {
		return g.input()
	}
	return g.places[g.IntN(len(g.places))].name
}

func (g *generator) literalRecord() string {
	return fmt.Sprintf("{x: %s, v: [%s, 2, n], id: %s, w: %s, ok: bool(%s), b: %s}", g.expr(floats, 1), g.expr(ints, 1), g.expr(ints, 1),
		g.expr(floats, 1), g.cond(1), g.expr(ints, 1))
}

// recordStmt writes a statement that reads or writes records.
func (g *generator) recordStmt() {
	switch g.IntN(9) {
	case 0:
		name := g.name("r")
		g.line("const %s = {...%s}", name, g.anyRecord())
		g.line("%s.x += %s", name, g.expr(floats, 1))
		g.line("%s.v[%s & 1] = %s", name, g.leaf(ints), g.expr(ints, 1))
		g.places = append(g.places, place{name, byField})
	case 1:
		g.line("%s = %s", g.ownRecord(asWhole), g.literalRecord())
	case 2:
		a, b, c := g.name("d"), g.name("d"), g.name("d")
		g.line("const {x: %s, id: %s, v: [, %s]} = %s", a, b, c, g.anyRecord())
		g.vars = append(g.vars, variable{a, floats, true}, variable{b, ints, true}, variable{c, ints, true})
	case 3:
		f := g.field(true)
		g.line("%s = %s", f.name, g.expr(f.class, 2))
	case 4:
		g.line("%s = %s", g.ownRecord(asWhole), g.anyRecord())
	case 5:
		name := g.name("r")
		g.line("const %s = {...%s, w: %s, id: %s}", name, g.anyRecord(), g.expr(floats, 1), g.expr(ints, 1))
		g.places = append(g.places, place{name, byField})
	case 6: // a reference to one of two records of an array
		name := g.name("r")
		g.line("const %s = %s ? %s : %s", name, g.cond(1), g.input(), g.input())
		g.places = append(g.places, place{name, readOnly})
	case 7:
		name := g.name("r")
		g.line("const %s = %s ? {...%s} : {...%s}", name, g.cond(1), g.anyRecord(), g.anyRecord())
		g.places = append(g.places, place{name, readOnly})
	default:
		x, y := g.assignable(ints), g.assignable(ints)
		if x != "" && x != y {
			g.line(";[%s, %s] = [%s, %s]", x, y, y, g.expr(ints, 1))
		}
	}
}

// privateArrays declares one or two private arrays of scalars, with one or two dimensions, and perhaps one of records.
func (g *generator) privateArrays() {
	for range 1 + g.IntN(2) {
		t := irgen.Storage[g.IntN(len(irgen.Storage))]
		name := g.name("q")
		if g.IntN(4) == 0 {
			g.line("const %s = g.private(%v, 4, 8)", name, t)
			name = fmt.Sprintf("%s[%s & 3]", name, g.pick("i", "n", "2"))
		} else {
			g.line("const %s = g.private(%v, 8)", name, t)
		}
		g.private = append(g.private, array{name, classOf(t), 7})
	}
	if g.IntN(3) == 0 {
		name := g.name("q")
		g.line("const %s = g.private(Particle, 4)", name)
		g.places = append(g.places, place{fmt.Sprintf("%s[%s & 3]", name, g.pick("i", "n", "1")), asWhole})
	}
}

// sharedArrays declares the shared arrays of a group of this number of items.
func (g *generator) sharedArrays(items int) {
	t := []ir.Type{ir.I32, ir.F32, ir.U8, ir.I64, ir.F64}[g.IntN(5)]
	if g.IntN(3) == 0 {
		g.line("const m2 = g.shared(%v, %d, 2), m = m2.flat", t, items)
	} else {
		g.line("const m = g.shared(%v, %d)", t, items)
	}
	g.shared = append(g.shared, array{"m", classOf(t), items})
	if g.IntN(3) == 0 {
		g.line("const mr = g.shared(Particle, %d)", items)
		g.sharedRecords = true
	}
	if g.IntN(3) == 0 {
		g.line("const count = g.shared(%s, 8)", g.pick("i32", "u32"))
		g.atomics = append(g.atomics, array{"count", ints, 7})
	}
}
