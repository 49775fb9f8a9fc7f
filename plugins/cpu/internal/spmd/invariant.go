package spmd

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// moveInvariants moves arithmetic on addresses and spread scalars out of the loops in which nothing that they need
// changes. The passes on the IR do not see it: it comes about when accesses are lowered, and the loops over rows and
// gangs are not in the IR at all.
func (f *fn) moveInvariants(frames bool) {
	m := mover{f: f, frames: frames, within: f.room.ints.make(len(f.insts))}
	m.findLoops()
	m.findWriters()
	before := map[int32][]int32{} // what goes before the begin of each loop
	for i := range f.insts {
		r, group := m.candidate(int32(i))
		if group == nil {
			continue
		}
		home := m.home(group, r)
		loop := m.within[i]
		if home == loop || len(group) == 1 && f.insts[i].op == amd64.MOV && f.insts[i].a[1].kind == argImm {
			continue
		}
		for m.loops[loop].parent != home {
			loop = m.loops[loop].parent
		}
		if m.loops[loop].cold {
			continue
		}
		before[m.loops[loop].begin] = append(before[m.loops[loop].begin], group...)
		for _, at := range group {
			m.within[at] = home
		}
		if home == 0 {
			f.regs[r].shared = true
		}
	}
	if len(before) == 0 {
		return
	}
	moved := f.room.flags.make(len(f.insts))
	for _, list := range before {
		for _, at := range list {
			moved[at] = true
		}
	}
	old := f.rewrite()
	for i := range old {
		if old[i].kind == kindLoopBegin {
			for _, at := range before[int32(i)] {
				f.add(old[at]).steady = false // the loop may not get as far as to what it is for
			}
		}
		if !moved[i] {
			f.add(old[i])
		}
	}
}

// mover finds what can leave loops.
type mover struct {
	f       *fn
	frames  bool // gangs have frames of their own
	loops   []loopSpan
	within  []int32   // the loop of each instruction
	writers [][]int32 // the instructions that write each register

	mentioned []vr // by an instruction; kept for the next one
}

type loopSpan struct {
	begin, parent, depth int32
	cold                 bool
	frames               bool
}

func (m *mover) findLoops() {
	m.loops = []loopSpan{{begin: -1, parent: -1}}
	current, cold := int32(0), 0
	for i := range m.f.insts {
		switch m.f.insts[i].kind {
		case kindLoopBegin:
			m.loops = append(m.loops, loopSpan{int32(i), current, m.loops[current].depth + 1, cold > 0, m.f.insts[i].frames})
			current = int32(len(m.loops) - 1)
		case kindLoopEnd:
			current = m.loops[current].parent
		case kindColdBegin:
			cold++
		case kindColdEnd:
			cold--
		}
		m.within[i] = current
	}
}

func (m *mover) findWriters() {
	counts, total := m.f.room.ints.make(len(m.f.regs)), 0
	for i := range m.f.insts {
		m.mentioned = m.f.writtenBy(&m.f.insts[i], m.mentioned[:0])
		for _, r := range m.mentioned {
			counts[r]++
			total++
		}
	}
	m.writers = m.f.room.lists.make(len(m.f.regs))
	all := m.f.room.ints.make(total)
	for r, n := range counts {
		m.writers[r], all = all[:0:n], all[n:]
	}
	for i := range m.f.insts {
		m.mentioned = m.f.writtenBy(&m.f.insts[i], m.mentioned[:0])
		for _, r := range m.mentioned {
			m.writers[r] = append(m.writers[r], int32(i))
		}
	}
}

// movable reports whether an operation may move: it does no more than set its first operand and flags that nobody reads.
func movable(op amd64.Op) bool {
	switch op {
	case amd64.MOV, amd64.MOVSXD, amd64.LEA, amd64.IMUL, amd64.ADD, amd64.SUB, amd64.SHL, amd64.NEG,
		amd64.VPBROADCASTD, amd64.VPBROADCASTQ:
		return true
	}
	return false
}

// candidate gives the instructions that make a register, if they begin at position i, stand together, and can move.
func (m *mover) candidate(i int32) (vr, []int32) {
	in := &m.f.insts[i]
	if in.kind != kindOp || in.mode != modeDef || in.a[0].kind != argReg || m.within[i] == 0 {
		return 0, nil
	}
	r := in.a[0].reg
	group := m.writers[r]
	for n, at := range group {
		in := &m.f.insts[at]
		if at != i+int32(n) || in.kind != kindOp || in.mask != 0 || (in.mode == modeDef) != (n == 0) ||
			!movable(in.op) || !m.steady(in) {
			return 0, nil
		}
	}
	return r, group
}

// steady reports whether what an instruction reads from memory or from a fixed register is the same all the time.
func (m *mover) steady(in *inst) bool {
	for j := range in.a[:in.n] {
		switch a := &in.a[j]; a.kind {
		case argPhys:
			return false
		case argMem:
			if in.mem.fixed == regFrame && m.frames {
				return false
			}
			constant := in.mem.fixed == regContext && in.mem.base == 0 && in.mem.index == 0 && in.mem.disp >= ctxArgs
			if in.op != amd64.LEA && !constant {
				return false
			}
		}
	}
	return true
}

// home is the innermost loop around the instructions that changes what they read.
func (m *mover) home(group []int32, r vr) int32 {
	loop := m.within[group[0]]
	home := int32(0)
	for _, at := range group {
		m.mentioned = m.f.mentions(&m.f.insts[at], m.mentioned[:0])
		for _, s := range m.mentioned {
			if s == r || m.f.regs[s].elem != 0 {
				continue
			}
			for _, w := range m.writers[s] {
				if c := m.common(loop, m.within[w]); m.loops[c].depth > m.loops[home].depth {
					home = c
				}
			}
		}
	}
	for c := loop; home != 0 && c != home; c = m.loops[c].parent {
		if m.loops[c].frames { // what stands before it is done for the first gang only
			home = c
			break
		}
	}
	return home
}

// common is the innermost loop around two.
func (m *mover) common(a, b int32) int32 {
	for a != b {
		if m.loops[a].depth < m.loops[b].depth {
			a, b = b, a
		}
		a = m.loops[a].parent
	}
	return a
}
