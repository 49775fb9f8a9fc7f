package passes

import (
	"math"
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// localReserve is the number of vector registers reserved for spilled operands and constants. fewLocal is the number of
// available registers in tests of spilling.
const (
	localReserve = 2
	fewLocal     = 5
)

// minLocal is the minimum number of instructions of a straight-line run in which live ranges are split.
const minLocal = 32

// SplitLocal splits live ranges of vectors in straight-line code with more live values than registers. It walks a run of code
// and keeps the values with the nearest next uses in registers, like Belady's algorithm. The value with the farthest next use
// moves to a spill slot, and is reloaded before that use or folded into it. Only values that the run defines are split,
// and on AVX2 also constants, whose spill slot is the constant pool. Without the split, register allocation would keep each of
// them in a register or in memory for its whole life.
func SplitLocal(f *vcode.Func) {
	at := f.AllMentions()
	live := f.LiveRanges()
	var runs [][2]int32
	for i := 0; i < len(f.Insts); {
		end := i
		for end < len(f.Insts) && straightInst(&f.Insts[end]) {
			end++
		}
		if end-i >= minLocal {
			runs = append(runs, [2]int32{int32(i), int32(end)})
		}
		i = end + 1
	}
	var splits []*local
	for _, run := range runs {
		if s := newLocal(f, at, live, run[0], run[1]); s != nil {
			splits = append(splits, s)
		}
	}
	if len(splits) == 0 {
		return
	}
	old := f.Rewrite()
	next := int32(0)
	for _, s := range splits {
		f.Insts = append(f.Insts, old[next:s.begin]...)
		s.split(old)
		next = s.end
	}
	f.Insts = append(f.Insts, old[next:]...)
}

// straightInst reports whether control passes through an instruction, and only from the one before.
func straightInst(in *vcode.Inst) bool {
	switch in.Kind {
	case vcode.KindOp:
		jump, _ := in.Jumps()
		return !jump
	case vcode.KindComment, vcode.KindNone, vcode.KindDeclare:
		return true
	}
	return false
}

// local splits the live ranges of a run.
type local struct {
	f          *vcode.Func
	begin, end int32
	room       int // registers for values of the run
	values     map[vcode.Reg]*localValue
	held       []*localValue // values in registers
}

// localValue is a value that is defined and used only in the run, or a constant.
type localValue struct {
	mentions []int32   // remaining mentions
	first    vcode.Reg // the register that holds it first; 0 once it has been held, and for constants
	now      vcode.Reg // the register that holds it, or 0
	home     vcode.Reg // the spill slot, or 0
	saved    bool      // the spill slot holds the current value
	reads    []bool    // by remaining mention: the instruction reads the previous value
	constant bool
}

// newLocal returns the state for splitting a run, or nil if register allocation needs no help: all values of the run fit the
// registers, or other values leave too few of them. at has the mentions of all registers, and live their live ranges.
func newLocal(f *vcode.Func, at [][]int32, live []vcode.LiveRange, begin, end int32) *local {
	s := &local{f: f, begin: begin, end: end, values: map[vcode.Reg]*localValue{}, room: f.Target.Vectors + vcode.ScratchVectors - localReserve}
	if f.FewRegs {
		s.room = fewLocal
	}
	change := make([]int, 2*(end-begin)+3) // change of the number of live values, by position
	others := 0
	for r := 1; r < len(f.Regs); r++ {
		v := &f.Regs[r]
		if v.Class == vcode.ClassVec && v.Elem == 64 && !f.Target.HasMasks {
			s.constant(vcode.Reg(r), at[r])
			continue
		}
		if v.Class != vcode.ClassVec || v.Elem != 0 || live[r].Start < 0 || live[r].End < 2*begin || live[r].Start >= 2*end {
			continue
		}
		if value := s.value(vcode.Reg(r), at[r]); value != nil {
			s.values[vcode.Reg(r)] = value
			change[live[r].Start-2*begin]++
			change[live[r].End-2*begin+1]--
		} else if live[r].Start < 2*begin || live[r].End >= 2*end {
			others++
		}
	}
	if !f.FewRegs {
		if others > s.room/4 {
			return nil // register allocation handles these uses of memory itself
		}
		s.room -= others
	}
	most, now := 0, 0
	for _, n := range change {
		now += n
		most = max(most, now)
	}
	if most <= s.room {
		return nil
	}
	return s
}

// constant adds a constant to the values if the run mentions it, and only in machine instructions. Its spill slot is the constant
// pool.
func (s *local) constant(r vcode.Reg, at []int32) {
	from, _ := slices.BinarySearch(at, s.begin)
	to, _ := slices.BinarySearch(at, s.end)
	if from < to && s.machine(at[from:to]) {
		s.values[r] = &localValue{mentions: at[from:to], reads: slices.Repeat([]bool{true}, to-from), home: r, saved: true, constant: true}
	}
}

// machine reports whether all the instructions at these positions are machine instructions.
func (s *local) machine(at []int32) bool {
	return !slices.ContainsFunc(at, func(n int32) bool { return s.f.Insts[n].Kind != vcode.KindOp })
}

// value returns the run's record of a register that only machine instructions of the run mention. It returns nil for other
// registers, and for those whose first mention reads them.
func (s *local) value(r vcode.Reg, at []int32) *localValue {
	if len(at) == 0 || at[0] < s.begin || at[len(at)-1] >= s.end || !s.machine(at) {
		return nil
	}
	value := &localValue{mentions: at, first: r, reads: make([]bool, len(at))}
	for i, n := range at {
		in := &s.f.Insts[n]
		s.f.Operands(in, func(m *vcode.Reg, as vcode.Role) {
			value.reads[i] = value.reads[i] || *m == r && as != vcode.RoleDef
		})
	}
	if value.reads[0] {
		return nil // the value is live on entry, from the previous execution of the run
	}
	return value
}

// next returns the position of the next mention of a value if that reads it, else the maximum int32.
func (v *localValue) next() int32 {
	if len(v.reads) == 0 || !v.reads[0] {
		return math.MaxInt32
	}
	return v.mentions[0]
}

// split emits the run with split live ranges. old has the instructions of the whole function.
func (s *local) split(old []vcode.Inst) {
	var here []*localValue
	for i := s.begin; i < s.end; i++ {
		in := old[i]
		if in.Kind != vcode.KindOp {
			s.f.Add(in)
			continue
		}
		here = here[:0]
		s.f.Operands(&in, func(r *vcode.Reg, _ vcode.Role) {
			if v := s.values[*r]; v != nil && !slices.Contains(here, v) {
				here = append(here, v)
				v.mentions = v.mentions[1:]
			}
		})
		direct := s.fromMemory(&in, i)
		for _, v := range here {
			if v.reads[0] && v.now == 0 && v != direct {
				s.hold(v, here)
				s.f.CopyReg(v.now, v.home)
			}
		}
		for _, v := range here {
			v.reads = v.reads[1:]
		}
		if !in.Early {
			s.release(here)
		}
		s.f.Operands(&in, func(r *vcode.Reg, as vcode.Role) {
			v := s.values[*r]
			switch {
			case v == nil:
			case v == direct:
				*r = v.home
			default:
				if v.now == 0 {
					s.hold(v, here)
				}
				*r = v.now
				v.saved = v.saved && as == vcode.RoleUse
			}
		})
		s.f.Add(in)
		s.release(here)
		for _, v := range here {
			if v.next() == math.MaxInt32 {
				v.now = 0
			}
		}
	}
}

// foldAhead is the minimum distance in instructions to a value's next use at which the present use reads the spill slot
// directly.
const foldAhead = 24

// usesOfConstant is the minimum number of further near uses for which a constant is loaded to a register.
const usesOfConstant = 2

// fromMemory returns the value that the instruction at position now should read from its spill slot as a memory operand, or
// nil.
func (s *local) fromMemory(in *vcode.Inst, now int32) *localValue {
	if in.Fold <= 0 || in.HasMem() || in.Args[in.Fold].Kind != vcode.ArgReg || in.Mentioned(in.Args[in.Fold].Reg) > 1 {
		return nil
	}
	r := in.Args[in.Fold].Reg
	v := s.values[r]
	if v == nil || v.now != 0 || !v.reads[0] || in.Mask == r {
		return nil
	}
	switch {
	case v.constant && (len(v.mentions) < usesOfConstant || v.mentions[usesOfConstant-1] >= now+foldAhead/2):
	case len(v.mentions) > 0 && v.reads[1] && v.mentions[0] < now+foldAhead:
		return nil
	}
	return v
}

// hold assigns a register to v, and spills another value if none is free. here has the values of the current instruction, which
// stay in registers.
func (s *local) hold(v *localValue, here []*localValue) {
	if len(s.held) >= s.room {
		s.spill(here)
	}
	if v.now = v.first; v.now == 0 {
		v.now = s.vector()
	}
	v.first = 0
	s.held = append(s.held, v)
}

// spill moves the value with the farthest next use to its spill slot, except for those in here, which the current instruction
// uses. It does nothing if there is no other.
func (s *local) spill(here []*localValue) {
	worst := -1
	for i, v := range s.held {
		if !slices.Contains(here, v) && (worst < 0 || v.next() > s.held[worst].next()) {
			worst = i
		}
	}
	if worst < 0 {
		return
	}
	v := s.held[worst]
	if v.home == 0 {
		v.home = s.vector()
		s.f.Regs[v.home].Spill = true
	}
	if !v.saved {
		s.f.CopyReg(v.home, v.now)
	}
	v.now, v.saved = 0, true
	s.held = slices.Delete(s.held, worst, worst+1)
}

// vector returns a new vector register that gangs do not share.
func (s *local) vector() vcode.Reg {
	r := s.f.NewVec()
	s.f.Regs[r].Shared = false
	return r
}

// release frees the registers of those values in here that have no next use.
func (s *local) release(here []*localValue) {
	for _, v := range here {
		if i := slices.Index(s.held, v); i >= 0 && v.next() == math.MaxInt32 {
			s.held = slices.Delete(s.held, i, i+1)
		}
	}
}
