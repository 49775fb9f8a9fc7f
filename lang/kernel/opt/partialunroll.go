package opt

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// PartialUnrollLimits are the limits of [PartialUnroll], in instructions other than constants.
type PartialUnrollLimits struct {
	Whole int                       // maximum for all iterations of a completely unrolled loop
	Body  int                       // maximum for the body of a partially unrolled loop
	Total int                       // maximum for the kernel
	Leave func(loop *ir.Instr) bool // if not nil, selects loops to leave unchanged
}

// PartialUnroll unrolls innermost loops with constant trip counts, by a factor or completely. It leaves loops with the
// operations that [partialUnroller.simple] excludes. Proofs of indices remain valid. It runs after [Run] and renumbers values.
// It adds the constant parts of indices last, so that adjacent accesses differ by a displacement. It returns the factors of the
// loops that it unrolled by a factor, and whether it changed the kernel.
func PartialUnroll(k *ir.Kernel, limits PartialUnrollLimits) (times map[*ir.Instr]int, changed bool) {
	r := &partialUnroller{limits: limits, times: map[*ir.Instr]int{}, unroller: &unroller{k: k, Structure: analysis.StructureOf(k), trips: map[*ir.Instr]*trip{},
		chosen: map[*ir.Instr]bool{}, subst: map[*ir.Value]*ir.Value{}, proved: true}}
	r.total = operations(k.Body)
	if !r.choose(k.Body) {
		return nil, false
	}
	r.block(k.Body)
	addLast(k, k.Body)
	for _, p := range []func(*ir.Kernel, *Facts) bool{Fold, CSE, DCE} {
		p(k, nil)
	}
	k.Renumber()
	return r.times, true
}

type partialUnroller struct {
	*unroller
	limits PartialUnrollLimits
	total  int
	times  map[*ir.Instr]int
}

// operations returns the number of instructions in a block other than constants.
func operations(b *ir.Block) int {
	n := 0
	b.Walk(func(in *ir.Instr) {
		if in.Op != ir.Const {
			n++
		}
	})
	return n
}

// choose unrolls innermost loops by a factor, and records those to unroll completely. It reports whether it found any.
func (r *partialUnroller) choose(b *ir.Block) bool {
	if b == nil {
		return false
	}
	found := false
	for _, in := range b.Instrs {
		if in.Op != ir.Loop || !r.simple(in) {
			thens, elses := r.choose(in.Then), r.choose(in.Else)
			found = found || thens || elses
			continue
		}
		if r.limits.Leave != nil && r.limits.Leave(in) {
			continue
		}
		p := r.counted(in)
		if p == nil || p.trips == 0 {
			continue
		}
		n := operations(in.Then)
		if p.trips <= maxTrips && p.trips*n <= min(r.limits.Whole, r.limits.Total-r.total) {
			r.trips[in], r.chosen[in] = p, true
			r.total += (p.trips - 1) * n
			found = true
			continue
		}
		times := 1
		for times < maxTimes && p.trips%(2*times) == 0 && 2*times*n <= r.limits.Body && r.total+(2*times-1)*n <= r.limits.Total {
			times *= 2
		}
		if times > 1 {
			r.total += (times - 1) * n
			r.times[in] = times
			r.repeat(in, p, times)
			found = true
		}
	}
	return found
}

// maxTimes is the maximum unroll factor.
const maxTimes = 8

// simple reports whether a loop contains neither inner loops nor the other operations listed below, such as those of groups,
// the host and libraries.
func (r *partialUnroller) simple(loop *ir.Instr) bool {
	ok := true
	loop.Then.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Loop, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Print, ir.Assert, ir.Call, ir.Fence, ir.Clock, ir.Pause, ir.Lib:
			ok = false
		}
	})
	return ok
}

// counted returns the trip of a counted loop: the start, step and limit of its counter are constants, and the counter does not
// wrap. It returns nil for other loops, and for those without a complete iteration.
func (r *partialUnroller) counted(loop *ir.Instr) *trip {
	p := r.wayOut(loop)
	if p == nil {
		return nil
	}
	test := p.exit.Args[0].Def
	if test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return nil
	}
	below, i := true, r.LoopOf[test.Args[0]] // whether the loop continues while the counter is below the bound
	bound, ok := analysis.ConstInt(test.Args[1])
	if i.Loop != loop {
		below, i = false, r.LoopOf[test.Args[1]]
		bound, ok = analysis.ConstInt(test.Args[0])
	}
	if i.Loop != loop || !ok {
		return nil
	}
	within := test.Op == ir.Le // includes the bound itself
	if p.stay != p.exit.Then {
		below, within = !below, !within
	}
	first, known := analysis.ConstInt(loop.Args[i.I])
	step, steady := r.Step(loop, i.I)
	if !below { // negates all values
		first, step, bound = -first, -step, -bound
	}
	if within {
		bound++
	}
	if !known || !steady || step <= 0 || bound <= first {
		return nil
	}
	trips := (bound - first + step - 1) / step
	if last := first + trips*step; last > math.MaxInt32 {
		return nil
	}
	p.trips = int(trips)
	return p
}

// repeat unrolls a loop by a factor that divides its trip count.
func (r *partialUnroller) repeat(loop *ir.Instr, p *trip, times int) {
	last := loop.Then.Terminator()
	body := loop.Then.Instrs[:len(loop.Then.Instrs)-1]
	out := append([]*ir.Instr(nil), body...)
	carried := last.Args
	for range times - 1 {
		c := r.copier()
		for i, v := range loop.Then.Params {
			c.Values[v] = carried[i]
		}
		for _, in := range body {
			if in != p.exit {
				out = append(out, c.Instr(in))
				continue
			}
			end := p.stay.Terminator() // the exit is never taken in this copy
			for _, inner := range p.stay.Instrs[:len(p.stay.Instrs)-1] {
				out = append(out, c.Instr(inner))
			}
			for i, v := range in.Results {
				c.Values[v] = c.All(end.Args)[i]
			}
		}
		carried = c.All(last.Args)
	}
	last.Args = carried
	loop.Then.Instrs = append(out, last)
}

// addLast reassociates integer sums and products so that constants are added last, modulo the type's range. For example,
// a + (b + 1) becomes (a + b) + 1, and (a + 1) · 8 becomes a · 8 + 8.
func addLast(k *ir.Kernel, b *ir.Block) {
	if b == nil {
		return
	}
	out := make([]*ir.Instr, 0, len(b.Instrs))
	for _, in := range b.Instrs {
		addLast(k, in.Then)
		addLast(k, in.Else)
		if in.Op != ir.Add && in.Op != ir.Sub && in.Op != ir.Mul && in.Op != ir.Shl || !in.Type().IsInt() {
			out = append(out, in)
			continue
		}
		t := in.Type()
		define := func(op ir.Op, bits uint64, args ...*ir.Value) *ir.Value {
			d := &ir.Instr{Op: op, Bits: bits, Args: args, Site: in.Site}
			v := k.NewValue(t, d)
			d.Results = []*ir.Value{v}
			out = append(out, d)
			return v
		}
		x, y := in.Args[0], in.Args[1]
		factor, scaled := analysis.ConstInt(y)
		switch {
		case (in.Op == ir.Add || in.Op == ir.Sub) && !isConst(y):
			a, c, okX := added(x)
			e, d, okY := added(y)
			if in.Op == ir.Sub {
				d = -d
			}
			if okX || okY {
				in.Args = []*ir.Value{define(in.Op, 0, a, e), define(ir.Const, ir.IntBits(t, c+d))}
				in.Op = ir.Add
			}
		case in.Op == ir.Add || in.Op == ir.Sub:
			a, c, okX := added(x)
			_, d, okY := added(in.Result())
			if okX && okY {
				in.Op, in.Args = ir.Add, []*ir.Value{a, define(ir.Const, ir.IntBits(t, c+d))}
			}
		case !scaled || in.Op == ir.Shl && (factor < 0 || factor >= int64(8*t.Size())):
		default:
			if a, c, ok := added(x); ok {
				if in.Op == ir.Shl {
					c <<= factor
				} else {
					c *= factor
				}
				product := define(in.Op, 0, a, y)
				in.Op, in.Args = ir.Add, []*ir.Value{product, define(ir.Const, ir.IntBits(t, c))}
			}
		}
		out = append(out, in)
	}
	b.Instrs = out
}

// added splits the sum of a value and a constant, or their difference, into the value and the constant to add. For other values it
// returns v, 0 and false.
func added(v *ir.Value) (of *ir.Value, c int64, ok bool) {
	if d := v.Def; d != nil && (d.Op == ir.Add || d.Op == ir.Sub) {
		if c, ok := analysis.ConstInt(d.Args[1]); ok {
			if d.Op == ir.Sub {
				c = -c
			}
			return d.Args[0], c, true
		}
	}
	return v, 0, false
}
