package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/later"
)

const (
	maxPrivate = 64 << 10 // bytes per private array
	maxShared  = 1 << 20  // bytes per shared array; devices may have less
)

// newArray compiles g.shared(type, dims…) and g.private(type, dims…).
func (c *compiler) newArray(space ir.Space, x *syntax.Call) value {
	if len(x.Args) < 2 || len(x.Args) > 4 {
		c.errorf(x.Span, diag.CallArguments, fmt.Sprintf("write %s(type, length), or give two or three lengths", c.text(x.Fn.Range())),
			"`%s` takes 2 to 4 arguments; given: %d", c.text(x.Fn.Range()), len(x.Args))
		return bad
	}
	args := c.args(x)
	if args[0].kind != kType {
		if args[0].kind != kBad {
			c.errorf(x.Args[0].Range(), diag.ArrayType, "write f32, i32, … or a struct", "`%s` is no element type", c.text(x.Args[0].Range()))
		}
		return bad
	}
	a := &ir.Array{Name: space.String(), Space: space, Elem: args[0].elem, Rank: len(args) - 1}
	limit, size := maxPrivate, a.Elem.Size()
	if space == ir.Shared {
		limit = maxShared
	}
	for i, d := range args[1:] {
		at := x.Args[i+1].Range()
		if d.kind == kBad {
			return bad
		}
		c.mustBeInt(d, at, "used as a dimension")
		if d.kind != kNum || !isIntegral(d.num) || d.num < 1 {
			c.errorf(at, diag.ArrayDims, "write a number, or capture a constant of the script", "a dimension of %s must be a positive integer known when the kernel is compiled", c.text(x.Fn.Range()))
			return bad
		}
		if d.num > float64(limit) || size*int(d.num) > limit {
			c.errorf(x.Span, diag.TooBig, "use a buffer", "the array is larger than %d bytes", limit)
			return bad
		}
		size *= int(d.num)
		a.Dims = append(a.Dims, int(d.num))
	}
	c.addArray(a)
	c.unnamed = a
	if space == ir.Private {
		c.emit(&ir.Instr{Op: ir.Zero, Array: a})
	}
	return value{kind: kPlace, place: wholeArray(a)}
}

// single compiles the only argument of a call to a register of its own type; bool becomes i32 unless keepBool is set. taint is
// the argument's. ok is false after an error.
func (c *compiler) single(x *syntax.Call, keepBool bool) (v *ir.Value, taint uint64, ok bool) {
	if !c.arity(x, 1, 1) {
		return nil, 0, false
	}
	args, ok := c.scalars(x)
	if !ok {
		return nil, 0, false
	}
	t := c.scalarType(args[0])
	if t == ir.Bool && !keepBool {
		t = ir.I32
	}
	return c.widen(args[0], t), args[0].taint, true
}

func (c *compiler) groupCall(family builtinID, op string, x *syntax.Call) value {
	v, taint, ok := c.single(x, false)
	if !ok {
		return bad
	}
	in := &ir.Instr{Op: ir.Reduce, Args: []*ir.Value{v}, Combine: combines.Get()[op], Exclusive: family == exclusiveScanFamily}
	if family != reduceFamily {
		in.Op = ir.Scan
	}
	before := c.at(x.Span)
	r := c.b.Emit(in, v.Type)
	c.b.Site = before
	return ofInt(register(r), taint)
}

func (c *compiler) uniform(x *syntax.Call) value {
	v, taint, ok := c.single(x, true)
	if !ok {
		return bad
	}
	before := c.at(x.Span)
	r := c.b.Op(ir.Uniform, v.Type, v)
	c.b.Site = before
	return ofInt(register(r), taint)
}

func (c *compiler) subgroupCall(name string, x *syntax.Call) value {
	kind := subgroupKinds.Get()[name]
	operands := 1
	switch kind {
	case ir.SubgroupBroadcast, ir.SubgroupShuffle, ir.SubgroupShuffleXor, ir.SubgroupShuffleUp, ir.SubgroupShuffleDown:
		operands = 2
	}
	if !c.arity(x, operands, operands) {
		return bad
	}
	args, ok := c.scalars(x)
	if !ok {
		return bad
	}
	var v *ir.Value
	result := ir.Bool
	switch kind {
	case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
		v = c.truth(args[0])
		if kind == ir.SubgroupBallot {
			result = ir.U64
		}
	default:
		t := c.scalarType(args[0])
		if t == ir.Bool && operands == 1 {
			t = ir.I32
		}
		v, result = c.widen(args[0], t), t
	}
	in := &ir.Instr{Op: ir.Subgroup, Subgroup: kind, Args: []*ir.Value{v}}
	if operands == 2 {
		c.mustBeInt(args[1], x.Args[1].Range(), "used as a lane")
		if !args[1].isInt() {
			c.errorf(x.Args[1].Range(), diag.IndexNotInteger, "write `… | 0`", "a lane must be an integer")
			return bad
		}
		in.Args = append(in.Args, c.toInt(args[1], ir.I32, x.Args[1].Range()))
	}
	before := c.at(x.Span)
	r := c.b.Emit(in, result)
	c.b.Site = before
	if v.Type == ir.Bool {
		return register(r)
	}
	return ofInt(register(r), args[0].taint)
}

// wantAtom reports an atomic operation on a place that is not a scalar.
func (c *compiler) wantAtom(p *place, name string, x *syntax.Call) {
	if p.left == 0 || p.arr == nil || p.arr.Rank < 2 || p.elem.Record != nil {
		c.wantWholePlace(p, x.Args[0].Range())
		return
	}
	array := c.text(x.Args[0].Range())
	rest := ", v"
	if len(x.Args) == 2 {
		rest = ""
	}
	rewrite := fmt.Sprintf("write `Atomics.%s(%s%s, x%s)`", name, array, indices(p.left), rest)
	if array == p.arr.Name {
		rewrite = fmt.Sprintf("write `Atomics.%s(%s.flat, i%s)` or%s", name, array, rest, strings.TrimPrefix(rewrite, "write"))
	}
	c.errorf(x.Args[0].Range(), diag.TooFewIndices, rewrite,
		"`%s` with one index is a row, not a number%s", array, rankOf(p))
}

// atomic compiles Atomics.name(array, index, operands…).
func (c *compiler) atomic(name string, x *syntax.Call) value {
	kind := atomicKinds.Get()[name]
	n := kind.Operands()
	if len(x.Args) != 2+n {
		c.errorf(x.Span, diag.CallArguments, fmt.Sprintf("write Atomics.%s(%s)", name, strings.Join([]string{"array", "index", "value", "replacement"}[:2+n], ", ")),
			"`%s` takes %d arguments; given: %d", c.text(x.Fn.Range()), 2+n, len(x.Args))
		return bad
	}
	args := c.args(x)
	target := c.indexed(args[0], args[1], x.Args[1].Range(), x.Args[0].Range())
	if target.kind != kPlace {
		return bad
	}
	p := target.place
	if !p.scalar() {
		c.wantAtom(p, name, x)
		return bad
	}
	t := p.elem.Scalar
	bitwise := kind == ir.AtomicAnd || kind == ir.AtomicOr || kind == ir.AtomicXor
	switch {
	case p.arr.Space != ir.Global && p.arr.Space != ir.Shared:
		c.errorf(x.Args[0].Range(), diag.BadAtomic, "read and write it as usual", "atomics work on buffers and g.shared arrays; this is the item's own")
		return bad
	case t != t.Value() || t == ir.Bool:
		c.errorf(x.Args[0].Range(), diag.BadAtomic, "use i32, u32, i64, u64, f32 or f64 elements", "there are no atomics on %s", t)
		return bad
	case bitwise && t.IsFloat():
		c.errorf(x.Span, diag.BadAtomic, "use an integer buffer", "Atomics.%s works on integers, not on %s", name, t)
		return bad
	}
	in := &ir.Instr{Op: ir.Atomic, Atomic: kind, Args: append([]*ir.Value{}, p.index...), Array: p.arr, Path: p.path}
	for i, v := range args[2:] {
		at := x.Args[2+i].Range()
		if !c.wantScalar(v, at) {
			return bad
		}
		in.Args = append(in.Args, c.stored(v, t, at))
	}
	before := c.at(x.Span)
	r := c.b.Emit(in, t)
	c.b.Site = before
	c.markAccess(MarkAtomic, p, r, x.Span)
	if kind != ir.AtomicStore {
		return register(r)
	}
	if v := args[2]; v.kind == kReg && v.reg.Type == t || v.kind == kNum && fits(v.num, t) {
		return v
	}
	return register(in.Args[len(in.Args)-1])
}

// message splits the arguments of print and assert into text and values: each value stands between two elements of text. ok is
// false after an error in an argument, which message has reported.
func (c *compiler) message(args []syntax.Expr) (text []string, values []*ir.Value, ok bool) {
	text, ok = []string{""}, true
	add := func(s string) { text[len(text)-1] += s }
	put := func(x syntax.Expr) {
		v := c.expr(x)
		if v.kind == kStr {
			add(v.str)
			return
		}
		if !c.wantScalar(v, x.Range()) {
			ok = false
			return
		}
		values = append(values, c.widen(v, c.scalarType(v)))
		text = append(text, "")
	}
	for i, a := range args {
		if i > 0 {
			add(" ")
		}
		t, isTemplate := a.(*syntax.Template)
		if !isTemplate {
			put(a)
			continue
		}
		for j, s := range t.Texts {
			add(s)
			if j < len(t.Values) {
				put(t.Values[j])
			}
		}
	}
	return text, values, ok
}

func (c *compiler) print(x *syntax.Call) value {
	text, values, ok := c.message(x.Args)
	if ok {
		before := c.at(x.Span)
		c.emit(&ir.Instr{Op: ir.Print, Args: values, Text: text})
		c.b.Site = before
		c.mark(Mark{Kind: MarkPrint, Text: text}, x.Span, values...)
	}
	return value{kind: kVoid}
}

func (c *compiler) assert(x *syntax.Call) value {
	if !c.arity(x, 1, -1) {
		return value{kind: kVoid}
	}
	cond := c.condition(x.Args[0])
	test := c.truth(cond)
	text, values, ok := c.message(x.Args[1:])
	if ok {
		before := c.at(x.Span)
		c.emit(&ir.Instr{Op: ir.Assert, Args: append([]*ir.Value{test}, values...), Text: text})
		c.b.Site = before
	}
	return value{kind: kVoid}
}

// reaches maps the arguments of g.fence to scopes.
var reaches = later.Value[map[string]ir.FenceReach]{Make: func() map[string]ir.FenceReach {
	return map[string]ir.FenceReach{"group": ir.ReachGroup, "device": ir.ReachDevice, "system": ir.ReachSystem}
}}

// fence compiles g.fence(scope). The scope is 'group', 'device' or 'system'; the default is 'device'.
func (c *compiler) fence(x *syntax.Call) value {
	if !c.arity(x, 0, 1) {
		return bad
	}
	reach := ir.ReachDevice
	if len(x.Args) == 1 {
		name, literal := x.Args[0].(*syntax.Str)
		known := false
		if literal {
			reach, known = reaches.Get()[name.Value]
		}
		if !known {
			c.errorf(x.Args[0].Range(), diag.CallArguments, "write g.fence('group'), g.fence('device') or g.fence('system')",
				"the scope of a fence is a string literal: 'group', 'device' or 'system'")
			return bad
		}
	}
	before := c.at(x.Span)
	c.emit(&ir.Instr{Op: ir.Fence, Order: ir.AcquireRelease, Reach: reach})
	c.b.Site = before
	return value{kind: kVoid}
}

// hostCall compiles g.call('name', values…), whose result has type t. Void selects the real type, or no result if effect is set:
// the result is then unused.
func (c *compiler) hostCall(x *syntax.Call, t ir.Type, effect bool) value {
	if !c.arity(x, 1, -1) {
		return bad
	}
	name, ok := x.Args[0].(*syntax.Str)
	if !ok {
		c.errorf(x.Args[0].Range(), diag.CallArguments, "write g.call('name', …)", "the name of a host service is a string literal")
		return bad
	}
	in := &ir.Instr{Op: ir.Call, Fn: name.Value}
	for _, a := range x.Args[1:] {
		v := c.expr(a)
		if !c.wantScalar(v, a.Range()) {
			return bad
		}
		in.Args = append(in.Args, c.widen(v, c.scalarType(v)))
	}
	if t == ir.Void && !effect {
		t = c.real
	}
	before := c.at(x.Span)
	r := c.b.Emit(in, t)
	c.b.Site = before
	if r == nil {
		return value{kind: kVoid}
	}
	return register(r)
}

// object compiles {a, b: x} to a tuple of named values, and {...record, b: x} to a copy of the record with other fields.
func (c *compiler) object(x *syntax.Object) value {
	if len(x.Props) > 0 && x.Props[0].Spread {
		return c.copyRecord(x)
	}
	o := value{kind: kObject}
	for _, p := range x.Props {
		v := c.expr(p.Value)
		if p.Spread {
			c.errorf(p.Span, diag.NoObject, "write ...record first, then the fields that differ", "a record is spread at the beginning")
			return bad
		}
		o.names = append(o.names, p.Name)
		o.list = append(o.list, v)
	}
	return o
}

// copyRecord compiles {...r, field: value}: a private record with the fields of r or, if r is {a, b}, another such object.
func (c *compiler) copyRecord(x *syntax.Object) value {
	src := c.expr(x.Props[0].Value)
	if src.kind == kObject {
		out := value{kind: kObject, names: append([]string{}, src.names...), list: append([]value{}, src.list...)}
		for _, p := range x.Props[1:] {
			v := c.expr(p.Value)
			replaced := false
			for i, n := range out.names {
				if n == p.Name {
					out.list[i], replaced = v, true
				}
			}
			if !replaced {
				out.names, out.list = append(out.names, p.Name), append(out.list, v)
			}
		}
		return out
	}
	if src.kind != kPlace || src.place.left > 0 || src.place.elem.Record == nil {
		if src.kind != kBad {
			c.errorf(x.Props[0].Span, diag.NoObject, "spread an element of a buffer of records", "`...` copies a record, and this is none")
		}
		return bad
	}
	copied := c.newRecord(src.place.elem.Record)
	c.storeRecord(copied, src, x.Span, x.Props[0].Span)
	for _, p := range x.Props[1:] {
		if p.Spread {
			c.errorf(p.Span, diag.NoObject, "write ...record first, then the fields that differ", "a record is spread once, at the beginning")
			return bad
		}
		v := c.expr(p.Value)
		f := c.placeField(copied, p.Name, p.Span)
		if f.kind == kPlace {
			c.storeAny(f.place, v, p.Span, p.Value.Range())
		}
	}
	return value{kind: kPlace, place: copied}
}

// newRecord returns the place of a new private record of type r.
func (c *compiler) newRecord(r *ir.Record) *place {
	a := &ir.Array{Name: "copy", Space: ir.Private, Elem: ir.Elem{Record: r}, Rank: 1, Dims: []int{1}}
	c.addArray(a)
	c.unnamed = a
	p := wholeArray(a).then(ir.Step{Kind: ir.StepIndex}, c.b.Int(ir.I32, 0))
	p.left, p.dims, p.fresh = 0, nil, true
	return p
}

// detached returns a value that later stores do not change. It copies records, and arrays that are fields of records. Other
// arrays remain references.
func (c *compiler) detached(v value, at syntax.Span) value {
	switch v.kind {
	case kTuple, kObject:
		v.list = slices.Clone(v.list)
		for i := range v.list {
			v.list[i] = c.detached(v.list[i], at)
		}
	case kPlace:
		var copied *place
		switch p := v.place; {
		case p.left == 0 && p.elem.Record != nil:
			copied = c.newRecord(p.elem.Record)
			c.storeRecord(copied, v, at, at)
		case p.left > 0 && p.field:
			a := &ir.Array{Name: "copy", Space: ir.Private, Elem: p.elem, Rank: p.left, Dims: p.dims}
			c.addArray(a)
			copied = wholeArray(a)
			copied.field = true
			c.storeAny(copied, v, at, at)
		default:
			return v
		}
		return value{kind: kPlace, place: copied}
	}
	return v
}

// storeRecord stores v, a record or {a, b}, in the record p. It reads all fields of a record v before it writes the first. It
// reports other values, and records of another type, as errors.
func (c *compiler) storeRecord(p *place, v value, target, at syntax.Span) {
	switch v.kind {
	case kBad:
	case kObject:
		c.storeObject(p, v, target, at)
	case kPlace:
		q := v.place
		if q.left > 0 || q.elem.Record != p.elem.Record {
			c.errorf(at, diag.WholeRecord, "", "`%s` is no %s", c.text(at), p.elem.Record.Name)
			return
		}
		type pair struct {
			to    *place
			value *ir.Value
		}
		var pairs []pair
		c.leaves(p, q, func(to, from *place) {
			pairs = append(pairs, pair{to, c.load(value{kind: kPlace, place: from}, at).reg})
		})
		for _, pr := range pairs {
			c.storeScalar(pr.to, pr.value, target)
		}
	default:
		c.errorf(at, diag.WholeRecord, "name a field: `."+p.elem.Record.Fields[0].Name+" = …`", "`%s` is no %s", c.text(at), p.elem.Record.Name)
	}
}

// leaves visits the scalars of two places with the same shape, in pairs.
func (c *compiler) leaves(p, q *place, visit func(p, q *place)) {
	switch {
	case p.left > 0:
		for i := range p.dims[0] {
			n := c.b.Int(ir.I32, int64(i))
			a, b := p.then(ir.Step{Kind: ir.StepIndex}, n), q.then(ir.Step{Kind: ir.StepIndex}, n)
			a.left, a.dims, b.left, b.dims = a.left-1, a.dims[1:], b.left-1, b.dims[1:]
			c.leaves(a, b, visit)
		}
	case p.elem.Record != nil:
		for i := range p.elem.Record.Fields {
			c.leaves(p.fieldPlace(i), q.fieldPlace(i), visit)
		}
	default:
		visit(p, q)
	}
}

// storeObject stores {a, b} into a record and reports missing and unknown fields. It reads all values before it writes the second
// field.
func (c *compiler) storeObject(p *place, v value, target, at syntax.Span) {
	rec := p.elem.Record
	for _, name := range v.names {
		if rec.Field(name) < 0 {
			c.errorf(at, diag.UnknownField, "", "%s has no field %s", rec.Name, name)
			return
		}
	}
	list := slices.Clone(v.list)
	for j, name := range v.names {
		if rec.Field(name) > 0 {
			list[j] = c.detached(list[j], at)
		}
	}
	for i := range rec.Fields {
		found := false
		for j, name := range v.names {
			if name == rec.Fields[i].Name {
				found = true
				c.storeAny(p.fieldPlace(i), list[j], target, at)
			}
		}
		if !found {
			c.errorf(at, diag.FieldMissing, "give every field, or copy: `{...r, …}`", "the field %s of %s is missing", rec.Fields[i].Name, rec.Name)
			return
		}
	}
}

// storeAny stores a scalar, a record, or the elements of an array or of [a, b]. It reports a value of another shape than that of
// p as an error.
func (c *compiler) storeAny(p *place, v value, target, at syntax.Span) {
	if p.left == 0 {
		c.store(p, v, target, at)
		return
	}
	n := p.dims[0]
	if v.kind == kTuple && len(v.list) != n || v.kind == kPlace && (v.place.left != p.left || v.place.dims == nil || v.place.dims[0] != n) || v.kind != kTuple && v.kind != kPlace {
		if v.kind != kBad {
			c.errorf(at, diag.WholeRecord, fmt.Sprintf("write an array of %d elements", n), "the field is an array of %d elements", n)
		}
		return
	}
	var list []value
	if v.kind == kTuple {
		list = slices.Clone(v.list)
		for i := 1; i < n; i++ {
			list[i] = c.detached(list[i], at)
		}
	}
	for i := range n {
		q := p.then(ir.Step{Kind: ir.StepIndex}, c.b.Int(ir.I32, int64(i)))
		q.left, q.dims = q.left-1, q.dims[1:]
		var part value
		if v.kind == kTuple {
			part = list[i]
		} else {
			part = c.load(c.indexed(v, number(float64(i)), at, at), at)
		}
		c.storeAny(q, part, target, at)
	}
}
