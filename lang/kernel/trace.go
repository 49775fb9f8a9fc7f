package kernel

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// TraceService is the host service called at each mark of a kernel compiled with [Options.Trace]. The first argument is the
// mark's index in [Compiled.Marks]. The others are the values that the mark's kind lists.
const TraceService = "orepl.trace"

// MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds of marks.
const (
	MarkBegin  MarkKind = iota // start of a statement or of its condition
	MarkEnd                    // end of the innermost open mark
	MarkExit                   // the item leaves the kernel
	MarkValue                  // values named by Mark.Names
	MarkLoad                   // a load: the indices, then the loaded value
	MarkStore                  // a store: the indices, then the stored value
	MarkAtomic                 // an atomic: the indices, then the element's old value
	MarkPrint                  // the printed values
)

// Mark is a traced place of a kernel.
type Mark struct {
	Kind  MarkKind
	Site  int       // index in [ir.Kernel.Sites]
	Names []string  // MarkValue: source of each value, such as a variable; "" for a condition
	Array *ir.Array // MarkLoad, MarkStore, MarkAtomic
	Path  []ir.Step // path of the access
	Text  []string  // MarkPrint: as in [ir.Instr.Text]
}

// mark emits a call of the tracing service if the kernel is traced.
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

// step compiles a statement between two marks. Instructions without a site use the statement's.
func (c *compiler) step(at syntax.Span, body func()) {
	before := c.at(at)
	c.mark(Mark{Kind: MarkBegin}, at)
	body()
	c.mark(Mark{Kind: MarkEnd}, at)
	c.b.Site = before
}

// tested compiles the condition of a statement, or the value of a switch, as a separate step.
func (c *compiler) tested(x syntax.Expr, compile func(syntax.Expr) value) value {
	var v value
	c.step(x.Range(), func() {
		v = compile(x)
		c.markValue("", v, x.Range())
	})
	return v
}

// markValue traces a named value if [Options.Trace] is set: a scalar, or each part of a tuple or object. It traces no other values.
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

// markAccess traces an access to an element: its indices and a value.
func (c *compiler) markAccess(kind MarkKind, p *place, v *ir.Value, at syntax.Span) {
	if c.opts.Trace {
		c.mark(Mark{Kind: kind, Array: p.arr, Path: p.path}, at, append(slices.Clone(p.index), v)...)
	}
}
