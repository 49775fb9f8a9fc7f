package lower

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// An exchange replaces reductions, scans, uniform and subgroup operations of a lowered kernel. They become exchanges of values through
// shared memory, or lane operations if the target has shuffles.
type exchange struct {
	*lowering
	with    map[*ir.Value]*ir.Value // by result of an operation: the value that replaces it
	scratch *ir.Array               // slots for the values of the items in a group, twice; nil if unused
	half    int                     // current half of the scratch memory
}

// exchangeGroups replaces all group and subgroup operations other than barriers.
func (l *lowering) exchangeGroups() {
	x := &exchange{lowering: l, with: map[*ir.Value]*ir.Value{}}
	x.replaceIn(l.out.IR.Body)
	for from, to := range x.with { // a result may be the operand of another operation
		for x.with[to] != nil {
			to = x.with[to]
		}
		x.with[from] = to
	}
	l.out.IR.Body.ReplaceUses(x.with)
}

func (e *exchange) replaceIn(b *ir.Block) {
	if b == nil {
		return
	}
	list := b.Instrs
	b.Instrs = make([]*ir.Instr, 0, len(list))
	for _, in := range list {
		switch in.Op {
		case ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
			e.Block, e.Site, e.half = b, in.Site, 0
			args := make([]*ir.Value, len(in.Args))
			for i, a := range in.Args {
				for args[i] = a; e.with[args[i]] != nil; {
					args[i] = e.with[args[i]]
				}
			}
			e.with[in.Result()] = e.together(in, args)
			e.Block = nil
		default:
			e.replaceIn(in.Then)
			e.replaceIn(in.Else)
			b.Instrs = append(b.Instrs, in)
		}
	}
}

// together emits a group operation, after which the scratch memory is reusable.
func (e *exchange) together(in *ir.Instr, args []*ir.Value) *ir.Value {
	x := args[0]
	switch in.Op {
	case ir.Reduce:
		return e.reduce(in.Combine, x)
	case ir.Scan:
		return e.scan(in.Combine, in.Exclusive, x)
	case ir.Uniform:
		return e.uniformValue(in, x)
	}
	return e.subgroup(in, args)
}

func (e *exchange) barrier() { e.Op(ir.Barrier, ir.Void) }

// slot returns the byte offset of the slot of item n in the current half of the scratch memory.
func (e *exchange) slot(n *ir.Value) *ir.Value {
	if e.scratch == nil {
		e.scratch = e.newArray(".scratch", ir.Shared, ir.U64, 2*e.options.MaxGroup)
	}
	return e.plus(e.shl(e.convert(ir.I64, n), 3), int64(8*e.half*e.options.MaxGroup))
}

func (e *exchange) put(n, x *ir.Value) {
	if x.Type == ir.Bool {
		x = e.wrap(ir.I32, x)
	}
	at := e.slot(n)
	e.store(x.Type, e.scratch, at, x)
}

func (e *exchange) take(t ir.Type, n *ir.Value) *ir.Value {
	at := e.slot(n)
	if t == ir.Bool {
		return e.ne(e.load(ir.I32, e.scratch, at), e.i32(0))
	}
	return e.load(t, e.scratch, at)
}

// fetch returns the value of x in item n of the group. It alternates between the halves of the scratch memory, so that one
// barrier suffices.
func (e *exchange) fetch(x, n *ir.Value) *ir.Value {
	e.put(e.number, x)
	e.barrier()
	v := e.take(x.Type, n)
	e.half = 1 - e.half
	return v
}

// identity returns the constant that pads a reduction.
func (e *exchange) identity(c ir.Combine, t ir.Type) *ir.Value {
	op := [...]ir.Op{ir.CombineAdd: ir.Add, ir.CombineMin: ir.Min, ir.CombineMax: ir.Max}[c]
	return e.konst(t, scalar.Combiner{Type: t, Op: op}.Identity())
}

func (e *exchange) combine(c ir.Combine, x, y *ir.Value) *ir.Value {
	switch c {
	case ir.CombineMin:
		return e.extreme(ir.Min, x, y)
	case ir.CombineMax:
		return e.extreme(ir.Max, x, y)
	}
	return e.add(x, y)
}

// present returns x for an active item and the identity for others.
func (e *exchange) present(c ir.Combine, x *ir.Value) *ir.Value {
	return e.sel(e.isAlive(), x, e.identity(c, x.Type))
}

// halfPower returns half of the least power of two that is at least n.
func (e *exchange) halfPower(n *ir.Value) *ir.Value {
	p := e.bin(ir.Shl, e.i32(1), e.sub(e.i32(32), e.clz(e.sub(n, e.i32(1)))))
	return e.shr(p, 1)
}

// shuffles reports whether the target can move values of a type between lanes, and has the ballot that finds the lanes.
func (e *exchange) shuffles(t ir.Type) bool {
	return e.target.Has("subgroup.shuffle", t) && e.target.Has("subgroup.shuffle_up", t) && e.target.Has("subgroup.shuffle_down", t) &&
		e.target.Has("subgroup.ballot", ir.Bool)
}

func (e *exchange) shuffle(kind ir.SubgroupKind, x, by *ir.Value) *ir.Value {
	return e.Emit(&ir.Instr{Op: ir.Subgroup, Subgroup: kind, Args: []*ir.Value{x, by}}, x.Type)
}

// reduce lowers Reduce to a tree. Item l puts its value in t[l] of the scratch memory, or the identity if it is not active. Then s is
// halved from half of the least power of two that is at least the number of items, down to 1. In each step the items l < s set t[l]
// to t[l] op t[l+s], with the identity for items that do not exist. The steps within a subgroup are shuffles if the target has them.
// All items return t[0].
func (e *exchange) reduce(c ir.Combine, x *ir.Value) *ir.Value {
	t, number := x.Type, e.number
	none := e.identity(c, t)
	e.put(number, e.present(c, x))
	e.barrier()
	least := 1 // the last step in shared memory
	if e.shuffles(t) {
		least = e.options.SubgroupSize
	}
	top := e.halfPower(e.items)
	e.loop(nil, []*ir.Value{top}, func(in *ir.Instr, p []*ir.Value) {
		s := p[0]
		e.leave(e.lt(s, e.i32(least)), ir.Break, in)
		e.when(e.lt(number, s), func() {
			other := e.add(number, s)
			have := e.lt(other, e.items)
			y := e.choose(have, func() []*ir.Value { return []*ir.Value{e.take(t, other)} }, func() []*ir.Value { return []*ir.Value{none} })[0]
			e.put(number, e.combine(c, e.take(t, number), y))
		})
		e.barrier()
		e.jump(ir.Continue, in, e.shr(s, 1))
	})
	if least > 1 { // only the value of the first subgroup is used
		v := e.take(t, number)
		v = e.reduceLanes(c, v, number, e.items, top)
		e.when(e.eq(number, e.i32(0)), func() { e.put(number, v) })
		e.barrier()
	}
	r := e.take(t, e.i32(0))
	e.barrier()
	return r
}

// reduceLanes emits the steps of a reduction within a subgroup, at distances of at most top lanes. Lane 0 has the result. n is the
// number of items, and place the item's index among them.
func (e *exchange) reduceLanes(c ir.Combine, v, place, n, top *ir.Value) *ir.Value {
	none := e.identity(c, v.Type)
	for s := e.options.SubgroupSize / 2; s > 0; s /= 2 {
		by := e.i32(s)
		y := e.fromLane(ir.SubgroupShuffleDown, v, by)
		y = e.sel(e.lt(e.add(place, by), n), y, none)
		v = e.sel(e.and(e.le(by, top), e.lt(place, by)), e.combine(c, v, y), v)
	}
	return v
}

// fromLane returns the value of the lane at distance by above or, with ShuffleUp, below. The value is arbitrary if the lane
// does not exist.
func (e *exchange) fromLane(kind ir.SubgroupKind, v, by *ir.Value) *ir.Value {
	if e.shuffles(v.Type) {
		return e.shuffle(kind, v, by)
	}
	at := e.add(e.number, by)
	if kind == ir.SubgroupShuffleUp {
		at = e.sub(e.number, by)
	}
	return e.fetch(v, e.clamp(at))
}

// clamp limits n to the indices of the group's items.
func (e *exchange) clamp(n *ir.Value) *ir.Value {
	n = e.sel(e.lt(n, e.i32(0)), e.i32(0), n)
	last := e.sub(e.items, e.i32(1))
	return e.sel(e.lt(last, n), last, n)
}

// scanBlock is the number of items per block of a scan.
const scanBlock = 32

// scan lowers Scan: it scans blocks by the Hillis-Steele algorithm, then their totals.
func (e *exchange) scan(c ir.Combine, exclusive bool, x *ir.Value) *ir.Value {
	number := e.number
	v := e.present(c, x)
	inBlock := e.and(number, e.i32(scanBlock-1))
	lanes := e.options.SubgroupSize >= scanBlock && e.shuffles(x.Type)
	for s := 1; s < scanBlock; s *= 2 {
		by := e.i32(s)
		var y *ir.Value
		if lanes {
			y = e.shuffle(ir.SubgroupShuffleUp, v, by)
		} else {
			y = e.fetch(v, e.clamp(e.sub(number, by)))
		}
		v = e.sel(e.le(by, inBlock), e.combine(c, y, v), v)
	}
	u := e.fetch(v, e.clamp(e.plus(e.shl(number, 5), scanBlock-1))) // total of the block with the item's number
	for s := 1; s < scanBlock; s *= 2 {
		by := e.i32(s)
		y := e.fetch(u, e.clamp(e.sub(number, by)))
		u = e.sel(e.le(by, number), e.combine(c, y, u), u)
	}
	carry := e.fetch(u, e.clamp(e.sub(e.shr(number, 5), e.i32(1))))
	v = e.sel(e.le(e.i32(scanBlock), number), e.combine(c, carry, v), v)
	if exclusive {
		y := e.fetch(v, e.clamp(e.sub(number, e.i32(1))))
		v = e.sel(e.eq(number, e.i32(0)), e.identity(c, x.Type), y)
	}
	e.barrier()
	return v
}

// uniformValue lowers Uniform: it returns the value of the first active item. It faults in items that differ, unless
// [Options.Unchecked] is set.
func (e *exchange) uniformValue(in *ir.Instr, x *ir.Value) *ir.Value {
	first := e.reduce(ir.CombineMin, e.number)
	v := e.fetch(x, e.clamp(first))
	e.barrier()
	if e.options.Unchecked {
		return v
	}
	same := e.eq(x, v)
	if t := x.Type; t.IsFloat() { // compares bits, with all NaNs equal
		b := bitsType(t)
		same = e.or(e.eq(e.cast(b, x), e.cast(b, v)), e.and(e.ne(x, x), e.ne(v, v)))
	}
	e.faultIf(e.not(same), Message{Kind: faultOf(in)})
	return v
}

// subgroup lowers a Subgroup operation.
func (e *exchange) subgroup(in *ir.Instr, args []*ir.Value) *ir.Value {
	x, width := args[0], e.i32(e.options.SubgroupSize)
	lane := e.lane()
	base := e.sub(e.number, lane)
	rest := e.sub(e.items, base)
	length := e.sel(e.lt(rest, width), rest, width)
	combine := map[ir.SubgroupKind]ir.Combine{ir.SubgroupMin: ir.CombineMin, ir.SubgroupMax: ir.CombineMax}[in.Subgroup]
	var v *ir.Value
	switch in.Subgroup {
	case ir.SubgroupAny:
		v = e.ne(e.ballot(e.and(x, e.isAlive()), base, length), e.zero(ir.U64))
	case ir.SubgroupAll:
		v = e.eq(e.ballot(e.and(e.not(x), e.isAlive()), base, length), e.zero(ir.U64))
	case ir.SubgroupBallot:
		v = e.ballot(e.and(x, e.isAlive()), base, length)
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
		v = e.reduceLanes(combine, e.present(combine, x), lane, length, e.halfPower(length))
		if e.shuffles(v.Type) {
			v = e.shuffle(ir.SubgroupShuffle, v, e.i32(0))
		} else {
			v = e.fetch(v, base)
		}
	case ir.SubgroupScanAdd:
		v = e.present(combine, x)
		for s := 1; s < e.options.SubgroupSize; s *= 2 {
			y := e.fromLane(ir.SubgroupShuffleUp, v, e.i32(s))
			v = e.sel(e.le(e.i32(s), lane), e.add(y, v), v)
		}
	default:
		v = e.move(in.Subgroup, x, args[1], lane, base, length)
	}
	e.barrier()
	return v
}

// move lowers a broadcast or shuffle: the value of another lane, or 0 if the lane does not exist or its item is not active.
func (e *exchange) move(kind ir.SubgroupKind, x, d, lane, base, length *ir.Value) *ir.Value {
	from, by := e.convert(ir.I64, lane), e.convert(ir.I64, d)
	switch kind {
	case ir.SubgroupShuffleXor:
		from = e.bin(ir.Xor, from, by)
	case ir.SubgroupShuffleUp:
		from = e.sub(from, by)
	case ir.SubgroupShuffleDown:
		from = e.add(from, by)
	default:
		from = by
	}
	there := e.and(e.le(e.zero(ir.I64), from), e.lt(from, e.convert(ir.I64, length)))
	at := e.sel(there, e.wrap(ir.I32, from), e.i32(0))
	if x.Type == ir.Bool {
		bits := e.ballot(e.and(x, e.isAlive()), base, length)
		return e.and(there, e.ne(e.and(e.bin(ir.Shr, bits, at), e.int(ir.U64, 1)), e.zero(ir.U64)))
	}
	if e.shuffles(x.Type) {
		bits := e.ballot(e.isAlive(), base, length)
		there = e.and(there, e.ne(e.and(e.bin(ir.Shr, bits, at), e.int(ir.U64, 1)), e.zero(ir.U64)))
		return e.sel(there, e.shuffle(ir.SubgroupShuffle, x, at), e.zero(x.Type))
	}
	source := e.add(base, at)
	if !e.steady {
		there = e.and(there, e.fetch(e.isAlive(), source))
	}
	return e.sel(there, e.fetch(x, source), e.zero(x.Type))
}

// ballot returns x of each lane as one bit. base is the index in the group of the subgroup's first item, and length the number
// of its lanes.
func (e *exchange) ballot(x, base, length *ir.Value) *ir.Value {
	if e.target.Has("subgroup.ballot", ir.Bool) {
		return e.Emit(&ir.Instr{Op: ir.Subgroup, Subgroup: ir.SubgroupBallot, Args: []*ir.Value{x}}, ir.U64)
	}
	e.put(e.number, x)
	e.barrier()
	bits := e.loop([]ir.Type{ir.U64}, []*ir.Value{e.i32(0), e.zero(ir.U64)}, func(in *ir.Instr, p []*ir.Value) {
		e.leave(e.le(length, p[0]), ir.Break, in, p[1])
		bit := e.bin(ir.Shl, e.sel(e.take(ir.Bool, e.add(base, p[0])), e.int(ir.U64, 1), e.zero(ir.U64)), p[0])
		e.jump(ir.Continue, in, e.plus(p[0], 1), e.or(p[1], bit))
	})[0]
	e.half = 1 - e.half
	return bits
}
