package advice

import (
	"fmt"
	"maps"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Pattern is how the elements lie that items beside each other along x access.
type Pattern uint8

// The patterns.
const (
	Same       Pattern = iota // one element for all
	Contiguous                // one after the other, or one before the other
	Strided                   // the same number of elements apart
	ByRows                    // in different rows
	Irregular                 // at distances that vary, which the items' own numbers alone decide
	Gathered                  // anywhere: the index depends on a value loaded from memory
)

// Layout is where the elements of neighbouring items lie.
type Layout struct {
	Pattern Pattern
	Stride  int  // Contiguous: 1 or −1; Strided: elements, 0 if only known at a launch
	Record  int  // Strided: what lies apart are records of this size in bytes, of which each item accesses a field
	Edges   bool // it is so but where the index is limited or wraps, as by Math.min and %
	Gather  bool // of Contiguous with Edges: each item's index is a choice of its own, so that the CPU accesses one by one
}

// String describes the layout.
func (l Layout) String() string {
	s := ""
	switch l.Pattern {
	case Same:
		return "the same element for all items along x"
	case Irregular:
		return "at distances that vary between neighbouring items"
	case Gathered:
		return "gathered, since the index is computed from data"
	case Contiguous:
		s = "contiguous"
		if l.Stride < 0 {
			s = "contiguous, backwards"
		}
	case Strided:
		s = fmt.Sprintf("strided by %d elements", l.Stride)
		if l.Stride == 0 {
			s = "strided by a number of elements that is known at the launch"
		}
		if l.Record > 0 {
			s = l.records()
		}
	case ByRows:
		s = "strided by rows"
	}
	if l.Edges {
		s += " but at edges"
	}
	return s
}

// records returns the distance between two records.
func (l Layout) records() string {
	switch l.Stride {
	case 0:
		return fmt.Sprintf("strided by a number of records of %d bytes that is known at the launch", l.Record)
	case 1:
		return fmt.Sprintf("strided by a record of %d bytes", l.Record)
	case -1:
		return fmt.Sprintf("strided by a record of %d bytes, backwards", l.Record)
	}
	return fmt.Sprintf("strided by %d records of %d bytes", l.Stride, l.Record)
}

// along says how an integer differs from one item to the next along x.
type along struct {
	known bool  // by the same number each time
	by    int64 // which, unless many is set
	many  bool  // a nonzero number that is known only at a launch
	edges bool  // but where it is limited or wraps
	split bool  // by a choice that each item makes for itself
}

var (
	constant = along{known: true}
	varying  = along{}
)

func (a along) uniform() bool { return a.known && a.by == 0 && !a.many && !a.edges }

// layouts finds the layouts of a kernel's accesses.
type layouts struct {
	affine  *analysis.Affine
	along   map[*ir.Value]along
	data    map[*ir.Value]bool
	sources map[*ir.Value]*source // of results and parameters of structured instructions
}

// source is where a value comes from that a structured instruction makes.
type source struct {
	in   *ir.Instr
	from []*ir.Value
}

func newLayouts(k *ir.Kernel) *layouts {
	l := &layouts{affine: analysis.FindAffine(k, k.Uniformity(ir.Scope{})), along: map[*ir.Value]along{}, data: map[*ir.Value]bool{}, sources: map[*ir.Value]*source{}}
	l.collect(k.Body, nil)
	return l
}

// collect records the operands that jumps pass to structured instructions.
func (l *layouts) collect(b *ir.Block, around *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Loop:
			l.bring(in, in.Then.Params, in.Args)
		case ir.Continue:
			l.bring(in.Target, in.Target.Then.Params, in.Args)
		case ir.Break:
			l.bring(in.Target, in.Target.Results, in.Args)
		case ir.Yield:
			l.bring(around, around.Results, in.Args)
		}
		l.collect(in.Then, in)
		l.collect(in.Else, in)
	}
}

func (l *layouts) bring(in *ir.Instr, to, from []*ir.Value) {
	for i, v := range to {
		s := l.sources[v]
		if s == nil {
			s = &source{in: in}
			l.sources[v] = s
		}
		s.from = append(s.from, from[i])
	}
}

// of returns the layout of an access to a buffer.
func (l *layouts) of(in *ir.Instr) Layout {
	dims := in.Array.Rank // the indices behind are of arrays in a record
	if in.Path[0].Kind == ir.StepFlat {
		dims = 1
	}
	out := l.indices(in.Args[:dims])
	size := in.Array.Elem.Size()
	switch {
	case size == in.Accessed().Size():
	case out.Pattern == Same:
		out = l.indices(in.Args[dims:in.NumIndices()])
	case out.Pattern == Contiguous || out.Pattern == Strided:
		out.Pattern, out.Record, out.Gather = Strided, size, false
	}
	return out
}

// indices returns the layout of the elements that the indices into one array select.
func (l *layouts) indices(list []*ir.Value) Layout {
	out, dims, split := Layout{}, len(list), false
	for i, index := range list {
		a := l.alongOf(index)
		out.Edges, split = out.Edges || a.edges, split || a.split
		switch {
		case !a.known && l.fromData(index):
			return Layout{Pattern: Gathered}
		case !a.known:
			return Layout{Pattern: Irregular}
		case i < dims-1 && (a.by != 0 || a.many):
			return Layout{Pattern: ByRows, Edges: out.Edges}
		case a.many:
			out.Pattern = Strided
		case a.by == 1 || a.by == -1:
			out.Pattern, out.Stride = Contiguous, int(a.by)
		case a.by != 0:
			out.Pattern, out.Stride = Strided, int(a.by)
		}
	}
	if out.Pattern == Same {
		out.Edges = false
	}
	out.Gather = split && out.Pattern == Contiguous
	return out
}

func (l *layouts) alongOf(v *ir.Value) along {
	if a, ok := l.along[v]; ok {
		return a
	}
	var a along
	if s, ok := l.affine.Strides(v); ok {
		a = along{known: true, by: int64(s[0])}
	} else if s := l.sources[v]; s != nil && v.Def != nil && v.Def.Op == ir.If && len(s.from) == 2 {
		a = either(l.alongOf(s.from[0]), l.alongOf(s.from[1]))
	} else if s != nil && v.Def == nil && s.in.Op == ir.Loop && len(s.from) == 2 {
		a = l.carried(v, s)
	} else if v.Def != nil {
		a = l.compute(v.Def)
	}
	l.along[v] = a
	return a
}

// carried is how a value differs that a loop with one way around carries: as at the loop's start, if a round keeps that.
func (l *layouts) carried(v *ir.Value, s *source) along {
	start := l.alongOf(s.from[0])
	if !start.known {
		return varying
	}
	before := maps.Clone(l.along)
	l.along[v] = start
	if l.alongOf(s.from[1]) == start {
		return start
	}
	l.along = before // what followed from it is not so
	return varying
}

// compute is how an operation's result differs, by how its operands do.
func (l *layouts) compute(in *ir.Instr) along {
	if in.Op == ir.Item && in.Item == ir.Lane {
		return along{known: true, by: 1, edges: true}
	}
	common := in.Op == ir.Load && in.Array.Space != ir.Private // what one element holds is the same for all
	if !in.Op.IsPure() && in.Op != ir.Div && in.Op != ir.Rem && !common || in.Op == ir.Item {
		return varying
	}
	args := make([]along, len(in.Args))
	uniform := true
	for i, v := range in.Args {
		args[i] = l.alongOf(v)
		uniform = uniform && args[i].uniform()
	}
	if uniform {
		return constant
	}
	switch in.Op {
	case ir.Add, ir.Sub:
		if args[0].split && args[1].split {
			return varying // each wraps at items of its own
		}
		if in.Op == ir.Add {
			return sum(args[0], args[1], 1)
		}
		return sum(args[0], args[1], -1)
	case ir.Neg:
		return sum(constant, args[0], -1)
	case ir.Convert, ir.Wrap, ir.Bitcast:
		if in.Args[0].Type.IsInt() && in.Results[0].Type.IsInt() {
			return args[0]
		}
	case ir.Mul:
		for i := range 2 {
			if args[1-i].uniform() {
				return scaled(args[i], in.Args[1-i])
			}
		}
	case ir.Shl:
		if args[1].uniform() {
			return along{known: args[0].known, many: true, edges: args[0].edges, split: args[0].split}
		}
	case ir.Min, ir.Max:
		return either(args[0], args[1])
	case ir.Select:
		return either(args[1], args[2])
	case ir.Rem, ir.And: // a remainder, or a power of two less one, wraps around
		for i := range 2 {
			a := args[i]
			if args[1-i].uniform() && !a.many && (a.by == 1 || a.by == -1) && (in.Op == ir.And && keepsLow(in.Args[1-i]) || in.Op == ir.Rem && i == 0) {
				return along{known: a.known, by: a.by, edges: true, split: true}
			}
		}
	}
	return varying
}

// keepsLow reports whether a mask may be a power of two less one. The complement of a number is taken to be none.
func keepsLow(mask *ir.Value) bool {
	d := mask.Def
	switch {
	case d == nil:
		return true
	case d.Op == ir.Const:
		return d.Bits&(d.Bits+1) == 0
	case d.Op == ir.Wrap || d.Op == ir.Convert:
		return keepsLow(d.Args[0])
	}
	return d.Op != ir.Not && d.Op != ir.Xor && d.Op != ir.Neg
}

// sum is x + c·y.
func sum(x, y along, c int64) along {
	a := along{known: x.known && y.known, edges: x.edges || y.edges, split: x.split || y.split, many: x.many || y.many}
	if !a.many {
		a.by = x.by + c*y.by
	}
	return a
}

// scaled returns a times a value that is the same for all.
func scaled(a along, by *ir.Value) along {
	if by.Def != nil && by.Def.Op == ir.Const && by.Type.IsInt() && !a.many {
		n := int64(by.Def.Bits)
		if by.Type == ir.I32 {
			n = int64(int32(n))
		}
		a.by *= n
		return a
	}
	return along{known: a.known, many: true, edges: a.edges, split: a.split}
}

// either is one of two: the items differ as the one does that differs at all, but where the other is taken.
func either(x, y along) along {
	if y.known && y.by == 0 && !y.many {
		x, y = y, x
	}
	switch {
	case !x.known || !y.known || x.many != y.many && x.by|y.by != 0:
		return varying
	case x.by == y.by || x.by == 0 && !x.many:
		return along{known: true, by: y.by, many: y.many, edges: true, split: x.by != y.by || x.split || y.split}
	}
	return varying
}

// fromData reports whether a value depends on a value loaded from memory.
func (l *layouts) fromData(v *ir.Value) bool {
	if known, ok := l.data[v]; ok {
		return known
	}
	l.data[v] = false // while a loop is followed around
	var from []*ir.Value
	data := false
	switch s := l.sources[v]; {
	case s == nil && v.Def == nil: // a parameter of the kernel
	case s == nil:
		from, data = v.Def.Args, reads(v.Def)
	case v.Def == nil && len(s.from) == 2: // of a loop with one way around, whatever ends it
		from = s.from
	case s.in.Op == ir.If:
		from = append(s.from[:len(s.from):len(s.from)], s.in.Args...)
	default:
		from, data = s.from, reads(s.in)
	}
	for _, arg := range from {
		data = data || l.fromData(arg)
	}
	l.data[v] = data
	return data
}

// reads reports whether the result of an instruction, or of one inside it, depends on memory or on the host.
func reads(in *ir.Instr) bool {
	found := false
	visit := func(in *ir.Instr) {
		found = found || in.Op == ir.Load || in.Op == ir.Atomic || in.Op == ir.Call || in.Op.IsGroup() || in.Op == ir.Subgroup
	}
	visit(in)
	in.Then.Walk(visit)
	in.Else.Walk(visit)
	return found
}
