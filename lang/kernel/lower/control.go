package lower

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// pollEvery is the number of loop iterations between two polls of the stop word. In a loop that a group must leave together, the
// items decide by a reduction. Such a loop with inner loops polls every pollEveryOuter iterations. Both are powers of two.
const (
	pollEvery      = 1024
	pollEveryOuter = 64

	briefWork = 1 << 16 // maximum instructions per item of a loop without polls
)

func (l *lowering) all(vs []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(vs))
	for i, v := range vs {
		out[i] = l.values[v]
	}
	return out
}

func typesOf(vs []*ir.Value) []ir.Type {
	out := make([]ir.Type, len(vs))
	for i, v := range vs {
		out[i] = v.Type
	}
	return out
}

// zeros returns a constant 0 for each result, of its type.
func (l *lowering) zeros(results []*ir.Value) []*ir.Value {
	out := make([]*ir.Value, len(results))
	for i, v := range results {
		out[i] = l.zero(v.Type)
	}
	return out
}

func (l *lowering) block(b *ir.Block) {
	for _, in := range b.Instrs {
		l.Site = in.Site
		l.instr(in)
		if l.after[in] {
			l.Emit(&ir.Instr{Op: ir.Barrier}, ir.Void)
		}
	}
}

// inside lowers block b of the structured instruction around. It appends to the block to, after the instructions that before
// emits. before may be nil.
func (l *lowering) inside(around *ir.Instr, b, to *ir.Block, before func()) {
	outer := l.Block
	l.Block = to
	l.around = append(l.around, around)
	if before != nil {
		before()
	}
	l.block(b)
	l.around = l.around[:len(l.around)-1]
	l.Block = outer
}

func (l *lowering) define(from, to []*ir.Value) {
	for i, v := range from {
		to[i].Name = v.Name
		l.values[v] = to[i]
	}
}

func (l *lowering) instr(in *ir.Instr) {
	switch in.Op {
	case ir.Const:
		l.values[in.Result()] = l.konst(in.Type(), in.Bits)
	case ir.Item:
		l.values[in.Result()] = l.coordinate(in)
	case ir.Extent:
		l.values[in.Result()] = l.extent(l.arrays[in.Array], in.Axis)
	case ir.Load, ir.Store, ir.Atomic:
		l.access(in)
	case ir.Zero:
		l.clear(l.arrays[in.Array], nil)
	case ir.Print:
		l.print(in)
	case ir.Assert:
		l.assert(in)
	case ir.Call:
		l.call(in)
	case ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
		c := *in
		c.Args = l.all(in.Args)
		v := l.Emit(&c, in.Type())
		if v != nil {
			l.values[in.Result()] = v
		} else {
			c.Results = nil
		}
	case ir.Fence:
		l.Emit(&ir.Instr{Op: ir.Fence, Order: in.Order, Reach: in.Reach}, ir.Void)
	case ir.Pause:
		if l.target.Has("pause", ir.Void) {
			l.Op(ir.Pause, ir.Void)
		}
	case ir.Clock:
		l.values[in.Result()] = l.Op(ir.Clock, ir.U64)
	case ir.Div, ir.Rem:
		l.values[in.Result()] = l.division(in)
	case ir.Region:
		n := l.Nested(ir.Region, typesOf(in.Results))
		if in.Fn != "" && l.target.HasExtension(in.Fn) {
			n.Fn, n.Args = in.Fn, l.all(in.Args)
		}
		l.targets[in] = n
		l.inside(in, in.Then, n.Then, nil)
		l.define(in.Results, n.Results)
	case ir.If:
		n := l.Nested(ir.If, typesOf(in.Results), l.values[in.Args[0]])
		l.inside(in, in.Then, n.Then, nil)
		l.inside(in, in.Else, n.Else, nil)
		l.define(in.Results, n.Results)
	case ir.Loop:
		l.lowerLoop(in)
	case ir.Yield, ir.Break:
		l.jump(in.Op, l.targets[in.Target], l.all(in.Args)...)
	case ir.Continue:
		args := l.all(in.Args)
		t := l.targets[in.Target]
		if len(t.Args) > len(args) { // the iteration count
			args = append(args, l.next(t))
		}
		l.jump(ir.Continue, t, args...)
	case ir.Return:
		l.jump(ir.Return, nil)
	case ir.Unreachable:
		l.unreachable()
	default:
		l.values[in.Result()] = l.arith(in, l.all(in.Args))
	}
}

// unreachable emits the end of a block whose end only faulted items can reach. In kernels with group operations they leave the
// block and go on, since they must reach the barriers. In other kernels it emits a return.
func (l *lowering) unreachable() {
	if !l.meets || len(l.around) == 0 {
		l.jump(ir.Return, nil)
		return
	}
	in := l.around[len(l.around)-1]
	if in.Op == ir.Loop {
		l.jump(ir.Break, l.targets[in], l.zeros(in.Results)...)
	} else {
		l.jump(ir.Yield, nil, l.zeros(in.Results)...)
	}
}

// coordinate lowers an Item.
func (l *lowering) coordinate(in *ir.Instr) *ir.Value {
	switch in.Item {
	case ir.GlobalID:
		return l.global[in.Axis]
	case ir.LocalID:
		return l.local[in.Axis]
	case ir.GroupID:
		return l.group[in.Axis]
	case ir.Lane:
		return l.lane()
	}
	return l.item(in.Item, in.Axis)
}

// lane returns the item's lane in its subgroup, whose size is a power of two.
func (l *lowering) lane() *ir.Value {
	return l.and(l.number, l.i32(l.options.SubgroupSize-1))
}

func (l *lowering) extent(a *ir.Array, axis int) *ir.Value {
	return l.Emit(&ir.Instr{Op: ir.Extent, Array: a, Axis: axis}, ir.I32)
}

// division lowers Div or Rem with the check of an integer divisor.
func (l *lowering) division(in *ir.Instr) *ir.Value {
	args := l.all(in.Args)
	if in.Type().IsInt() && in.Proved&ir.ProvedDivisor == 0 && !l.options.Unchecked {
		if d := args[1].Def; d == nil || d.Op != ir.Const || d.Bits == 0 {
			l.faultIf(l.eq(args[1], l.zero(args[1].Type)), Message{Kind: faultOf(in)})
		}
	}
	return l.arith(in, args)
}

// lowerLoop lowers a Loop such that faulted items do not keep it running. The loop polls the stop word, unless
// [Options.Unpolled] is set or the loop is brief.
func (l *lowering) lowerLoop(in *ir.Instr) {
	unpolled := l.options.Unpolled || l.brief[in]
	together := l.meets && !unpolled && l.uniform.Together(in) && l.mustEndTogether(in)
	init := l.all(in.Args)
	if together {
		init = append(init, l.i32(1))
	}
	n := l.Nested(ir.Loop, typesOf(in.Results), init...)
	l.targets[in] = n
	l.define(in.Then.Params, n.Then.Params[:len(in.Args)])
	l.inside(in, in.Then, n.Then, func() {
		every := pollEvery
		in.Then.Walk(func(inner *ir.Instr) {
			if inner.Op == ir.Loop {
				every = pollEveryOuter
			}
		})
		switch {
		case together:
			count := n.Then.Params[len(in.Args)]
			l.plus(count, 1) // passed on by continue; see next
			due := l.eq(l.and(count, l.i32(every-1)), l.i32(0))
			c := l.Nested(ir.If, nil, due)
			outer := l.Block
			l.Block = c.Then
			l.poll(nil)
			some := &ir.Instr{Op: ir.Reduce, Combine: ir.CombineMax, Args: []*ir.Value{l.i32(1)}}
			l.leave(l.le(l.Emit(some, ir.I32), l.i32(0)), ir.Break, n, l.zeros(in.Results)...)
			l.jump(ir.Yield, nil)
			l.Block = c.Else
			l.jump(ir.Yield, nil)
			l.Block = outer
		case unpolled:
			if l.meets && !l.steady && !l.uniform.Together(in) {
				l.leave(l.not(l.isAlive()), ir.Break, n, l.zeros(in.Results)...)
			}
		default:
			t := l.plus(l.get(l.ticks), 1)
			l.set(l.ticks, t)
			l.poll(l.eq(l.and(t, l.i32(pollEvery-1)), l.i32(0)))
			if l.meets {
				l.leave(l.not(l.isAlive()), ir.Break, n, l.zeros(in.Results)...)
			}
		}
	})
	l.define(in.Results, n.Results)
}

// mustEndTogether reports whether the items of a group must leave a loop in the same iteration. This holds if the loop contains
// group operations, or if a result, on which later control flow may depend, is uniform. It holds for all loops if l.coupled is set.
func (l *lowering) mustEndTogether(loop *ir.Instr) bool {
	must := l.coupled || slices.ContainsFunc(loop.Results, func(v *ir.Value) bool { return l.uniform.Value(v) != ir.Varying })
	loop.Then.Walk(func(in *ir.Instr) { must = must || in.Op.IsGroup() || in.Op == ir.Subgroup })
	return must
}

// next returns the iteration count that a Continue passes on, computed by the first instruction of the loop's body.
func (l *lowering) next(loop *ir.Instr) *ir.Value { return loop.Then.Instrs[0].Result() }

// poll ends the item, or marks it as absent, if the launch is to stop. It polls if due is true; nil stands for true.
func (l *lowering) poll(due *ir.Value) {
	look := func() {
		stop := l.ne(l.atomic(ir.AtomicLoad, ir.U32, l.out.Records, l.word(StopWord)), l.konst(ir.U32, 0))
		if l.meets {
			l.when(stop, func() { l.set(l.alive, l.konst(ir.Bool, 0)) })
		} else {
			l.leave(stop, ir.Return, nil)
		}
	}
	if due == nil {
		look()
	} else {
		l.when(due, look)
	}
}
