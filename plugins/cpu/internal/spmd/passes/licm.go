package passes

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// LICM moves loop-invariant address arithmetic and broadcasts out of loops. They are not in the IR that package opt optimizes,
// and neither are the loops over rows and gangs. frames reports that each gang has a frame of its own.
func LICM(f *vcode.Func, frames bool) {
	m := mover{f: f, frames: frames, within: f.Scratch.Ints.Make(len(f.Insts))}
	m.findLoops()
	m.findWriters()
	before := map[int32][]int32{} // by loop begin: the instructions to move before it
	for i := range f.Insts {
		r, group := m.candidate(int32(i))
		if group == nil {
			continue
		}
		home := m.home(group, r)
		loop := m.within[i]
		if home == loop || len(group) == 1 && f.Insts[i].Op == amd64.MOV && f.Insts[i].Args[1].Kind == vcode.ArgImm {
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
			f.Regs[r].Shared = true
		}
	}
	if len(before) == 0 {
		return
	}
	moved := f.Scratch.Flags.Make(len(f.Insts))
	for _, list := range before {
		for _, at := range list {
			moved[at] = true
		}
	}
	old := f.Rewrite()
	for i := range old {
		if old[i].Kind == vcode.KindLoopBegin {
			for _, at := range before[int32(i)] {
				f.Add(old[at]).Steady = false // the access that proves the index in bounds may not be executed
			}
		}
		if !moved[i] {
			f.Add(old[i])
		}
	}
}

// mover holds the loops of a function and the writers of registers.
type mover struct {
	f       *vcode.Func
	frames  bool // gangs have separate frames
	loops   []loopSpan
	within  []int32   // by instruction: its innermost loop
	writers [][]int32 // by register: the instructions that write it

	mentioned []vcode.Reg // reused for the registers of an instruction
}

// loopSpan is a loop. begin is its position, parent the number of the loop around it, and depth the number of loops around it.
// The whole function, loop 0, has begin and parent −1.
type loopSpan struct {
	begin, parent, depth int32
	cold                 bool // in cold code
	frames               bool // iterations are gangs, each with its own frame
}

// findLoops finds the loops, with the whole function as loop 0, and the innermost loop of each instruction.
func (m *mover) findLoops() {
	m.loops = []loopSpan{{begin: -1, parent: -1}}
	current, cold := int32(0), 0
	for i := range m.f.Insts {
		switch m.f.Insts[i].Kind {
		case vcode.KindLoopBegin:
			m.loops = append(m.loops, loopSpan{int32(i), current, m.loops[current].depth + 1, cold > 0, m.f.Insts[i].Frames})
			current = int32(len(m.loops) - 1)
		case vcode.KindLoopEnd:
			current = m.loops[current].parent
		case vcode.KindColdBegin:
			cold++
		case vcode.KindColdEnd:
			cold--
		}
		m.within[i] = current
	}
}

// findWriters finds the instructions that write each register.
func (m *mover) findWriters() {
	counts, total := m.f.Scratch.Ints.Make(len(m.f.Regs)), 0
	for i := range m.f.Insts {
		m.mentioned = m.f.WrittenBy(&m.f.Insts[i], m.mentioned[:0])
		for _, r := range m.mentioned {
			counts[r]++
			total++
		}
	}
	m.writers = m.f.Scratch.Lists.Make(len(m.f.Regs))
	all := m.f.Scratch.Ints.Make(total)
	for r, n := range counts {
		m.writers[r], all = all[:0:n], all[n:]
	}
	for i := range m.f.Insts {
		m.mentioned = m.f.WrittenBy(&m.f.Insts[i], m.mentioned[:0])
		for _, r := range m.mentioned {
			m.writers[r] = append(m.writers[r], int32(i))
		}
	}
}

// movable reports whether LICM may move instructions of an operation. Such an operation writes only its first operand, and flags that
// no instruction reads.
func movable(op amd64.Op) bool {
	switch op {
	case amd64.MOV, amd64.MOVSXD, amd64.LEA, amd64.IMUL, amd64.ADD, amd64.SUB, amd64.SHL, amd64.NEG,
		amd64.VPBROADCASTD, amd64.VPBROADCASTQ:
		return true
	}
	return false
}

// candidate returns the register that the instruction at position i defines, and the positions of all instructions that write
// it. They must start at i, be adjacent and movable. The list is nil for other instructions, and outside of loops.
func (m *mover) candidate(i int32) (vcode.Reg, []int32) {
	in := &m.f.Insts[i]
	if in.Kind != vcode.KindOp || in.Mode != vcode.ModeDef || in.Args[0].Kind != vcode.ArgReg || m.within[i] == 0 {
		return 0, nil
	}
	r := in.Args[0].Reg
	group := m.writers[r]
	for n, at := range group {
		in := &m.f.Insts[at]
		if at != i+int32(n) || in.Kind != vcode.KindOp || in.Mask != 0 || (in.Mode == vcode.ModeDef) != (n == 0) ||
			!movable(in.Op) || !m.steady(in) {
			return 0, nil
		}
	}
	return r, group
}

// steady reports whether the memory that an instruction reads is known never to change. It returns false if the instruction mentions a
// machine register as an operand, or the frame if gangs have separate frames.
func (m *mover) steady(in *vcode.Inst) bool {
	for j := range in.Args[:in.N] {
		switch a := &in.Args[j]; a.Kind {
		case vcode.ArgPhys:
			return false
		case vcode.ArgMem:
			if in.Mem.Fixed == abi.Frame && m.frames {
				return false
			}
			constant := in.Mem.Fixed == abi.Context && in.Mem.Base == 0 && in.Mem.Index == 0 && in.Mem.Disp >= abi.CtxArgs
			if in.Op != amd64.LEA && !constant {
				return false
			}
		}
	}
	return true
}

// home returns the innermost loop around the instructions that changes one of their operands other than r, the register that
// they compute. It is 0 if no loop does. Otherwise it is not outside of a loop over gangs with frames.
func (m *mover) home(group []int32, r vcode.Reg) int32 {
	loop := m.within[group[0]]
	home := int32(0)
	for _, at := range group {
		m.mentioned = m.f.Mentions(&m.f.Insts[at], m.mentioned[:0])
		for _, s := range m.mentioned {
			if s == r || m.f.Regs[s].Elem != 0 {
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
		if m.loops[c].frames { // instructions before the loop run only for the first gang
			home = c
			break
		}
	}
	return home
}

// common returns the innermost loop around two loops.
func (m *mover) common(a, b int32) int32 {
	for a != b {
		if m.loops[a].depth < m.loops[b].depth {
			a, b = b, a
		}
		a = m.loops[a].parent
	}
	return a
}
