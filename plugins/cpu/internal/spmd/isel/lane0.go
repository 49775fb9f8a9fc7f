package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// beginLane0 allocates s.Lane0s, and emits the lane-0 values of the loop's parameters before the first iteration.
func (l *Lowerer) beginLane0(s *Scope) {
	s.Lane0s = l.Followed(s.In, s.from.Lane0s)
	for i, r := range s.Lane0s {
		switch {
		case r == 0:
		case s.from.Lane0s != nil && s.from.Lane0s[i] != 0:
			l.Def(amd64.MOV, r.G8(), s.from.Lane0s[i].G8())
		default:
			l.Def(amd64.MOV, r.G8(), l.Lane0(s.In.Args[i]).G8())
		}
	}
}

// nextLane0 emits the lane-0 values of the loop's parameters for the next iteration. in is the Continue that begins it.
func (l *Lowerer) nextLane0(s *Scope, in *ir.Instr) {
	next := make([]vcode.Reg, len(s.Lane0s))
	for i, r := range s.Lane0s {
		if r != 0 {
			next[i] = l.NewGPR()
			l.Def(amd64.MOV, next[i].G8(), l.Lane0(in.Args[i]).G8())
		}
	}
	for i, r := range s.Lane0s {
		if r != 0 {
			l.Def(amd64.MOV, r.G8(), next[i].G8())
		}
	}
}
