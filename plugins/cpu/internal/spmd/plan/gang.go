package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// MuchArithmetic is the number of vector operations, including loads, from which latency matters in code without loops. It
// counts vectors of AVX-512.
const MuchArithmetic = 24

// Limits of the vectors that may be live at once in code without loops, in registers or spilled.
const (
	straightRoom      = 48
	straightRoomShort = 40 // for targets whose masks are vectors
)

// ChooseGang returns the number of registers of a gang: 1, 2 or 4, and also 3 for 2-D gangs with vector masks. Several
// registers hide the latency of arithmetic in loops, or of much arithmetic without loops, if all live values fit the machine
// registers. Loops with many sums are an exception; see spilledSums. Gangs are also wide in kernels that only copy, and in
// kernels with reductions or scans, where fewer gangs then wait. Two short vectors do not hide the latency of a divergent loop
// in a 2-D gang, and the spills of three cost less.
func ChooseGang(k *ir.Kernel, t *vcode.Target, twoD bool) int {
	u := k.Uniformity(gangScope(twoD))
	p := pressure{u: u, last: make([]int, k.NumValues()), born: make([]int, k.NumValues())}
	p.number(k.Body)
	p.at = 0
	room := t.Vectors + vcode.ScratchVectors + t.Spare
	stores := !twoD && p.copies(k)
	if stores {
		p.loops, p.depth = true, 1
	} else if p.straight(k, t) {
		p.loops, p.depth = true, 1
		room = straightRoom // outside of loops, spills cost less and latency more
		if !t.HasMasks {
			room = straightRoomShort
		}
	}
	p.measure(k.Body)
	if p.diverges && !t.HasMasks && !p.inRounds(k) {
		p.most += 2 // masks of the active lanes and of a condition
	}
	switch {
	case stores && p.most == 0: // the kernel only stores constants
		return 4
	case !p.loops || p.most == 0:
		return 1
	case 4*p.most <= room && (!p.diverges || t.HasMasks && p.masks <= 1 || p.inRounds(k)): // masks must fit their registers, too
		return 4
	case twoD && p.diverges && !t.HasMasks && 3*p.most <= room+t.Spare:
		return 3
	case !t.HasMasks && 2*p.most >= t.Vectors+vcode.ScratchVectors && 2*p.most <= room && sumsOf(k, u) >= max(spilledSums, p.most-otherVectors):
		return 4
	case 2*p.most <= room:
		return 2
	}
	return 1
}

// Limits of loops that mostly add to sums, such as those of products of matrices by register tiles. Two registers per sum may
// not fit, as for spilledSums with sixteen registers. Then an iteration waits for the sums in memory; with four registers it
// has enough other work.
const (
	leastSums    = 6 // minimum number of sums
	spilledSums  = 7 // minimum number of sums for gangs of four registers that are spilled
	otherVectors = 2 // vectors of such a loop besides its sums
)

// sumsOf returns the maximum number of sums that [sumsOfLoop] finds in a loop of the kernel. It skips loops that continue
// elsewhere than at their end.
func sumsOf(k *ir.Kernel, u *ir.Uniformity) (most int) {
	k.Body.Walk(func(loop *ir.Instr) {
		if loop.Op == ir.Loop && analysis.ContinuesOnlyAtEnd(loop) {
			most = max(most, len(sumsOfLoop(loop, u)))
		}
	})
	return most
}

// sumsOfLoop returns the varying floating-point parameters of a loop whose next value is a sum or an FMA with the parameter as an
// operand. The loop must continue only at its end.
func sumsOfLoop(loop *ir.Instr, u *ir.Uniformity) (sums []*ir.Value) {
	next := loop.Then.Terminator()
	for i, v := range loop.Then.Params {
		in := next.Args[i].Def
		if in != nil && v.Type.IsFloat() && u.Value(v) == ir.Varying && (in.Op == ir.FMA || in.Op == ir.Add) && slices.Contains(in.Args, v) {
			sums = append(sums, v)
		}
	}
	return sums
}

// inRounds reports whether the kernel observes its group, and all its divergent loops can be interleaved. Interleaved loops
// need no masks.
func (p *pressure) inRounds(k *ir.Kernel) bool {
	ok := k.ObservesGroup()
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Loop && p.u.Diverges(in) {
			ok = ok && analysis.ContinuesOnlyAtEnd(in) && OnlyExit(in) != nil && loadsRows(in, p.u)
		}
	})
	return ok
}

// Limits of the number of instructions of a memory-bound kernel without loops. maxNarrow is the limit of a kernel that stores only
// elements of less than four bytes: gangs of two registers can then compute in lanes of 16 bits.
const (
	maxCopied = 32
	maxNarrow = 64
)

// copies reports whether a kernel has no loops, little arithmetic, and only simple accesses. These load and store adjacent
// elements of buffers, or elements that all lanes share, or load elements at loaded or computed indices. The overhead of a gang
// is then as long as its operations, and wide gangs amortize it.
func (p *pressure) copies(k *ir.Kernel) bool {
	rows, count, most := true, 0, maxNarrow
	affine := analysis.FindAffine(k, p.u)
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Quant { // stores of computed values contain a Quant too
			count++
		}
		switch in.Op {
		case ir.Load, ir.Store:
			if in.Op == ir.Store && in.Accessed().Size() >= 4 {
				most = maxCopied
			}
			rows = rows && in.Array.Space == ir.Global && (p.shared(in) || analysis.Stride(affine, in, 0) == int64(in.Resolve().Scalar.Size()) ||
				in.Op == ir.Load && isLookup(affine, in))
		case ir.Loop, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Atomic, ir.Assert, ir.Zero:
			rows = false
		default:
			rows = rows && !Ordered(in.Op)
		}
	})
	return rows && count <= most
}

// isLookup reports whether an access has an index that is not affine, such as a loaded one.
func isLookup(affine *analysis.Affine, in *ir.Instr) bool {
	return slices.ContainsFunc(in.Args[:in.NumIndices()], func(v *ir.Value) bool {
		_, ok := affine.Strides(v)
		return !ok
	})
}

// shared reports whether all lanes of a gang access the same element.
func (p *pressure) shared(in *ir.Instr) bool {
	return !slices.ContainsFunc(in.Args[:in.NumIndices()], func(v *ir.Value) bool { return p.u.Value(v) == ir.Varying })
}

// pressure computes the register pressure of a kernel: the number of vectors that are live at once in loops.
type pressure struct {
	u        *ir.Uniformity
	last     []int         // position of the last use, by value; a use in a loop counts at the loop's end, unless the loop defines the value
	born     []int         // position of the definition, by value
	at       int           // current position
	loops    bool          // there are loops, or other code counts as one
	depth    int           // number of loops around the current position; 1 more if other code counts as a loop
	live     int           // vectors that are live at the current position
	most     int           // maximum of live where depth is not 0
	diverges bool          // some loop diverges
	nested   int           // number of divergent instructions around the current position, without those that leave a loop
	masks    int           // maximum of nested
	ends     [][]*ir.Value // by position: the live values that are last used there
}

// straight reports whether a kernel has no loops and gains from wide gangs. It does so if it has reductions or scans, or
// [MuchArithmetic]. An operation counts twice on half-length vectors.
func (p *pressure) straight(k *ir.Kernel, t *vcode.Target) bool {
	loops, groups, operations := false, false, 0
	k.Body.Walk(func(in *ir.Instr) {
		loops = loops || in.Op == ir.Loop
		groups = groups || in.Op == ir.Reduce || in.Op == ir.Scan
		if r := in.Result(); r != nil && (in.Op.IsArith() && in.Op != ir.Const || in.Op == ir.Load) && p.u.Value(r) == ir.Varying {
			operations++
		}
	})
	return !loops && (groups || operations*vcode.AVX512.Lanes/t.Lanes >= MuchArithmetic)
}

// number computes the positions at which values are defined and last used.
func (p *pressure) number(b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		p.at++
		start := p.at
		if in.Op == ir.Loop {
			for _, v := range in.Then.Params {
				p.born[v.ID] = start
			}
		}
		p.number(in.Then)
		p.number(in.Else)
		if in.Then != nil {
			p.at++
		}
		end := p.at
		if in.Op == ir.Loop {
			end = start // the loop's parameters reuse the registers
		}
		for _, a := range in.Args {
			p.last[a.ID] = max(p.last[a.ID], end)
		}
		if in.Op == ir.Loop {
			// A value from outside of a loop is live to the loop's end.
			in.Then.Walk(func(j *ir.Instr) {
				for _, a := range j.Args {
					if p.born[a.ID] < start {
						p.last[a.ID] = max(p.last[a.ID], p.at)
					}
				}
			})
		}
		for _, r := range in.Results {
			p.born[r.ID] = p.at
		}
	}
}

// size returns the number of vectors of a value in a gang of one register. It is 0 if the value needs no vector of its own.
func (p *pressure) size(v *ir.Value) int {
	switch {
	case v.Type == ir.Bool || p.u.Value(v) != ir.Varying || v.Def != nil && (v.Def.Op == ir.Const || v.Def.Op == ir.Item):
		return 0
	case v.Def != nil && (v.Def.Op == ir.Wrap || v.Def.Op == ir.Bitcast) && v.Def.Args[0].Type.Size() == v.Type.Size():
		return 0 // shares the operand's register
	case v.Type.Size() == 8:
		return 2
	}
	return 1
}

// define adds a value to the live values until its last use, and updates the maximum. It ignores values without uses or
// vectors.
func (p *pressure) define(v *ir.Value) {
	n := p.size(v)
	if n == 0 || p.last[v.ID] == 0 {
		return
	}
	p.live += n
	for len(p.ends) <= p.last[v.ID] {
		p.ends = append(p.ends, nil)
	}
	p.ends[p.last[v.ID]] = append(p.ends[p.last[v.ID]], v)
	if p.depth > 0 {
		p.most = max(p.most, p.live)
	}
}

// step advances the position and removes values after their last use.
func (p *pressure) step() {
	p.at++
	if p.at < len(p.ends) {
		for _, v := range p.ends[p.at] {
			p.live -= p.size(v)
		}
		p.ends[p.at] = nil
	}
}

// measure adds the instructions of a block to the pressure, after number has computed their positions.
func (p *pressure) measure(b *ir.Block) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		p.step()
		if in.Op == ir.Loop {
			p.loops = true
			p.diverges = p.diverges || p.u.Diverges(in)
			p.depth++
			for _, v := range in.Then.Params {
				p.define(v)
			}
		}
		splits := in.Then != nil && p.u.Diverges(in) && !analysis.LeavesLoop(in)
		if splits {
			p.nested++
			p.masks = max(p.masks, p.nested)
		}
		p.measure(in.Then)
		p.measure(in.Else)
		if splits {
			p.nested--
		}
		if in.Then != nil {
			p.step()
		}
		if in.Op == ir.Loop {
			p.depth--
		}
		for _, r := range in.Results {
			p.define(r)
		}
	}
}
