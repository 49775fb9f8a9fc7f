package opt

import (
	"math"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// byValue holds something for each value of a kernel, by ID. What is made after it was is the zero value until it is set.
type byValue[T any] []T

func valuesOf[T any](k *ir.Kernel) byValue[T] { return make(byValue[T], k.NumValues()) }

func (t byValue[T]) at(v *ir.Value) (x T) {
	if v.ID < len(t) {
		x = t[v.ID]
	}
	return x
}

func (t *byValue[T]) set(v *ir.Value, x T) {
	if n := v.ID + 1 - len(*t); n > 0 {
		*t = append(*t, make(byValue[T], n)...)
	}
	(*t)[v.ID] = x
}

// structure is the shape of a kernel's control flow as it is when it is gathered.
type structure struct {
	parent    map[*ir.Instr]*ir.Instr   // the structured instruction around each of its like and around each jump
	home      byValue[*ir.Instr]        // the structured instruction around the definition
	breaks    map[*ir.Instr][]*ir.Instr // by target
	continues map[*ir.Instr][]*ir.Instr // by target
	loopOf    map[*ir.Value]carried     // of the parameters of loops
}

// carried is a parameter of a loop, by position. Loop is nil of what is none.
type carried struct {
	loop *ir.Instr
	i    int
}

func structureOf(k *ir.Kernel) *structure {
	s := &structure{map[*ir.Instr]*ir.Instr{}, valuesOf[*ir.Instr](k), map[*ir.Instr][]*ir.Instr{}, map[*ir.Instr][]*ir.Instr{}, map[*ir.Value]carried{}}
	s.block(k.Body, nil)
	return s
}

func (s *structure) block(b *ir.Block, parent *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		for _, r := range in.Results {
			s.home.set(r, parent)
		}
		switch in.Op {
		case ir.Break:
			s.parent[in] = parent
			s.breaks[in.Target] = append(s.breaks[in.Target], in)
		case ir.Continue:
			s.parent[in] = parent
			s.continues[in.Target] = append(s.continues[in.Target], in)
		case ir.Region, ir.If, ir.Loop:
			s.parent[in] = parent
			for i, p := range in.Then.Params {
				s.loopOf[p] = carried{in, i}
			}
			s.block(in.Then, in)
			s.block(in.Else, in)
		}
	}
}

// falls reports whether control can come to what follows the instruction.
func (s *structure) falls(in *ir.Instr) bool {
	switch in.Op {
	case ir.If:
		return endsIn(in.Then, ir.Yield) || endsIn(in.Else, ir.Yield)
	case ir.Region:
		return endsIn(in.Then, ir.Yield) || len(s.breaks[in]) > 0
	case ir.Loop:
		return len(s.breaks[in]) > 0
	}
	return true
}

func endsIn(b *ir.Block, op ir.Op) bool {
	t := b.Terminator()
	return t != nil && t.Op == op
}

// around reports whether outer is in, a structured instruction or jump, or one of the structured instructions around it.
func (s *structure) around(outer, in *ir.Instr) bool {
	for ; in != nil; in = s.parent[in] {
		if in == outer {
			return true
		}
	}
	return false
}

// invariant reports whether a value is defined outside the loop.
func (s *structure) invariant(v *ir.Value, loop *ir.Instr) bool {
	if v.Def != nil {
		return v.Def != loop && !s.around(loop, s.home.at(v))
	}
	return !s.around(loop, s.loopOf[v].loop)
}

// step is the constant by which every continue of the loop increases its parameter i, if so.
func (s *structure) step(loop *ir.Instr, i int) (int64, bool) {
	p := loop.Then.Params[i]
	var step int64
	for n, c := range s.continues[loop] {
		by, ok := increase(c.Args[i], p)
		if !ok || n > 0 && by != step {
			return 0, false
		}
		step = by
	}
	return step, len(s.continues[loop]) > 0
}

// increase gives c if v is computed as p + c, in i32.
func increase(v, p *ir.Value) (int64, bool) {
	if v == p {
		return 0, true
	}
	if v.Def == nil || v.Type != ir.I32 {
		return 0, false
	}
	switch in := v.Def; in.Op {
	case ir.Add:
		for j := range 2 {
			if c, ok := constInt(in.Args[1-j]); ok && in.Args[j] == p {
				return c, true
			}
		}
	case ir.Sub:
		if c, ok := constInt(in.Args[1]); ok && in.Args[0] == p {
			return -c, true
		}
	}
	return 0, false
}

// finite reports whether the loop is seen to end: it leaves as soon as a counter reaches a bound that it can't miss.
func (s *structure) finite(loop *ir.Instr) bool {
	for _, in := range loop.Then.Instrs {
		if slices.ContainsFunc(s.continues[loop], func(c *ir.Instr) bool { return s.around(in, c) }) {
			return false // what follows may be left out of an iteration
		}
		if in.Op != ir.If || !endsIn(in.Then, ir.Yield) || !leaves(in.Else, loop, s) {
			continue
		}
		cond := in.Args[0].Def
		if cond == nil || cond.Op != ir.Lt {
			continue
		}
		p, bound := cond.Args[0], cond.Args[1]
		c := s.loopOf[p]
		if c.loop != loop || p.Type != ir.I32 || !s.invariant(bound, loop) {
			continue
		}
		step, ok := s.step(loop, c.i)
		limit, known := constInt(bound)
		if ok && (step == 1 || step > 1 && known && limit <= math.MaxInt32-step) {
			return true
		}
	}
	return false
}

// leaves reports whether a block ends by leaving the loop.
func leaves(b *ir.Block, loop *ir.Instr, s *structure) bool {
	t := b.Terminator()
	switch t.Op {
	case ir.Return:
		return true
	case ir.Break:
		return s.around(t.Target, loop)
	}
	return false
}

func constInt(v *ir.Value) (int64, bool) {
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

func constBits(v *ir.Value) (uint64, bool) {
	if v.Def == nil || v.Def.Op != ir.Const {
		return 0, false
	}
	return v.Def.Bits, true
}

// checks is the marks of proof without which an access or division may fault.
func checks(in *ir.Instr) uint32 {
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

// mayFault reports whether the instruction can end its work-item.
func mayFault(in *ir.Instr) bool {
	switch in.Op {
	case ir.Assert, ir.Uniform, ir.Call:
		return true
	}
	return checks(in)&^in.Proved != 0
}

// speculable reports whether the instruction does nothing but give a value wherever it is put. A mark of proof does not
// make it so, since that holds only where the instruction stands.
func speculable(in *ir.Instr) bool {
	if (in.Op == ir.Div || in.Op == ir.Rem) && in.Args[0].Type.IsInt() {
		c, ok := constBits(in.Args[1])
		return ok && c != 0
	}
	return in.IsPure()
}
