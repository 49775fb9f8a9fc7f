package opt

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// The limits of [Unroll].
const (
	maxTrips    = 64   // maximum iterations per loop
	maxUnrolled = 2000 // maximum instructions per kernel after unrolling
)

// Unroll fully unrolls short loops with constant trip counts if that makes all indices of a private array constant. [SROA] can
// then promote the array's elements. Unroll reports whether it changed the kernel.
func Unroll(k *ir.Kernel, _ *Facts) bool {
	if !slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Private }) {
		return false
	}
	u := &unroller{k: k, Structure: analysis.StructureOf(k), trips: map[*ir.Instr]*trip{}, subst: map[*ir.Value]*ir.Value{}}
	u.choose()
	if len(u.chosen) == 0 {
		return false
	}
	u.block(k.Body)
	return true
}

type unroller struct {
	k *ir.Kernel
	*analysis.Structure
	trips  map[*ir.Instr]*trip // by loop; nil if it cannot be unrolled
	chosen map[*ir.Instr]bool
	subst  map[*ir.Value]*ir.Value // results of unrolled loops
	proved bool                    // copies keep their proofs
}

// trip describes a loop that can be unrolled.
type trip struct {
	exit  *ir.Instr // the If with the only exit
	out   *ir.Block // arm of the If that leaves the loop
	stay  *ir.Block // the other arm
	trips int       // number of completed iterations
}

// choose selects the loops to unroll. For each private array, these are the loops on whose counters its indices depend. It
// skips an array that [unroller.needs] found unfit, and one for which the kernel would exceed maxUnrolled instructions.
func (u *unroller) choose() {
	loops, unfit := u.needs()
	for _, a := range u.k.Arrays {
		if a.Space != ir.Private || unfit[a] || len(loops[a]) == 0 {
			continue
		}
		before := u.chosen
		u.chosen = map[*ir.Instr]bool{}
		for _, list := range []map[*ir.Instr]bool{before, loops[a]} {
			for l := range list {
				u.chosen[l] = true
			}
		}
		if u.size(u.k.Body) > maxUnrolled {
			u.chosen = before
		}
	}
}

// needs returns the loops on whose counters the indices of each private array depend. unfit has the arrays whose indices depend on
// other values too, and those passed to library functions. It also has those with an access that is neither Zero nor a load or
// store without conversion.
func (u *unroller) needs() (loops map[*ir.Array]map[*ir.Instr]bool, unfit map[*ir.Array]bool) {
	loops, unfit = map[*ir.Array]map[*ir.Instr]bool{}, map[*ir.Array]bool{}
	u.k.Body.Walk(func(in *ir.Instr) {
		for _, a := range in.Arrays {
			unfit[a] = true
		}
		a := in.Array
		if a == nil || a.Space != ir.Private || in.Op == ir.Zero || unfit[a] {
			return
		}
		if loops[a] == nil {
			loops[a] = map[*ir.Instr]bool{}
		}
		if in.Op == ir.Atomic || !isWhole(in) {
			unfit[a] = true
			return
		}
		for _, v := range in.Args[:in.NumIndices()] {
			unfit[a] = unfit[a] || !u.counts(v, loops[a], 0)
		}
	})
	return loops, unfit
}

// isWhole reports whether an access converts nothing: the element in memory has the type of the value.
func isWhole(in *ir.Instr) bool { return in.Accessed().IsValue() }

// maxDepth is the maximum number of nested operations in an index that [unroller.counts] follows.
const maxDepth = 20

// counts reports whether a value depends only on constants and on parameters of unrollable loops, such as counters. It adds these
// loops to loops.
func (u *unroller) counts(v *ir.Value, loops map[*ir.Instr]bool, depth int) bool {
	in := v.Def
	if in == nil {
		c := u.LoopOf[v]
		if c.Loop == nil || u.trip(c.Loop) == nil {
			return false
		}
		loops[c.Loop] = true
		return true
	}
	if !in.Op.IsArith() || depth > maxDepth {
		return false
	}
	for _, a := range in.Args {
		if !u.counts(a, loops, depth+1) {
			return false
		}
	}
	return true
}

// trip returns the trip of an unrollable loop: it has one continue, at its end, one exit, and a constant trip count of at most
// maxTrips. It returns nil for other loops.
func (u *unroller) trip(loop *ir.Instr) *trip {
	if p, ok := u.trips[loop]; ok {
		return p
	}
	u.trips[loop] = nil
	p := u.wayOut(loop)
	if p == nil {
		return nil
	}
	known := constants{}
	known.begin(loop, loop.Args)
	for p.trips = 0; p.trips <= maxTrips; p.trips++ {
		leaves, ok := known.run(loop, p)
		if !ok {
			return nil
		}
		if leaves {
			u.trips[loop] = p
			return p
		}
		known.begin(loop, loop.Then.Terminator().Args)
	}
	return nil
}

// wayOut returns the trip, without the trip count, of a loop with one continue, at its end, and one exit. It returns nil
// for other loops.
func (u *unroller) wayOut(loop *ir.Instr) *trip {
	last := loop.Then.Terminator()
	if last.Op != ir.Continue || last.Target != loop || len(u.Continues[loop]) != 1 || len(u.Breaks[loop]) != 1 {
		return nil
	}
	exit := u.Parent[u.Breaks[loop][0]]
	if exit.Op != ir.If || u.Parent[exit] != loop {
		return nil
	}
	p := &trip{exit: exit, out: exit.Then, stay: exit.Else}
	if p.out.Terminator() != u.Breaks[loop][0] {
		p.out, p.stay = p.stay, p.out
	}
	if p.out.Terminator() != u.Breaks[loop][0] || !analysis.EndsIn(p.stay, ir.Yield) {
		return nil
	}
	return p
}

// constants holds the bits of known values in an iteration of a loop.
type constants map[*ir.Value]uint64

// of returns the bits of a value. It returns false if they are not known.
func (c constants) of(v *ir.Value) (uint64, bool) {
	if bits, ok := analysis.ConstBits(v); ok {
		return bits, true
	}
	bits, ok := c[v]
	return bits, ok
}

// begin starts an iteration with these values of the loop's parameters.
func (c constants) begin(loop *ir.Instr, values []*ir.Value) {
	next := constants{}
	for i, p := range loop.Then.Params {
		if bits, ok := c.of(values[i]); ok {
			next[p] = bits
		}
	}
	clear(c)
	for p, bits := range next {
		c[p] = bits
	}
}

// run evaluates an iteration and reports whether it leaves the loop; ok is false if that is unknown.
func (c constants) run(loop *ir.Instr, p *trip) (leaves, ok bool) {
	for _, in := range loop.Then.Instrs {
		if in == p.exit {
			cond, known := c.of(in.Args[0])
			if !known || p.out == in.Then == (cond != 0) {
				return true, known
			}
			continue
		}
		c.compute(in)
	}
	return false, true
}

// compute adds the result of an instruction if it is known.
func (c constants) compute(in *ir.Instr) {
	var args [3]uint64
	if !in.Op.IsArith() || in.Op == ir.Const || len(in.Args) > len(args) {
		return
	}
	for i, a := range in.Args {
		bits, ok := c.of(a)
		if !ok {
			return
		}
		args[i] = bits
	}
	if bits, ok := scalar.Eval(in, args[:len(in.Args)]...); ok {
		c[in.Results[0]] = bits
	}
}

// size returns the number of instructions of a block after unrolling the chosen loops, but at most 2·maxUnrolled.
func (u *unroller) size(b *ir.Block) int {
	if b == nil {
		return 0
	}
	n := 0
	for _, in := range b.Instrs {
		inner := u.size(in.Then) + u.size(in.Else)
		if u.chosen[in] {
			inner *= u.trips[in].trips + 1
		}
		n = min(n+1+inner, 2*maxUnrolled)
	}
	return n
}

// block unrolls the chosen loops in a block, inner loops first.
func (u *unroller) block(b *ir.Block) {
	if b == nil {
		return
	}
	out := make([]*ir.Instr, 0, len(b.Instrs))
	for _, in := range b.Instrs {
		for i, a := range in.Args {
			if by := u.subst[a]; by != nil {
				in.Args[i] = by
			}
		}
		u.block(in.Then)
		u.block(in.Else)
		if u.chosen[in] {
			out = u.expand(out, in)
		} else {
			out = append(out, in)
		}
	}
	b.Instrs = out
}

// expand appends the iterations of a loop to out, and records the loop's results in u.subst.
func (u *unroller) expand(out []*ir.Instr, loop *ir.Instr) []*ir.Instr {
	p := u.trips[loop]
	last := loop.Then.Terminator()
	known := constants{}
	known.begin(loop, loop.Args)
	carried := loop.Args
	for {
		c := u.copier()
		for i, v := range loop.Then.Params {
			c.Values[v] = carried[i]
			if bits, ok := known[v]; ok {
				out = append(out, constant(c, v, bits, loop.Site))
			}
		}
		for _, in := range loop.Then.Instrs[:len(loop.Then.Instrs)-1] {
			if in != p.exit {
				known.compute(in)
				if bits, ok := known[in.Result()]; ok {
					out = append(out, constant(c, in.Result(), bits, in.Site))
				} else {
					out = append(out, c.Instr(in))
				}
				continue
			}
			cond, _ := known.of(in.Args[0])
			arm := p.stay
			if p.out == in.Then == (cond != 0) {
				arm = p.out
			}
			n := len(arm.Instrs) - 1
			for _, inner := range arm.Instrs[:n] {
				out = append(out, c.Instr(inner))
			}
			end := c.All(arm.Instrs[n].Args)
			if arm == p.out {
				for i, r := range loop.Results {
					u.subst[r] = end[i]
				}
				return out
			}
			for i, r := range in.Results {
				c.Values[r] = end[i]
			}
		}
		carried = c.All(last.Args)
		known.begin(loop, last.Args)
	}
}

func (u *unroller) copier() *ir.Copier {
	c := &ir.Copier{To: u.k, Values: map[*ir.Value]*ir.Value{}}
	if !u.proved {
		c.Change = unproved
	}
	return c
}

// constant returns a Const instruction with these bits, whose result replaces v in the copies that c makes.
func constant(c *ir.Copier, v *ir.Value, bits uint64, site int) *ir.Instr {
	in := &ir.Instr{Op: ir.Const, Bits: bits, Site: site}
	in.Results = c.Define([]*ir.Value{v}, in)
	return in
}

// unproved clears a copy's proofs, which are recomputed.
func unproved(in *ir.Instr) { in.Proved = 0 }
