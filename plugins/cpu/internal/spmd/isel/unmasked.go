package isel

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// maxUnmasked is the maximum number of instructions, times registers, of a block that is emitted twice.
const maxUnmasked = 96

// unmaskedIf emits the Then block of an If without masks, for gangs all of whose lanes take it, and reports whether it did. same and
// varying are the terms of the condition, as Split returns them. Each varying term must compare a value that grows from lane to lane,
// so that the first and the last lane decide. The unmasked block ends with a jump to done. The code for other gangs follows, and must
// not use registers that the unmasked block or its tests define.
//
// The interior of a grid thus runs without masks, and its edges with them. On targets with mask registers, a second copy of
// the block costs more than the masks.
func (l *Lowerer) unmaskedIf(in *ir.Instr, same, varying []*ir.Value, done amd64.Label) bool {
	if l.Target.HasMasks || l.Spec.Is2D() || l.GangRegs*analysis.NumInstrs(in.Then) > maxUnmasked || len(varying) == 0 || !accessesMemory(in.Then) {
		return false
	}
	for _, v := range varying {
		if !l.monotone(l.Vals[v.ID].Test) {
			return false
		}
	}
	for _, v := range same {
		l.Branch(v, done, false)
	}
	others := l.NewLabel()
	for _, v := range varying {
		l.branchUnlessAll(l.Vals[v.ID].Test, others)
	}
	l.Cur, l.Dead = nil, done
	l.Block(in.Then)
	l.Jump(amd64.JMP, done)
	l.Bind(others)
	return true
}

// accessesMemory reports whether a block loads or stores, and exits only at its end. The block must also have no assertions, no group
// operations, and no operations with an order among items.
func accessesMemory(b *ir.Block) bool {
	found, ok := false, b.Terminator().Op == ir.Yield
	b.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Load, ir.Store:
			found = true
		case ir.Break, ir.Continue, ir.Return, ir.Unreachable, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Assert:
			ok = false
		default:
			ok = ok && !plan.Ordered(in.Op)
		}
	})
	return found && ok
}

// monotone reports whether test is a less-than or less-or-equal of a uniform i32 and one that does not decrease from lane to lane.
// The latter must grow by at most vcode.MaxPeel per lane and have a lane-0 value.
func (l *Lowerer) monotone(test *ir.Instr) bool {
	if test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return false
	}
	growing := 0
	for _, v := range test.Args {
		if l.IsUniform(v) {
			continue
		}
		s, affine := l.Affine.Strides(v)
		if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || !l.HasLane0(v, 0) {
			return false
		}
		growing++
	}
	return growing == 1
}

// branchUnlessAll emits a jump that is taken unless a comparison accepted by [Lowerer.monotone] holds in all lanes. It is
// also taken if the integer wraps between the first and the last lane.
func (l *Lowerer) branchUnlessAll(test *ir.Instr, to amd64.Label) {
	a, b := test.Args[0], test.Args[1]
	compare := func(r vcode.Reg, bound *ir.Value) {
		if c, ok := plan.SmallConst(bound); ok {
			l.Use(amd64.CMP, r.G8(), vcode.Imm(c))
		} else {
			l.Use(amd64.CMP, r.G8(), l.WideIndex(l.General(bound), ir.I32).G8())
		}
	}
	pick := func(lt, le amd64.Op) amd64.Op {
		if test.Op == ir.Lt {
			return lt
		}
		return le
	}
	if l.IsUniform(b) {
		last := l.lastLane(a)
		compare(last, b)
		l.Jump(pick(amd64.JGE, amd64.JG), to)
		return
	}
	if in := b.Def; in == nil || in.Op != ir.Item || in.Item != ir.GlobalID { // global positions cannot wrap
		l.Use(amd64.CMP, l.lastLane(b).G8(), vcode.Imm(math.MaxInt32))
		l.Jump(amd64.JG, to)
	}
	compare(l.WideIndex(l.Lane0(b), ir.I32), a)
	l.Jump(pick(amd64.JLE, amd64.JL), to)
}

// lastLane returns a register with the last lane's value of an i32 that grows from lane to lane. The code computes in 64 bits, which
// cannot wrap.
func (l *Lowerer) lastLane(v *ir.Value) vcode.Reg {
	s, _ := l.Affine.Strides(v)
	last := l.NewGPR()
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: l.WideIndex(l.Lane0(v), ir.I32), Disp: s[0] * int32(l.Lanes()-1)}.At())
	return last
}
