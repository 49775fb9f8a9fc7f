package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// LSR is loop strength reduction: it replaces address arithmetic on loop counters by registers that are incremented with the
// counters. frames reports that each gang has a frame of its own. LSR leaves cold loops, loops with barriers, and loops over gangs
// with frames unchanged.
//
// Such arithmetic extends an index from 32 to 64 bits, and the new register does not wrap where a 32-bit index would.
// LSR replaces only indices that are proved to be in bounds in every iteration: these do not wrap.
func LSR(f *vcode.Func, frames bool) {
	if !slices.ContainsFunc(f.Insts, func(in vcode.Inst) bool { return in.Steady }) {
		return
	}
	m := mover{f: f, frames: frames, within: make([]int32, len(f.Insts))}
	m.findLoops()
	m.findWriters()
	r := reducer{mover: &m, ends: make([]int32, len(m.loops)), mentions: f.AllMentions(), labels: f.FindLabels(),
		before: map[int32][]vcode.Inst{}, after: map[int32][]vcode.Inst{}, instead: map[vcode.Reg]vcode.Reg{}}
	waits := make([]bool, len(m.loops))
	for i := range f.Insts {
		if f.Insts[i].Kind == vcode.KindBarrier {
			for c := m.within[i]; c > 0; c = m.loops[c].parent {
				waits[c] = true
			}
		}
		r.ends[m.within[i]] = int32(i) + 1
	}
	for c := 1; c < len(m.loops); c++ {
		if s := &m.loops[c]; !s.cold && !s.frames && !waits[c] {
			r.loop(int32(c))
		}
	}
	if len(r.instead) == 0 {
		return
	}
	rename := func(v *vcode.Reg) {
		if d := r.instead[*v]; d != 0 {
			*v = d
		}
	}
	old := f.Rewrite()
	for i := range old {
		f.Insts = append(f.Insts, r.before[int32(i)]...)
		in := old[i]
		if in.Kind == vcode.KindOp && !(in.Mode != vcode.ModeUse && in.Args[0].Kind == vcode.ArgReg && r.instead[in.Args[0].Reg] != 0) {
			f.Rename(&in, rename)
		}
		f.Add(in)
		f.Insts = append(f.Insts, r.after[int32(i)]...)
	}
}

// maxReduced is the maximum number of new registers of a loop, which also needs registers for other values.
const maxReduced = 4

// reducer finds the induction variables of each loop in turn.
type reducer struct {
	*mover
	ends     []int32   // by loop: the position after its last instruction
	mentions [][]int32 // by register: the positions of the instructions that mention it
	labels   vcode.LabelPositions
	current  int32                // the loop being searched
	known    map[vcode.Reg]linear // induction variables of the loop

	before, after map[int32][]vcode.Inst  // the instructions to add before and after others
	instead       map[vcode.Reg]vcode.Reg // the new registers, by the registers that they replace
}

// linear is an induction variable. It grows in each iteration by the constant step, multiplied by the register times unless
// that is 0.
type linear struct {
	step  int64
	times vcode.Reg
	wide  bool    // the variable has 64 bits
	at    int32   // the position at which the counter is updated
	chain []int32 // the instructions that compute the value from the counter, in order
}

// step is the increment of an induction variable: the constant by, multiplied by the register times unless that is 0.
type step struct {
	by    int64
	times vcode.Reg
}

// loop finds the induction variables of a loop. It replaces the profitable ones in order, with at most maxReduced new
// registers.
func (r *reducer) loop(c int32) {
	begin, end := r.loops[c].begin, r.ends[c]
	r.current, r.known = c, map[vcode.Reg]linear{}
	for i := begin; i < end; i++ {
		if k, n, ok := r.counter(i); ok {
			r.known[k] = n
		}
	}
	if len(r.known) == 0 {
		return
	}
	var wide []vcode.Reg
	for i := begin; i < end; i++ {
		in := &r.f.Insts[i]
		if r.within[i] != c || in.Kind != vcode.KindOp || in.Mode != vcode.ModeDef || in.Args[0].Kind != vcode.ArgReg || in.Mask != 0 || r.writers[in.Args[0].Reg][0] != i {
			continue
		}
		if n, ok := r.derive(in.Args[0].Reg); ok {
			r.known[in.Args[0].Reg] = n
			if n.wide {
				wide = append(wide, in.Args[0].Reg)
			}
		}
	}
	steps := map[step]vcode.Reg{}
	count := 0
	for _, d := range wide {
		if n := r.known[d]; len(n.chain) > 1 && r.replaceable(d, n, wide) {
			if count++; n.times != 0 && steps[step{n.step, n.times}] == 0 {
				count++
			}
			if count > maxReduced {
				return
			}
			r.replace(d, n, steps)
		}
	}
}

// counter returns a register that the loop changes only at position i, by a constant, and its induction variable. It returns
// false if the instruction there changes no such register, or if no addition may follow. It also does so for the constant 0, and
// for magnitudes of vcode.MaxPeel and more.
func (r *reducer) counter(i int32) (k vcode.Reg, n linear, ok bool) {
	in := &r.f.Insts[i]
	if r.within[i] != r.current || !in.Copies() {
		return 0, n, false
	}
	k = in.Args[0].Reg
	for _, w := range r.writers[k] {
		if w != i && r.inside(w) {
			return 0, n, false
		}
	}
	from := in.Args[1].Reg
	for {
		group := r.writers[from]
		if len(group) == 0 || r.within[group[0]] != r.current || group[0] >= i {
			return 0, n, false
		}
		first := &r.f.Insts[group[0]]
		if !first.Copies() {
			return 0, n, false
		}
		if len(group) == 1 {
			from = first.Args[1].Reg
			continue
		}
		add := &r.f.Insts[group[1]]
		if len(group) != 2 || group[1] != group[0]+1 || first.Args[1].Reg != k || add.Kind != vcode.KindOp || add.Args[0].Size != 4 || add.Args[1].Kind != vcode.ArgImm {
			return 0, n, false
		}
		switch n = (linear{step: add.Imm, at: i}); add.Op {
		case amd64.ADD:
		case amd64.SUB:
			n.step = -n.step
		default:
			return 0, n, false
		}
		return k, n, n.step != 0 && max(n.step, -n.step) < vcode.MaxPeel && r.flagsUnused(i)
	}
}

// inside reports whether an instruction is in the loop or in a loop nested in it.
func (r *reducer) inside(i int32) bool { return r.common(r.current, r.within[i]) == r.current }

// invariant reports whether the loop does not change a register.
func (r *reducer) invariant(v vcode.Reg) bool {
	return v != 0 && !slices.ContainsFunc(r.writers[v], r.inside)
}

// flagsUnused reports whether an addition may follow the instruction at position i. Later instructions must be known not to read the
// flags that it would overwrite.
func (r *reducer) flagsUnused(i int32) bool {
	for i++; int(i) < len(r.f.Insts); i++ {
		in := &r.f.Insts[i]
		if in.Kind != vcode.KindOp {
			if in.Kind == vcode.KindLabel || in.Kind == vcode.KindTrap {
				return true
			}
			continue
		}
		switch op := in.Op; {
		case op == amd64.CMP || op == amd64.TEST || op == amd64.ADD || op == amd64.SUB || op == amd64.JMP:
			return true
		case op == amd64.MOV || op == amd64.MOVSXD || op == amd64.LEA || op == amd64.VMOVDQA64 || op == amd64.VMOVDQA32 || op == amd64.VMOVDQA || op == amd64.VMOVUPS:
		default:
			return false
		}
	}
	return true
}

// derive returns the induction variable that a register holds, if it is computed from other induction variables.
func (r *reducer) derive(d vcode.Reg) (n linear, ok bool) {
	group := r.writers[d]
	in := &r.f.Insts[group[0]]
	for i, at := range group {
		if at != group[0]+int32(i) || r.f.Insts[at].Mask != 0 || r.f.Insts[at].Kind != vcode.KindOp || (r.f.Insts[at].Mode == vcode.ModeDef) != (i == 0) {
			return n, false
		}
	}
	switch {
	case in.Copies():
		return r.sum(group)
	case len(group) > 1:
		return n, false
	case in.Op == amd64.MOVSXD && in.Args[1].Kind == vcode.ArgReg:
		n, ok = r.known[in.Args[1].Reg]
		if !ok || n.wide || !in.Steady || !r.always(group[0]) {
			return n, false
		}
		n.wide = true
	case in.Op == amd64.IMUL && in.N == 3 && in.Args[0].Size == 8 && in.Args[1].Kind == vcode.ArgReg && in.Args[2].Kind == vcode.ArgImm:
		n, ok = r.known[in.Args[1].Reg]
		if !ok || !n.wide {
			return n, false
		}
		n.step *= in.Imm
	case in.Op == amd64.LEA && in.Args[0].Size == 8:
		if n, ok = r.address(&in.Mem); !ok {
			return n, false
		}
	default:
		return n, false
	}
	return r.extended(n, group)
}

// sum derives an induction variable from a copy followed by additions, subtractions or a multiplication. It returns false for
// other groups.
func (r *reducer) sum(group []int32) (n linear, ok bool) {
	from := r.f.Insts[group[0]].Args[1].Reg
	n, ok = r.known[from]
	if !ok && !r.invariant(from) {
		return n, false
	}
	for _, at := range group[1:] {
		in := &r.f.Insts[at]
		size := uint8(4)
		if n.wide {
			size = 8
		}
		if in.N != 2 || in.Args[0].Size != size {
			return n, false
		}
		add := linear{}
		switch a := &in.Args[1]; {
		case a.Kind == vcode.ArgReg && r.invariant(a.Reg):
			if in.Op == amd64.IMUL && n.wide && n.times == 0 {
				n.times = a.Reg
				continue
			}
		case a.Kind == vcode.ArgReg:
			if add, ok = r.known[a.Reg]; !ok || add.wide || n.wide || n.at != 0 && n.at != add.at {
				return n, false
			}
		case a.Kind != vcode.ArgImm:
			return n, false
		}
		switch in.Op {
		case amd64.ADD:
			n.step += add.step
		case amd64.SUB:
			n.step -= add.step
		default:
			return n, false
		}
		if add.at != 0 {
			n.at, n.chain = add.at, append(slices.Clone(n.chain), add.chain...)
		}
	}
	if n.at == 0 || !n.wide && max(n.step, -n.step) >= vcode.MaxPeel {
		return n, false
	}
	return r.extended(n, group)
}

// address derives an induction variable from an address in which one register is an induction variable. It returns false
// for other addresses.
func (r *reducer) address(m *vcode.Mem) (n linear, ok bool) {
	base, isBase := r.known[m.Base]
	index, isIndex := r.known[m.Index]
	switch {
	case m.Label != 0 || isBase == isIndex || m.Index != 0 && m.IndexSize != 8:
		return n, false
	case isBase:
		if !base.wide || m.Index != 0 && !r.invariant(m.Index) {
			return n, false
		}
		return base, true
	}
	if !index.wide || m.Base != 0 && !r.invariant(m.Base) {
		return n, false
	}
	index.step *= int64(max(m.Scale, 1))
	return index, true
}

// extended returns n with the instructions of group in its chain. It returns false if the step is 0 or exceeds 32 bits.
func (r *reducer) extended(n linear, group []int32) (linear, bool) {
	n.chain = append(slices.Clone(n.chain), group...)
	slices.Sort(n.chain)
	n.chain = slices.Compact(n.chain)
	return n, n.step != 0 && n.step == int64(int32(n.step))
}

// always reports whether each iteration that does not leave the loop reaches an instruction: no jump skips it.
func (r *reducer) always(i int32) bool {
	for at := r.loops[r.current].begin; at < i; at++ {
		in := &r.f.Insts[at]
		if jump, _ := in.Jumps(); !jump {
			continue
		}
		if to, ok := r.labels.Of(in.Imm); ok && to > i && to < r.ends[r.current] {
			return false
		}
	}
	return true
}

// replaceable reports whether replacing an induction variable by a new register is valid and pays. All uses must be in the
// loop, after the variable's first instruction and before the counter's increment. At least one use must not compute another
// variable of wide.
func (r *reducer) replaceable(d vcode.Reg, n linear, wide []vcode.Reg) bool {
	used := false
	for _, at := range r.mentions[d] {
		in := &r.f.Insts[at]
		if slices.Contains(r.writers[d], at) {
			continue
		}
		if in.Kind != vcode.KindOp || !r.inside(at) || at >= n.at || at < r.writers[d][0] {
			return false
		}
		used = used || in.Mode == vcode.ModeUse || in.Args[0].Kind != vcode.ArgReg || !slices.Contains(wide, in.Args[0].Reg)
	}
	return used
}

// replace adds a register that is incremented with the counter, and notes it as the replacement of d. Its first value is
// computed before the loop. steps has the registers that hold increments.
func (r *reducer) replace(d vcode.Reg, n linear, steps map[step]vcode.Reg) {
	f := r.f
	begin := r.loops[r.current].begin
	fresh := map[vcode.Reg]vcode.Reg{}
	own := func() vcode.Reg {
		v := f.NewGPR()
		f.Regs[v].Shared = false
		return v
	}
	emit := func(list *[]vcode.Inst, op func()) {
		length := len(f.Insts)
		op()
		*list = append(*list, f.Insts[length:]...)
		f.Insts = f.Insts[:length]
	}
	before, after := r.before[begin], r.after[n.at]
	for _, at := range n.chain {
		in := f.Insts[at]
		if v := in.Args[0].Reg; fresh[v] == 0 {
			fresh[v] = own()
		}
		f.Rename(&in, func(v *vcode.Reg) {
			if c := fresh[*v]; c != 0 {
				*v = c
			}
		})
		before = append(before, in)
	}
	along := fresh[d]
	if n.times == 0 {
		emit(&after, func() { f.Mod(amd64.ADD, along.G8(), vcode.Imm(n.step)) })
	} else {
		by := steps[step{n.step, n.times}]
		if by == 0 {
			by = own()
			steps[step{n.step, n.times}] = by
			emit(&before, func() { f.Def(amd64.IMUL, by.G8(), n.times.G8(), vcode.Imm(n.step)) })
		}
		emit(&after, func() { f.Mod(amd64.ADD, along.G8(), by.G8()) })
	}
	r.before[begin], r.after[n.at] = before, after
	r.instead[d] = along
}
