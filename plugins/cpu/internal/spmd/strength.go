package spmd

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// reduceStrength replaces what loops compute of addresses from their counters, by sums and products in each iteration, by
// registers that go along with the counters.
//
// An index is extended from 32 to 64 bits on the way. The register that goes along does not wrap where the index would:
// only indices are replaced that are proved to be in bounds in every iteration, so that they do not.
func (f *fn) reduceStrength(frames bool) {
	if !slices.ContainsFunc(f.insts, func(in inst) bool { return in.steady }) {
		return
	}
	m := mover{f: f, frames: frames, within: make([]int32, len(f.insts))}
	m.findLoops()
	m.findWriters()
	r := reducer{mover: &m, ends: make([]int32, len(m.loops)), mentions: f.allMentions(), labels: f.findLabels(),
		before: map[int32][]inst{}, after: map[int32][]inst{}, instead: map[vr]vr{}}
	waits := make([]bool, len(m.loops))
	for i := range f.insts {
		if f.insts[i].kind == kindBarrier {
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
	rename := func(v *vr) {
		if d := r.instead[*v]; d != 0 {
			*v = d
		}
	}
	old := f.rewrite()
	for i := range old {
		f.insts = append(f.insts, r.before[int32(i)]...)
		in := old[i]
		if in.kind == kindOp && !(in.mode != modeUse && in.a[0].kind == argReg && r.instead[in.a[0].reg] != 0) {
			f.rename(&in, rename)
		}
		f.add(in)
		f.insts = append(f.insts, r.after[int32(i)]...)
	}
}

// maxReduced bounds the registers that a loop has for this: others need registers, too.
const maxReduced = 4

// reducer finds what goes along with the counters of loops.
type reducer struct {
	*mover
	ends     []int32 // of loops
	mentions [][]int32
	labels   labelPlaces
	current  int32         // the loop
	known    map[vr]linear // in it

	before, after map[int32][]inst // what goes before and after instructions
	instead       map[vr]vr
}

// linear is a value that grows by the same amount in each iteration of a loop: by step, or that times a register.
type linear struct {
	step  int64
	times vr
	wide  bool    // of 64 bits
	at    int32   // where the counter is set to its next value
	chain []int32 // what computes the value from the counter, in order
}

// step is what is added in each iteration: a product.
type step struct {
	by    int64
	times vr
}

// loop finds what a loop computes from its counters.
func (r *reducer) loop(c int32) {
	begin, end := r.loops[c].begin, r.ends[c]
	r.current, r.known = c, map[vr]linear{}
	for i := begin; i < end; i++ {
		if k, n, ok := r.counter(i); ok {
			r.known[k] = n
		}
	}
	if len(r.known) == 0 {
		return
	}
	var wide []vr
	for i := begin; i < end; i++ {
		in := &r.f.insts[i]
		if r.within[i] != c || in.kind != kindOp || in.mode != modeDef || in.a[0].kind != argReg || in.mask != 0 || r.writers[in.a[0].reg][0] != i {
			continue
		}
		if n, ok := r.derive(in.a[0].reg); ok {
			r.known[in.a[0].reg] = n
			if n.wide {
				wide = append(wide, in.a[0].reg)
			}
		}
	}
	steps := map[step]vr{}
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

// counter finds a register that a loop sets at a position, and nowhere else, to a constant more than it was.
func (r *reducer) counter(i int32) (k vr, n linear, ok bool) {
	in := &r.f.insts[i]
	if r.within[i] != r.current || !in.copies() {
		return 0, n, false
	}
	k = in.a[0].reg
	for _, w := range r.writers[k] {
		if w != i && r.inside(w) {
			return 0, n, false
		}
	}
	from := in.a[1].reg
	for {
		group := r.writers[from]
		if len(group) == 0 || r.within[group[0]] != r.current || group[0] >= i {
			return 0, n, false
		}
		first := &r.f.insts[group[0]]
		if !first.copies() {
			return 0, n, false
		}
		if len(group) == 1 {
			from = first.a[1].reg
			continue
		}
		add := &r.f.insts[group[1]]
		if len(group) != 2 || group[1] != group[0]+1 || first.a[1].reg != k || add.kind != kindOp || add.a[0].size != 4 || add.a[1].kind != argImm {
			return 0, n, false
		}
		switch n = (linear{step: add.imm, at: i}); add.op {
		case amd64.ADD:
		case amd64.SUB:
			n.step = -n.step
		default:
			return 0, n, false
		}
		return k, n, n.step != 0 && max(n.step, -n.step) < maxPeel && r.flagsUnused(i)
	}
}

// copies reports whether an instruction copies a whole general register.
func (in *inst) copies() bool { return in.kind == kindOp && in.moves() && in.op == amd64.MOV }

// inside reports whether an instruction is in the loop, or in one in it.
func (r *reducer) inside(i int32) bool { return r.common(r.current, r.within[i]) == r.current }

// invariant reports whether the loop does not change a register.
func (r *reducer) invariant(v vr) bool { return v != 0 && !slices.ContainsFunc(r.writers[v], r.inside) }

// flagsUnused reports whether an addition may come after an instruction.
func (r *reducer) flagsUnused(i int32) bool {
	for i++; int(i) < len(r.f.insts); i++ {
		in := &r.f.insts[i]
		if in.kind != kindOp {
			if in.kind == kindLabel || in.kind == kindTrap {
				return true
			}
			continue
		}
		switch op := in.op; {
		case op == amd64.CMP || op == amd64.TEST || op == amd64.ADD || op == amd64.SUB || op == amd64.JMP:
			return true
		case op == amd64.MOV || op == amd64.MOVSXD || op == amd64.LEA || op == amd64.VMOVDQA64 || op == amd64.VMOVDQA32 || op == amd64.VMOVDQA || op == amd64.VMOVUPS:
		default:
			return false
		}
	}
	return true
}

// derive finds whether a register grows steadily.
func (r *reducer) derive(d vr) (n linear, ok bool) {
	group := r.writers[d]
	in := &r.f.insts[group[0]]
	for i, at := range group {
		if at != group[0]+int32(i) || r.f.insts[at].mask != 0 || r.f.insts[at].kind != kindOp || (r.f.insts[at].mode == modeDef) != (i == 0) {
			return n, false
		}
	}
	switch {
	case in.copies():
		return r.sum(group)
	case len(group) > 1:
		return n, false
	case in.op == amd64.MOVSXD && in.a[1].kind == argReg:
		n, ok = r.known[in.a[1].reg]
		if !ok || n.wide || !in.steady || !r.always(group[0]) {
			return n, false
		}
		n.wide = true
	case in.op == amd64.IMUL && in.n == 3 && in.a[0].size == 8 && in.a[1].kind == argReg && in.a[2].kind == argImm:
		n, ok = r.known[in.a[1].reg]
		if !ok || !n.wide {
			return n, false
		}
		n.step *= in.imm
	case in.op == amd64.LEA && in.a[0].size == 8:
		if n, ok = r.address(&in.mem); !ok {
			return n, false
		}
	default:
		return n, false
	}
	return r.extended(n, group)
}

// sum is derive for a copy to which something is added, or that is multiplied.
func (r *reducer) sum(group []int32) (n linear, ok bool) {
	from := r.f.insts[group[0]].a[1].reg
	n, ok = r.known[from]
	if !ok && !r.invariant(from) {
		return n, false
	}
	for _, at := range group[1:] {
		in := &r.f.insts[at]
		size := uint8(4)
		if n.wide {
			size = 8
		}
		if in.n != 2 || in.a[0].size != size {
			return n, false
		}
		add := linear{}
		switch a := &in.a[1]; {
		case a.kind == argReg && r.invariant(a.reg):
			if in.op == amd64.IMUL && n.wide && n.times == 0 {
				n.times = a.reg
				continue
			}
		case a.kind == argReg:
			if add, ok = r.known[a.reg]; !ok || add.wide || n.wide || n.at != 0 && n.at != add.at {
				return n, false
			}
		case a.kind != argImm:
			return n, false
		}
		switch in.op {
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
	if n.at == 0 || !n.wide && max(n.step, -n.step) >= maxPeel {
		return n, false
	}
	return r.extended(n, group)
}

// address is derive for an address that has one register which grows.
func (r *reducer) address(m *mem) (n linear, ok bool) {
	base, isBase := r.known[m.base]
	index, isIndex := r.known[m.index]
	switch {
	case m.label != 0 || isBase == isIndex || m.index != 0 && m.indexSize != 8:
		return n, false
	case isBase:
		if !base.wide || m.index != 0 && !r.invariant(m.index) {
			return n, false
		}
		return base, true
	}
	if !index.wide || m.base != 0 && !r.invariant(m.base) {
		return n, false
	}
	index.step *= int64(max(m.scale, 1))
	return index, true
}

// extended adds instructions to what computes a value.
func (r *reducer) extended(n linear, group []int32) (linear, bool) {
	n.chain = append(slices.Clone(n.chain), group...)
	slices.Sort(n.chain)
	n.chain = slices.Compact(n.chain)
	return n, n.step != 0 && n.step == int64(int32(n.step))
}

// always reports whether each iteration of the loop, unless it leaves before, comes to an instruction: no jump leads past it.
func (r *reducer) always(i int32) bool {
	for at := r.loops[r.current].begin; at < i; at++ {
		in := &r.f.insts[at]
		if jump, _ := in.jumps(); !jump {
			continue
		}
		if to, ok := r.labels.of(in.imm); ok && to > i && to < r.ends[r.current] {
			return false
		}
	}
	return true
}

// replaceable reports whether another register may take the place of one that grows, and something is gained: it is used, by
// something else than what grows with it, in the same iteration before the counter goes on.
func (r *reducer) replaceable(d vr, n linear, wide []vr) bool {
	used := false
	for _, at := range r.mentions[d] {
		in := &r.f.insts[at]
		if slices.Contains(r.writers[d], at) {
			continue
		}
		if in.kind != kindOp || !r.inside(at) || at >= n.at || at < r.writers[d][0] {
			return false
		}
		used = used || in.mode == modeUse || in.a[0].kind != argReg || !slices.Contains(wide, in.a[0].reg)
	}
	return used
}

// replace lets a register go along with the counter instead.
func (r *reducer) replace(d vr, n linear, steps map[step]vr) {
	f := r.f
	begin := r.loops[r.current].begin
	fresh := map[vr]vr{}
	own := func() vr {
		v := f.gpr()
		f.regs[v].shared = false
		return v
	}
	emit := func(list *[]inst, op func()) {
		length := len(f.insts)
		op()
		*list = append(*list, f.insts[length:]...)
		f.insts = f.insts[:length]
	}
	before, after := r.before[begin], r.after[n.at]
	for _, at := range n.chain {
		in := f.insts[at]
		if v := in.a[0].reg; fresh[v] == 0 {
			fresh[v] = own()
		}
		f.rename(&in, func(v *vr) {
			if c := fresh[*v]; c != 0 {
				*v = c
			}
		})
		before = append(before, in)
	}
	along := fresh[d]
	if n.times == 0 {
		emit(&after, func() { f.mod(amd64.ADD, g8(along), imm(n.step)) })
	} else {
		by := steps[step{n.step, n.times}]
		if by == 0 {
			by = own()
			steps[step{n.step, n.times}] = by
			emit(&before, func() { f.def(amd64.IMUL, g8(by), g8(n.times), imm(n.step)) })
		}
		emit(&after, func() { f.mod(amd64.ADD, g8(along), g8(by)) })
	}
	r.before[begin], r.after[n.at] = before, after
	r.instead[d] = along
}
