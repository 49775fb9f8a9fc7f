package kernel

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// phiJoin joins the values of the two sides of a conditional. Each side yields the parts of its value, and the results of the If
// form the joined value.
type phiJoin struct {
	c       *compiler
	in      *ir.Instr
	t, e    *arm // the sides of a true and of a false condition
	at      syntax.Span
	keep    bool // the code is kept
	results []*ir.Value
	value   func() value // builds the value from the results once their types are final
}

// join returns the join of the values of the two sides of in. If one side does not reach its end, the value is the other's. join
// reports an error if the values cannot be joined; its value is then bad.
func (c *compiler) join(in *ir.Instr, t, e *arm, at syntax.Span, keep bool) *phiJoin {
	j := &phiJoin{c: c, in: in, t: t, e: e, at: at, keep: keep}
	switch {
	case t.dead && !e.dead && e.out.kind != kVoid:
		t.out = e.out
	case e.dead && !t.dead && t.out.kind != kVoid:
		e.out = t.out
	}
	j.value = j.either(t.out, e.out)
	if j.value == nil {
		c.cannotJoin(t.out, e.out, at)
		j.value = constantly(bad)
	}
	if j.value().kind == kBad {
		j.value, j.results, t.yields, e.yields = constantly(bad), nil, nil, nil
	}
	return j
}

func constantly(v value) func() value { return func() value { return v } }

// either adds the results that select between two values. It returns a function that builds the selected value from j.results,
// or nil if the values cannot be joined. After an error the function returns bad.
func (j *phiJoin) either(a, b value) func() value {
	switch {
	case a.kind == kBad || b.kind == kBad:
		return constantly(bad)
	case j.c.k.NumValues() > maxValues: // nested tuples can grow without bound
		if !j.c.tooBig {
			j.c.errorf(j.at, diag.TooBig, "choose what is needed of it", "what the condition chooses has too many parts")
		}
		j.c.tooBig = true
		return constantly(bad)
	case a.kind == kVoid && b.kind == kVoid:
		return constantly(value{kind: kVoid})
	case a.isScalar() && b.isScalar():
		return j.scalar(a, b)
	case a.kind == kTuple && b.kind == kTuple && len(a.list) == len(b.list):
		return j.parts(a, b.list)
	case a.kind == kObject && b.kind == kObject && len(a.names) == len(b.names):
		list := make([]value, len(a.names))
		for i, name := range a.names {
			k := slices.Index(b.names, name)
			if k < 0 {
				return nil
			}
			list[i] = b.list[k]
		}
		return j.parts(a, list)
	case a.kind == kPlace && b.kind == kPlace && sameBut(a.place, b.place):
		return j.element(a.place, b.place)
	case ownRecord(a) != nil && (ownRecord(b) == ownRecord(a) || b.kind == kObject):
		return j.record(ownRecord(a), a, b)
	case ownRecord(b) != nil && a.kind == kObject:
		return j.record(ownRecord(b), a, b)
	}
	return nil
}

// result adds a result of type t for the phi of a and b and returns its index.
func (j *phiJoin) result(t ir.Type, a, b value) int {
	side := func(v value) value {
		if t == ir.U32 {
			return register(j.c.joined(v, t, j.at))
		}
		return register(j.c.widen(v, t))
	}
	j.atEnd(j.t, func() { a = side(a) })
	j.atEnd(j.e, func() { b = side(b) })
	j.t.yields, j.e.yields = append(j.t.yields, a.reg), append(j.e.yields, b.reg)
	j.results = append(j.results, j.c.k.NewValue(t, j.in))
	return len(j.results) - 1
}

// atEnd emits code at the end of a side. It emits none if the code of both sides is kept and the end is unreachable.
func (j *phiJoin) atEnd(a *arm, code func()) {
	if a.dead && j.keep {
		return
	}
	outer := j.c.b.Block
	j.c.b.Block = a.block
	code()
	j.c.b.Block = outer
}

func (j *phiJoin) scalar(a, b value) func() value {
	c := j.c
	typ, ok := (joinOf(a) | joinOf(b)).typ(c.real)
	if !ok {
		x, y := c.scalarType(a), c.scalarType(b)
		if is64(x) && is64(y) {
			c.errorf(j.at, diag.JoinFailed, "convert one of them: `i64(x)`", "one side is %s, the other is %s", x, y)
			return constantly(bad)
		}
		if is64(y) {
			x, y = y, x
		}
		c.errorf(j.at, diag.JoinFailed, "convert one of them: `i64(x)`", "one side is a 64-bit integer (%s), the other is not (%s)", x, y)
		return constantly(bad)
	}
	n := j.result(typ, a, b)
	return func() value { return register(j.results[n]).withTaint(a.taint | b.taint) }
}

// parts joins tuples and objects part by part. It returns nil if two parts cannot be joined.
func (j *phiJoin) parts(a value, other []value) func() value {
	makers := make([]func() value, len(other))
	for i := range other {
		if makers[i] = j.either(a.list[i], other[i]); makers[i] == nil {
			return nil
		}
	}
	return func() value {
		out := value{kind: a.kind, names: a.names}
		for _, part := range makers {
			v := part()
			if v.kind == kBad {
				return bad
			}
			out.list = append(out.list, v)
		}
		return out
	}
}

// sameBut reports whether two places differ only in their indices, whose types must be compatible.
func sameBut(p, q *place) bool {
	if p.arr != q.arr || p.flat != q.flat || !slices.Equal(p.path, q.path) {
		return false
	}
	for i := range p.index {
		if _, ok := indexType(p.index[i].Type, q.index[i].Type); !ok {
			return false
		}
	}
	return true
}

// indexType returns a type that holds the values of two index types, or false if there is none.
func indexType(a, b ir.Type) (ir.Type, bool) {
	switch {
	case a == b:
		return a, true
	case a == ir.U64 || b == ir.U64:
		return ir.U64, a == ir.U32 || b == ir.U32
	}
	return ir.I64, true
}

// element joins two places of one array: phis select the indices, and the joined place remains assignable.
func (j *phiJoin) element(p, q *place) func() value {
	numbers := make([]int, len(p.index)) // indices of results; -1 for equal indices
	for i := range p.index {
		x, y := p.index[i], q.index[i]
		if x == y {
			numbers[i] = -1
			continue
		}
		t, _ := indexType(x.Type, y.Type)
		numbers[i] = j.result(t, register(x), register(y))
	}
	return func() value {
		out := *p
		out.index = slices.Clone(p.index)
		for i, n := range numbers {
			if n >= 0 {
				out.index[i] = j.results[n]
			}
		}
		return value{kind: kPlace, place: &out}
	}
}

// ownRecord returns the type of a record copied for this expression, to which no other reference exists, or nil.
func ownRecord(v value) *ir.Record {
	if v.kind != kPlace || !v.place.fresh {
		return nil
	}
	return v.place.elem.Record
}

// record joins two records that are copies or literals by copying one of them to a third.
func (j *phiJoin) record(r *ir.Record, a, b value) func() value {
	c := j.c
	out := c.newRecord(r)
	errs := len(c.errs)
	j.atEnd(j.t, func() { c.storeRecord(out, a, j.at, j.at) })
	j.atEnd(j.e, func() { c.storeRecord(out, b, j.at, j.at) })
	if len(c.errs) > errs {
		return constantly(bad)
	}
	return constantly(value{kind: kPlace, place: out})
}

// selected emits the code of both sides, and a Select, And or Or for each result, which replaces the result in j.results.
func (c *compiler) selected(test *ir.Value, j *phiJoin) {
	c.b.Block.Instrs = append(c.b.Block.Instrs, j.t.block.Instrs...)
	c.b.Block.Instrs = append(c.b.Block.Instrs, j.e.block.Instrs...)
	for i := range j.results {
		yes, no := j.t.yields[i], j.e.yields[i]
		switch {
		case yes.Type == ir.Bool && no == test:
			j.results[i] = c.b.Op(ir.And, ir.Bool, test, yes)
		case yes.Type == ir.Bool && yes == test:
			j.results[i] = c.b.Op(ir.Or, ir.Bool, test, no)
		default:
			j.results[i] = c.b.Op(ir.Select, yes.Type, test, yes, no)
		}
	}
}

func (c *compiler) cannotJoin(a, b value, at syntax.Span) {
	isRecord := func(v value) bool { return v.kind == kPlace && v.place.left == 0 }
	for _, v := range []value{a, b} {
		switch {
		case isRecord(v) && (isRecord(a) || a.kind == kObject) && (isRecord(b) || b.kind == kObject):
			c.errorf(at, diag.NotAValue, "choose the index, `ps[c ? i : j]`, or copy both: `c ? {...a} : {...b}`", "one of two records in different arrays cannot be chosen by a condition of the launch")
			return
		case v.kind == kPlace:
			c.errorf(at, diag.NotAValue, "choose the index or the value instead: `c ? a[i] : b[i]`", "one of two arrays cannot be chosen by a condition of the launch")
			return
		}
	}
	for _, v := range []value{a, b} {
		if !c.wantScalar(v, at) {
			return
		}
	}
}

// cheap reports whether a block can be executed speculatively at little cost: it has at most 8 instructions, all of them pure, and
// none is a division, a square root or a function of the library.
func cheap(b *ir.Block) bool {
	const most = 8
	if len(b.Instrs) > most {
		return false
	}
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Math, ir.Sqrt, ir.Div, ir.Rem:
			return false
		}
		if !in.Op.IsPure() {
			return false
		}
	}
	return true
}

// likeEither returns taken, the value that a constant condition selects. It converts a scalar to the join of the types of taken and
// other, if they have one. A constant stays one if other is constant too, or if the join is i32 or bool. The parts of tuples and
// objects are converted one by one.
func (c *compiler) likeEither(taken, other value, at syntax.Span) value {
	switch {
	case taken.kind == kTuple && other.kind == kTuple && len(taken.list) == len(other.list):
		return c.likeParts(taken, other.list, at)
	case taken.kind == kObject && other.kind == kObject && len(taken.names) == len(other.names):
		list := make([]value, len(taken.names))
		for i, name := range taken.names {
			k := slices.Index(other.names, name)
			if k < 0 {
				return taken
			}
			list[i] = other.list[k]
		}
		return c.likeParts(taken, list, at)
	case !taken.isScalar() || !other.isScalar() || taken.isConst() && other.isConst():
		return taken
	}
	typ, ok := (joinOf(taken) | joinOf(other)).typ(c.real)
	switch {
	case !ok || taken.isConst() && (typ == ir.I32 || typ == ir.Bool):
		return taken
	case typ == ir.U32:
		return register(c.joined(taken, typ, at)).withTaint(taken.taint)
	}
	return register(c.widen(taken, typ)).withTaint(taken.taint)
}

// likeParts returns a copy of taken, a tuple or object, with parts like those of taken or other. See likeEither.
func (c *compiler) likeParts(taken value, other []value, at syntax.Span) value {
	out := taken
	out.list = make([]value, len(other))
	for i, v := range taken.list {
		out.list[i] = c.likeEither(v, other[i], at)
	}
	return out
}
