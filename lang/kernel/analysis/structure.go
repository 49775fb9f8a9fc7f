package analysis

import (
	"math"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Values is a table of T for the values of a kernel, by ID. Values newer than the table have the zero value until set.
type Values[T any] []T

// NewValues returns a table for the values of a kernel.
func NewValues[T any](k *ir.Kernel) Values[T] { return make(Values[T], k.NumValues()) }

// At returns the entry of a value.
func (t Values[T]) At(v *ir.Value) (x T) {
	if v.ID < len(t) {
		x = t[v.ID]
	}
	return x
}

// Set sets the entry of a value.
func (t *Values[T]) Set(v *ir.Value, x T) {
	if n := v.ID + 1 - len(*t); n > 0 {
		*t = append(*t, make(Values[T], n)...)
	}
	(*t)[v.ID] = x
}

// Structure is the control flow of a kernel at the time of [StructureOf].
type Structure struct {
	Parent    map[*ir.Instr]*ir.Instr   // enclosing structured instruction of a structured instruction, break or continue
	Home      Values[*ir.Instr]         // enclosing structured instruction of a value's definition
	Breaks    map[*ir.Instr][]*ir.Instr // by target
	Continues map[*ir.Instr][]*ir.Instr // by target
	LoopOf    map[*ir.Value]LoopParam   // by loop parameter
}

// LoopParam identifies a parameter of a loop by its index. Loop is nil for values that are not loop parameters.
type LoopParam struct {
	Loop *ir.Instr
	I    int
}

// StructureOf computes the structure of a kernel.
func StructureOf(k *ir.Kernel) *Structure {
	s := &Structure{map[*ir.Instr]*ir.Instr{}, NewValues[*ir.Instr](k), map[*ir.Instr][]*ir.Instr{}, map[*ir.Instr][]*ir.Instr{}, map[*ir.Value]LoopParam{}}
	s.block(k.Body, nil)
	return s
}

func (s *Structure) block(b *ir.Block, parent *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		for _, r := range in.Results {
			s.Home.Set(r, parent)
		}
		switch in.Op {
		case ir.Break:
			s.Parent[in] = parent
			s.Breaks[in.Target] = append(s.Breaks[in.Target], in)
		case ir.Continue:
			s.Parent[in] = parent
			s.Continues[in.Target] = append(s.Continues[in.Target], in)
		case ir.Region, ir.If, ir.Loop:
			s.Parent[in] = parent
			for i, p := range in.Then.Params {
				s.LoopOf[p] = LoopParam{in, i}
			}
			s.block(in.Then, in)
			s.block(in.Else, in)
		}
	}
}

// Ends returns the instructions that pass results to the end of a structured instruction: its breaks, and the yields of its
// blocks.
func (s *Structure) Ends(in *ir.Instr) []*ir.Instr {
	ends := s.Breaks[in]
	for _, b := range []*ir.Block{in.Then, in.Else} {
		if b != nil && in.Op != ir.Loop && EndsIn(b, ir.Yield) {
			ends = append(ends[:len(ends):len(ends)], b.Terminator())
		}
	}
	return ends
}

// Falls reports whether control may reach the code after a structured instruction. It returns true for other instructions.
func (s *Structure) Falls(in *ir.Instr) bool {
	switch in.Op {
	case ir.If:
		return EndsIn(in.Then, ir.Yield) || EndsIn(in.Else, ir.Yield)
	case ir.Region:
		return EndsIn(in.Then, ir.Yield) || len(s.Breaks[in]) > 0
	case ir.Loop:
		return len(s.Breaks[in]) > 0
	}
	return true
}

// EndsIn reports whether a block's terminator is op.
func EndsIn(b *ir.Block, op ir.Op) bool {
	t := b.Terminator()
	return t != nil && t.Op == op
}

// Around reports whether outer equals in or encloses it. in is a structured instruction, a break, a continue, or nil.
func (s *Structure) Around(outer, in *ir.Instr) bool {
	for ; in != nil; in = s.Parent[in] {
		if in == outer {
			return true
		}
	}
	return false
}

// Invariant reports whether a value is defined outside the loop.
func (s *Structure) Invariant(v *ir.Value, loop *ir.Instr) bool {
	if v.Def != nil {
		return v.Def != loop && !s.Around(loop, s.Home.At(v))
	}
	return !s.Around(loop, s.LoopOf[v].Loop)
}

// Step returns the constant by which every continue of a loop increases its parameter i, or false if there is none.
func (s *Structure) Step(loop *ir.Instr, i int) (int64, bool) {
	p := loop.Then.Params[i]
	var step int64
	for n, c := range s.Continues[loop] {
		by, ok := Increase(c.Args[i], p)
		if !ok || n > 0 && by != step {
			return 0, false
		}
		step = by
	}
	return step, len(s.Continues[loop]) > 0
}

// Increase returns c if v is the sum of p and a constant c in i32, and 0 if v is p itself. It returns false for other values.
func Increase(v, p *ir.Value) (int64, bool) {
	if v == p {
		return 0, true
	}
	if v.Def == nil || v.Type != ir.I32 {
		return 0, false
	}
	switch in := v.Def; in.Op {
	case ir.Add:
		for j := range 2 {
			if c, ok := ConstInt(in.Args[1-j]); ok && in.Args[j] == p {
				return c, true
			}
		}
	case ir.Sub:
		if c, ok := ConstInt(in.Args[1]); ok && in.Args[0] == p {
			return -c, true
		}
	}
	return 0, false
}

// Finite reports whether a loop is known to terminate, if the loops in it do: a counter reaches a bound that it cannot skip.
func (s *Structure) Finite(loop *ir.Instr) bool {
	for _, in := range loop.Then.Instrs {
		if slices.ContainsFunc(s.Continues[loop], func(c *ir.Instr) bool { return s.Around(in, c) }) {
			return false // an iteration may skip the rest
		}
		if in.Op != ir.If || !EndsIn(in.Then, ir.Yield) || !leaves(in.Else, loop, s) {
			continue
		}
		cond := in.Args[0].Def
		if cond == nil || cond.Op != ir.Lt {
			continue
		}
		p, bound := cond.Args[0], cond.Args[1]
		c := s.LoopOf[p]
		if c.Loop != loop || p.Type != ir.I32 || !s.Invariant(bound, loop) {
			continue
		}
		step, ok := s.Step(loop, c.I)
		limit, known := ConstInt(bound)
		if ok && (step == 1 || step > 1 && known && limit <= math.MaxInt32-step) {
			return true
		}
	}
	return false
}

// leaves reports whether a block ends in a return, or in a break that leaves the loop.
func leaves(b *ir.Block, loop *ir.Instr, s *Structure) bool {
	t := b.Terminator()
	switch t.Op {
	case ir.Return:
		return true
	case ir.Break:
		return s.Around(t.Target, loop)
	}
	return false
}

// ConstInt returns the value of an integer constant, or false if the value is none or does not fit in int64.
func ConstInt(v *ir.Value) (int64, bool) {
	if v.Def == nil || v.Def.Op != ir.Const || !v.Type.IsInt() {
		return 0, false
	}
	switch v.Type {
	case ir.I32:
		return int64(int32(v.Def.Bits)), true
	case ir.U64:
		return int64(v.Def.Bits), v.Def.Bits <= math.MaxInt64
	}
	return int64(v.Def.Bits), true
}

// ConstBits returns the bits of a constant, or false if the value is none.
func ConstBits(v *ir.Value) (uint64, bool) {
	if v.Def == nil || v.Def.Op != ir.Const {
		return 0, false
	}
	return v.Def.Bits, true
}

// Checks returns the bits of [ir.Instr.Proved] that an access or an integer division needs to be free of faults. It returns 0 for
// other instructions.
func Checks(in *ir.Instr) uint32 {
	switch in.Op {
	case ir.Load, ir.Store, ir.Atomic:
		return 1<<in.NumIndices() - 1
	case ir.Div, ir.Rem:
		if in.Args[0].Type.IsInt() {
			return ir.ProvedDivisor
		}
	}
	return 0
}

// MayFault reports whether an instruction can end its work-item by a fault. Proved checks cannot.
func MayFault(in *ir.Instr) bool {
	switch in.Op {
	case ir.Assert, ir.Uniform, ir.Call:
		return true
	}
	return Checks(in)&^in.Proved != 0
}

// IsSpeculable reports whether an instruction may be executed anywhere, because it has no effect and cannot fault. Proofs are
// ignored, because they hold only at the instruction's position.
func IsSpeculable(in *ir.Instr) bool {
	if (in.Op == ir.Div || in.Op == ir.Rem) && in.Args[0].Type.IsInt() {
		c, ok := ConstBits(in.Args[1])
		return ok && c != 0
	}
	return in.IsPure()
}
