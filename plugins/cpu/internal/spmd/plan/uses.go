package plan

import "github.com/orepl/orepl/lang/kernel/ir"

// useInfo describes the uses of a value.
type useInfo struct {
	Count   int
	OnlyFMA bool      // all uses are operands of fused multiply-adds
	By      *ir.Instr // the last user
	Repeats bool      // the last user and the definition are in different loops, or only one of them is in a loop
	Loop    *ir.Instr // the loop around the definition; for a loop parameter, its loop
	Vector  bool      // a use needs a vector
}

// gatherUses computes the uses of all values.
func (l *Analysis) gatherUses() {
	l.Uses, l.Carried = make([]useInfo, l.Kernel.NumValues()), map[int][]*ir.Instr{}
	for i := range l.Uses {
		l.Uses[i].OnlyFMA = true
	}
	l.gatherBlock(l.Kernel.Body, nil)
}

// gatherBlock adds the uses in a block.
func (l *Analysis) gatherBlock(b *ir.Block, loop *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		l.gatherInstr(in, loop)
		inside := loop
		if in.Op == ir.Loop {
			inside = in
			for _, p := range in.Then.Params {
				l.Uses[p.ID].Loop = in
			}
		}
		l.gatherBlock(in.Then, inside)
		l.gatherBlock(in.Else, inside)
	}
}

// gatherInstr adds the uses of an instruction.
func (l *Analysis) gatherInstr(in, loop *ir.Instr) {
	varying := false
	for _, r := range in.Results {
		varying = varying || !l.IsUniform(r)
		l.Uses[r.ID].Loop = loop
	}
	if in.Op == ir.Continue {
		for _, a := range in.Args {
			l.Carried[a.ID] = append(l.Carried[a.ID], in)
		}
	}
	n := 0
	if in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Atomic {
		n = in.NumIndices()
		for _, a := range in.Args[:n] {
			varying = varying || !l.IsUniform(a)
		}
	}
	for i, a := range in.Args {
		u := &l.Uses[a.ID]
		u.Count++
		u.OnlyFMA = u.OnlyFMA && in.Op == ir.FMA
		u.By, u.Repeats = in, u.Loop != loop
		switch in.Op {
		case ir.Yield, ir.Break, ir.Continue, ir.Loop, ir.If:
		default:
			u.Vector = u.Vector || varying && i >= n
		}
	}
}

// IsTested reports whether the only use of a condition is an If in the same loop, or a logical operation that is itself tested.
// It is then computed at that use.
func (l *Analysis) IsTested(v *ir.Value) bool {
	u := &l.Uses[v.ID]
	if u.Count != 1 || u.Repeats {
		return false
	}
	switch u.By.Op {
	case ir.If:
		return true
	case ir.And, ir.Or, ir.Not:
		return v.Type == ir.Bool && l.IsTested(u.By.Result())
	}
	return false
}
