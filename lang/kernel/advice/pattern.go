package advice

import (
	"fmt"
	"maps"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Pattern is the access pattern of items that are adjacent along x.
type Pattern uint8

// The access patterns.
const (
	Same       Pattern = iota // all items access one element
	Contiguous                // adjacent elements, ascending or descending
	Strided                   // elements at a constant distance
	ByRows                    // elements in different rows
	Irregular                 // varying distances that depend only on item identifiers
	Gathered                  // the index depends on a value loaded from memory
)

// Layout describes the elements accessed by adjacent items.
type Layout struct {
	Pattern Pattern
	Stride  int  // Contiguous: 1 or −1; Strided: distance in elements, or in records if Record is not 0; 0 if known only at launch
	Record  int  // Strided: size in bytes of the records of which each item accesses a field, or 0
	Edges   bool // the pattern is broken where the index is clamped or wraps, as by Math.min and %
	Gather  bool // Contiguous with Edges: each item selects its own index, so the CPU gathers
}

// String returns a description of the layout.
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

// records returns, as text, the distance between the records that adjacent items access.
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

// along is the difference of an integer between adjacent items along x.
type along struct {
	known bool  // the difference is constant
	by    int64 // the difference, unless many is set
	many  bool  // the difference is nonzero and known only at launch
	edges bool  // except where the value is clamped or wraps
	split bool  // each item selects its own value
}

var (
	constant = along{known: true}
	varying  = along{}
)

func (a along) uniform() bool { return a.known && a.by == 0 && !a.many && !a.edges }

// layouts computes the layouts of a kernel's accesses.
type layouts struct {
	affine  *analysis.Affine
	along   map[*ir.Value]along
	data    map[*ir.Value]bool
	sources map[*ir.Value]*source // by result or parameter of a structured instruction
}

// source records the operands that can become a result or parameter of a structured instruction.
type source struct {
	in   *ir.Instr
	from []*ir.Value
}

func newLayouts(k *ir.Kernel) *layouts {
	l := &layouts{affine: analysis.FindAffine(k, k.Uniformity(ir.Scope{})), along: map[*ir.Value]along{}, data: map[*ir.Value]bool{}, sources: map[*ir.Value]*source{}}
	l.collect(k.Body, nil)
	return l
}

// collect records the operands that loops start with, and those that jumps pass to structured instructions.
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

// of returns the layout of an access to a buffer or shared array.
func (l *layouts) of(in *ir.Instr) Layout {
	dims := in.Array.Rank // further indices belong to arrays in a record
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

// indices returns the layout of the elements selected by the indices of one array.
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

// alongOf returns the difference of a value between adjacent items, and remembers it.
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

// carried returns the difference of a loop parameter with one continue: that of the initial value if an iteration preserves it,
// else varying.
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
	l.along = before // discards results that assumed the initial difference
	return varying
}

// compute returns the difference of an operation's result from those of its operands.
func (l *layouts) compute(in *ir.Instr) along {
	if in.Op == ir.Item && in.Item == ir.Lane {
		return along{known: true, by: 1, edges: true}
	}
	common := in.Op == ir.Load && in.Array.Space != ir.Private // items that load the same element get the same value
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
			return varying // items wrap at different places
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
	case ir.Rem, ir.And: // a remainder or a low-bit mask wraps
		for i := range 2 {
			a := args[i]
			if args[1-i].uniform() && !a.many && (a.by == 1 || a.by == -1) && (in.Op == ir.And && keepsLow(in.Args[1-i]) || in.Op == ir.Rem && i == 0) {
				return along{known: a.known, by: a.by, edges: true, split: true}
			}
		}
	}
	return varying
}

// keepsLow reports whether a mask may be a power of two minus one. The complement of a value is assumed not to be.
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

// sum returns the difference of x + c·y.
func sum(x, y along, c int64) along {
	a := along{known: x.known && y.known, edges: x.edges || y.edges, split: x.split || y.split, many: x.many || y.many}
	if !a.many {
		a.by = x.by + c*y.by
	}
	return a
}

// scaled returns the difference of a value times a uniform factor.
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

// either returns the difference of a value that is x or y, as each item selects. It is the difference of the one that varies,
// with edges. It is unknown if x and y vary in different ways.
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

// fromData reports whether a value depends on memory, on other items or on the host, as reads defines it.
func (l *layouts) fromData(v *ir.Value) bool {
	if known, ok := l.data[v]; ok {
		return known
	}
	l.data[v] = false // terminates the recursion through loops
	var from []*ir.Value
	data := false
	switch s := l.sources[v]; {
	case s == nil && v.Def == nil: // a kernel parameter
	case s == nil:
		from, data = v.Def.Args, reads(v.Def)
	case v.Def == nil && len(s.from) == 2: // parameter of a loop with one continue; exit conditions do not matter
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

// reads reports whether a result of an instruction, or of one nested in it, depends on memory, on other items or on the host.
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
