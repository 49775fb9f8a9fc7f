package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// place is a part of an array: the whole array, a row, a record, or a scalar element.
type place struct {
	arr   *ir.Array
	path  []ir.Step   // steps from the array to the part
	index []*ir.Value // indices of the path
	elem  ir.Elem     // type of the elements that the place has or is
	left  int         // dimensions not yet indexed
	dims  []int       // extents of these dimensions; nil for a buffer
	field bool        // inside a record
	flat  bool        // buffer.flat: the next index counts all elements
	fresh bool        // an unnamed copy of a record
	known []float64   // elements of a table of numbers
	comma string      // the intended expression, if the last index was written as [i, j]
}

func wholeArray(a *ir.Array) *place {
	return &place{arr: a, elem: a.Elem, left: a.Rank, dims: a.Dims}
}

// then returns the place extended by a step, and by the step's index unless that is nil.
func (p *place) then(s ir.Step, index *ir.Value) *place {
	q := *p
	q.path = append(slices.Clip(p.path), s)
	if index != nil {
		q.index = append(slices.Clip(p.index), index)
	}
	q.known, q.fresh, q.comma = nil, false, ""
	return &q
}

// scalar reports whether the place is a scalar.
func (p *place) scalar() bool { return p.left == 0 && p.elem.Record == nil }

// load loads a scalar place; other values are unchanged.
func (c *compiler) load(v value, at syntax.Span) value {
	if v.kind != kPlace || !v.place.scalar() {
		return v
	}
	p := v.place
	before := c.at(at)
	r := c.b.Emit(&ir.Instr{Op: ir.Load, Args: slices.Clone(p.index), Array: p.arr, Path: p.path}, p.elem.Scalar.Value())
	c.b.Site = before
	c.markAccess(MarkLoad, p, r, at)
	return register(r)
}

// store writes a value to a place: a scalar, all fields of a record, or an array that is a field. It reports a store to a
// constant table or to another whole array as an error.
func (c *compiler) store(p *place, v value, target, at syntax.Span) {
	if p.arr.Space == ir.Table {
		c.errorf(target, diag.ConstantTable, "copy it into a g.private array, or pass a buffer", "`%s` is in a constant table: an array that is written out in the kernel, or captured from the script", c.text(target))
		return
	}
	switch {
	case p.left > 0 && p.field:
		c.storeAny(p, v, target, at)
	case p.left > 0:
		rewrite := fmt.Sprintf("write `%s%s = …`", c.text(target), indices(p.left))
		if p.comma != "" {
			rewrite = fmt.Sprintf("write `%s = …`", p.comma)
		}
		c.errorf(target, diag.TooFewIndices, rewrite+orOfRank(p), "a whole array cannot be assigned%s", rankOf(p))
	case p.elem.Record != nil:
		c.storeRecord(p, v, target, at)
	case c.wantScalar(v, at):
		c.storeScalar(p, c.stored(v, p.elem.Scalar, at), target)
	}
}

func (c *compiler) storeScalar(p *place, r *ir.Value, target syntax.Span) {
	before := c.at(target)
	c.emit(&ir.Instr{Op: ir.Store, Args: append(slices.Clone(p.index), r), Array: p.arr, Path: p.path})
	c.b.Site = before
	c.markAccess(MarkStore, p, r, target)
}

// stored converts a scalar for a store to an element of storage type t. It reports an implicit conversion between a 64-bit
// integer and another number as an error, and returns 0 then. It accepts i64 for u64 and the reverse, integral constants, and any
// scalar for bool.
func (c *compiler) stored(v value, t ir.Type, at syntax.Span) *ir.Value {
	to := t.Value()
	from := c.scalarType(v)
	switch {
	case t == ir.Bool:
		return c.truth(v)
	case is64(to) && v.kind == kNum && isIntegral(v.num):
		return c.constant(v, to)
	case is64(to) && is64(from), !is64(to) && !is64(from):
		if to.IsInt() {
			c.becomesInt(v, at, "stored in elements of "+t.String())
		}
		if v.kind == kNum && to.IsInt() {
			c.exactConstant(v, t, at)
			return c.b.Int(to, int64(toInt32(v.num)))
		}
		if t == ir.F16 || t == ir.BF16 {
			c.exactConstant(v, t, at)
			return c.narrowed(v, t, c.factor(v, to, at))
		}
		return c.narrowed(v, t, c.rounded(v, to, at))
	}
	c.mixed64(at, from, t)
	return c.zero(to)
}

func (c *compiler) index(x *syntax.Index) value {
	base := c.expr(x.X)
	i := c.expr(x.I)
	return c.indexedBy(x, base, i)
}

// indexedBy compiles base[i] for the operands of x. If x is written a[i, j], it records a[i][j] for messages.
func (c *compiler) indexedBy(x *syntax.Index, base, i value) value {
	v := c.indexed(base, i, x.I.Range(), x.X.Range())
	if seq, ok := x.I.(*syntax.Seq); ok && v.kind == kPlace {
		v.place.comma = c.text(x.X.Range())
		for _, e := range seq.List {
			v.place.comma += "[" + c.text(e.Range()) + "]"
		}
	}
	return v
}

// indexed compiles base[i]; at is the span of base. A string i names a field or property.
func (c *compiler) indexed(base, i value, iAt, at syntax.Span) value {
	switch base.kind {
	case kBad:
		return bad
	case kTuple:
		return c.tupleElement(base, i, iAt, at)
	case kPlace:
		if i.kind == kStr {
			return c.field(base, i.str, iAt, at)
		}
	case kObject, kCapture:
		if i.kind == kStr {
			return c.field(base, i.str, iAt, at)
		}
		c.errorf(at, diag.NotIndexable, "write .name", "`%s` has fields, no elements", c.text(at))
		return bad
	case kReg:
		c.notIndexed(base.reg, at)
		return bad
	default:
		c.errorf(at, diag.NotIndexable, "", "`%s` cannot be indexed", c.text(at))
		return bad
	}
	p := base.place
	if p.left == 0 {
		if p.elem.Record != nil {
			c.errorf(at, diag.TooManyIndices, "name a field: `."+p.elem.Record.Fields[0].Name+"`", "a record is not indexed")
			return bad
		}
		c.errorf(at, diag.TooManyIndices, "leave the last index out", "`%s` is a number, which has no elements", c.text(at))
		return bad
	}
	if !c.wantScalar(i, iAt) {
		return bad
	}
	if i.kind == kNum && p.known != nil && i.num >= 0 && int(i.num) < len(p.known) && isIntegral(i.num) {
		return number(p.known[int(i.num)])
	}
	if p.arr.Space == ir.Table && p.arr.Len() == 0 {
		var r *ir.Value
		if i.kind == kNum && isIntegral(i.num) {
			r = c.b.Int(ir.I32, int64(toInt32(i.num)))
		} else {
			r = c.indexValue(p, i, iAt)
		}
		return c.outsideEmpty(p, r, syntax.Span{Pos: at.Pos, End: iAt.End})
	}
	r := c.indexValue(p, i, iAt)
	if p.flat {
		q := p.then(ir.Step{Kind: ir.StepFlat}, r)
		q.left, q.dims, q.flat = 0, nil, false
		return value{kind: kPlace, place: q}
	}
	q := p.then(ir.Step{Kind: ir.StepIndex}, r)
	q.left--
	if len(q.dims) > 0 {
		q.dims = q.dims[1:]
	}
	return value{kind: kPlace, place: q}
}

// outsideEmpty emits an assertion that fails, for an access to an empty table, and returns 0 as the element.
func (c *compiler) outsideEmpty(p *place, index *ir.Value, at syntax.Span) value {
	before := c.at(at)
	c.emit(&ir.Instr{Op: ir.Assert, Args: []*ir.Value{c.b.Const(ir.Bool, 0), index}, Text: []string{"index ", " is outside of " + p.arr.Name + ", which is empty"}})
	c.b.Site = before
	return register(c.zero(p.elem.Scalar.Value()))
}

func (c *compiler) tupleElement(t, i value, at, whole syntax.Span) value {
	if i.kind != kNum {
		if p := c.tupleTable(t); p != nil && i.isScalar() {
			return c.indexed(value{kind: kPlace, place: p}, i, at, whole)
		}
		c.errorf(at, diag.NotIndexable, "use g.private(type, n) for an array that is indexed by a variable", "an array of what the kernel computes takes constant indices only")
		return bad
	}
	if !isIntegral(i.num) || i.num < 0 || i.num >= float64(len(t.list)) {
		c.errorf(at, diag.IndexOutOfBounds, "use g.private(type, n) for an array that is filled in the kernel", "index %s is outside of an array of %d", scalar.Text(i.num), len(t.list))
		return bad
	}
	return t.list[int(i.num)]
}

// tupleTable returns a table of the elements of an array literal. It returns nil if an element is not a constant Number, or if
// there are no elements.
func (c *compiler) tupleTable(t value) *place {
	list := make([]float64, len(t.list))
	for i, e := range t.list {
		if e.kind != kNum {
			return nil
		}
		list[i] = e.num
	}
	if len(list) == 0 {
		return nil
	}
	key := captureKey{path: fmt.Sprint(list)}
	p := c.tables[key]
	if p == nil {
		a := c.numberTable(list, "table")
		p = wholeArray(a)
		p.known = list
		c.addArray(a)
		c.tables[key] = p
	}
	return p
}

// indexValue returns an index as a register of integer type. It reports constants out of bounds, and indices that are no
// integers.
func (c *compiler) indexValue(p *place, i value, at syntax.Span) *ir.Value {
	switch i.kind {
	case kNum, kBig:
		n, text, exact := i.num, scalar.Text(i.num), int64(i.num)
		if i.kind == kBig {
			n, _ = i.big.Float64()
			text, exact = i.big.String(), i.big.Int64()
		}
		extent := -1.0
		if len(p.dims) > 0 {
			extent = float64(p.dims[0])
			if p.flat {
				extent = float64(p.arr.Len())
			}
		}
		switch {
		case !isIntegral(n):
			c.errorf(at, diag.IndexNotInteger, "write an integer", "%s is no index", text)
		case n < 0:
			c.errorf(at, diag.IndexOutOfBounds, "count from 0", "index %s is negative", text)
		case extent >= 0 && n >= extent:
			c.errorf(at, diag.IndexOutOfBounds, "", "index %s is outside of an extent of %s", text, scalar.Text(extent))
		case n > 1<<31-1 && (!p.flat || !fits(n, ir.I64)):
			c.errorf(at, diag.IndexOutOfBounds, "", "index %s is larger than any dimension", text)
		case n > 1<<31-1:
			return c.b.Int(ir.I64, exact)
		}
		return c.b.Int(ir.I32, int64(toInt32(n)))
	case kReg:
		if i.reg.Type.IsInt() {
			c.mustBeInt(i, at, "used as an index")
			return i.reg
		}
	}
	c.errorf(at, diag.IndexNotInteger, fmt.Sprintf("write `%s | 0`, or i32(…)", c.text(at)), "the index `%s` is %s, not an integer", c.text(at), c.scalarType(i))
	return c.zero(ir.I32)
}

func (c *compiler) member(x *syntax.Member) value {
	return c.field(c.expr(x.X), x.Name, syntax.Span{Pos: x.End - len(x.Name), End: x.End}, x.Span)
}

// field compiles v.name. nameAt is the span of the name, and at that of v or of the whole expression. field reports a name that v
// does not have.
func (c *compiler) field(v value, name string, nameAt, at syntax.Span) value {
	switch v.kind {
	case kBad:
		return bad
	case kBuiltin:
		return c.builtinMember(v, name, nameAt)
	case kCapture:
		return c.capturedField(v, name, nameAt)
	case kTuple:
		if name == "length" {
			return number(float64(len(v.list)))
		}
		c.errorf(nameAt, diag.UnknownProperty, "use g.private(type, n) for an array that changes", "an array written in the kernel has .length, no .%s", name)
		return bad
	case kObject:
		if i := slices.Index(v.names, name); i >= 0 {
			return v.list[i]
		}
		c.errorf(nameAt, diag.UnknownField, "the fields are "+strings.Join(v.names, ", "), "there is no field %s", name)
		return bad
	case kPlace:
		return c.placeField(v.place, name, nameAt)
	case kType:
		if name == "size" || name == "bytes" {
			return number(float64(v.elem.Size()))
		}
	}
	if p := c.paramOf(v.reg); v.kind == kReg && p != nil && (name == "length" || name == "shape" || name == "flat") {
		c.givenScalar(p, at)
		return bad
	}
	if of, ok := strings.CutSuffix(c.text(at), "."+name); ok && v.isScalar() {
		c.errorf(nameAt, diag.UnknownProperty, "", "`%s` is a number, which has no property in a kernel", of)
		return bad
	}
	if v.kind == kFunc || v.isScalar() || v.kind == kType {
		c.errorf(nameAt, diag.UnknownProperty, "", "`%s` has no property in a kernel", c.text(at))
		return bad
	}
	c.wantScalar(v, at)
	return bad
}

func (c *compiler) placeField(p *place, name string, at syntax.Span) value {
	if p.left > 0 {
		switch name {
		case "length":
			return c.extent(p, 0)
		case "shape":
			t := value{kind: kTuple}
			for i := range p.left {
				t.list = append(t.list, c.extent(p, i))
			}
			return t
		case "flat":
			if p.left == p.arr.Rank && !p.field {
				q := *p
				q.flat = true
				return value{kind: kPlace, place: &q}
			}
			c.errorf(at, diag.UnknownProperty, "take .flat of the whole array", "a row has no .flat")
			return bad
		}
		rewrite := "an array has .length, .shape and .flat; what is done to its elements is written as a loop"
		if near := nearest(name, []string{"length", "shape", "flat"}); near != "" {
			rewrite = fmt.Sprintf("did you mean .%s?", near)
		} else if r := p.elem.Record; r != nil && r.Field(name) >= 0 {
			rewrite = fmt.Sprintf("each element has it: `[i].%s`", name)
		}
		c.errorf(at, diag.UnknownProperty, rewrite, "an array has no .%s in a kernel", name)
		return bad
	}
	if p.elem.Record == nil {
		c.errorf(at, diag.UnknownProperty, "", "a number has no .%s", name)
		return bad
	}
	f := p.elem.Record.Field(name)
	if f < 0 {
		names := make([]string, len(p.elem.Record.Fields))
		for i := range names {
			names[i] = p.elem.Record.Fields[i].Name
		}
		c.errorf(at, diag.UnknownField, "its fields are "+strings.Join(names, ", "), "%s has no field %s", p.elem.Record.Name, name)
		return bad
	}
	return value{kind: kPlace, place: p.fieldPlace(f)}
}

func (p *place) fieldPlace(i int) *place {
	f := &p.elem.Record.Fields[i]
	q := p.then(ir.Step{Kind: ir.StepField, Field: i}, nil)
	q.elem, q.left, q.dims, q.field = f.Elem, len(f.Dims), f.Dims, true
	return q
}

// extent returns the extent of dimension i of a place, counted from the first that is not indexed. For a flat place it returns
// the number of all elements.
func (c *compiler) extent(p *place, i int) value {
	if p.flat {
		return c.flatLength(p)
	}
	if p.dims != nil {
		return number(float64(p.dims[i]))
	}
	axis := p.arr.Rank - p.left + i
	return register(c.b.Emit(&ir.Instr{Op: ir.Extent, Array: p.arr, Axis: axis}, ir.I32))
}

// flatLength returns the number of elements of an array: a constant if known; otherwise i64, or i32 for one dimension.
func (c *compiler) flatLength(p *place) value {
	if p.dims != nil {
		return number(float64(p.arr.Len()))
	}
	if p.arr.Rank == 1 {
		return register(c.b.Emit(&ir.Instr{Op: ir.Extent, Array: p.arr}, ir.I32))
	}
	var n *ir.Value
	for axis := range p.arr.Rank {
		e := c.b.Op(ir.Convert, ir.I64, c.b.Emit(&ir.Instr{Op: ir.Extent, Array: p.arr, Axis: axis}, ir.I32))
		if n == nil {
			n = e
		} else {
			n = c.b.Op(ir.Mul, ir.I64, n, e)
		}
	}
	return register(n)
}
