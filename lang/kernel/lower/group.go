package lower

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// groups replaces reductions, scans, uniform and subgroup operations by exchanges through shared memory, or by lane operations
// if the target has shuffles.
func (l *lowering) groups() {
	with := map[*ir.Value]*ir.Value{}
	l.groupsIn(l.out.IR.Body, with)
	for from, to := range with { // a result may be the operand of another operation
		for with[to] != nil {
			to = with[to]
		}
		with[from] = to
	}
	l.out.IR.Body.ReplaceUses(with)
}

func (l *lowering) groupsIn(b *ir.Block, with map[*ir.Value]*ir.Value) {
	if b == nil {
		return
	}
	list := b.Instrs
	b.Instrs = make([]*ir.Instr, 0, len(list))
	for _, in := range list {
		switch in.Op {
		case ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
			l.Block, l.Site, l.half = b, in.Site, 0
			args := make([]*ir.Value, len(in.Args))
			for i, a := range in.Args {
				for args[i] = a; with[args[i]] != nil; {
					args[i] = with[args[i]]
				}
			}
			with[in.Result()] = l.together(in, args)
			l.Block = nil
		default:
			l.groupsIn(in.Then, with)
			l.groupsIn(in.Else, with)
			b.Instrs = append(b.Instrs, in)
		}
	}
}

// together emits a group operation, after which the scratch memory is reusable.
func (l *lowering) together(in *ir.Instr, args []*ir.Value) *ir.Value {
	x := args[0]
	switch in.Op {
	case ir.Reduce:
		return l.reduce(in.Combine, x)
	case ir.Scan:
		return l.scan(in.Combine, in.Exclusive, x)
	case ir.Uniform:
		return l.uniformValue(in, x)
	}
	return l.subgroup(in, args)
}

func (l *lowering) barrier() { l.Op(ir.Barrier, ir.Void) }

// slot returns the byte offset of an item's slot in the scratch memory.
func (l *lowering) slot(n *ir.Value) *ir.Value {
	if l.scratch == nil {
		l.scratch = l.newArray(".scratch", ir.Shared, ir.U64, 2*l.options.MaxGroup)
	}
	return l.plus(l.shl(l.convert(ir.I64, n), 3), int64(8*l.half*l.options.MaxGroup))
}

func (l *lowering) put(n, x *ir.Value) {
	if x.Type == ir.Bool {
		x = l.wrap(ir.I32, x)
	}
	at := l.slot(n)
	l.store(x.Type, l.scratch, at, x)
}

func (l *lowering) take(t ir.Type, n *ir.Value) *ir.Value {
	at := l.slot(n)
	if t == ir.Bool {
		return l.ne(l.load(ir.I32, l.scratch, at), l.i32(0))
	}
	return l.load(t, l.scratch, at)
}

// fetch returns the value of another item of the group. It alternates between the halves of the scratch memory, so that one
// barrier suffices.
func (l *lowering) fetch(x, n *ir.Value) *ir.Value {
	l.put(l.number, x)
	l.barrier()
	v := l.take(x.Type, n)
	l.half = 1 - l.half
	return v
}

// identity returns the constant that pads a reduction.
func (l *lowering) identity(c ir.Combine, t ir.Type) *ir.Value {
	op := [...]ir.Op{ir.CombineAdd: ir.Add, ir.CombineMin: ir.Min, ir.CombineMax: ir.Max}[c]
	return l.konst(t, scalar.Combiner{Type: t, Op: op}.Identity())
}

func (l *lowering) combine(c ir.Combine, x, y *ir.Value) *ir.Value {
	switch c {
	case ir.CombineMin:
		return l.extreme(ir.Min, x, y)
	case ir.CombineMax:
		return l.extreme(ir.Max, x, y)
	}
	return l.add(x, y)
}

// present returns x for an active item and the identity for others.
func (l *lowering) present(c ir.Combine, x *ir.Value) *ir.Value {
	return l.sel(l.isAlive(), x, l.identity(c, x.Type))
}

// halfPower returns half of the least power of two that is at least n.
func (l *lowering) halfPower(n *ir.Value) *ir.Value {
	p := l.bin(ir.Shl, l.i32(1), l.sub(l.i32(32), l.clz(l.sub(n, l.i32(1)))))
	return l.shr(p, 1)
}

// shuffles reports whether the target can move values of a type between lanes.
func (l *lowering) shuffles(t ir.Type) bool {
	return l.target.Has("subgroup.shuffle", t) && l.target.Has("subgroup.shuffle_up", t) && l.target.Has("subgroup.shuffle_down", t) &&
		l.target.Has("subgroup.ballot", ir.Bool)
}

func (l *lowering) shuffle(kind ir.SubgroupKind, x, by *ir.Value) *ir.Value {
	return l.Emit(&ir.Instr{Op: ir.Subgroup, Subgroup: kind, Args: []*ir.Value{x, by}}, x.Type)
}

// reduce lowers Reduce: t[l] = t[l] op t[l+s] for s from half of the group's power of two down to 1.
func (l *lowering) reduce(c ir.Combine, x *ir.Value) *ir.Value {
	t, number := x.Type, l.number
	none := l.identity(c, t)
	l.put(number, l.present(c, x))
	l.barrier()
	least := 1 // the last step in shared memory
	if l.shuffles(t) {
		least = l.options.SubgroupSize
	}
	top := l.halfPower(l.items)
	l.loop(nil, []*ir.Value{top}, func(in *ir.Instr, p []*ir.Value) {
		s := p[0]
		l.leave(l.lt(s, l.i32(least)), ir.Break, in)
		l.when(l.lt(number, s), func() {
			other := l.add(number, s)
			have := l.lt(other, l.items)
			y := l.choose(have, func() []*ir.Value { return []*ir.Value{l.take(t, other)} }, func() []*ir.Value { return []*ir.Value{none} })[0]
			l.put(number, l.combine(c, l.take(t, number), y))
		})
		l.barrier()
		l.jump(ir.Continue, in, l.shr(s, 1))
	})
	if least > 1 { // only the value of the first subgroup is used
		v := l.take(t, number)
		v = l.reduceLanes(c, v, number, l.items, top)
		l.when(l.eq(number, l.i32(0)), func() { l.put(number, v) })
		l.barrier()
	}
	r := l.take(t, l.i32(0))
	l.barrier()
	return r
}

// reduceLanes emits the steps of a reduction within a subgroup from top downwards; lane 0 has the result. n is the number of
// items, and place the item's index among them.
func (l *lowering) reduceLanes(c ir.Combine, v, place, n, top *ir.Value) *ir.Value {
	none := l.identity(c, v.Type)
	for s := l.options.SubgroupSize / 2; s > 0; s /= 2 {
		by := l.i32(s)
		y := l.fromLane(ir.SubgroupShuffleDown, v, by)
		y = l.sel(l.lt(l.add(place, by), n), y, none)
		v = l.sel(l.and(l.le(by, top), l.lt(place, by)), l.combine(c, v, y), v)
	}
	return v
}

// fromLane returns the value of the lane at distance by above or, with ShuffleUp, below. The value is arbitrary if the lane
// does not exist.
func (l *lowering) fromLane(kind ir.SubgroupKind, v, by *ir.Value) *ir.Value {
	if l.shuffles(v.Type) {
		return l.shuffle(kind, v, by)
	}
	at := l.add(l.number, by)
	if kind == ir.SubgroupShuffleUp {
		at = l.sub(l.number, by)
	}
	return l.fetch(v, l.clamp(at))
}

// clamp limits n to the indices of the group's items.
func (l *lowering) clamp(n *ir.Value) *ir.Value {
	n = l.sel(l.lt(n, l.i32(0)), l.i32(0), n)
	last := l.sub(l.items, l.i32(1))
	return l.sel(l.lt(last, n), last, n)
}

// scanBlock is the number of items per block of a scan.
const scanBlock = 32

// scan lowers Scan: it scans blocks by the Hillis-Steele algorithm, then their totals.
func (l *lowering) scan(c ir.Combine, exclusive bool, x *ir.Value) *ir.Value {
	number := l.number
	v := l.present(c, x)
	inBlock := l.and(number, l.i32(scanBlock-1))
	lanes := l.options.SubgroupSize >= scanBlock && l.shuffles(x.Type)
	for s := 1; s < scanBlock; s *= 2 {
		by := l.i32(s)
		var y *ir.Value
		if lanes {
			y = l.shuffle(ir.SubgroupShuffleUp, v, by)
		} else {
			y = l.fetch(v, l.clamp(l.sub(number, by)))
		}
		v = l.sel(l.le(by, inBlock), l.combine(c, y, v), v)
	}
	u := l.fetch(v, l.clamp(l.plus(l.shl(number, 5), scanBlock-1))) // total of the block with the item's number
	for s := 1; s < scanBlock; s *= 2 {
		by := l.i32(s)
		y := l.fetch(u, l.clamp(l.sub(number, by)))
		u = l.sel(l.le(by, number), l.combine(c, y, u), u)
	}
	carry := l.fetch(u, l.clamp(l.sub(l.shr(number, 5), l.i32(1))))
	v = l.sel(l.le(l.i32(scanBlock), number), l.combine(c, carry, v), v)
	if exclusive {
		y := l.fetch(v, l.clamp(l.sub(number, l.i32(1))))
		v = l.sel(l.eq(number, l.i32(0)), l.identity(c, x.Type), y)
	}
	l.barrier()
	return v
}

// uniformValue lowers Uniform: it returns the value of the first active item and faults in items that differ.
func (l *lowering) uniformValue(in *ir.Instr, x *ir.Value) *ir.Value {
	first := l.reduce(ir.CombineMin, l.number)
	v := l.fetch(x, l.clamp(first))
	l.barrier()
	if l.options.Unchecked {
		return v
	}
	same := l.eq(x, v)
	if t := x.Type; t.IsFloat() { // compares bits, with all NaNs equal
		b := bitsType(t)
		same = l.or(l.eq(l.cast(b, x), l.cast(b, v)), l.and(l.ne(x, x), l.ne(v, v)))
	}
	l.faultIf(l.not(same), Message{Kind: faultOf(in)})
	return v
}

// subgroup lowers a Subgroup operation.
func (l *lowering) subgroup(in *ir.Instr, args []*ir.Value) *ir.Value {
	x, width := args[0], l.i32(l.options.SubgroupSize)
	lane := l.lane()
	base := l.sub(l.number, lane)
	rest := l.sub(l.items, base)
	length := l.sel(l.lt(rest, width), rest, width)
	combine := map[ir.SubgroupKind]ir.Combine{ir.SubgroupMin: ir.CombineMin, ir.SubgroupMax: ir.CombineMax}[in.Subgroup]
	var v *ir.Value
	switch in.Subgroup {
	case ir.SubgroupAny:
		v = l.ne(l.ballot(l.and(x, l.isAlive()), base, length), l.zero(ir.U64))
	case ir.SubgroupAll:
		v = l.eq(l.ballot(l.and(l.not(x), l.isAlive()), base, length), l.zero(ir.U64))
	case ir.SubgroupBallot:
		v = l.ballot(l.and(x, l.isAlive()), base, length)
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
		v = l.reduceLanes(combine, l.present(combine, x), lane, length, l.halfPower(length))
		if l.shuffles(v.Type) {
			v = l.shuffle(ir.SubgroupShuffle, v, l.i32(0))
		} else {
			v = l.fetch(v, base)
		}
	case ir.SubgroupScanAdd:
		v = l.present(combine, x)
		for s := 1; s < l.options.SubgroupSize; s *= 2 {
			y := l.fromLane(ir.SubgroupShuffleUp, v, l.i32(s))
			v = l.sel(l.le(l.i32(s), lane), l.add(y, v), v)
		}
	default:
		v = l.move(in.Subgroup, x, args[1], lane, base, length)
	}
	l.barrier()
	return v
}

// move lowers a broadcast or shuffle: the value of another lane, or 0 if the lane does not exist.
func (l *lowering) move(kind ir.SubgroupKind, x, d, lane, base, length *ir.Value) *ir.Value {
	from, by := l.convert(ir.I64, lane), l.convert(ir.I64, d)
	switch kind {
	case ir.SubgroupShuffleXor:
		from = l.bin(ir.Xor, from, by)
	case ir.SubgroupShuffleUp:
		from = l.sub(from, by)
	case ir.SubgroupShuffleDown:
		from = l.add(from, by)
	default:
		from = by
	}
	there := l.and(l.le(l.zero(ir.I64), from), l.lt(from, l.convert(ir.I64, length)))
	at := l.sel(there, l.wrap(ir.I32, from), l.i32(0))
	if x.Type == ir.Bool {
		bits := l.ballot(l.and(x, l.isAlive()), base, length)
		return l.and(there, l.ne(l.and(l.bin(ir.Shr, bits, at), l.int(ir.U64, 1)), l.zero(ir.U64)))
	}
	if l.shuffles(x.Type) {
		bits := l.ballot(l.isAlive(), base, length)
		there = l.and(there, l.ne(l.and(l.bin(ir.Shr, bits, at), l.int(ir.U64, 1)), l.zero(ir.U64)))
		return l.sel(there, l.shuffle(ir.SubgroupShuffle, x, at), l.zero(x.Type))
	}
	source := l.add(base, at)
	if !l.steady {
		there = l.and(there, l.fetch(l.isAlive(), source))
	}
	return l.sel(there, l.fetch(x, source), l.zero(x.Type))
}

// ballot returns a bit per lane.
func (l *lowering) ballot(x, base, length *ir.Value) *ir.Value {
	if l.target.Has("subgroup.ballot", ir.Bool) {
		return l.Emit(&ir.Instr{Op: ir.Subgroup, Subgroup: ir.SubgroupBallot, Args: []*ir.Value{x}}, ir.U64)
	}
	l.put(l.number, x)
	l.barrier()
	bits := l.loop([]ir.Type{ir.U64}, []*ir.Value{l.i32(0), l.zero(ir.U64)}, func(in *ir.Instr, p []*ir.Value) {
		l.leave(l.le(length, p[0]), ir.Break, in, p[1])
		bit := l.bin(ir.Shl, l.sel(l.take(ir.Bool, l.add(base, p[0])), l.int(ir.U64, 1), l.zero(ir.U64)), p[0])
		l.jump(ir.Continue, in, l.plus(p[0], 1), l.or(p[1], bit))
	})[0]
	l.half = 1 - l.half
	return bits
}
