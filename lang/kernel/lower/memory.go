package lower

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// check is the bounds check of an index.
type check struct {
	axis          int       // position of the index in the access
	index, extent *ir.Value // i64
	inside        *ir.Value // bool
	faults        bool      // the index of an active item may be out of bounds
}

// locate computes the byte offset of an access and emits the comparisons of its indices with their extents. A constant below a
// constant extent has no check. Nor has an index that is proved to be in bounds, or assumed to be by [Options.Unchecked]. Such an
// index has one in a kernel with group operations, where items without effects may be out of bounds.
func (l *lowering) locate(in *ir.Instr, args []*ir.Value) (at *ir.Value, checks []check) {
	r := in.Resolve()
	a := l.arrays[in.Array]
	at = l.int(ir.I64, int64(r.Offset))
	for k := range r.Strides {
		v := args[k]
		wide := l.wideIndex(in, k, v)
		stride := l.int(ir.I64, int64(r.Strides[k]))
		for axis := a.Rank - r.Inner[k]; axis < a.Rank; axis++ {
			stride = l.mul(stride, l.convert(ir.I64, l.extent(a, axis)))
		}
		at = l.addProduct(at, wide, stride)
		c := check{axis: k, index: wide, faults: in.Proved>>k&1 == 0 && !l.options.Unchecked}
		if !c.faults && (!l.meets || l.steady) {
			continue
		}
		if d := v.Def; d != nil && d.Op == ir.Const && r.Extents[k] >= 0 && d.Bits < uint64(r.Extents[k]) {
			continue
		}
		switch n := r.Extents[k]; {
		case n >= 0:
			c.extent = l.int(ir.I64, int64(n))
		case n == ir.Flat:
			c.extent = l.convert(ir.I64, l.extent(a, 0))
			for axis := 1; axis < a.Rank; axis++ {
				c.extent = l.mul(c.extent, l.convert(ir.I64, l.extent(a, axis)))
			}
		default:
			c.extent = l.convert(ir.I64, l.extent(a, -1-n))
		}
		if v.Type.Size() == 4 && r.Extents[k] != ir.Flat { // extents are below 2^31
			c.inside = l.lt(l.wrap(ir.U32, v), l.wrap(ir.U32, c.extent))
		} else {
			c.inside = l.lt(l.wrap(ir.U64, wide), l.wrap(ir.U64, c.extent))
		}
		checks = append(checks, c)
	}
	return at, checks
}

// wideIndex returns index k of an access as i64. v is its lowered value.
func (l *lowering) wideIndex(in *ir.Instr, k int, v *ir.Value) *ir.Value {
	from, plus := in.Args[k], int64(0)
	if d := from.Def; d != nil && from.Type == ir.I32 && (d.Op == ir.Add || d.Op == ir.Sub) {
		if c, ok := analysis.ConstInt(d.Args[1]); ok && d.Op == ir.Add {
			from, plus = d.Args[0], c
		} else if ok {
			from, plus = d.Args[0], -c
		} else if c, ok := analysis.ConstInt(d.Args[0]); ok && d.Op == ir.Add {
			from, plus = d.Args[1], c
		}
	}
	d := from.Def
	within := l.options.Unchecked || in.Proved>>k&1 != 0
	if plus == 0 && within && l.target.WideIndices() {
		if sum := l.wideSum(d); sum != nil {
			return sum
		}
	}
	if d == nil || d.Op != ir.Item || d.Item != ir.GlobalID || l.wide[d.Axis] == nil {
		return l.convert(ir.I64, v)
	}
	// An identifier is from 0 to 2^31-2, so that a sum with 1 or less does not wrap. Other sums that wrap are out of bounds.
	if plus > 1 && (!within || l.meets && !l.options.Whole) {
		return l.convert(ir.I64, v)
	}
	return l.plus(l.wide[d.Axis], plus)
}

// wideSum returns the result of d, an index within bounds, as i64 if d adds a local identifier or a counter, else nil. The
// addend is not negative, so a sum that wraps would be negative, and out of bounds. Compilers then see that adjacent items
// access adjacent elements.
func (l *lowering) wideSum(d *ir.Instr) *ir.Value {
	if d == nil || d.Op != ir.Add {
		return nil
	}
	for i, v := range d.Args {
		if of := v.Def; of != nil && of.Op == ir.Item && of.Item == ir.LocalID && v.Type == ir.I32 || l.up[v] {
			return l.add(l.convert(ir.I64, l.values[d.Args[1-i]]), l.convert(ir.I64, l.values[v]))
		}
	}
	return nil
}

// addProduct returns x + a·b and folds constants.
func (l *lowering) addProduct(x, a, b *ir.Value) *ir.Value {
	if a.Def != nil && a.Def.Op == ir.Const && b.Def != nil && b.Def.Op == ir.Const {
		b = l.konst(ir.I64, a.Def.Bits*b.Def.Bits)
	} else if b.Def == nil || b.Def.Op != ir.Const || b.Def.Bits != 1 {
		b = l.mul(a, b)
	} else {
		b = a
	}
	switch {
	case x.Def != nil && x.Def.Op == ir.Const && x.Def.Bits == 0:
		return b
	case b.Def != nil && b.Def.Op == ir.Const && b.Def.Bits == 0:
		return x
	}
	return l.add(x, b)
}

// access lowers a Load, Store or Atomic with its checks. Inactive items load like the others, so that uniform values stay
// uniform. They store in private arrays and, as firstStores says, zeros in some shared ones, but nowhere else.
func (l *lowering) access(in *ir.Instr) {
	args := l.all(in.Args)
	n := in.NumIndices()
	at, checks := l.locate(in, args)
	a, elem := l.arrays[in.Array], in.Accessed()
	inside := l.inBounds(checks)
	if inside != nil {
		l.faultOutside(in, checks, inside)
	}
	if !l.meets {
		inside = nil // faulting items have returned
	}
	private := in.Array.Space == ir.Private
	switch in.Op {
	case ir.Load:
		l.values[in.Result()] = l.guarded(inside, elem.Value(), func() *ir.Value { return l.loadElem(elem, a, at) })
	case ir.Store:
		if l.first.store(l, in, a, elem, at, args[n]) {
			return
		}
		if l.meets && !private {
			inside = l.both(l.isAlive(), inside)
		}
		l.guarded(inside, ir.Void, func() *ir.Value { l.storeElem(elem, a, at, args[n]); return nil })
	case ir.Atomic:
		if l.meets {
			inside = l.both(l.isAlive(), inside)
		}
		l.values[in.Result()] = l.guarded(inside, elem, func() *ir.Value { return l.atomically(in, elem, a, at, args[n:]) })
	}
}

// both returns the conjunction of x and y. A nil y stands for true.
func (l *lowering) both(x, y *ir.Value) *ir.Value {
	if y == nil {
		return x
	}
	return l.and(x, y)
}

func (l *lowering) inBounds(checks []check) (all *ir.Value) {
	for _, c := range checks {
		all = l.both(c.inside, all)
	}
	return all
}

// guarded emits run under a condition and returns its value, or 0 where the condition is false. A nil condition is true.
func (l *lowering) guarded(c *ir.Value, t ir.Type, run func() *ir.Value) *ir.Value {
	switch {
	case c == nil:
		return run()
	case t == ir.Void:
		l.when(c, func() { run() })
		return nil
	}
	return l.choose(c, func() []*ir.Value { return []*ir.Value{run()} }, func() []*ir.Value { return []*ir.Value{l.zero(t)} })[0]
}

// faultOutside emits the fault of the first index that is out of bounds.
func (l *lowering) faultOutside(in *ir.Instr, checks []check, inside *ir.Value) {
	may := false
	for _, c := range checks {
		may = may || c.faults
	}
	if !may {
		return
	}
	l.failing(l.not(inside), func() {
		var next func(checks []check)
		next = func(checks []check) {
			c := checks[0]
			record := func() {
				if c.faults {
					m := Message{Kind: interp.OutOfBounds.String(), Array: in.Array, Axis: c.axis}
					l.recordFault(m, c.index, c.extent)
				}
			}
			if len(checks) == 1 {
				record()
				return
			}
			l.choose(c.inside, func() []*ir.Value { next(checks[1:]); return nil }, func() []*ir.Value { record(); return nil })
		}
		next(checks)
	})
}

// failing records a fault under a condition and then ends the item, or marks it as absent.
func (l *lowering) failing(c *ir.Value, record func()) {
	in := l.Nested(ir.If, nil, c)
	outer := l.Block
	l.Block = in.Then
	if l.meets {
		l.when(l.isAlive(), record)
		l.set(l.alive, l.konst(ir.Bool, 0))
		l.jump(ir.Yield, nil)
	} else {
		record()
		l.jump(ir.Return, nil)
	}
	l.Block = in.Else
	l.jump(ir.Yield, nil)
	l.Block = outer
}

// faultIf emits a fault of the item under a condition.
func (l *lowering) faultIf(c *ir.Value, m Message, operands ...*ir.Value) {
	l.failing(c, func() { l.recordFault(m, operands...) })
}

// assert lowers an Assert. It emits nothing with [Options.Unchecked].
func (l *lowering) assert(in *ir.Instr) {
	if l.options.Unchecked {
		return
	}
	args := l.all(in.Args)
	l.faultIf(l.not(args[0]), Message{Kind: faultOf(in), Text: in.Text}, args[1:]...)
}

// atomically emits an Atomic of an active item in bounds: the leaf of the target, or a compare-and-swap loop on the element's
// bits.
func (l *lowering) atomically(in *ir.Instr, t ir.Type, a *ir.Array, at *ir.Value, args []*ir.Value) *ir.Value {
	kind, b := in.Atomic, bitsType(t)
	if kind == ir.AtomicStore {
		kind = ir.AtomicExchange
	}
	switch {
	case kind == ir.AtomicLoad:
		return l.cast(t, l.atomic(kind, b, a, at))
	case kind == ir.AtomicCompareExchange:
		return l.cast(t, l.atomic(kind, b, a, at, l.cast(b, args[0]), l.cast(b, args[1])))
	case l.target.Has("atomic."+kind.String(), t):
		return l.atomic(kind, t, a, at, args...)
	}
	x := args[0]
	old := l.atomic(ir.AtomicLoad, b, a, at)
	return l.cast(t, l.loop([]ir.Type{b}, []*ir.Value{old}, func(in *ir.Instr, p []*ir.Value) {
		got := l.atomic(ir.AtomicCompareExchange, b, a, at, p[0], l.cast(b, l.update(kind, l.cast(t, p[0]), x)))
		l.leave(l.eq(got, p[0]), ir.Break, in, got)
		l.jump(ir.Continue, in, got)
	})[0])
}

// update returns the value that an atomic operation stores: old combined with x, or x itself for an exchange. A combined float that
// is NaN is the canonical one.
func (l *lowering) update(kind ir.AtomicKind, old, x *ir.Value) *ir.Value {
	var v *ir.Value
	switch kind {
	case ir.AtomicAdd:
		v = l.add(old, x)
	case ir.AtomicSub:
		v = l.sub(old, x)
	case ir.AtomicMin:
		v = l.extreme(ir.Min, old, x)
	case ir.AtomicMax:
		v = l.extreme(ir.Max, old, x)
	case ir.AtomicAnd:
		v = l.and(old, x)
	case ir.AtomicOr:
		v = l.or(old, x)
	case ir.AtomicXor:
		v = l.bin(ir.Xor, old, x)
	default:
		return x
	}
	if v.Type.IsFloat() {
		return l.quant(v.Type, v)
	}
	return v
}
