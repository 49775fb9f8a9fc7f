package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// SplitSums returns a kernel in which a loop that adds to more sums than the registers hold is several loops with fewer sums
// each. Each of them loads again what the sums share. This costs less than sums in memory if these elements are in shared
// arrays. SplitSums also returns the number of added loops; if it is 0, the kernel is k itself.
func SplitSums(k *ir.Kernel, options Options, spec Spec) (*ir.Kernel, int) {
	if !slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Shared }) {
		return k, 0
	}
	s := sumSplitter{gang: spec.Gang, target: options.Target, u: k.Uniformity(gangScope(spec.Is2D()))}
	if !s.finds(k.Body) {
		return k, 0 // the kernel itself, not a copy
	}
	c := k.Clone()
	s.kernel, s.u = c, c.Uniformity(gangScope(spec.Is2D()))
	s.block(c.Body)
	opt.DCE(c, nil)
	c.Renumber()
	return c, s.added
}

// sumSplitter splits the loops of a kernel for gangs of gang registers.
type sumSplitter struct {
	kernel *ir.Kernel
	gang   int
	target *vcode.Target
	u      *ir.Uniformity
	added  int
}

// finds reports whether a block contains a loop whose sums can be split.
func (s *sumSplitter) finds(b *ir.Block) (found bool) {
	b.Walk(func(in *ir.Instr) { found = found || in.Op == ir.Loop && s.parts(in) != nil })
	return found
}

// block splits the loops of a block and of the blocks in it.
func (s *sumSplitter) block(b *ir.Block) {
	if b == nil {
		return
	}
	var out []*ir.Instr
	for _, in := range b.Instrs {
		s.block(in.Then)
		s.block(in.Else)
		out = append(out, in)
		if in.Op != ir.Loop {
			continue
		}
		for i, part := range s.parts(in) {
			if i == 0 {
				continue // the loop itself
			}
			c := ir.Copier{To: s.kernel, Values: map[*ir.Value]*ir.Value{}}
			own := c.Instr(in)
			with := map[*ir.Value]*ir.Value{}
			for _, at := range part {
				with[in.Results[at]] = own.Results[at]
			}
			s.kernel.Body.ReplaceUses(with)
			out = append(out, own)
			s.added++
		}
	}
	b.Instrs = out
}

// parts divides those results of a loop that are sums among the loops that are to replace it. It returns the indices of the sums of
// each, or nil if the loop remains whole.
func (s *sumSplitter) parts(loop *ir.Instr) [][]int {
	exits := analysis.ExitsOf(loop)
	if len(loop.Results) < leastSums || len(exits) != 1 || !analysis.ContinuesOnlyAtEnd(loop) || s.u.Diverges(loop) || !repeatable(loop) {
		return nil
	}
	sums := sumsOfLoop(loop, s.u)
	if !separate(loop, sums) {
		return nil
	}
	var results []int
	for i, v := range exits[0].Args {
		if slices.Contains(sums, v) {
			results = append(results, i)
		}
	}
	rows, near := s.rowLoads(loop)
	room := s.target.Vectors + vcode.ScratchVectors - 2 // without a register for a factor and one for a spilled value
	n := len(results)
	if rows == 0 || !near || n < leastSums || n < len(sums) {
		return nil
	}
	regs := s.gang * max(sums[0].Type.Size(), 4) / 4
	each := (room - rows*regs) / regs
	if each >= n || each*regs < leastSums {
		return nil
	}
	parts := (n + each - 1) / each
	return slices.Collect(slices.Chunk(results, (n+parts-1)/parts))
}

// separate reports whether no instruction of a loop reads two of these sums, or a value computed from a sum. Terminators may
// read them.
func separate(loop *ir.Instr, sums []*ir.Value) bool {
	of := map[*ir.Value]bool{} // the sums, and the results of instructions that read them
	for _, v := range sums {
		of[v] = true
	}
	ok := true
	loop.Then.Walk(func(in *ir.Instr) {
		n := 0
		for _, a := range in.Args {
			if of[a] {
				n++
			}
		}
		if n == 0 || in.Op.IsTerminator() {
			return
		}
		ok = ok && n == 1 && slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return slices.Contains(sums, a) })
		for _, r := range in.Results {
			of[r] = true
		}
	})
	return ok
}

// repeatable reports whether the instructions of a loop have no effect and cannot fault, so that copies of the loop may run.
func repeatable(loop *ir.Instr) bool {
	ok := true
	loop.Then.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.If, ir.Yield:
		case ir.Break, ir.Continue:
			ok = ok && in.Target == loop
		case ir.Load:
			ok = ok && !analysis.MayFault(in)
		default:
			ok = ok && in.IsPure() && !analysis.MayFault(in)
		}
	})
	return ok
}

// rowLoads returns the number of loads of a loop whose indices differ between lanes. near reports whether all of these are of
// shared arrays.
func (s *sumSplitter) rowLoads(loop *ir.Instr) (n int, near bool) {
	near = true
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load && !analysis.AllUniform(in, s.u) {
			n, near = n+1, near && in.Array.Space == ir.Shared
		}
	})
	return n, near
}
