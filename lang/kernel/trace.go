package kernel

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// TraceService is the host service that a kernel compiled with [Options.Trace] calls at each of its marks. The first
// argument is the mark's position in [Compiled.Marks].
const TraceService = "orepl.trace"

// MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds of marks.
const (
	MarkBegin  MarkKind = iota // a statement, or the condition of one, begins
	MarkEnd                    // ends the innermost open mark
	MarkExit                   // the item leaves the kernel
	MarkValue                  // values, under Mark.Names
	MarkLoad                   // the indices and then the value that was loaded
	MarkStore                  // the indices and then the value that was stored
	MarkAtomic                 // the indices and then the value that the element had
	MarkPrint                  // the item printed
)

// Mark is a place of a kernel that was compiled for tracing.
type Mark struct {
	Kind  MarkKind
	Site  int       // position in [ir.Kernel.Sites]
	Names []string  // MarkValue: the source of each value, such as a variable; "" for a condition
	Array *ir.Array // MarkLoad, MarkStore, MarkAtomic
	Path  []ir.Step // the path of the access
	Text  []string  // MarkPrint: as in [ir.Instr.Text]
}

// mark calls the tracing service, if the kernel is compiled for tracing.
func (c *compiler) mark(m Mark, at syntax.Span, values ...*ir.Value) {
	if !c.opts.Trace || c.dead {
		return
	}
	before := c.at(at)
	m.Site = c.b.Site
	args := append([]*ir.Value{c.b.Int(ir.I32, int64(len(c.marks)))}, values...)
	c.marks = append(c.marks, m)
	c.emit(&ir.Instr{Op: ir.Call, Fn: TraceService, Args: args})
	c.b.Site = before
}

// step compiles one statement, between two marks. Its site is that of instructions without one of their own.
func (c *compiler) step(at syntax.Span, body func()) {
	before := c.at(at)
	c.mark(Mark{Kind: MarkBegin}, at)
	body()
	c.mark(Mark{Kind: MarkEnd}, at)
	c.b.Site = before
}

// tested returns the condition of a statement, or the value of a switch, as a step of its own.
func (c *compiler) tested(x syntax.Expr, compile func(syntax.Expr) value) value {
	var v value
	c.step(x.Range(), func() {
		v = compile(x)
		c.markValue("", v, x.Range())
	})
	return v
}

// markValue reports a value under a name: a scalar, or each part of several.
func (c *compiler) markValue(name string, v value, at syntax.Span) {
	if !c.opts.Trace {
		return
	}
	var names []string
	var values []*ir.Value
	var add func(name string, v value)
	add = func(name string, v value) {
		switch {
		case v.isScalar():
			names, values = append(names, name), append(values, c.widen(v, c.scalarType(v)))
		case v.kind == kTuple:
			for i, part := range v.list {
				add(fmt.Sprintf("%s[%d]", name, i), part)
			}
		case v.kind == kObject:
			for i, part := range v.list {
				add(name+"."+v.names[i], part)
			}
		}
	}
	add(name, v)
	if len(values) > 0 {
		c.mark(Mark{Kind: MarkValue, Names: names}, at, values...)
	}
}

// markAccess reports an access to an element: its indices, and a value.
func (c *compiler) markAccess(kind MarkKind, p *place, v *ir.Value, at syntax.Span) {
	if c.opts.Trace {
		c.mark(Mark{Kind: kind, Array: p.arr, Path: p.path}, at, append(slices.Clone(p.index), v)...)
	}
}
